"""Reads back what `yaml_text` wrote, without PyYAML, which takes a fifth of a first call to load.

Any shortcut is allowed here, because what was read is written again and compared: a text that `yaml_text`
would not have written in every character, such as one that somebody edited, is left to `yaml_core`.
"""

from __future__ import annotations

import json
from typing import Any

from context_pack.kernel.yaml_text import yaml_text

MOST_DIGITS = 40
_ATOMS: dict[str, Any] = {"null": None, "true": True, "false": False, "[]": [], "{}": {}}


def written_mapping(text: str, max_depth: int) -> dict[str, Any] | None:
    """The mapping that was written as this text with `lists=""`; None if it was not, or is too deep."""
    try:
        value = _Lines(text.split("\n")[:-1], max_depth).mapping("")
    except (ValueError, IndexError, RecursionError):
        return None
    return value if value and yaml_text(value, lists="") == text else None


class _Lines:
    """Takes the lines one after the other; whatever is unexpected raises ValueError or IndexError."""

    def __init__(self, lines: list[str], max_depth: int) -> None:
        self._lines, self._at, self._depth = lines, 0, max_depth

    def mapping(self, indent: str) -> dict[str, Any]:
        """The fields whose names stand behind this indent."""
        found: dict[str, Any] = {}
        while self._begins(indent) and not self._begins(f"{indent}-"):
            name, colon, rest = self._taken(indent).partition(":")
            if not colon or name.startswith('"'):
                raise ValueError
            found[name] = self._value(rest, indent, indent)
        return found

    def _list(self, indent: str) -> list[Any]:
        """The items whose dashes stand behind this indent."""
        found = []
        while self._begins(f"{indent}-"):
            rest = self._lines[self._at][len(indent) + 1 :]
            if ":" in rest and not rest.startswith(' "'):
                self._lines[self._at] = f"{indent} {rest}"  # the first field of a mapping, behind its dash
                found.append(self._nested(self.mapping, f"{indent}  "))
            else:
                self._at += 1
                found.append(self._value(rest, indent, f"{indent}  "))
        return found

    def _value(self, rest: str, indent: str, lists: str) -> Any:
        """What stands behind a head with this indent, on its line or on those below."""
        if rest:
            return self._block(f"{indent}  ", rest) if rest in (" |", " |-") else _scalar(rest[1:])
        if self._begins(f"{lists}-"):
            return self._nested(self._list, lists)
        return self._nested(self.mapping, f"{indent}  ")

    def _nested(self, read: Any, indent: str) -> Any:
        self._depth -= 1
        if self._depth <= 0:
            raise ValueError
        found = read(indent)
        self._depth += 1
        return found

    def _block(self, indent: str, head: str) -> str:
        """The lines of a literal block."""
        lines = []
        while self._at < len(self._lines) and (self._begins(indent) or not self._lines[self._at]):
            lines.append(self._taken(indent))
        return "\n".join(lines) + ("\n" if head == " |" else "")

    def _begins(self, start: str) -> bool:
        return self._at < len(self._lines) and self._lines[self._at].startswith(start)

    def _taken(self, indent: str) -> str:
        line = self._lines[self._at][len(indent) :]
        self._at += 1
        return line


def _scalar(text: str) -> Any:
    if text[0] == '"':
        return json.loads(text)
    if text in _ATOMS:
        value = _ATOMS[text]
        return value.copy() if isinstance(value, dict | list) else value
    if text[0] not in "-0123456789":
        return text
    if len(text) > MOST_DIGITS:
        raise ValueError
    return int(text) if text.removeprefix("-").isdigit() else float(text)
