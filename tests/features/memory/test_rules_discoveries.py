"""Discoveries as values, with ids that follow from the words; notes and decision records as discoveries."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.errors import Failure
from context_pack.memory.discovery import (
    Discovery,
    DiscoveryType,
    clean,
    from_record,
    id_of,
    normalised,
    to_record,
    uuid_of,
)
from context_pack.memory.notes import notes_in

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def discovery(content: str = "Use JWT tokens in cookies", **changes: object) -> Discovery:
    given: dict[str, object] = {
        "id": id_of(content),
        "type": "pattern",
        "content": content,
        "session": uuid_of(bytes(16)),
        "date": NOW,
        "last_seen": NOW,
    }
    return Discovery(**{**given, **changes})  # type: ignore[arg-type]


@pytest.mark.clause("ME-02")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use JWT tokens.", "use  jwt\ttokens"),
        ("Never log `tokens`!", "**Never** log tokens"),
        ("First, check; then act", "first check then act"),
        ("Größe zählt immer", "GRÖSSE zählt immer"),
        ("令牌绝不能写入日志文件。", "令牌绝不能写入日志文件"),
        ("令牌绝不能写入日志文件！", "令牌绝不能写入日志文件？"),
        ("टोकन कभी लॉग न करें।", "टोकन कभी लॉग न करें"),
    ],
)
def test_the_same_words_have_the_same_id(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)
    assert id_of(one) == id_of(other)


@pytest.mark.clause("ME-02")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("keep x >= 3 here", "keep x <= 3 here"),
        ("a != b counts", "a == b counts"),
        ("!" * 12, "?" * 12),
        ("*" * 12, "`" * 12),
        ("。" * 12, "." * 12),
    ],
)
def test_operators_and_marks_without_words_make_another_discovery(one: str, other: str) -> None:
    assert id_of(one) != id_of(other)


@given(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=10, max_size=200).filter(
        lambda text: len(text.strip()) >= 10
    ),
    st.sampled_from(list(DiscoveryType)),
)
def test_a_record_comes_back_equal(content: str, kind: DiscoveryType) -> None:
    kept = discovery(content, type=kind)
    assert from_record(to_record(kept), kept.content + "\n") == kept


@pytest.mark.clause("ME-04")
@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"type": "idea"},
        {"times": 0},
        {"date": "yesterday"},
        {"more": 1},
    ],
)
def test_a_record_that_breaks_a_rule_is_no_discovery(change: dict[str, object]) -> None:
    with pytest.raises((ValueError, Failure)):
        from_record({**to_record(discovery()), **change}, "Use JWT tokens in cookies")


NOTES = """\
# Notes
An introduction says no type.

## Coding conventions
- Never log tokens or passwords
- [x] short
1. **Decision:** use PKCE for public clients,
   on every platform

```
- code is no note
```

### Sub
> Quoted rules count too

## Known issues
The cache is never emptied when a tenant goes.
"""
RECORD = """\
# ADR-0003: Use Postgres

## Status
Accepted

## Context
We need a database.

## Decision
We will use Postgres.

* It is known to all of us.

## Consequences
Fine.
"""


@pytest.mark.clause("ME-06")
def test_notes_take_their_type_from_labels_and_headings() -> None:
    assert [(note.line, note.type.value, note.content) for note in notes_in(NOTES, "notes.md")] == [
        (5, "rule", "Never log tokens or passwords"),
        (7, "decision", "use PKCE for public clients, on every platform"),
        (15, "rule", "Quoted rules count too"),
        (18, "issue", "The cache is never emptied when a tenant goes."),
    ]
    assert notes_in("Just a paragraph of text.\n", "x.md") == []
    (note,) = notes_in("Just a paragraph of text.\n", "x.md", DiscoveryType.PATTERN)
    assert note.type is DiscoveryType.PATTERN


@pytest.mark.clause("ME-06")
def test_a_decision_record_is_one_decision_unless_it_no_longer_holds() -> None:
    (note,) = notes_in(RECORD, "0003-use-postgres.md")
    assert note.type is DiscoveryType.DECISION
    assert note.content == "Use Postgres: We will use Postgres. It is known to all of us."
    (long,) = notes_in(RECORD.replace("We will use Postgres.", "It was said again. " * 100), "3.md")
    assert len(long.content) <= 1000
    assert long.content.endswith("again.")
    for status in ("Superseded by 4", "Rejected", "deprecated"):
        assert notes_in(RECORD.replace("Accepted", status), "3.md") == []


@given(st.text(st.sampled_from("-*#> \n`1.ab:\t"), max_size=200))
def test_notes_of_any_file_can_be_recorded(text: str) -> None:
    for note in notes_in("## Rules\n" + text, "x.md"):
        clean(note.content)


def test_a_dash_inside_a_quote_is_no_mark_of_a_list() -> None:
    said = "Rule: take the sum - never the difference."
    (quoted,) = notes_in(f"> {said}\n", "x.md")
    (listed,) = notes_in(f"> - {said}\n", "x.md")
    assert quoted.content == listed.content == said.removeprefix("Rule: ")
