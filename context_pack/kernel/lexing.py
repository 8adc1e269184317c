"""Source text with its comments and strings masked, so that patterns see code and nothing else.

The masked text has the length of the original: comments become spaces (line feeds stay), the inside of a
string becomes FILL between its quotes, and whatever else is no code becomes FILL altogether. A pattern that
finds an import in the masked text reads the literal at the same place of the original. A lexer is a table
of tokens; each is a pattern for the whole token or, where no pattern can say it, for its opening together
with a function that finds its end. Quantifiers are possessive and an end is not looked for again and again
in vain: no text makes a lexer slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum

from attrs import define, field, frozen

FILL = "\0"
MOST_NESTED = 20

LINE_COMMENT = r"//[^\n]*+"
BLOCK_COMMENT = r"/\*(?s:.*?)(?:\*/|\Z)"
DOUBLE_QUOTED = r'"(?:[^"\\\n]|\\(?s:.))*+"?'
SINGLE_QUOTED = r"'(?:[^'\\\n]|\\(?s:.))*+'?"

STRING_IN_CODE = r'"(\0*+)"|\'(\0*+)\'|`(\0*+)`'
"""A string in masked text, whatever its quotes."""

MOST_IN_VAIN = 5
"""How often the end of one kind of token may be missing before its openings are taken for code."""

End = Callable[[str, re.Match[str]], int]
"""Where the token with this opening ends; -1 when it does not, and is none."""


class Kind(Enum):
    """What becomes of a token in the masked text."""

    COMMENT = "comment"
    STRING = "string"
    OPAQUE = "opaque"
    CODE = "code"


@frozen
class Token:
    """One kind of token: how it looks, and where it ends when its looks do not say."""

    kind: Kind
    pattern: str
    end: End | None = None


def comment(pattern: str, end: End | None = None) -> Token:
    """A comment."""
    return Token(Kind.COMMENT, pattern, end)


def string(pattern: str) -> Token:
    """A string with a quote of one character at both ends."""
    return Token(Kind.STRING, pattern)


def closed_string(quote: str, inside: str) -> Token:
    """A string that may go over many lines, and is none if it never ends."""
    whole = re.compile(f"{quote}(?:{inside})*+{quote}")

    def end(text: str, opening: re.Match[str]) -> int:
        found = whole.match(text, opening.start())
        return -1 if found is None else found.end()

    return Token(Kind.STRING, quote, end)


def opaque(pattern: str, end: End | None = None) -> Token:
    """Something that is no code and no plain string: it vanishes whole."""
    return Token(Kind.OPAQUE, pattern, end)


def code(pattern: str) -> Token:
    """Code that only looks like the beginning of something else."""
    return Token(Kind.CODE, pattern)


@define
class Lexer:
    """Masks text by a table of tokens; where two could begin, the earlier in the table wins."""

    tokens: tuple[Token, ...]
    _pattern: re.Pattern[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        groups = (f"(?P<t{number}>{token.pattern})" for number, token in enumerate(self.tokens))
        self._pattern = re.compile("|".join(groups), re.MULTILINE)

    def mask(self, text: str) -> str:
        """The text with everything but code masked."""
        pieces: list[str] = []
        in_vain: dict[int, int] = {}
        at = 0
        while (match := self._pattern.search(text, at)) is not None:
            number = int((match.lastgroup or "t0")[1:])
            token = self.tokens[number]
            start, end, kind = match.start(), match.end(), token.kind
            if token.end is not None:
                end = token.end(text, match) if in_vain.get(number, 0) < MOST_IN_VAIN else -1
                if end < 0:
                    in_vain[number] = in_vain.get(number, 0) + 1
                    end, kind = match.end(), Kind.CODE
            pieces.append(text[at:start])
            pieces.append(masked(kind, text[start:end]))
            at = end
        pieces.append(text[at:])
        return "".join(pieces)


def lexer(*tokens: Token) -> Lexer:
    """A lexer of these tokens."""
    return Lexer(tokens)


def masked(kind: Kind, text: str) -> str:
    """What a token looks like in the masked text; a string that never ends has no second quote."""
    if kind is Kind.CODE:
        return text
    if kind is Kind.COMMENT:
        return blank(text)
    if kind is Kind.STRING and len(text) >= 2 and text[0] == text[-1]:
        return text[0] + FILL * (len(text) - 2) + text[-1]
    return FILL * len(text)


def blank(text: str) -> str:
    """As many spaces, and the same line feeds."""
    return "\n".join(" " * len(line) for line in text.split("\n"))


# Of few escapes, so that quotes which are but escaped ones are not each looked for to the end of a text.
_IN_CODE = re.compile(r"'[^'\\\n]*+(?:\\(?s:.)[^'\\\n]*+){0,20}+'|[{}\"`]")
_NESTING = re.compile(r"/\*|\*/")


def nested_comment(text: str, opening: re.Match[str]) -> int:
    """The end of a `/* … */` that may hold others."""
    depth, at = 1, opening.end()
    while depth and (mark := _NESTING.search(text, at)) is not None:
        depth += 1 if mark[0] == "/*" else -1
        at = mark.end()
    return len(text) if depth else at


_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(?s:(.)))")


def literal(text: str, start: int, end: int) -> str:
    """What the string between two quotes spells; simple escapes are undone."""
    written = text[start:end]
    return _ESCAPE.sub(_plain, written) if "\\" in written else written


def _plain(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2] or escape[3]
    if digits is None:
        return str(escape[4])
    value = int(digits, 16)
    return chr(value) if value < 0xD800 or 0xE000 <= value <= 0x10FFFF else FILL


def interpolated(quote: str, *openings: str) -> End:
    """Finds the end of a string with code in it, whose code may hold strings of its own."""
    marks = re.compile("|".join([r"\\(?s:.)", re.escape(quote), *map(re.escape, openings)]))

    def end(text: str, opening: re.Match[str]) -> int:
        at = _string_end(text, opening.end(), marks, quote, MOST_NESTED)
        return len(text) if at < 0 else at

    return end


def _string_end(text: str, at: int, marks: re.Pattern[str], quote: str, left: int) -> int:
    """Past the closing quote, -1 where there is none or strings nest too deep."""
    while (mark := marks.search(text, at)) is not None:
        at = mark.end()
        if mark[0] == quote:
            return at
        if mark[0][0] != "\\":
            at = _code_end(text, at, marks, quote, left - 1) if left else -1
            if at < 0:
                return -1
    return -1


def _code_end(text: str, at: int, marks: re.Pattern[str], quote: str, left: int) -> int:
    """Past the brace that closes code inside a string."""
    depth = 1
    while depth and (mark := _IN_CODE.search(text, at)) is not None:
        at = mark.end()
        if mark[0] in "{}":
            depth += 1 if mark[0] == "{" else -1
        elif mark[0] == quote:
            at = _string_end(text, at, marks, quote, left)
            if at < 0:
                return -1
    return -1 if depth else at
