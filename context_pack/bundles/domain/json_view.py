"""A JSON object that is still text: read when somebody looks into it.

An export may be megabytes. A server sends its text and never looks; parsing it for nobody, and handing out
the values that a bundle keeps, are both avoided this way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any


class JsonView(Mapping[str, Any]):
    """The object in a JSON text; whoever looks gets values of their own."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _value(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self._text)
        return value

    def __getitem__(self, key: str) -> Any:
        return self._value[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def __len__(self) -> int:
        return len(self._value)

    def __repr__(self) -> str:
        return repr(self._value)
