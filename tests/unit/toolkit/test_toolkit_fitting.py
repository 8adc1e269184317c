"""The quick yes to arguments: it never says another thing than jsonschema."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.toolkit.arguments import schema_of
from context_pack.toolkit.faults import Schema, problems_of, strict_validator
from context_pack.toolkit.fitting import fits
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


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_the_quick_check_agrees_with_jsonschema_on_every_command(name: str) -> None:
    schema = COMMANDS[name]
    validator = strict_validator(schema)

    @given(values(schema) | ODD)
    def agree(value: Any) -> None:
        assert fits(schema, value) == (not problems_of(validator, value))

    agree()


@pytest.mark.parametrize(
    "schema", [{}, {"type": ["string"]}, {"type": "string", "format": "uri"}, {"anyOf": []}]
)
def test_unknown_schema_rules_are_left_to_jsonschema(schema: Schema) -> None:
    assert not fits(schema, "text")


def test_arguments_that_keep_the_rules_load_no_jsonschema() -> None:
    program = (
        "import sys; from context_pack import open_memory_workspace as w; "
        "answer = w({'a.py': 'x'}).call('read_file', {'path': 'a.py', 'startLine': 1}); "
        "assert not answer.is_error, answer; assert 'jsonschema' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
