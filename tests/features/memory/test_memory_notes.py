"""Markdown notes and decision records as discoveries."""

from __future__ import annotations

import pytest
from hanging import never_hanging
from hypothesis import given
from hypothesis import strategies as st

from context_pack.memory.discovery import DiscoveryType, clean
from context_pack.memory.notes import Note, PassedOver, notes_in

NOTES = """\
---
module: auth
---
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
    found = notes_in(NOTES, "notes.md")
    assert [(note.line, note.type.value, note.content) for note in found if isinstance(note, Note)] == [
        (8, "rule", "Never log tokens or passwords"),
        (10, "decision", "use PKCE for public clients, on every platform"),
        (18, "rule", "Quoted rules count too"),
        (21, "issue", "The cache is never emptied when a tenant goes."),
    ]
    assert {note.module for note in found if isinstance(note, Note)} == {"auth"}
    assert [note.line for note in found if isinstance(note, PassedOver)] == [5, 9]


@pytest.mark.clause("ME-06")
def test_a_decision_record_is_one_decision() -> None:
    (note,) = notes_in(RECORD, "0003-use-postgres.md")
    assert isinstance(note, Note)
    assert note.type is DiscoveryType.DECISION
    assert note.content == "Use Postgres: We will use Postgres. It is known to all of us."


@pytest.mark.clause("ME-06")
@pytest.mark.parametrize("status", ["Superseded by 4", "Rejected", "deprecated"])
def test_a_decision_that_no_longer_holds_is_passed_over(status: str) -> None:
    (note,) = notes_in(RECORD.replace("Accepted", status), "3.md")
    assert isinstance(note, PassedOver)


@pytest.mark.clause("ME-06")
def test_a_long_decision_is_cut_after_a_sentence() -> None:
    (note,) = notes_in(RECORD.replace("We will use Postgres.", "It was said again. " * 100), "3.md")
    assert isinstance(note, Note)
    assert len(note.content) <= 1000
    assert note.content.endswith("again.")


@pytest.mark.clause("ME-06")
def test_an_import_can_give_the_type_of_untyped_notes() -> None:
    (note,) = notes_in("Just a paragraph of text.\n", "x.md", DiscoveryType.PATTERN)
    assert isinstance(note, Note)
    assert note.type is DiscoveryType.PATTERN
    (plain,) = notes_in("---\ntype: issue\n---\nJust a paragraph of text.\n", "x.md")
    assert isinstance(plain, Note)
    assert plain.type is DiscoveryType.ISSUE


@given(st.text(st.sampled_from("-*#> \n`1.ab:\t"), max_size=200))
def test_notes_of_any_file_can_be_recorded(text: str) -> None:
    for note in notes_in("## Rules\n" + text, "x.md"):
        if isinstance(note, Note):
            clean(note.content)


def test_a_dash_inside_a_quote_is_no_mark_of_a_list() -> None:
    said = "Rule: take the sum - never the difference."
    (quoted,) = notes_in(f"> {said}\n", "x.md")
    (listed,) = notes_in(f"> - {said}\n", "x.md")
    assert isinstance(quoted, Note)
    assert isinstance(listed, Note)
    assert quoted.content == listed.content == said.removeprefix("Rule: ")


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("> a" + " " * 500_000 + "b\n", id="blanks in a quote"),
        pytest.param("---\ntype: a" + " " * 500_000 + '"b\n---\n', id="blanks in a setting"),
        pytest.param(f"# {'1' * 500_000}\n\n## Decision\n\na\n\n## Status\n\nb\n", id="a number of a title"),
        pytest.param("## Decision\n\n" + "# Status\n\n" * 60_000, id="headings of a record"),
    ],
)
def test_no_file_makes_finding_notes_hang(text: str) -> None:
    with never_hanging(240):
        assert isinstance(notes_in(text, "x.md"), list)
