"""A compiled search pattern: the text for `regex`, and facts that make a search fast.

Ripgrep may count the lines of plain files for a pattern that is spelled with `_SAME` alone: ASCII characters,
escaped punctuation, `.`, `\\w`, `\\d`, `\\s` and their opposites, `\\b`, simple sets, groups, choices,
repeats, a first `^`, a last `$`. They mean the same to it and to `regex` where all characters are plain: the
same in all Unicode tables of the last years, no carriage return and none of the four cases of ASCII letters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise

from attrs import frozen

from context_pack.code.domain.search import INVALID_PATTERN
from context_pack.code.domain.search_literals import Needs, needs_of
from context_pack.code.domain.search_tokens import BadPattern, Token, tokens_of
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.pattern_size import check_pattern_size

LINEAR, SQUARE, UNKNOWN = range(3)
"""How the time for a line grows with its length, however unlucky."""
LONG = 6
"""From so many characters on a literal is found faster by `regex` in memory than by ripgrep on disk."""
_FEW_WAYS = 64
_RUN_STARTS = {(r"\w", 1): r"\b", (".", 0): "^", (".", 1): "^"}
_SAME = re.compile(
    r"""\^?(?:
      [\w\ ,;:=<>@%!"'`/~&\#-] | \\[.+*?()|\[\]{}^$\\/-] | \\[wdsWDSb] | \.
    | \((?![?*]) | \(\?: | \) | \| | (?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})(?!\+)
    | \[\^?(?:[\w\ .,:;/"'=@%!<>*+?(){}|$] | \\[wd.\[\]\\/-] | -(?!-))+\]
    )*\$?""",
    re.VERBOSE | re.ASCII,
)
_ASCII = bytes(range(128))
_UNUSUAL = re.compile(
    "[^\x80-\u012f\u0132-\u017e\u0180-\u0377\u037b-\u052f\u05d0-\u05ea\u0620-\u06ff\u0900-\u097f\u0e01-\u0e3a"
    "\u0e3f-\u0e5b\u1e00-\u1f15\u2000-\u2064\u2070\u2071\u2074-\u208e\u20a0-\u20bf\u2100-\u2129\u212b-\u218b"
    "\u2190-\u23ff\u2460-\u2b73\u3000-\u303f\u3041-\u3096\u3099-\u30ff\u3105-\u312f\u4e00-\u9fef\uac00-\ud7a3"
    "\ufe00-\ufe0f\uff01-\uffbe\U0001f300-\U0001f64f\U0001f680-\U0001f6c5]"
)


def is_plain(data: bytes) -> bool:
    """Whether a text, which is UTF-8, has plain characters only, so that ripgrep may be asked about it."""
    if b"\r" in data:
        return False
    # Without the ASCII bytes the others are still whole characters, and few.
    return data.isascii() or _UNUSUAL.search(data.translate(None, _ASCII).decode()) is None


@frozen
class Pattern:
    """A pattern for `regex` with its MULTILINE flag, and with IGNORECASE if `fold`.

    `needs` are literals worth looking for first, in any case: every match holds one of them. `ripgrep` is
    what ripgrep may be asked instead, where it is faster.
    """

    source: str
    fold: bool
    needs: Needs
    cost: int
    ripgrep: str | None


def compiled(text: str, case_sensitive: bool) -> Pattern:
    """The pattern that `text` spells.

    Raises:
        Failure: `invalid_data` with the pattern and the reason, if it means nothing.
    """
    try:
        tokens = list(tokens_of(text))
        source = _checked(tokens, len(text))
    except BadPattern as bad:
        details = {"pattern": text, "details": str(bad)}
        raise Failure(Code.INVALID_DATA, INVALID_PATTERN, details) from None
    needs = needs_of(tokens)
    if len(needs) == 1 and "".join(token.char for token in tokens[: len(needs[0])]) == needs[0]:
        needs = ()  # `regex` is fast at looking for what a pattern begins with
    is_quick = all(token.kind == "char" for token in tokens) or (len(needs) == 1 and len(needs[0]) >= LONG)
    ripgrep = text if not is_quick and _SAME.fullmatch(text) else None
    return Pattern(_run_start(tokens) + source, not case_sensitive, needs, _cost_of(tokens), ripgrep)


def _checked(tokens: Sequence[Token], end: int) -> str:
    """The pattern in the words of `regex`, which judges the grammar and says where it is wrong."""
    import regex

    source = "".join(token.text for token in tokens)
    try:
        check_pattern_size(source)
        regex.compile(source, regex.V0 | regex.MULTILINE)
    except Failure:
        raise BadPattern("more repeats of repeats than can be searched for, up to the end", end) from None
    except (regex.error, RecursionError, OverflowError) as error:
        at, ends = getattr(error, "pos", None) or 0, accumulate(len(token.text) for token in tokens)
        end = next((token.at for token, stop in zip(tokens, ends, strict=True) if at < stop), end)
        raise BadPattern(getattr(error, "msg", None) or "too complex", end) from error
    return source


def _cost_of(tokens: Sequence[Token]) -> int:
    """The worst-case cost of a backtracking engine.

    From each place of a line there are so many ways as choices and optional parts make, times its length for
    the one run that is allowed; two runs, a repeated group, look-around and back-references may do anything.
    """
    runs, ways = 0, 1
    for before, token in pairwise([Token("close", "", 0), *tokens]):
        if token.kind in ("look", "back") or (token.kind == "repeat" and before.kind == "close"):
            return UNKNOWN
        runs += token.high is None
        ways *= 2 if token.kind == "bar" else 1 if token.high is None else token.high - token.low + 1
    if runs > 1 or ways > _FEW_WAYS:
        return UNKNOWN
    return SQUARE if runs else LINEAR


def _run_start(tokens: Sequence[Token]) -> str:
    """Where a pattern that begins with a run of one set may begin: not within such a run.

    What matches from the middle of a run also matches from its start, and only the first match counts.
    """
    if len(tokens) < 2 or tokens[1].high is not None or any(token.kind == "bar" for token in tokens):
        return ""
    return _RUN_STARTS.get((tokens[0].text, tokens[1].low), "")
