"""The model refuses what breaks a rule, whoever builds it; a record carries a pack there and back."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange, is_single_line
from context_pack.packs.anchors import Anchor, SourceText, anchor_of
from context_pack.packs.changes import put_ref
from context_pack.packs.model import Diagram, Pack, Ref, Section, Status
from context_pack.packs.record import from_record, to_record

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)
SOURCE = SourceText("".join(f"line {number}\n" for number in range(1, 20)))


def a_ref(key: str = "ref", **more: Any) -> Ref:
    """A ref with an anchor."""
    lines = LineRange(5, 7)
    return Ref(key, RelativePath("src/app.py"), lines, anchor=anchor_of(SOURCE, lines), **more)


def a_pack(**more: Any) -> Pack:
    """A pack with everything in it."""
    section = Section("main", "Main", "text\nmore", [a_ref(), a_ref("two", title="T", why="W", group="G")])
    other = Section("other", "Other", None, [], [Diagram("dia", "D", "graph TD\n a-->b", "why")])
    fields: dict[str, Any] = {
        "id": "pk_abcdefgh",
        "name": "notes",
        "title": "Title",
        "brief": "Brief",
        "status": Status.DRAFT,
        "tags": ["x", "y"],
        "sections": [section, other],
        "revision": 3,
        "created_at": NOW,
        "updated_at": NOW + timedelta(seconds=1),
        "expires_at": NOW + timedelta(days=1),
    }
    return Pack(**{**fields, **more})


def refused(build: Callable[[], object]) -> Failure:
    """What a construction is refused with."""
    with pytest.raises(Failure) as caught:
        build()
    assert caught.value.code == "invalid_data"
    return caught.value


@pytest.mark.clause("PK-03")
def test_a_key_may_not_stand_twice() -> None:
    refused(lambda: Section("main", "t", None, [a_ref(), a_ref()]))
    refused(lambda: Section("main", "t", None, [], [Diagram("dia", "t", "x"), Diagram("dia", "u", "y")]))
    refused(lambda: a_pack(sections=[Section("main", "t"), Section("main", "u")]))


@pytest.mark.clause("PK-64")
@pytest.mark.parametrize(
    "build",
    [
        lambda: a_pack(id="nope"),
        lambda: a_pack(id=None),
        lambda: a_pack(name="pk_abcdefgh"),
        lambda: a_pack(name="ab"),
        lambda: a_pack(name=5),
        lambda: a_pack(title="a\nb"),
        lambda: a_pack(title=5),
        lambda: a_pack(brief="a\u2028b"),
        lambda: a_pack(status="open"),
        lambda: a_pack(tags="x"),
        lambda: a_pack(tags=["a\nb"]),
        lambda: a_pack(tags=[5]),
        lambda: a_pack(sections="x"),
        lambda: a_pack(sections=[5]),
        lambda: a_pack(revision=0),
        lambda: a_pack(revision=True),
        lambda: a_pack(revision=1.0),
        lambda: a_pack(created_at="2026-01-02T03:04:05Z"),
        lambda: a_pack(expires_at=datetime(2026, 1, 2)),
        lambda: Section("m", "t"),
        lambda: Section("main", " "),
        lambda: Section("main", "a\nb"),
        lambda: Section("main", "t", 5),  # type: ignore[arg-type]
        lambda: Section("main", "t", "\ud800"),
        lambda: Diagram("dia", "t", " "),
        lambda: Diagram("dia", "", "x"),
        lambda: Ref("ref", "a.py", LineRange(1, 2)),  # type: ignore[arg-type]
        lambda: Ref("ref", RelativePath("a.py"), (1, 2)),  # type: ignore[arg-type]
        lambda: Ref("ref", RelativePath("a.py"), LineRange(2**31, 2**31)),
        lambda: a_ref(group="a\rb"),
        lambda: Ref("ref", RelativePath("a.py"), LineRange(1, 2), anchor="x"),  # type: ignore[arg-type]
    ],
)
def test_invalid_pack_values_cannot_be_constructed(build: Callable[[], object]) -> None:
    refused(build)


@pytest.mark.clause("AN-01")
@pytest.mark.parametrize(
    "wrong",
    [
        {"digest": "x" * 64},
        {"digest": None},
        {"lines": 0},
        {"lines": 2001},
        {"lines": True},
        {"symbol": "load"},
    ],
)
def test_an_anchor_is_a_digest_and_a_number_of_lines(wrong: dict[str, Any]) -> None:
    good: dict[str, Any] = {"digest": "0" * 64, "lines": 3}
    Anchor(**good)
    refused(lambda: Anchor(**{**good, **wrong}))


@pytest.mark.clause("PK-64")
def test_moments_are_kept_in_utc() -> None:
    there = timezone(timedelta(hours=5))
    assert a_pack(created_at=NOW.astimezone(there)) == a_pack()
    assert a_pack(created_at=NOW.astimezone(there)).created_at.tzinfo is UTC


@pytest.mark.clause("PK-15")
def test_a_record_has_the_storage_keys_in_order() -> None:
    record = to_record(a_pack())
    assert list(record) == [
        *("schema_version", "id", "name", "title", "brief", "status", "tags", "sections", "revision"),
        *("created_at", "updated_at", "expires_at"),
    ]
    assert list(record["sections"][0]) == ["key", "title", "description", "refs", "diagrams"]
    assert list(record["sections"][0]["refs"][0]) == [
        "key",
        "path",
        "lines",
        "title",
        "why",
        "group",
        "anchor",
    ]
    assert list(record["sections"][1]["diagrams"][0]) == ["key", "title", "mermaid", "why"]
    assert record["schema_version"] == 2
    assert record["created_at"] == "2026-01-02T03:04:05.678900Z"
    assert "anchor" not in str(to_record(a_pack(), anchors=False))


@pytest.mark.clause("PK-15")
def test_a_record_is_plain_data_and_comes_back_equal() -> None:
    record = json.loads(json.dumps(to_record(a_pack())))
    assert record == to_record(a_pack())
    assert from_record(record) == a_pack()


@pytest.mark.clause("PK-15")
@pytest.mark.parametrize("absent", ["null", "left out"])
def test_absent_texts_and_anchors_are_fine(absent: str) -> None:
    record = to_record(a_pack())
    section = record["sections"][0]
    for part, names in (
        (record, ("name", "title", "brief")),
        (section, ("description",)),
        (section["refs"][0], ("title", "why", "group", "anchor")),
        (record["sections"][1]["diagrams"][0], ("why",)),
    ):
        part.update(dict.fromkeys(names))
        for name in names if absent == "left out" else ():
            del part[name]
    pack = from_record(record)
    assert (pack.name, pack.title, pack.brief) == (None, None, None)
    assert pack.sections[0].description is None
    assert pack.sections[0].refs[0] == Ref("ref", RelativePath("src/app.py"), LineRange(5, 7))
    assert pack.sections[1].diagrams[0].why is None


@pytest.mark.clause("PK-64")
@pytest.mark.parametrize(
    ("path", "field"),
    [
        ((), "sections"),
        ((), "tags"),
        (("sections", 0), "refs"),
        (("sections", 0), "diagrams"),
    ],
)
def test_a_list_that_is_missing_is_never_taken_for_an_empty_one(path: tuple[Any, ...], field: str) -> None:
    for lost in (True, False):
        record = copy.deepcopy(to_record(a_pack()))
        at(record, *path)[field] = None
        if lost:
            del at(record, *path)[field]
        with pytest.raises(Failure) as caught:
            from_record(record)
        assert caught.value.code == "malformed_pack"
        reason = caught.value.details["reason"]
        assert reason == f"{'.'.join(map(str, (*path, field)))} is missing or no list"


@pytest.mark.clause("PK-06")
def test_files_of_another_implementation_may_be_longer_than_a_call() -> None:
    record = {**to_record(a_pack()), "title": "t" * 5000}
    assert from_record(record).title == "t" * 5000


def at(record: dict[str, Any], *path: Any) -> Any:
    """A part of a record."""
    part: Any = record
    for step in path:
        part = part[step]
    return part


BREAKS: list[tuple[tuple[Any, ...], str, Any]] = [
    ((), "id", "pk_ABCDEFGH"),
    ((), "name", 5),
    ((), "status", "open"),
    ((), "status", None),
    ((), "tags", "x"),
    ((), "sections", {}),
    ((), "revision", "3"),
    ((), "revision", None),
    ((), "created_at", NOW),
    ((), "created_at", "yesterday"),
    ((), "expires_at", None),
    (("sections", 0), "key", "X"),
    (("sections", 0), "title", None),
    (("sections", 0), "refs", "x"),
    (("sections", 0, "refs", 0), "key", "two"),
    (("sections", 0, "refs", 0), "path", "../x"),
    (("sections", 0, "refs", 0), "path", "/abs"),
    (("sections", 0, "refs", 0), "path", None),
    (("sections", 0, "refs", 0), "lines", None),
    (("sections", 0, "refs", 0), "lines", {"start": 5}),
    (("sections", 0, "refs", 0), "lines", {"start": 5, "end": 4}),
    (("sections", 0, "refs", 0), "lines", {"start": 1, "end": 2001}),
    (("sections", 0, "refs", 0), "lines", {"start": 2**31 - 1, "end": 2**31}),
    (("sections", 0, "refs", 0), "lines", {"start": 10**30, "end": 10**30}),
    (("sections", 0, "refs", 0), "anchor", {}),
    (("sections", 0, "refs", 0), "anchor", "x"),
    (("sections", 0, "refs", 0, "anchor"), "digest", "x"),
    (("sections", 1, "diagrams", 0), "mermaid", ""),
]


@pytest.mark.clause("PK-64")
@pytest.mark.parametrize(("path", "field", "value"), BREAKS)
def test_a_record_that_breaks_a_rule_is_malformed(path: tuple[Any, ...], field: str, value: Any) -> None:
    record = copy.deepcopy(to_record(a_pack()))
    at(record, *path)[field] = value
    with pytest.raises(Failure) as caught:
        from_record(record)
    assert caught.value.code == "malformed_pack"
    assert caught.value.details["reason"]
    assert "\n" not in caught.value.details["reason"]


@pytest.mark.clause("ST-63")
def test_fields_of_a_newer_version_come_back_as_they_were() -> None:
    record = copy.deepcopy(to_record(a_pack()))
    places: list[tuple[Any, ...]] = [
        (),
        ("sections", 0),
        ("sections", 0, "refs", 0),
        ("sections", 0, "refs", 0, "lines"),
        ("sections", 0, "refs", 0, "anchor"),
        ("sections", 1, "diagrams", 0),
    ]
    for number, path in enumerate(places):
        at(record, *path)["newer"] = {"number": number, "list": [1, "two", None], "extra": True}
    pack = from_record(record)
    assert to_record(pack) == record
    assert pack == a_pack()
    assert "newer" not in str(to_record(pack, anchors=False))
    ((section, ref), *_) = pack.refs
    again = to_record(put_ref(pack, section.key, Ref(ref.key, ref.path, ref.lines)))
    assert at(again, "sections", 0, "refs", 0)["newer"]["number"] == 2


@pytest.mark.clause("PK-64")
@pytest.mark.parametrize("value", [None, [], "x", 5])
def test_a_record_that_is_no_mapping_is_malformed(value: Any) -> None:
    with pytest.raises(Failure, match="malformed"):
        from_record(value)


@pytest.mark.clause("PK-64")
@pytest.mark.parametrize("version", [1, 3, 0, "2", "v1", 2.5])
def test_another_schema_version_must_be_migrated(version: Any) -> None:
    with pytest.raises(Failure) as caught:
        from_record({**to_record(a_pack()), "schema_version": version})
    assert caught.value.code == "migration_required"
    assert caught.value.details == {"found": version, "supported": 2}


@pytest.mark.clause("PK-64")
def test_a_record_without_a_version_is_malformed() -> None:
    record = to_record(a_pack())
    del record["schema_version"]
    with pytest.raises(Failure, match="schema_version"):
        from_record(record)


@pytest.mark.clause("PK-06")
@given(st.text(max_size=40))
def test_every_text_is_refused_or_trimmed(text: str) -> None:
    fits = text.strip() != "" and is_single_line(text.strip())
    if fits:
        section = Section("main", text, text)
        assert section.title == text.strip()
        # The blank lines at its ends are gone, and nothing else is.
        kept = section.description or ""
        assert kept in text
        assert kept.strip() == text.strip()
        assert len(kept.splitlines()) == 1
    else:
        assert refused(lambda: Section("main", text, text)).details["field"] == "title"
