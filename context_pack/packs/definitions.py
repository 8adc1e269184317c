"""A definition's lines from its name, and what is wrong with the lines that a ref points at.

A name that no definition has, or several, gives no lines and is refused; what is near is named.
"""

from __future__ import annotations

from collections.abc import Sequence

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason, near_paths
from context_pack.kernel.syntax import Definition, name_parts, named, with_bodies
from context_pack.kernel.text import MAX_LINES, MOST_NEAR, LineRange, close
from context_pack.packs.anchors import SourceText
from context_pack.packs.following import Text
from context_pack.packs.model import Ref
from context_pack.packs.resolving import Resolver
from context_pack.packs.states import WORDS

Place = tuple[RelativePath, LineRange]


def find_definition(symbol: str, path: RelativePath | None, resolver: Resolver) -> Place:
    """The file and lines of the definition of that name, in a file or in the tree.

    Raises:
        Failure: `invalid_data`, field `symbol` or `path`; `details.near` names what is near.
    """
    texts, complete = resolver.defining(symbol) if path is None else ([_text(path, resolver)], True)
    places = _definitions(symbol, texts)
    parts = name_parts(symbol)
    if not places and complete:
        names = {name for text in texts for name in text.names}
        if path is None:
            names |= resolver.names_like(symbol)
        near = close(symbol, names) or sorted(name for name in names if name_parts(name)[-1] == parts[-1])
        raise _refusal(f"nothing called '{symbol}' is defined in {path or 'the project'}", near)
    near = [f"{each.qualified} in {text.path}, lines {each.start}-{each.end}" for text, each in places]
    if len(places) > 1:
        raise _refusal(f"'{symbol}' is defined {len(places)} times; give path and lines", near)
    if not complete:
        times = "found once" if places else "not found"
        raise _refusal(f"'{symbol}' was {times} before the time was over, with files left; give 'path'", near)
    ((text, found),) = places
    if found.end - found.start >= MAX_LINES:
        raise invalid(f"'{symbol}' has more than {MAX_LINES} lines; give lines of it", "symbol")
    return text.path, LineRange(found.start, found.end)


def _definitions(symbol: str, texts: Sequence[Text]) -> list[tuple[Text, Definition]]:
    places = [(text, each) for text in texts for each in named(text.definitions, symbol)]
    parts = name_parts(symbol)
    places = [(text, each) for text, each in places if name_parts(each.qualified) == parts] or places
    if len(places) < 2:
        return places
    doing = with_bodies([(each, text.source.lines) for text, each in places])
    return [place for place in places if any(place[1] is each for each in doing)]


def definition_count(symbol: str, resolver: Resolver) -> int:
    """How many definitions of the tree have that name."""
    return len(_definitions(symbol, resolver.defining(symbol)[0]))


def warning_of(ref: Ref, resolver: Resolver) -> str | None:
    """A warning if the lines of a ref do not exist, with near suggestions; else None."""
    text = resolver.text(ref.path)
    if isinstance(text, SourceText):
        if ref.lines.end <= text.count:
            return None
        end = text.count
        start = ref.lines.start if ref.lines.start <= end else max(1, end - ref.lines.count + 1)
        near = f"; did you mean {start}-{end}?" if end else ""
        return f"lines {ref.lines} do not exist: {ref.path} has {end} line{'' if end == 1 else 's'}{near}"
    if text is not Reason.MISSING:
        return f"{ref.path} cannot be shown: {WORDS[text]}"
    return f"{ref.path} does not exist{_did_you_mean(near_paths(ref.path, resolver.names()))}"


def _text(path: RelativePath, resolver: Resolver) -> Text:
    found = resolver.parsed(path)
    if isinstance(found, Text):
        return found
    near = near_paths(path, resolver.names()) if found is Reason.MISSING else []
    words = f"'path' cannot be read: {WORDS[found]}{_did_you_mean(near)}"
    raise invalid(words, "path", near=near)


def _did_you_mean(near: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _refusal(words: str, near: Sequence[str]) -> Failure:
    return invalid(f"{words}{_did_you_mean(near[:MOST_NEAR])}", "symbol", near=list(near[:MOST_NEAR]))
