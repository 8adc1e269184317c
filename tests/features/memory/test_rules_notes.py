"""Markdown notes and decision records as discoveries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.memory.discovery import DiscoveryType, clean
from context_pack.memory.notes import notes_in

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
