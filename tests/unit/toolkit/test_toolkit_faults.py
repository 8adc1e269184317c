"""The check of arguments: it never says another thing than jsonschema, and knows every rule in use."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.validators import extend

from context_pack.contexts.domain.schema import CONTEXT_SCHEMA
from context_pack.kernel.text import has_half_characters
from context_pack.toolkit.arguments import schema_of
from context_pack.toolkit.faults import (
    VALUE_RULES,
    Schema,
    is_number,
    problems_of,
)
from context_pack_adapters import open_memory_workspace

REGISTRY = open_memory_workspace({})._loaded()
COMMANDS = {
    f"{tool.name}:{name}": json.loads(json.dumps(schema_of(command)))
    for tool in REGISTRY.tools.values()
    for name, command in tool.commands.items()
}
TEXTS = st.text(max_size=5) | st.sampled_from(
    ["a-key", "x" * 300, "draft", "pk_aaaaaaaa", "\ud800", " ", "a\n"]
)
ODD = st.one_of(
    TEXTS,
    st.none(),
    st.booleans(),
    st.integers(-3, 25_000),
    st.floats(),
    st.lists(st.text(max_size=2), max_size=2),
    st.dictionaries(st.text(max_size=2), st.none(), max_size=1),
)


def values(schema: Schema) -> st.SearchStrategy[Any]:
    """Values that mostly keep the rules of a schema."""
    kind = schema["type"]
    if kind == "object":
        wanted, inner = schema.get("required", []), schema["properties"]
        needed = {name: values(inner[name]) | ODD for name in wanted}
        rest = {name: values(rule) | ODD for name, rule in inner.items() if name not in wanted}
        return st.fixed_dictionaries(needed, optional=rest)
    if kind == "array":
        return st.lists(values(schema["items"]), max_size=3)
    low = schema.get("minimum", -5)
    high = schema.get("maximum", low + 100)
    if kind == "integer":
        return st.integers(low, high)
    if kind == "number":
        return st.floats(low, high)
    if kind == "boolean":
        return st.booleans()
    return st.sampled_from(schema["enum"]) if "enum" in schema else TEXTS


TYPES = Draft202012Validator.TYPE_CHECKER.redefine_many(
    {
        "integer": lambda _, value: is_number(value) and isinstance(value, int),
        "number": lambda _, value: is_number(value),
    }
)
make: Any = extend
STRICT = make(Draft202012Validator, type_checker=TYPES)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_the_check_agrees_with_jsonschema_on_every_command(name: str) -> None:
    schema = COMMANDS[name]
    judge = STRICT(as_jsonschema_reads(schema))

    @given(values(schema) | ODD)
    def agree(value: Any) -> None:
        is_whole_text = not has_half_characters(json.dumps(value, ensure_ascii=False))
        assert (not problems_of(schema, value)) == (judge.is_valid(value) and is_whole_text)

    agree()


def as_jsonschema_reads(schema: Any) -> Any:
    """A schema whose patterns end at the very end, where jsonschema would let a final newline follow."""
    if isinstance(schema, list):
        return [as_jsonschema_reads(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    read = {key: as_jsonschema_reads(value) for key, value in schema.items()}
    if isinstance(pattern := read.get("pattern"), str) and pattern.endswith("$"):
        read["pattern"] = pattern[:-1] + r"\Z"
    return read


def rules_in(schema: Schema) -> Iterator[str]:
    """Every rule of a schema and of those inside it."""
    yield from schema
    for inner in (*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])):
        yield from rules_in(inner)


def test_every_rule_of_a_command_or_context_is_checked() -> None:
    said = {"description", "default", "title", "$schema"}
    known = {*VALUE_RULES, *said, "properties", "required", "additionalProperties", "items"}
    for schema in (*COMMANDS.values(), CONTEXT_SCHEMA):
        assert set(rules_in(schema)) <= known


def test_checking_arguments_loads_no_jsonschema() -> None:
    program = (
        "import sys; from context_pack import open_memory_workspace as w; "
        "call = w({'a.py': 'x'}).call; answer = call('read_file', {'path': 'a.py', 'startLine': 1}); "
        "assert not answer.is_error, answer; assert call('read_file', {'path': 1}).is_error; "
        "assert 'jsonschema' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
