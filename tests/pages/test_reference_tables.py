"""The argument tables of the contract are exactly what the registry's command classes say.

`python -m pytest tests/pages --regenerate` writes them anew.
"""

from __future__ import annotations

import re

import pytest
from pages import contract, contract_pages
from reference_tables import reference

from context_pack.toolkit.arguments import Schema, schema_of
from context_pack.toolkit.registry import Registry
from context_pack.toolkit.spec import Tool
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
