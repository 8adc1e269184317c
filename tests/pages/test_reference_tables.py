"""The argument tables of the contract are exactly what the registry's command classes say.

`python -m pytest tests/pages --regenerate` writes them anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from attrs import NOTHING, frozen
from pages import contract, contract_pages

from context_pack.app import build
from context_pack.toolkit.arguments import Schema, arguments_of, schema_of
from context_pack.toolkit.registry import Registry
from context_pack.toolkit.schema_errors import rule_in_words
from context_pack.toolkit.spec import Tool
from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.settings import read_settings

TABLE = re.compile(r"<!-- arguments: ([a-z0-9_]+) -->\n(.*?)\n?<!-- /arguments -->", re.DOTALL)


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    """The real registry over an empty folder."""
    here = str(tmp_path_factory.mktemp("registry"))
    return build(open_ports(read_settings({}, here)))


@pytest.mark.clause("PG-04")
def test_the_contract_carries_the_table_of_every_tool_once(registry: Registry, regenerate: bool) -> None:
    if regenerate:
        for page in contract_pages():
            page.write_text(
                TABLE.sub(lambda found: table_of(registry.tools[found[1]]), page.read_text("utf-8")), "utf-8"
            )
    tables = TABLE.findall(contract())
    assert len(tables) == len(registry.tools)
    assert dict(tables) == {name: reference(each) for name, each in registry.tools.items()}


def table_of(each: Tool) -> str:
    """The tables of a tool between their marks."""
    return f"<!-- arguments: {each.name} -->\n{reference(each)}\n<!-- /arguments -->"


@pytest.mark.clause("PG-04")
def test_every_published_argument_is_in_the_table_and_in_a_command(registry: Registry) -> None:
    for each in registry.tools.values():
        rows = set(re.findall(r"^\| `([a-z_A-Z0-9]+)` \|", reference(each), re.MULTILINE))
        published = set(each.schema["properties"])
        of_commands = {
            name for command in each.commands.values() for name in schema_of(command)["properties"]
        }
        actions = set(each.commands) if each.selector is not None else set()
        assert published <= rows | {"action"}
        assert rows - actions <= published
        assert published - {"action"} == of_commands - {"action"}


@pytest.mark.clause("PG-04")
def test_the_shared_schema_admits_the_arguments_of_every_action(registry: Registry) -> None:
    for each in registry.tools.values():
        published = each.schema["properties"]
        for command in each.commands.values():
            for name, own in schema_of(command)["properties"].items():
                if name != "action":
                    assert is_as_wide(published[name], own), f"{each.name}: {name} of {command.__name__}"


def is_as_wide(published: Schema, own: Schema) -> bool:
    """Whether a value that passes a command's own schema passes the published one."""
    return (
        published["type"] == own["type"]
        and published.get("minLength", 0) <= own.get("minLength", 0)
        and published.get("maxLength", 10**9) >= own.get("maxLength", 0)
        and published.get("minimum", -(10**12)) <= own.get("minimum", -(10**12))
        and published.get("maximum", 10**12) >= own.get("maximum", 10**12)
        and published.get("maxItems", 10**9) >= own.get("maxItems", 0)
        and published.get("pattern", own.get("pattern")) == own.get("pattern")
        and published.get("enum", own.get("enum")) == own.get("enum")
    )


# --- the tables, made from the same command classes as the schemas


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
