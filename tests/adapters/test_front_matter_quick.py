"""The quick reader of front matter: it says what YAML says, or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sample_packs import full_pack

from context_pack.packs.domain.record import to_record
from context_pack_adapters.stores import front_matter, pack_format, yaml_core
from context_pack_adapters.stores.front_matter import Malformed
from context_pack_adapters.stores.front_matter_quick import quick

KEYS = st.sampled_from(["key", "title", "refs", "lines", "null", "on", "a", "x_y", "no", "y", "true"])
TEXTS = st.text(alphabet="ab z:#-'\"\\|>[]{},&*!%@`~?\n\t 0123456789._\u2028\x85é\ufeff", max_size=14)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | TEXTS
    | st.sampled_from(
        ["null", "yes", "1.0", "0x1f", "1_000", "-", "- a", "a: b", "a #b", "word", "two words", ""]
    )
)
MAPPINGS = st.recursive(
    st.dictionaries(KEYS, SCALARS, max_size=4),
    lambda inner: st.dictionaries(KEYS, inner | SCALARS | st.lists(inner | SCALARS, max_size=4), max_size=4),
    max_leaves=8,
)
RECORDS = MAPPINGS.filter(bool)
ENDS = [
    "",
    "",
    "1",
    " 1",
    "word",
    " word",
    " two words",
    ' "q: #"',
    " |",
    " |-",
    " null",
    " []",
    " {}",
    " 'q'",
]
ENDS += [
    " 1.5",
    " -0",
    " 007",
    " word ",
    " #c",
    " &a b",
    " *a",
    " !x y",
    " yes",
    ' "a',
    ' "\\n"',
    " > ",
    "text",
]
LINES = st.lists(
    st.tuples(
        st.sampled_from(["", "  ", "    ", "      ", " "]),
        st.sampled_from(["", "", "- ", "-", "- - "]),
        st.sampled_from(["key:", "title:", "refs: ", "null:", "", "a:", "Key:", "key :", '"key":', "key:x"]),
        st.sampled_from(ENDS),
    ),
    min_size=1,
    max_size=8,
)


def by_yaml(front: bytes) -> Any:
    """What the one reader that knows all of YAML makes of it."""
    return yaml_core.load(front, front_matter._RULES)


@pytest.mark.clause("ST-03")
def test_a_pack_that_we_wrote_is_read_quickly() -> None:
    front = front_matter.split(pack_format.encode(full_pack()))
    plain = {**to_record(full_pack()), "sections": [], "title": "A title", "brief": "one\ntwo\n\n  three"}
    for data in (front_matter.split(front_matter.render(plain, "")), front):
        assert quick(data) == by_yaml(data)
    assert quick(front_matter.split(front_matter.render(plain, ""))) == plain


@pytest.mark.clause("ST-03", "ST-06")
@settings(max_examples=300)
@given(RECORDS)
@example({"key": {"title": [{"refs": ["a", {"key": "x"}], "title": "b"}], "lines": {"key": 1}}, "refs": []})
@example({"key": "a\nb", "title": "a\n\n  b\n", "refs": ["a\nb"]})
def test_what_was_written_is_read_as_yaml_reads_it(record: dict[str, Any]) -> None:
    front = front_matter.split(front_matter.render(record, ""))
    found = quick(front)
    if found is not None:
        assert found == record
        assert found == by_yaml(front)
        assert [type(value) for value in found.values()] == [type(value) for value in record.values()]


@pytest.mark.clause("ST-03", "ST-06")
@settings(max_examples=600)
@given(LINES)
def test_lines_that_nobody_wrote_are_read_as_yaml_reads_them_or_left_to_it(
    lines: list[tuple[str, str, str, str]],
) -> None:
    front = ("\n" + "".join("".join(parts) + "\n" for parts in lines)).encode()
    found = quick(front)
    if found is not None:
        assert found == by_yaml(front)


@pytest.mark.clause("ST-06")
@settings(max_examples=300)
@given(
    st.integers(0, 2000), st.sampled_from([b" ", b"\n", b"-", b":", b"#", b"\t", b'"', b"|", b"a", b"\xff"])
)
def test_a_damaged_file_is_read_as_yaml_reads_it_or_left_to_it(at: int, put: bytes) -> None:
    front = front_matter.split(pack_format.encode(full_pack()))
    at %= len(front)
    for damaged in (
        front[:at] + put + front[at:],
        front[:at] + put + front[at + 1 :],
        front[:at] + front[at + 1 :],
    ):
        found = quick(damaged)
        if found is not None:
            assert found == by_yaml(damaged)


@pytest.mark.clause("ST-06")
@pytest.mark.parametrize(
    "front", [b"", b"\n", b"key: 1\n", b"\nkey: 1", b"\nkey: 1\nkey: 1\n", b"\n- a\n", b"\n\n"]
)
def test_what_is_no_mapping_or_doubled_is_left_to_yaml(front: bytes) -> None:
    assert quick(front) is None
    if front in (b"\nkey: 1\nkey: 1\n", b"\n- a\n"):
        with pytest.raises(Malformed):
            front_matter.parse(front)
