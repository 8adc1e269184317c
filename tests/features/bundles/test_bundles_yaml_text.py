"""YAML answers: the same values for readers of YAML 1.1 and 1.2."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from bundle_maker import desk_of, nodes, target
from hypothesis import example, given
from hypothesis import strategies as st

from context_pack.kernel.yaml_documents import dump, load

READERS_1_1 = (yaml.SafeLoader, yaml.CSafeLoader)
TRICKY = [
    "yes", "No", "on", "OFF", "y", "n", "true", "null", "~", "", " ", "1", "0x1F", "0o17", "1_000", "1e3",
    "12:30:45", "2026-02-13", "2026-02-13T10:00:00Z", ".inf", "-.inf", ".nan", "=", "<<", "- a", "a: b",
    "a #b", "#", "&a", "*a", "!x", "%x", "@x", "`x", "[", "]", "{", "}", ",", "?", ":", "|", ">", "'", '"',
    "\\", "---", "...", "a\n", "\na", "a\n\nb", "a\nb\n\n", " a\nb", "a \nb", "a\tb\nc", "tab\t", "\r",
    "a\r\nb", "\x00", "\x07", "\x7f", "\x85", "\xa0", "\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff", "😀",
    "a" * 2000, "Infinity", "NaN", "None", "a\n  b\n\tc", "# a\n# b", "key: |\n  x", "x\n---\ny",
    "x\n...\n",
]  # fmt: skip


def everywhere(text: str) -> list[Any]:
    """What every reader takes the text for."""
    found = [yaml.load(text, Loader=loader) for loader in READERS_1_1]
    return [*found, load(text, max_depth=1000)]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30)
    | st.sampled_from(TRICKY),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8) | st.sampled_from(TRICKY), inner, max_size=3)
    ),
    max_leaves=10,
)


@pytest.mark.clause("BD-38")
@given(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4))
@example({"a": [[], {}, [[]], [{}], [[1, [2]]], [{"a": []}, {"b": {}}]]})
@example({"k" * 1500: {"m" * 1500: [1]}})
def test_any_value_comes_back_equal_in_every_reader(value: dict[str, Any]) -> None:
    for found in everywhere(dump(value)):
        assert found == value


@pytest.mark.clause("BD-38")
def test_an_export_as_yaml_is_the_same_envelope() -> None:
    files = nodes({"a": ["b"], "b": ["a", "gone"]})
    files["bundle/node/0001.yaml"] |= {
        "text": "two\nlines\n",
        "yes": "no",
        "date": "2026-01-01",
        "n": [1.0, 1e30, None],
    }
    desk = desk_of(files)
    as_json = desk.call("export_context", targets=[target("a")])
    as_yaml = desk.call("export_context", targets=[target("a")], format="yaml")
    expected = json.loads(as_json.text)
    expected["data"]["exportMeta"]["format"] = "yaml"
    expected["meta"]["digest"] = (as_yaml.structured or {})["meta"]["digest"]
    assert as_yaml.structured == expected
    assert not as_yaml.is_error
    for found in everywhere(as_yaml.text):
        assert found == expected
    assert "text: |\n" in as_yaml.text


@pytest.mark.clause("BD-38", "BD-37")
def test_an_error_is_json_in_both_formats() -> None:
    error = desk_of(nodes({"a": []})).refused("export_context", targets=[target("x")], format="yaml")
    assert error["code"] == "NOT_FOUND"
