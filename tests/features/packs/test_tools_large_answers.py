"""Answers of `input` that do not fit the client's page: cut, with the words that say how to read the rest."""

from __future__ import annotations

from typing import Any

import pytest

from context_pack.toolkit.budget import tokens_of as estimate_tokens
from context_pack.toolkit.call import QuietCall

PAGE_TOKENS = 2_500


def paged(desk: Any, **arguments: Any) -> Any:
    """The payload of an `input` from a client that shows little."""
    answer = desk.registry.call("input", arguments, QuietCall(7, page_tokens=PAGE_TOKENS))
    assert not answer.is_error, answer.text
    assert estimate_tokens(answer.text) <= PAGE_TOKENS
    assert desk.alarms == []
    return answer.structured["payload"]


def many_refs(pack: str, revision: int, count: int = 100) -> dict[str, Any]:
    """A batch of refs that have the same lines and long reasons."""
    place = {
        "section_key": "main",
        "path": "src/app.py",
        "line_start": 5,
        "line_end": 7,
        "ref_why": "w" * 300,
    }
    add = {"action": "upsert_ref", **place}
    operations = [{**add, "ref_key": f"r{revision}-{number:02}"} for number in range(count)]
    return {"action": "batch", "id": pack, "expected_revision": revision, "operations": operations}


@pytest.mark.clause("PK-15")
def test_a_pack_larger_than_the_page_says_what_is_missing_and_where_it_is_read(desk: Any) -> None:
    pack = desk.create()
    desk.section(pack)
    desk.input(**many_refs(pack, 2))
    desk.section(pack, "last")
    payload = paged(desk, action="get", id=pack)
    whole = desk.input(action="get", id=pack)
    assert list(payload) == ["more", *whole, "truncated"]
    (main,) = payload["sections"]
    shown = len(main["refs"])
    assert 5 < shown < 100
    assert main["refs"][:-1] == whole["sections"][0]["refs"][: shown - 1]
    words = f"1 of 2 sections and {shown} of 100 refs are here; "
    assert payload["more"] == words + 'output {"mode": "compact"} reads the pack page by page'


@pytest.mark.clause("PK-16")
def test_a_section_larger_than_the_page_is_answered_with_its_first_parts(desk: Any) -> None:
    pack = desk.create()
    desk.section(pack)
    desk.input(**many_refs(pack, 2))
    change = {"section_key": "main", "section_title": "Renamed", "section_description": "d" * 500}
    payload = paged(desk, action="upsert_section", id=pack, expected_revision=3, **change)
    changed = payload["changed"]
    assert (changed["title"], changed["description"]) == ("Renamed", "d" * 500)
    assert 5 < len(changed["refs"]) < 100
    assert (changed["truncated"], payload["more"].endswith("reads the pack page by page")) == (True, True)


@pytest.mark.clause("AN-12", "PK-70")
def test_verify_and_diff_are_read_to_their_end_by_following_the_offset(desk: Any) -> None:
    pack = desk.create()
    desk.section(pack)
    desk.input(**many_refs(pack, 2))
    desk.input(**many_refs(pack, 3))
    desk.files["src/app.py"] = desk.files["src/app.py"].replace("line 6\n", "line six\n")
    for action, rows in ({"action": "verify"}, "refs"), ({"action": "diff", "from_revision": 2}, "changes"):
        whole = desk.input(**action, id=pack)[rows]
        assert len(whole) == 200
        seen: list[Any] = []
        more: str | None = ""
        while more is not None:
            first = len(seen) + 1
            payload = paged(desk, **action, id=pack, offset=len(seen))
            seen += payload[rows]
            more = payload.get("more")
            last = len(seen)
            which = f"{last}" if first == 1 else f"{first}-{last}"
            goes_on = f'continue with input {{"action": "{action["action"]}", "offset": {last}}} and the same'
            assert more in (None, f"{which} of 200 {rows} are here; {goes_on} pack")
        assert seen == whole
