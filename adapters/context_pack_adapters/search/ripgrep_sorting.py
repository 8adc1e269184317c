"""What `rg` can say of files that nobody has read yet: which are plain, so that it may be trusted with them.

Two patterns name files. `MORE` names those that hold more than ASCII in lines ended by line feeds. Of these,
`OURS` names the ones that we must read: there is a NUL, a carriage return, what is no UTF-8, or an unusual
character, of which the byte order mark is one. Whatever neither names is text that looks to `rg` as it looks
to us. To read some thousand files takes us a second, and `rg` a tenth of that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from context_pack.code.domain.search_ripgrep import USUAL, Reach
from context_pack_adapters.search.roll import Known

_TAIL, _NO_TAIL = r"[\x80-\xbf]", r"(?:[^\x80-\xbf]|$)"
NO_UTF8 = "|".join(
    [
        r"[\xc0\xc1\xf5-\xff]",
        # A tail without a head, heads without their tails, and tails that are too many.
        rf"(?:^|[\x00-\x7f]){_TAIL}",
        rf"[\xc2-\xdf]{_NO_TAIL}",
        rf"[\xe0-\xef](?:{_NO_TAIL}|{_TAIL}{_NO_TAIL})",
        rf"[\xf0-\xf4](?:{_NO_TAIL}|{_TAIL}(?:{_NO_TAIL}|{_TAIL}{_NO_TAIL}))",
        rf"[\xc2-\xdf]{_TAIL}{{2}}|[\xe0-\xef]{_TAIL}{{3}}|[\xf0-\xf4]{_TAIL}{{4}}",
        # Longer than it need be, half a pair, and past the last character.
        r"\xe0[\x80-\x9f]|\xed[\xa0-\xbf]|\xf0[\x80-\x8f]|\xf4[\x90-\xbf]",
    ]
)
"""Every mistake in UTF-8 shows in a few bytes of one line."""
_UNUSUAL = "[^" + "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in USUAL) + "]"
MORE = r"(?-u:[\x00\r\x80-\xff])"
OURS = rf"(?-u:[\x00\r])|(?-u:{NO_UTF8})|{_UNUSUAL}"


def plain(looked_at: Mapping[str, Known], more: Collection[str], ours: Collection[str]) -> dict[str, Known]:
    """What is known of the files that need not be read, given the names that the two patterns found."""
    return {
        path: known._replace(
            is_text=True, reach=Reach.USUAL if path in more else Reach.ASCII, has_long_lines=True
        )
        for path, known in looked_at.items()
        if path not in ours
    }
