"""The argument tables of the contract are exactly what the registry's command classes say.

`python -m pytest tests/architecture --regenerate` writes them anew.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from attrs import frozen
from pages import contract, contract_pages
from reference_tables import reference

from context_pack.kernel.errors import Failure
from context_pack.toolkit.arguments import Schema, arg, array, choice, integer, schema_of, text
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.registry import Registry
from context_pack.toolkit.schema_errors import rule_in_words
from context_pack.toolkit.spec import WRITES, Answer, FailedCall, Family, Tool, tool
from context_pack_adapters.logs import Log
from context_pack_adapters.registries import load_registry
from context_pack_adapters.settings import read_settings

TABLE = re.compile(r"<!-- arguments: ([a-z0-9_]+) -->\n(.*?)\n?<!-- /arguments -->", re.DOTALL)


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    """The real registry over an empty folder."""
    here = str(tmp_path_factory.mktemp("registry"))
    return load_registry(read_settings({}, here), Log("off"))


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


@frozen
class Step:
    kind: str = arg(choice("up", "down"), "Which way.")
    by: int | None = arg(integer(1, 5), "How far.", default=None)


@frozen
class Make:
    ttl: int = arg(integer(1, 100), "Minutes | to live.")
    name: str | None = arg(text(3, 120), "A name.", default=None)
    steps: tuple[Step, ...] = arg(array(Step, 1, 3), "What to do.", default=())


@frozen
class Look:
    limit: int = arg(integer(1, 500), "How many.", default=50)
    name: str | None = arg(text(1, 20, pattern="^a|b$"), "Another name.", default=None)


def serve(_: Any, __: Any) -> Answer:
    return Answer("done")


def refuse(failure: Failure, failed: FailedCall) -> Answer:
    return Answer(str(failure), is_error=True)


def test_a_tool_with_one_command_has_one_table_with_its_nested_fields() -> None:
    table = reference(tool("make", "Make", "Makes.", Family("f", refuse), Make, serve))
    assert table.splitlines() == [
        "| argument | type | default | meaning |",
        "| --- | --- | --- | --- |",
        r"| `ttl` | integer, 1 to 100 | required | Minutes \| to live. |",
        "| `name` | string, 3 to 120 characters | – | A name. |",
        "| `steps` | list of 1 to 3 × object | – | What to do. |",
        "| `steps[].kind` | one of `up`, `down` | required | Which way. |",
        "| `steps[].by` | integer, 1 to 5 | – | How far. |",
    ]


def test_an_action_tool_has_a_table_of_actions_and_a_row_per_rule() -> None:
    commands: dict[str, type] = {"make": Make, "look": Look}
    both = Tool(
        "both", "Both", "Does both.", Family("f", refuse), WRITES, commands, lambda _: Look, serve,
        selector=choice(*commands),
    )  # fmt: skip
    actions, arguments = reference(both).split("\n\n")
    assert actions.splitlines()[2:] == [
        "| `make` | `ttl` | `name`, `steps` |",
        "| `look` | – | `limit` (`50`), `name` |",
    ]
    rows = arguments.splitlines()[2:]
    assert "| `name` | string, 3 to 120 characters | `make` | A name. |" in rows
    assert r"| `name` | string, 1 to 20 characters, matching `^a\|b$` | `look` | Another name. |" in rows
    assert both.run(Look(), QuietCall()).text == "done"


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "boolean"}, "true or false"),
        ({"type": "number", "minimum": 0}, "number, at least 0"),
        ({"type": "string", "maxLength": 9, "pattern": r"\S"}, "string, at most 9 characters, not blank"),
        ({"type": "string", "minLength": 4, "maxLength": 4}, "string, 4 characters"),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 7}, "list of at most 7 × integer"),
    ],
)
def test_the_reference_table_describes_schema_rules_in_words(schema: dict[str, Any], words: str) -> None:
    assert rule_in_words(schema) == words
