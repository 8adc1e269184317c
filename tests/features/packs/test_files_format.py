"""Pack files: what is written, what is read, what is refused."""

from __future__ import annotations

import copy
import re
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from sample_packs import full_pack, sample_pack

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import LineRange
from context_pack.packs.anchors import Anchor
from context_pack.packs.changes import put_ref
from context_pack.packs.model import Diagram, Pack, Ref, Section
from context_pack.packs.record import FIELDS as WRITTEN_FIELDS
from context_pack.packs.record import from_record, to_record
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
def test_a_file_is_front_matter_in_the_contract_order_and_a_body_with_the_prose() -> None:
    text = pack_format.encode(full_pack()).decode("utf-8")
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    assert "\r" not in text
    assert ": null" not in front
    record = yaml.safe_load(front)
    order = ("schema_version", *WRITTEN_FIELDS[Pack], "written")
    assert tuple(record) == tuple(name for name in order if name in record)
    (section,) = record["sections"]
    assert list(section) == ["key", "refs", "diagrams"]
    assert list(section["refs"][0]) == ["key", "path", "lines", "title", "why", "group", "anchor"]
    assert section["refs"][0]["anchor"]["digest"] == "0" * 16
    assert section["refs"][1] == {
        "key": "plain",
        "path": "docs/no anchor.md",
        "lines": {"start": 1, "end": 1},
    }
    assert section["diagrams"] == [{"key": "graph"}]
    assert record["created_at"] == "2026-03-04T12:00:00Z"
    assert body.startswith("\n## The flow: step by step [flow]\n\n    code()\n\nFirst.\n")
    assert "\n#### Who calls whom [graph]\n- why: To see it\n\n```mermaid\ngraph TD\n" in body


@pytest.mark.clause("ST-02")
def test_what_a_person_edits_in_the_body_is_read() -> None:
    sections = (*full_pack().sections, Section("next", "Next", "Second."))
    text = pack_format.encode(full_pack(sections=sections)).decode("utf-8")
    edited = text.replace("First.", "Primarily.\n\n## A heading without a key").replace("-->B", "-->C")
    head, body = edited.replace("## Next [next]", "## Later on [next] ").split("\n---\n\n", 1)
    first, _, second = body.partition("## Later")
    for moved in (f"{first}## Later{second}", f"## Later{second}\n{first}"):
        data = f"{head}\n---\n\n{moved}".encode()
        for saved in (data, data.replace(b"\n", b"\r\n")):
            read = {section.key: section for section in pack_format.decode(saved, ID).sections}
            assert list(read) == (["flow", "next"] if moved.startswith(first) else ["next", "flow"])
            assert (read["next"].title, read["next"].description) == ("Later on", "Second.")
            assert "Primarily.\n\n## A heading" in str(read["flow"].description)
            assert read["flow"].diagrams[0].mermaid == "graph TD\n  A-->C\n  %% --- not a fence"
            assert read["flow"].refs == full_pack().sections[0].refs


@pytest.mark.clause("ST-02")
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("## The flow: step by step [flow]", "## The flow", "no heading with [flow]"),
        ("First.", "## Other [other]\n\nFirst.", "[other] too many"),
        ("First.", "## Flow [flow]\n\nFirst.", "[flow] too many"),
        ("First.", "#### Another [another]", "[another] too many"),
        ("\n## The", "\nWords.\n\n## The", "above its first section"),
        ("```mermaid", "```text", "'graph' must be one Mermaid fence"),
        ("not a fence\n```", "not a fence\n```\nWords.", "'graph' must be one Mermaid fence"),
        ("  refs:", "  description: x\n  refs:", "text twice"),
        ("- key: flow", "- key: [flow]", "no heading with"),
        ("First.", "\udcff", "not UTF-8"),
    ],
)
def test_a_body_that_cannot_be_read_right_is_refused_in_words(old: str, new: str, words: str) -> None:
    text = pack_format.encode(full_pack()).decode("utf-8")
    assert text.count(old) == 1
    failure = refusal(text.replace(old, new).encode("utf-8", "surrogateescape"))
    assert failure.code is Code.MALFORMED_PACK
    assert words in failure.details["reason"]


@pytest.mark.clause("ST-02")
@pytest.mark.parametrize(
    "text", ["## Flow [flow]", "a\n## B [bb] ", "#### D [graph]", "a\rb", "a\0b", "```\n## X [xx]\n```"]
)
def test_prose_that_would_not_read_back_from_a_body_stays_in_the_front_matter(text: str) -> None:
    section = Section("flow", "Flow", text, (), (Diagram("graph", "D", "graph TD"),))
    pack = sample_pack(ID, sections=(Section("plain", "Plain", "Words."), section))
    data = pack_format.encode(pack)
    assert pack_format.decode(data, ID) == pack
    assert front_matter.divide(data)[1] == b"\n## Plain [plain]\n\nWords.\n"


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
    data = pack_format.encode(pack)
    assert pack_format.decode(data, ID) == pack
    front = front_matter.split(data)
    assert yaml.safe_load(front.decode("utf-8")) == front_matter.parse(front)


@pytest.mark.clause("ST-05")
def test_of_an_older_file_the_body_is_ignored_whatever_it_holds() -> None:
    for body in (b"", b"\n", b"\n---\nid: x\n---\n", b"\n\xff\xfe\0", b"\nid: pk_zzzzzzzz\n--- \n"):
        assert pack_format.decode(file_of() + body, ID) == full_pack()


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


@pytest.mark.clause("ST-06")
@pytest.mark.parametrize(
    ("front", "words"),
    [
        ("a: 1\na: 2", "a key appears twice, line 3"),
        ("- a", "not a mapping"),
        ("", "empty"),
        ("a: [", "not valid YAML"),
        ("a: " + "[" * 100 + "]" * 100, "nested deeper"),
    ],
)
def test_yaml_outside_the_subset_is_malformed_with_a_reason(front: str, words: str) -> None:
    failure = refusal(f"---\n{front}\n---\n".encode())
    assert failure.code is Code.MALFORMED_PACK
    assert words in failure.details["reason"]


@pytest.mark.clause("ST-06")
@pytest.mark.parametrize(
    "changes",
    [
        {"id": "pk_zzzzzzzz"},
        {"id": ...},
        {"name": "ab"},
        {"name": "pk_aaaaaaaa"},
        {"name": "two\nlines"},
        {"title": "two\nlines"},
        {"status": "open"},
        {"tags": "text"},
        {"tags": [1]},
        {"sections": {}},
        {"sections": [{"key": "flow", "title": "T"}, {"key": "flow", "title": "U"}]},
        {"sections": [{"key": "Flow", "title": "T"}]},
        {"sections": [{"key": "flow", "title": "T", "extra": 1}]},
        with_ref("../a", 1, 2),
        with_ref("a", 2, 1),
        with_ref("a", 1, 2001),
        with_ref("a", "1", 2),
        {
            "sections": [
                {"key": "flow", "title": "T", "diagrams": [{"key": "dia", "title": "D", "mermaid": ""}]}
            ]
        },
        {"revision": 0},
        {"revision": True},
        {"created_at": "yesterday"},
        {"expires_at": ...},
        {"schema_version": ...},
        {"schema_version": True},
    ],
)
def test_every_rule_of_a_pack_is_checked_again_when_it_is_read(changes: dict[str, Any]) -> None:
    failure = refusal(file_of(**changes))
    assert failure.code is Code.MALFORMED_PACK
    assert failure.details["reason"]


@pytest.mark.clause("ST-06")
def test_an_anchor_of_the_most_lines_is_read_and_a_longer_one_is_not() -> None:
    section = full_pack().sections[0]
    ref = attrs.evolve(section.refs[0], lines=LineRange(1, 2000), anchor=Anchor("0" * 64, 2000))
    pack = full_pack(sections=(attrs.evolve(section, refs=(ref,)),))
    data = pack_format.encode(pack)
    assert pack_format.decode(data, ID) == pack
    longer = data.replace(b"lines: 2000", b"lines: 2001")
    assert longer != data
    assert refusal(longer).code is Code.MALFORMED_PACK


@pytest.mark.clause("ST-01")
def test_a_pack_that_no_reader_would_take_is_refused_by_the_writer() -> None:
    section = Section("flow", "T", "x" * 9_000_000)
    with pytest.raises(Failure) as told:
        pack_format.encode(sample_pack(ID, sections=(section,)))
    assert told.value.code is Code.INVALID_DATA
    assert re.search("split", told.value.message)


def at(record: dict[str, Any], *path: Any) -> Any:
    part: Any = record
    for step in path:
        part = part[step]
    return part


@pytest.mark.clause("ST-63")
def test_fields_of_a_newer_version_come_back_as_they_were() -> None:
    record = copy.deepcopy(to_record(full_pack()))
    places: list[tuple[Any, ...]] = [
        (),
        ("sections", 0),
        ("sections", 0, "refs", 0),
        ("sections", 0, "refs", 0, "anchor"),
        ("sections", 0, "diagrams", 0),
    ]
    for number, path in enumerate(places):
        at(record, *path)["newer"] = {"number": number, "list": [1, "two", None], "extra": True}
    pack = from_record(record)
    assert to_record(pack) == record
    assert pack == full_pack()
    assert "newer" not in str(to_record(pack, anchors=False))
    ((section, ref), *_) = pack.refs
    again = to_record(put_ref(pack, section.key, Ref(ref.key, ref.path, ref.lines)))
    assert at(again, "sections", 0, "refs", 0)["newer"]["number"] == 2
