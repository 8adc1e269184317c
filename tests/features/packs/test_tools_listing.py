"""`list`: filters, order, pages of it, and what it says about each pack."""

from __future__ import annotations

import json
from typing import Any

import pytest

SUMMARY = ["id", "name", "title", "brief", "tags", "status", "revision", "created_at", "updated_at"]
SUMMARY += ["expires_at", "ttl_remaining_seconds", "ttl_remaining_human"]


def listed(desk: Any, **filters: Any) -> list[str]:
    """The ids in a list."""
    return [one["id"] for one in desk.input(action="list", **filters)["packs"]]


@pytest.mark.clause("PK-31")
def test_a_summary_says_all_but_the_sections(desk: Any) -> None:
    pack = desk.create(name="notes", title="T", brief="B", tags=["x"], ttl_minutes=125)
    desk.clock.advance(seconds=1)
    (one,) = desk.input(action="list")["packs"]
    assert list(one) == SUMMARY
    assert one == {
        "id": pack,
        "name": "notes",
        "title": "T",
        "brief": "B",
        "tags": ["x"],
        "status": "draft",
        "revision": 1,
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-02T03:04:05Z",
        "expires_at": "2026-01-02T05:09:05Z",
        "ttl_remaining_seconds": 7499,
        "ttl_remaining_human": "2h",
    }


@pytest.mark.clause("PK-31")
def test_the_query_looks_into_id_title_name_brief_and_tags_whatever_the_case(desk: Any) -> None:
    packs = {
        "title": desk.create(title="Token FLOW"),
        "name": desk.create(name="token-flow"),
        "brief": desk.create(brief="about Token flows"),
        "tags": desk.create(tags=["x", "TOKEN flow"]),
        "none": desk.create(title="else"),
    }
    desk.section(packs["none"], section_title="token flow")
    assert set(listed(desk, query="tOKen")) == {packs[name] for name in ("title", "name", "brief", "tags")}
    assert set(listed(desk, query="token flow")) == {packs[name] for name in ("title", "brief", "tags")}
    assert listed(desk, query=packs["none"][3:9].upper()) == [packs["none"]]
    assert len(listed(desk, query="  ")) == 5
    assert listed(desk, query="STRASSE") == []


@pytest.mark.clause("PK-31")
def test_an_answer_that_would_be_too_large_shows_fewer_and_says_so(desk: Any) -> None:
    for _ in range(220):
        desk.create(title="é" * 200, brief="é" * 2000)
    seen = 0
    while True:
        answer = desk.input(limit=500, offset=seen)
        assert len(json.dumps(answer, ensure_ascii=False).encode()) <= 810_000
        assert answer["count"] == len(answer["packs"]) > 0
        seen += answer["count"]
        if not answer["has_more"]:
            break
    assert seen == answer["total"] == 220
