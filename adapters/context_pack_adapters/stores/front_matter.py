"""Markdown files with YAML front matter: the part of YAML that is read, and the part that is written.

Read: one document of mappings, lists and scalars under the YAML 1.2 core schema, so that timestamps and
`yes` stay text. Tags, anchors, aliases, duplicate keys, non-text keys and deep nesting are refused; how a
file is read is known to `yaml_core`. Written: strings that any YAML 1.1 or 1.2 reader could take for
something else are quoted, so that every reader gets equal values back. What the values mean, and which may
be there, is not known here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from context_pack_adapters.stores import yaml_core
from context_pack_adapters.stores.yaml_core import Malformed as Malformed
from context_pack_adapters.stores.yaml_core import Rules, core_scalar

MAX_DEPTH = 16

_FENCE = re.compile(rb"^---\r?$", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"

# Certainly a plain string for every reader: words that begin with a letter, single spaces between them.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*(?: [A-Za-z0-9_./(][A-Za-z0-9_./()+,;-]*)*")
_AMBIGUOUS = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf", "infinity"]
)
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
# A block keeps its text as it stands unless a line has blanks where editors and readers disagree about them.
_NO_BLOCK = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|^[ \n]| $| \n|\n\n$"
)


def split(data: bytes) -> bytes:
    """The bytes between the first line, which is `---`, and the next such line."""
    return divide(data)[0]


def divide(data: bytes) -> tuple[bytes, bytes]:
    """The front matter, and what follows the line that closes it."""
    data = data.removeprefix(_BOM)
    opening = _FENCE.match(data)
    if opening is None:
        raise Malformed("the first line is not '---'")
    closing = _FENCE.search(data, opening.end())
    if closing is None:
        raise Malformed("the front matter has no closing '---' line")
    return data[opening.end() : closing.start()], data[closing.end() :].removeprefix(b"\n")


def parse(front: bytes) -> dict[str, Any]:
    """The mapping that the front matter spells."""
    value = yaml_core.load(front, _RULES)
    if not isinstance(value, dict):
        raise Malformed("the front matter is not a mapping")
    return value


def _narrow(text: str) -> Any:
    """A scalar as core has it, but for numbers that no field could hold: those are text."""
    value = core_scalar(text) if len(text) <= 40 else text
    return text if isinstance(value, float) and not math.isfinite(value) else value


_RULES = Rules(max_depth=MAX_DEPTH, plain=True, text_keys=True, finite=True, resolve=_narrow)


def render(record: Mapping[str, Any], body: str) -> bytes:
    """A whole file: fence, front matter, fence, body.

    Raises:
        UnicodeEncodeError: a text holds half of a character.
    """
    lines = ["---"]
    _write_mapping(record, "", lines)
    lines += ["---", body]
    return "\n".join(lines).encode("utf-8")


def _write_mapping(record: Mapping[str, Any], indent: str, lines: list[str], dash: str = "") -> None:
    """Write the entries; a `dash` stands in the last columns of the first line's indent."""
    start = indent[: len(indent) - len(dash)] + dash
    for key, value in record.items():
        head = f"{start}{_text(key)}:"
        start = indent
        if isinstance(value, str):
            lines.append(f"{head} {_block(value, indent + '  ') or _text(value)}")
        elif isinstance(value, Mapping) and value:
            lines.append(head)
            _write_mapping(value, indent + "  ", lines)
        elif isinstance(value, Sequence) and value:
            lines.append(head)
            _write_list(value, indent, lines)
        else:
            lines.append(f"{head} {_atom(value)}")


def _write_list(values: Sequence[Any], indent: str, lines: list[str]) -> None:
    for value in values:
        if isinstance(value, Mapping) and value:
            _write_mapping(value, indent + "  ", lines, dash="- ")
        else:
            lines.append(f"{indent}- {_text(value) if isinstance(value, str) else _atom(value)}")


def _atom(value: Any) -> str:
    """A value that is neither text nor a filled collection."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping | Sequence) and not value:
        return "{}" if isinstance(value, Mapping) else "[]"
    raise TypeError(f"no front matter for {type(value).__name__}")


def _text(value: str) -> str:
    """A string on one line, plain if nobody can misread it."""
    if _PLAIN.fullmatch(value) and value.lower() not in _AMBIGUOUS:
        return value
    return f'"{_ESCAPED.sub(_escape, value)}"'


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        return char  # left for the encoder to refuse
    return _SHORT.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _block(value: str, indent: str) -> str | None:
    """Several lines as a literal block, where it keeps them exactly; else None."""
    if "\n" not in value or _NO_BLOCK.search(value):
        return None
    kept = value.endswith("\n")
    body = "\n".join(indent + line if line else "" for line in value.removesuffix("\n").split("\n"))
    return f"{'|' if kept else '|-'}\n{body}"
