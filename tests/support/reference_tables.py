"""A tool's arguments as Markdown tables, made from the same command classes as its schema.

The contract carries these tables and a test compares them with what is rendered here, so the published
contract, the schema that clients see and the command that a use case gets cannot disagree.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from attrs import NOTHING, frozen

from context_pack.toolkit.arguments import Schema, arguments_of
from context_pack.toolkit.schema_errors import rule_in_words
from context_pack.toolkit.spec import Tool


@frozen
class Row:
    """One argument under one rule: its name, its type in words, when it is needed, its meaning."""

    name: str
    rule: str
    presence: str
    meaning: str


def reference(tool: Tool) -> str:
    """The tables of one tool: for an action tool its actions first, then every argument."""
    if tool.selector is None:
        (command,) = tool.commands.values()
        return _table(("argument", "type", "default", "meaning"), (_cells(row) for row in _rows(command)))
    return "\n\n".join((_actions(tool), _table(("argument", "type", "actions", "meaning"), _shared(tool))))


def _rows(command: type) -> Iterator[Row]:
    for name, argument, default in arguments_of(command):
        presence = "required" if default is NOTHING else _default(default) or "–"
        schema = argument.schema()
        yield Row(name, rule_in_words(schema), presence, argument.description)
        yield from _nested(name, schema)


def _default(default: Any) -> str:
    """A published default as JSON; nothing where an absent argument is simply absent."""
    return "" if default is None or default == () else f"`{json.dumps(default, ensure_ascii=False)}`"


def _nested(name: str, schema: Schema) -> Iterator[Row]:
    """The fields of an object, or of a list's objects, as rows of their own.

    A field without a word of its own is one that stands elsewhere in the table, and is left out.
    """
    if schema.get("type") == "array":
        name, schema = f"{name}[]", schema["items"]
    required = schema.get("required", ())
    for inner, rule in schema.get("properties", {}).items():
        if "description" not in rule and "enum" not in rule:
            continue
        presence = "required" if inner in required else "–"
        yield Row(f"{name}.{inner}", rule_in_words(rule), presence, rule.get("description", ""))
        yield from _nested(f"{name}.{inner}", rule)


def _actions(tool: Tool) -> str:
    """Which arguments each action needs and takes."""
    lines = []
    for action, command in tool.commands.items():
        required: list[str] = []
        optional: list[str] = []
        for name, _, default in arguments_of(command):
            if name == "action":
                continue
            if default is NOTHING:
                required.append(f"`{name}`")
            else:
                optional.append(f"`{name}`" + (f" ({_default(default)})" if _default(default) else ""))
        lines.append((f"`{action}`", ", ".join(required) or "–", ", ".join(optional) or "–"))
    return _table(("action", "required", "optional"), lines)


def _shared(tool: Tool) -> Iterator[tuple[str, ...]]:
    """Every argument of an action tool once per rule; where rules differ, each row names its actions."""
    seen: dict[tuple[str, str, str], list[str]] = {}
    for action, command in tool.commands.items():
        for row in _rows(command):
            if row.name != "action":
                seen.setdefault((row.name, row.rule, row.meaning), []).append(action)
    order = {name: place for place, (name, _, _) in reversed(list(enumerate(seen)))}
    for (name, rule, meaning), actions in sorted(seen.items(), key=lambda item: order[item[0][0]]):
        every = len(actions) == len(tool.commands)
        yield f"`{name}`", rule, "all" if every else ", ".join(f"`{action}`" for action in actions), meaning


def _cells(row: Row) -> tuple[str, ...]:
    return f"`{row.name}`", row.rule, row.presence, row.meaning


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table; a bar inside a cell is escaped and a newline becomes a space."""
    cells = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in cells)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())
