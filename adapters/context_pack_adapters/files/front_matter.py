"""Markdown files with YAML front matter: a line `---`, YAML, a line `---`, a body.

What the values mean, and which may be there, is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from context_pack.kernel.yaml_documents import Malformed as Malformed
from context_pack.kernel.yaml_documents import dump, load

MAX_DEPTH = 16

_FENCE = re.compile(rb"^---\r?$", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"


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


def split(data: bytes) -> bytes:
    """The bytes between the first line, which is `---`, and the next such line."""
    return divide(data)[0]


def parse(front: bytes) -> dict[str, Any]:
    """The mapping that the front matter spells."""
    value = load(front, MAX_DEPTH)
    if not isinstance(value, dict):
        raise Malformed("the front matter is not a mapping")
    return value


def render(record: Mapping[str, Any], body: str) -> bytes:
    """A whole file: fence, front matter, fence, body.

    Raises:
        UnicodeEncodeError: a text holds half of a character.
    """
    return f"---\n{dump(record)}---\n{body}".encode()
