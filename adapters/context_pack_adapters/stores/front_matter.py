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

from context_pack.kernel.yaml_scalars import block_of, line_of
from context_pack_adapters.stores import yaml_core
from context_pack_adapters.stores.yaml_core import Malformed as Malformed
from context_pack_adapters.stores.yaml_core import Rules, core_scalar

MAX_DEPTH = 16

_FENCE = re.compile(rb"^---\r?$", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"


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
        head = f"{start}{line_of(key)}:"
        start = indent
        if isinstance(value, str):
            lines.append(f"{head} {block_of(value, indent + '  ') or line_of(value)}")
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
            lines.append(f"{indent}- {line_of(value) if isinstance(value, str) else _atom(value)}")


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
