"""Text: lines and ranges of them, digests, ids, foreign text in Markdown, prose in short, similar words.

A line ends at `\\n` and nowhere else: form feeds, U+0085,
U+2028 and lone `\\r` stay inside a line, which is why `str.splitlines` must not be used on source text.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from base64 import b32encode
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from attrs import frozen

from context_pack.kernel.errors import invalid

MIN_FENCE = 3
MOST_DOTS = 500
"""In a line of TOML: the parser takes time with the square of them."""
FENCE = "`" * MIN_FENCE

_BACKTICKS = re.compile(r"`+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def split_lines(text: str) -> list[str]:
    """The lines without their endings; one final `\\r` of a line is dropped, a final newline adds no line."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if "\r" not in text:
        return lines
    return [line.removesuffix("\r") for line in lines]


def sha256_hex(data: str | bytes) -> str:
    """The SHA-256 of the bytes, or of the text in UTF-8, in lower-case hexadecimal."""
    # Lone surrogates have no UTF-8; `surrogatepass` keeps the digest total and injective for them too.
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return hashlib.sha256(raw).hexdigest()


def canonical_json(value: Any) -> str:
    """A JSON value with sorted keys, without spaces and without ASCII escaping; keys must be strings.

    Raises:
        ValueError: the value holds a number that is not finite.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def fence_for(text: str) -> str:
    """A fence nothing in the text can close: one backtick longer than its longest run, at least three."""
    if FENCE not in text:
        return FENCE
    return "`" * (max(map(len, _BACKTICKS.findall(text))) + 1)


def fenced(text: str, language: str = "") -> str:
    """The text in a fence that holds it, without a final newline."""
    fence = fence_for(text)
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{end}{fence}"


def is_single_line(text: str) -> bool:
    """Whether the text has no line break of any kind, no control character and no lone surrogate."""
    return _UNSAFE.search(text) is None


def single_line(text: str) -> str:
    """The text on one line, trimmed: each run of breaks and control characters becomes a space."""
    return _UNSAFE.sub(" ", text).strip()


def has_half_characters(value: Any) -> bool:
    """Whether a text, or one in a value or among its names, holds a lone surrogate."""
    if isinstance(value, str):
        return not value.isascii() and _SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(map(has_half_characters, value)) or any(map(has_half_characters, value.values()))
    return isinstance(value, list) and any(map(has_half_characters, value))


def toml_of(text: str) -> dict[str, Any]:
    """The tables of a text.

    Raises:
        ValueError: it is no TOML, or too much for the parser: nested too deep, or a key of too many parts.
    """
    if any(line.count(".") > MOST_DOTS for line in text.split("\n")):
        raise ValueError("a key of too many parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


MAX_LINES = 2000
LAST_LINE = 2_147_483_647
"""No line of any file has a higher number; every reader of a pack file can hold this one."""


@frozen
class LineRange:
    """Lines `start` to `end`, both counted from 1 and both included."""

    start: int
    end: int

    def __attrs_post_init__(self) -> None:
        start, end = self.start, self.end
        if start < 1:
            raise invalid("'line_start' must be at least 1", "line_start")
        if end < start:
            raise invalid("'line_end' must not be before 'line_start'", "line_end")
        if end - start >= MAX_LINES:
            raise invalid(f"a range holds at most {MAX_LINES} lines; split it into several refs", "line_end")
        if end > LAST_LINE:
            name = "line_start" if start > LAST_LINE else "line_end"
            raise invalid(f"'{name}' must be at most {LAST_LINE}", name)

    @classmethod
    def stored(cls, start: object, end: object) -> LineRange:
        """The range that a file describes, which may hold anything.

        Raises:
            Failure: `invalid_data`.
        """
        if type(start) is not int or type(end) is not int:
            raise invalid("lines must be two whole numbers", "lines")
        return cls(start, end)

    @property
    def count(self) -> int:
        """How many lines the range holds."""
        return self.end - self.start + 1

    def __str__(self) -> str:
        return f"{self.start}-{self.end}"


_SENTENCE_CHARS, _PARAGRAPH_CHARS = 200, 2000
_SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)")
_NO_END = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|St|Dr|No|approx)\.$")


def one_line(text: str, most: int = _SENTENCE_CHARS, part: str = "") -> str:
    """The text on one line, cut where it is longer than `most`, so that a part of it stays."""
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    at = flat.find(part)
    if at + len(part) >= most:  # a third of the room is for what comes behind the part
        start = min(at, max(at + len(part) - most * 2 // 3, 0))
        flat = "…" + flat[flat.find(" ", start, at) + 1 or start :]
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def first_sentence(text: str) -> str:
    """The first sentence of the first paragraph, on one line."""
    paragraph = " ".join(re.split(r"\n\s*\n", text[:_PARAGRAPH_CHARS].strip(), maxsplit=1)[0].split())
    at = end = 0
    # Where no sentence that begins here ends, none that begins later does: it need not be looked for there.
    while (sentence := _SENTENCE.match(paragraph, at)) is not None:
        at, end = sentence.end(), sentence.end(1)
        if not _NO_END.search(paragraph[:end]):
            break
    return one_line(paragraph[:end] or paragraph)


def counted(number: int, noun: str) -> str:
    """A count with its noun: 1 ref, 2 refs."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


PACK_ID_BYTES = 5

_PACK_ID = re.compile(r"pk_[a-z2-7]{8}")


def is_pack_id(text: str) -> bool:
    """Whether the text has the shape of a pack id."""
    return _PACK_ID.fullmatch(text) is not None


def pack_id(token: bytes) -> str:
    """The id that `PACK_ID_BYTES` random bytes spell; different bytes spell different ids.

    Raises:
        ValueError: the token has another size.
    """
    if len(token) != PACK_ID_BYTES:
        raise ValueError(f"a pack id is made of {PACK_ID_BYTES} bytes")
    return "pk_" + b32encode(token).decode("ascii").lower()


MOST_NEAR, LEAST_CLOSE = 3, 0.7


def close(word: str, words: Iterable[str]) -> list[str]:
    """The words most like one, whatever order they come in."""
    return get_close_matches(word, words, MOST_NEAR, LEAST_CLOSE)
