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
from collections.abc import Mapping
from typing import Any

from context_pack.kernel.yaml_text import yaml_text
from context_pack_adapters.stores import yaml_core
from context_pack_adapters.stores.written_yaml import written_mapping
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
    text = yaml_core.decoded(front)
    value: Any = written_mapping(text.removeprefix("\n"), MAX_DEPTH)
    if value is None:
        value = yaml_core.load(text, _RULES)
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
    return f"---\n{yaml_text(record, lists='')}---\n{body}".encode()
