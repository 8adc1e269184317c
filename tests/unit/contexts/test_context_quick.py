# ruff: noqa: E501 -- sample sources and answers stand on one line, as they do in files
"""The quick look at a file never says anything that the YAML reader and the schema do not say too."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from context_trees import FORMAT, MINIMAL, context
from hypothesis import example, given
from hypothesis import strategies as st

from context_pack.contexts.domain.model import Context, ContextSummary, validated
from context_pack.contexts.domain.quick import gist_of
from context_pack.contexts.domain.schema import FIELDS, PROPERTIES


def slowly(data: bytes) -> ContextSummary | None:
    """What the long way says."""
    verdict = validated(FORMAT.parse(data))
    return verdict.gist if isinstance(verdict, Context) else None


def agrees(data: bytes) -> bool:
    """Whether the quick look is silent or right; says whether it spoke."""
    quick = gist_of(data)
    assert quick is None or quick == slowly(data), data.decode()
    return quick is not None


@pytest.mark.clause("CX-04")
def test_files_as_tools_write_them_are_recognised() -> None:
    lists: Any = {
        name: ["one", "two: three", "# four"] for name in ("exports", "testing", "todos", "derived_fields")
    }
    whole = context(
        files=[{"name": "a.py", "purpose": "A", "test_file": "t.py"}, {"name": "b", "purpose": "c"}],
        dependencies={"external": ["attrs >=24"], "internal": ["..a", ".b"]},
        subdirectories=[{"name": "core/", "summary": "Core: fast"}],
        project={"name": "p", "description": "d", "language": "l", "package_manager": "m"},
        structure=[{"path": "a", "summary": "b"}],
        interfaces=[],
        decisions=[{"what": "a", "why": "b"}],
        **lists,
    )
    assert agrees(whole.encode())
    assert agrees(MINIMAL.encode())
    indented = (
        "exports:\n  - a\n  - b\nfiles:\n  - name: x\n    purpose: y\ndependencies:\n  external:\n    - z\n"
    )
    assert agrees((MINIMAL + indented).encode())


@pytest.mark.clause("CX-04")
@pytest.mark.parametrize(
    "more",
    [
        "summary: again\n",
        "version: 1\n",
        "unknown: x\n",
        "exports: null\n",
        "exports:\n- 1\n",
        "exports:\n- ~\n",
        "exports:\n- yes\n- true\n",
        "exports:\n- .inf\n",
        "exports:\n- a\n - b\n",
        "exports:\n- a\n  - b\n",
        "exports:\n- a # not: me\n- b\n",
        "exports:\n- a: b\n",
        "exports:\n- a:\n",
        "exports:\n- 'it''s'\n",
        'exports:\n- "a\\n"\n',
        'exports:\n- "a" b\n',
        "exports:\n- - a\n",
        "exports:\n-  a\n",
        "exports:\n- a \n",
        "exports: {}\n",
        "exports:\n",
        "dependencies: []\n",
        "dependencies:\n  internal:\n  - a\n  internal:\n  - b\n",
        "dependencies:\n  other:\n  - a\n",
        "dependencies:\n  internal: []\n",
        "dependencies: {}\n",
        "files:\n- purpose: x\n  name: y\n",
        "files:\n- name: x\n",
        "files:\n- name: x\n  purpose: y\n  other: z\n",
        "project:\n  name: a\n",
        "project: {}\n",
        "evidence: {}\n",
        "evidence:\n  collected_at: x\n",
        "current_state:\n  working:\n  - a\n",
        "todos:\n- a\n---\n",
        "...\n",
        "---\n",
        "# comment\n",
        "todos:\n- \u2028\n",
        "todos:\n- a\u2029b\n",
        "todos:\n- a\x85b\n",
        "todos:\n- \ufeffa\n",
        "todos:\n- \u00e9\n- \u4e16\u754c\n",
        "todos:\n- a\tb\n",
        "todos:\n\t- a\n",
        "todos:\r\n- a\r\n",
        "todos:\n- *x\n",
        "todos:\n- &x a\n",
        "todos:\n- !t a\n",
        "todos:\n- [a]\n",
        "todos:\n- |\n  a\n",
        "todos:\n- a\n\n- b\n",
        "todos:\n- a\n\n\n",
    ],
)
def test_the_quick_reader_agrees_with_the_full_one_or_returns_nothing(more: str) -> None:
    agrees((MINIMAL + more).encode())


@pytest.mark.clause("CX-04")
@pytest.mark.parametrize(
    "line",
    [
        'fingerprint: "9e907689"', "fingerprint: 9e907689", "fingerprint: 01234589", "fingerprint: 124e120e",
        "fingerprint: e3b0c442", "fingerprint: 0x1f", "fingerprint: 1ee5", "fingerprint: 12a", "fingerprint: ''",
        "fingerprint: ~", "fingerprint:", "fingerprint: |-\n  abc", "fingerprint: 1.5", "fingerprint: .5a",
    ],
)  # fmt: skip
def test_a_fingerprint_is_never_taken_for_another_value(line: str) -> None:
    agrees(MINIMAL.replace('fingerprint: "00000000"', line).encode())


@pytest.mark.clause("CX-04")
@pytest.mark.parametrize("style", ["|", "|-", "|+", ">", "|2", "| # c"])
@pytest.mark.parametrize(
    "body", ["  a\n  b\n", "  a\n\n   b\n", "   a\n  b\n", "\n  a\n", "  # a\n", " a\n", "a\n", ""]
)
def test_the_quick_reader_takes_only_unambiguous_yaml_blocks(style: str, body: str) -> None:
    agrees(MINIMAL.replace("maintenance: Keep it true.\n", f"maintenance: {style}\n{body}").encode())
    agrees(MINIMAL.replace("summary: A folder.\n", f"summary: {style}\n{body}").encode())


WORDS = st.text(st.sampled_from("ab1:# -'\"\\.,[]{}|>&*!%@`~?é=<\n"), max_size=8)


def value_of(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that fit a schema, or nearly."""
    if schema["type"] == "string":
        return WORDS
    if schema["type"] == "array":
        return st.lists(value_of(schema["items"]), max_size=3)
    if schema["type"] == "object":
        return st.fixed_dictionaries({}, optional={k: value_of(v) for k, v in schema["properties"].items()})
    return st.sampled_from([1, 2, 50])


RECORDS = st.fixed_dictionaries(
    {
        name: value_of(PROPERTIES[name])
        for name in ("last_updated", "fingerprint", "scope", "summary", "maintenance")
    },
    optional={
        name: value_of(PROPERTIES[name]) for name in FIELDS if PROPERTIES[name]["type"] in ("array", "object")
    },
)


@pytest.mark.clause("CX-04")
@given(RECORDS, st.sampled_from(["ours", "block", "plain"]))
def test_both_readers_agree_on_random_contexts_of_three_writers(record: dict[str, Any], hand: str) -> None:
    whole = {"version": 1, **record}
    if hand == "ours":
        text = FORMAT.compose(whole).decode()
    else:
        style = "" if hand == "plain" else None
        text = yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, default_style=style, width=60)
    agrees(text.encode())


@pytest.mark.clause("CX-04")
@given(
    st.integers(0, 400), st.integers(0, 12), st.text(st.sampled_from("abc:# -\n'\"|1\t\r[]{}"), max_size=4)
)
@example(0, 0, "\n")
def test_the_quick_reader_agrees_about_damaged_files(at: int, drop: int, put: str) -> None:
    whole = context(exports=["a", "b c"], files=[{"name": "x", "purpose": "y z"}], todos=["one: two"])
    agrees((whole[:at] + put + whole[at + drop :]).encode())


@pytest.mark.clause("CX-04")
def test_no_text_makes_the_quick_reader_slow() -> None:
    for tail in (
        "todos:\n" + "- a\n" * 20_000 + "x",
        "todos:\n- " + "a:b " * 50_000,
        "maintenance: |\n" + "  x\n" * 50_000,
    ):
        assert gist_of((MINIMAL + tail).encode()) is None
