"""Pack files: what is written, what is read, what is refused."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sample_packs import NOON, full_pack, sample_pack

from context_pack.kernel.errors import Code, Failure
from context_pack.packs.model import Diagram, Pack, Section
from context_pack.packs.record import FIELDS as WRITTEN_FIELDS
from context_pack.packs.record import to_record
from context_pack_adapters.files import front_matter
from context_pack_adapters.packs import pack_format

ID = "pk_abcdefgh"
TRICKY = [
    "yes", "No", "on", "y", "~", "null", "NULL", "true", "1", "1.0", "-1", "0x1f", "0o7", "1_000", "1:30",
    ".5", "1e3", "2026-03-04", "2026-03-04T12:00:00Z", "=", "<<", "-", "- a", "? a", ": a", "a: b", "a:",
    "a #b", "#a", "@a", "`a`", "%a", "!a", "&a", "*a", "|", ">", "'a'", '"a"', "[a]", "{a}", "a,b", "---",
    "...", "--- a", " a", "a ", "\ta", "a\tb", "a\rb", "a\r\nb", "a\nb", "a\n", "\na", "a\n\nb", "a\n b",
    " a\nb", "a \nb", "a\n---\nb", "a\n...\nb", "a\x85b", "a\u2028b", "a\u2029b", "\ufeffa", "a\ufeffb",
    "\x00", "\x1b", "\x7f", "\x9f", "\ufffe", "\uffff", "\U0001f600", "é", "é\nß", "\\", "\\n", "a\\", '"',
    "#\n#", "\n", "", "a", "Ω: ω", "nan", ".inf", "a\u00a0b",
]  # fmt: skip
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(TRICKY)
FIELDS = [
    "id",
    "key",
    "title",
    "lines",
    "start",
    "end",
    "path",
    "refs",
    "sections",
    "tags",
    "revision",
    "expires_at",
]
YAML_READERS: list[Any] = [yaml.SafeLoader, yaml.CSafeLoader]


def file_of(**changes: Any) -> bytes:
    """A pack file with some fields of its front matter changed; a value of `...` removes the field."""
    record = {**to_record(full_pack()), **changes}
    return front_matter.render({key: value for key, value in record.items() if value is not ...}, "")


def with_ref(path: str, start: object, end: object) -> dict[str, Any]:
    """Sections with one ref."""
    ref = {"key": "ref1", "path": path, "lines": {"start": start, "end": end}}
    return {"sections": [{"key": "flow", "title": "T", "refs": [ref]}]}


def refusal(data: bytes, pack_id: str = ID) -> Failure:
    """What reading the bytes raises."""
    with pytest.raises(Failure) as told:
        pack_format.decode(data, pack_id)
    return told.value


@pytest.mark.clause("ST-01")
def test_a_file_is_front_matter_in_the_contract_order_and_a_body() -> None:
    data = pack_format.encode(full_pack())
    text = data.decode("utf-8")
    assert text.startswith("---\nschema_version: 2\nid: pk_abcdefgh\nname: null\n")
    assert "\r" not in text
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    record = yaml.safe_load(front)
    assert tuple(record) == ("schema_version", *WRITTEN_FIELDS[Pack])
    section = record["sections"][0]
    assert list(section) == ["key", "title", "description", "refs", "diagrams"]
    assert list(section["refs"][0]) == ["key", "path", "lines", "title", "why", "group", "anchor"]
    assert section["refs"][0]["lines"] == {"start": 42, "end": 67}
    assert section["refs"][1]["group"] is None
    assert list(section["diagrams"][0]) == ["key", "title", "mermaid", "why"]
    assert record["created_at"] == "2026-03-04T12:00:00Z"
    assert "# yes" in body
    assert "The flow: step by step [flow]: 2 refs, 1 diagrams" in body


@pytest.mark.clause("ST-01")
def test_a_full_pack_comes_back_equal() -> None:
    pack = full_pack(name="a name", expires_at=datetime(2026, 3, 5, 1, 2, 3, 456789, tzinfo=UTC))
    assert pack_format.decode(pack_format.encode(pack), ID) == pack


@pytest.mark.clause("ST-03")
@given(text=TEXTS, key=TEXTS.filter(lambda key: len(key) < 100))
@settings(max_examples=300)
def test_every_text_comes_back_exactly_from_every_reader(text: str, key: str) -> None:
    record = {"plain": text, "list": [text, {"inner": text, "deep": {"deeper": [text]}}], key: None, "n": 7}
    data = front_matter.render(record, text.replace("\n", " "))
    front = front_matter.split(data)
    assert front_matter.parse(front) == record
    for loader in YAML_READERS:
        assert yaml.load(front.decode("utf-8"), Loader=loader) == record


@pytest.mark.clause("ST-03")
@pytest.mark.parametrize("text", TRICKY)
def test_a_text_that_looks_like_something_else_stays_text(text: str) -> None:
    front = front_matter.split(front_matter.render({"a": text, "b": [text]}, ""))
    for value in (front_matter.parse(front), *(yaml.load(front, Loader=loader) for loader in YAML_READERS)):
        assert value == {"a": text, "b": [text]}


@pytest.mark.clause("ST-03")
@given(mermaid=TEXTS, description=TEXTS, title=TEXTS, tags=st.lists(TEXTS, max_size=3))
@example("graph TD\n\tA-->B\n", "a\n  b\n\n  c", "x", [])
def test_every_valid_pack_survives_a_round_trip(
    mermaid: str, description: str, title: str, tags: list[str]
) -> None:
    try:
        section = Section("flow", "T", description, (), (Diagram("graph", "D", mermaid),))
        pack = sample_pack(ID, title=title, tags=tuple(tags), sections=(section,))
    except Failure:
        return
    assert pack_format.decode(pack_format.encode(pack), ID) == pack


@pytest.mark.clause("ST-03")
def test_lines_are_written_as_lines_where_that_is_exact() -> None:
    text = front_matter.render(
        {"a": "one\n  two\n\nthree", "b": "one\ntwo\n", "c": "one\ttab\nx"}, ""
    ).decode()
    assert text == '---\na: |-\n  one\n    two\n\n  three\nb: |\n  one\n  two\nc: "one\\ttab\\nx"\n---\n'


@pytest.mark.clause("ST-03")
def test_a_lone_surrogate_is_refused_before_a_pack_is_written() -> None:
    pack = full_pack()
    object.__setattr__(pack, "title", "\ud800")
    with pytest.raises(Failure) as told:
        pack_format.encode(pack)
    assert told.value.code is Code.INVALID_DATA


@pytest.mark.clause("ST-01")
def test_readers_ignore_the_body_whatever_it_holds() -> None:
    front = front_matter.split(pack_format.encode(full_pack()))
    for body in (b"", b"\n", b"\n---\nid: x\n---\n", b"\n\xff\xfe\0", b"\nid: pk_zzzzzzzz\n--- \n"):
        assert pack_format.decode(b"---" + front + b"---" + body, ID) == full_pack()


@pytest.mark.clause("ST-01")
@pytest.mark.parametrize("ending", [b"", b"\n"])
def test_the_front_matter_ends_at_the_first_line_of_three_dashes(ending: bytes) -> None:
    assert front_matter.split(b"---\na: 1\n--- \n----\n ---\n---" + ending) == b"\na: 1\n--- \n----\n ---\n"
    for data in (
        b"",
        b"---",
        b"---\n",
        b"---\na: 1\n",
        b"a: 1\n---\n",
        b"\n---\na: 1\n---\n",
        b"--- \na: 1\n---\n",
    ):
        with pytest.raises(front_matter.Malformed):
            front_matter.split(data)


@pytest.mark.clause("ST-05")
def test_a_file_that_a_person_saved_with_other_line_ends_is_read() -> None:
    data = pack_format.encode(full_pack())
    assert pack_format.decode(data.replace(b"\n", b"\r\n"), ID) == full_pack()
    assert pack_format.decode(b"\xef\xbb\xbf" + data, ID) == full_pack()


@pytest.mark.clause("ST-05")
def test_the_file_of_another_implementation_is_read() -> None:
    data = b"""---
schema_version: 2
id: pk_abcdefgh
name: my-pack
title: 'It''s: a title'
brief: null
status: finalized
tags:
- auth
- 'yes'
sections:
- key: flow
  title: Flow
  description: ~
  refs:
  - key: entry
    path: src/main.rs
    lines:
      start: 1
      end: 3
    title: null
    why: null
    group: core
  diagrams: []
revision: 5
created_at: 2026-02-20T12:00:00.123456789Z
updated_at: 2026-02-20T12:00:00Z
expires_at: 2026-02-20T13:00:00+01:00
---

# anything
"""
    pack = pack_format.decode(data, ID)
    assert (pack.title, pack.tags, pack.revision) == ("It's: a title", ("auth", "yes"), 5)
    assert pack.created_at == datetime(2026, 2, 20, 12, 0, 0, 123456, tzinfo=UTC)
    assert pack.expires_at == pack.updated_at
    assert pack.sections[0].refs[0].anchor is None


@pytest.mark.clause("ST-05")
def test_scalars_mean_what_yaml_1_2_says() -> None:
    front = b"a: yes\nb: 010\nc: 0o10\nd: 0x1F\ne: 1_0\nf: 12:30\ng: 2026-01-01\nh: TRUE\ni: ~\nj:\n"
    front += b"k: -7\nl: 1.5\no: +3"
    assert front_matter.parse(front) == {
        "a": "yes", "b": 10, "c": 8, "d": 31, "e": "1_0", "f": "12:30", "g": "2026-01-01", "h": True,
        "i": None, "j": None, "k": -7, "l": 1.5, "o": 3,
    }  # fmt: skip


@pytest.mark.clause("ST-06")
@pytest.mark.parametrize(
    ("front", "words"),
    [
        ("a: 1\na: 2", "a key appears twice, line 3"),
        ("a: {b: 1, b: 2}", "a key appears twice"),
        ("a: *x", "an alias"),
        ("a: !!python/object/apply:os.system [id]", "a tag that"),
        ("? [a]\n: b", "a key is not text"),
        ("? {a: 1}\n: b", "a key is not text"),
        ("a: 1\n...\n---  \nb: 2", "more than one document"),
        ("- a", "not a mapping"),
        ("just text", "not a mapping"),
        ("", "empty"),
        ("# nothing", "empty"),
        ("a: [", "not valid YAML"),
        ("a: 'b", "not valid YAML"),
        ("a:\n\t- b", "not valid YAML"),
        ("a: \x01", "not valid YAML"),
        ("a: " + "[" * 100 + "]" * 100, "nested deeper"),
        ("\n".join("  " * depth + "a:" for depth in range(100)), "nested deeper"),
    ],
)
def test_yaml_outside_the_subset_is_malformed_with_a_reason(front: str, words: str) -> None:
    failure = refusal(f"---\n{front}\n---\n".encode())
    assert failure.code is Code.MALFORMED_PACK
    assert words in failure.details["reason"]


@pytest.mark.clause("ST-06")
def test_bytes_that_are_no_utf8_are_malformed() -> None:
    assert "UTF-8" in refusal(b"---\na: \xff\n---\n").details["reason"]


@pytest.mark.clause("ST-06")
def test_a_reason_never_quotes_the_file() -> None:
    for front in ("secret: [secret", "secret: 'secret", "secret: 1\nsecret: 2", "secret: *secret", "secret"):
        assert "secret" not in str(refusal(f"---\n{front}\n---\n".encode()).details)


@pytest.mark.clause("ST-06")
def test_hostile_files_of_full_size_are_refused_quickly() -> None:
    size = pack_format.MAX_FILE_BYTES - 10
    limit = sys.getrecursionlimit()
    for filling in (b"[", b"{a: ", b"- ", b"? ", b"a: &a [*a,", b"'", b'"'):
        data = b"---\n" + filling * (size // len(filling)) + b"\n---\n"
        assert refusal(data).code is Code.MALFORMED_PACK
    assert sys.getrecursionlimit() == limit


@pytest.mark.clause("ST-06")
@given(
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: f"---\n{text}\n---\n".encode("utf-8", "replace"))
)
@settings(max_examples=300)
def test_no_bytes_make_reading_fail_in_any_other_way(data: bytes) -> None:
    assert refusal(data).code in (Code.MALFORMED_PACK, Code.MIGRATION_REQUIRED)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=6,
)


@pytest.mark.clause("ST-06")
@given(data=st.data())
@settings(max_examples=300)
def test_a_file_with_anything_in_any_place_is_a_pack_or_malformed(data: st.DataObject) -> None:
    record = to_record(full_pack())
    place: Any = record
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            place[key] = data.draw(VALUES)
            break
        place = place[key]
    if data.draw(st.booleans()):
        record[data.draw(st.sampled_from(FIELDS))] = data.draw(VALUES)
    written = front_matter.render(record, "")
    assert front_matter.parse(front_matter.split(written)) == record
    try:
        pack = pack_format.decode(written, ID)
    except Failure as failure:
        assert failure.code in (Code.MALFORMED_PACK, Code.MIGRATION_REQUIRED)  # noqa: PT017
    else:
        assert pack_format.decode(pack_format.encode(pack), ID) == pack


@pytest.mark.clause("ST-06")
@given(cut=st.integers(0, 2000), put=st.binary(max_size=4), length=st.integers(0, 30))
@settings(max_examples=300)
def test_a_damaged_file_is_a_pack_or_malformed(cut: int, put: bytes, length: int) -> None:
    whole = pack_format.encode(full_pack())
    damaged = whole[:cut] + put + whole[cut + length :]
    try:
        pack_format.decode(damaged, ID)
    except Failure as failure:
        assert failure.code in (Code.MALFORMED_PACK, Code.MIGRATION_REQUIRED)  # noqa: PT017


@pytest.mark.clause("ST-06")
@pytest.mark.parametrize(
    "changes",
    [
        {"id": "pk_zzzzzzzz"},
        {"id": "nope"},
        {"id": None},
        {"id": ...},
        {"name": "ab"},
        {"name": "pk_aaaaaaaa"},
        {"name": "two\nlines"},
        {"name": 5},
        {"title": "two\nlines"},
        {"title": 5},
        {"status": "open"},
        {"status": ...},
        {"tags": "text"},
        {"tags": [1]},
        {"sections": {}},
        {"sections": [1]},
        {"sections": [{"key": "flow", "title": "T"}, {"key": "flow", "title": "U"}]},
        {"sections": [{"key": "Flow", "title": "T"}]},
        {"sections": [{"key": "flow", "title": "T", "extra": 1}]},
        with_ref("../a", 1, 2),
        with_ref("/a", 1, 2),
        with_ref("a", 2, 1),
        with_ref("a", 1, 2001),
        with_ref("a", "1", 2),
        {
            "sections": [
                {"key": "flow", "title": "T", "diagrams": [{"key": "dia", "title": "D", "mermaid": ""}]}
            ]
        },
        {"revision": 0},
        {"revision": "1"},
        {"revision": True},
        {"revision": ...},
        {"created_at": "yesterday"},
        {"updated_at": 5},
        {"expires_at": None},
        {"expires_at": ...},
        {"schema_version": None},
        {"schema_version": ...},
        {"schema_version": True},
    ],
)
def test_every_rule_of_a_pack_is_checked_again_when_it_is_read(changes: dict[str, Any]) -> None:
    failure = refusal(file_of(**changes))
    assert failure.code is Code.MALFORMED_PACK
    assert failure.details["reason"]


@pytest.mark.clause("ST-08")
@pytest.mark.parametrize("version", [1, 3, 0, "2", "two"])
def test_another_schema_version_asks_for_a_migration(version: object) -> None:
    for changes in ({}, {"surprise": 1, "revision": "new"}):
        failure = refusal(file_of(schema_version=version, **changes))
        assert failure.code is Code.MIGRATION_REQUIRED
        assert failure.details == {"found": version, "supported": 2}


@pytest.mark.clause("ST-01")
def test_a_pack_that_no_reader_would_take_is_refused_by_the_writer() -> None:
    section = Section("flow", "T", "x" * 9_000_000)
    with pytest.raises(Failure) as told:
        pack_format.encode(sample_pack(ID, sections=(section,)))
    assert told.value.code is Code.INVALID_DATA
    assert re.search("split", told.value.message)


@pytest.mark.clause("ST-01")
def test_every_write_renders_the_body_again() -> None:
    first = pack_format.encode(full_pack())
    later = attrs.evolve(full_pack(), revision=2, expires_at=NOON + timedelta(days=1))
    assert b"revision 1, expires 2026-03-04T13:00:00Z" in first
    assert b"revision 2, expires 2026-03-05T12:00:00Z" in pack_format.encode(later)
