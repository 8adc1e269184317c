"""How many tokens a text has, and answers that stay within them.

Models count by vocabularies of megabytes, each its own. Here a text is cut into the pieces that all of them
begin with (words, digits, punctuation, white space), and each piece has a price, fitted so that a text has no
more tokens in GPT's and Claude's tokenizers than is said, and code at most 15 % fewer than that
(benches/quality/tokens.py). Room is measured in bytes, which are quick to count; what was made is counted
once in tokens, and made again in less room where it has too many.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Protocol, TypeVar


class HasText(Protocol):
    """An answer, a page: what is shown is its text."""

    @property
    def text(self) -> str: ...


Made = TypeVar("Made", bound=HasText)

MOST_BYTES_PER_TOKEN = 4
"""An answer never has more, however cheap its text: what clients show of one they count in bytes."""
TRIES = 8
MOST_KEPT = 50_000
SAMPLES, SAMPLE_CHARS = 16, 512

_WORDS = bytes(code if code < 127 and chr(code).isalnum() else 32 for code in range(256))
_MARKS = bytes(code if code < 127 and not chr(code).isalnum() else 32 for code in range(33, 256)).rjust(256)
_OTHERS = bytes(code for code in range(256) if not (code < 32 or code >= 127) or chr(code) in "\t\r\n")
"""What is neither a control character nor outside ASCII."""
_PIECE = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]{1,3}|[A-Z]")
_RULE = re.compile(rb"(.)\1{3,}")


def estimate_tokens(text: str) -> int:
    """About as many tokens as a text has, rather too many than too few."""
    data = text.encode("utf-8", "surrogatepass")
    total, most = 0, len(data)  # no token is shorter than a byte
    if b"\\" in data:  # what JSON makes of line breaks, tabs and quotes; each gets shorter by one byte
        breaks = data.replace(b"\\n", b" ").replace(b"\\t", b" ")
        quotes = breaks.replace(b'\\"', b'"')
        total += 245 * (len(data) - len(breaks)) + 39 * (len(breaks) - len(quotes))
        data = quotes
    total += 122 * data.count(b"\n")
    if b"\t" in data:
        total += 43 * (data.count(b"\t") - data.count(b"\t\t"))
    total += sum(map(_price, data.translate(None, _OTHERS).decode("utf-8", "surrogatepass")))
    words, marks = _prices()
    total += sum(map(words.__getitem__, data.translate(_WORDS).split()))
    total += sum(map(marks.__getitem__, data.translate(_MARKS).split()))
    if len(words) + len(marks) > MOST_KEPT:
        _prices.cache_clear()
    return min(most, -(-total // 100))


def fitting(most: int, make: Callable[[int], Made], least: int = 0) -> Made:
    """Call `make` with about the most bytes for which its text has at most `most` tokens.

    `make` is called again in less room while there are too many tokens, and in more while there are far too
    few; `least` is the room that it needs.
    """
    low, high, best = least, room_of(most), None
    room = high
    for _ in range(TRIES):
        made = make(room)
        used = size(made.text)
        tokens = used if used <= most else _counted(made.text, used, most)
        if tokens <= most:
            low, best = room, made
            if room == high or tokens * 5 >= most * 4:
                break
            room = (low + high) // 2
        else:
            high = room
            room = (low + high) // 2 if best else max(low, min(room, used) * most * 98 // (tokens * 100))
        if high - low < most // 8:
            break
    return made if best is None else best


def _counted(text: str, used: int, most: int) -> int:
    """The tokens of a text; of a full page whose samples have too many only about as many, and cheaply."""
    if used > 4 * SAMPLES * SAMPLE_CHARS and used * 20 > room_of(most) * 19:
        step = len(text) // SAMPLES
        sample = "\n".join(text[at * step : at * step + SAMPLE_CHARS] for at in range(SAMPLES))
        about = estimate_tokens(sample) * used // size(sample)
        if about * 10 > most * 12:  # samples of real files are off by less than a tenth
            return about
    return estimate_tokens(text)


def room_of(tokens: int) -> int:
    """The bytes that an answer of so many tokens has at most."""
    return tokens * MOST_BYTES_PER_TOKEN


def size(text: str) -> int:
    """The bytes of a text in UTF-8; an ASCII text, the usual one, is not encoded for it."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class _Words(dict[bytes, int]):
    """Hundredths of a token that a run of letters and digits costs."""

    def __init__(self) -> None:
        from context_pack.toolkit.token_words import WORDS

        super().__init__()
        self.common = frozenset(WORDS.encode().split())

    def __missing__(self, run: bytes) -> int:
        price = self[run] = sum(map(self._piece, _PIECE.findall(run)))
        return price

    def _piece(self, piece: bytes) -> int:
        size = len(piece)
        if piece.isdigit():
            return 208
        if piece.lower() in self.common:
            return 91
        if piece.isupper():
            return 30 + 61 * (size - 1)
        return 108 if size < 3 else 180 + 5 * (size - 3)


class _Marks(dict[bytes, int]):
    """Hundredths of a token that a run of punctuation costs; a rule of one mark costs little."""

    def __missing__(self, run: bytes) -> int:
        rest, rules = _RULE.subn(b"", run)
        each = 99 if len(rest) == 1 else 53 if len(rest) < 6 else 66
        price = self[run] = 440 * rules + each * len(rest)
        return price


def _price(character: str) -> int:
    """Hundredths of a token that a control character or one outside ASCII costs."""
    return 105 if character < "\x80" else 188 if character < "\u0800" else 225


@cache
def _prices() -> tuple[_Words, _Marks]:
    """The prices of all runs seen so far: most come again and again.

    Without them a text takes three times as long (benches/side_by_side/read_file.py).
    """
    return _Words(), _Marks()
