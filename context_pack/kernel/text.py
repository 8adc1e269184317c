"""Text: what counts as a text file, its lines, digests of it, and foreign text in Markdown.

A text file is UTF-8 without a NUL near its start. A line ends at `\\n` and nowhere else: form feeds, U+0085,
U+2028 and lone `\\r` stay inside a line, which is why `str.splitlines` must not be used on source text.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from typing import Any

from context_pack.kernel.ports import Reason

SNIFFED_BYTES = 8192
MIN_FENCE = 3
MOST_DOTS = 500
"""In a line of TOML: the parser takes time with the square of them."""
FENCE = "`" * MIN_FENCE

_BACKTICKS = re.compile(r"`+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def decode(data: bytes) -> str | Reason:
    """The text without its byte order mark, or the reason why it is not one."""
    if data.find(b"\0", 0, SNIFFED_BYTES) >= 0:
        return Reason.BINARY
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return Reason.NOT_UTF8


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
