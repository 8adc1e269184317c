"""Texts as YAML that every reader, of YAML 1.1 or 1.2, takes for the very same text.

A text is written plain only if no reader could take it for something else; several lines become a literal
block where that keeps them exactly; everything else is quoted with escapes that both versions know. How
mappings and lists are laid out is for those who write them.
"""

from __future__ import annotations

import re

# Certainly a plain string for every reader: words that begin with a letter, single spaces between them.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*(?: [A-Za-z0-9_./(][A-Za-z0-9_./()+,;-]*)*")
_AMBIGUOUS = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf", "infinity"]
)
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
# A block keeps its text as it stands unless a line has blanks where editors and readers disagree about them.
_NO_BLOCK = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|^[ \n]| $| \n|\n\n$"
)


def line_of(text: str) -> str:
    """A text on one line, plain if nobody can misread it; half a character is for the encoder to refuse."""
    if _PLAIN.fullmatch(text) and text.lower() not in _AMBIGUOUS:
        return text
    return f'"{_ESCAPED.sub(_escape, text)}"'


def block_of(text: str, indent: str) -> str | None:
    """Several lines as a literal block, indented; None where a block would not keep them exactly."""
    if "\n" not in text or _NO_BLOCK.search(text):
        return None
    head = "|" if text.endswith("\n") else "|-"
    body = "\n".join(indent + line if line else "" for line in text.removesuffix("\n").split("\n"))
    return f"{head}\n{body}"


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    return _SHORT.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
