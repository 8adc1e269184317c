"""Pages: never over the budget, always further, and together everything once; answers of `input` are cut."""

from __future__ import annotations

import re
from typing import Any

import pytest

from context_pack.packs.render import LEAST_ROOM
from context_pack.toolkit.budget import room_of, size
from context_pack.toolkit.budget import tokens_of as estimate_tokens
from context_pack.toolkit.call import QuietCall

TRAILER = re.compile(
    r"> truncated: (\d+) (?:refs|parts without refs) left; "
    r'continue with output \{"cursor": "([^"]+)"\}'
)


def pages(desk: Any, pack: str, max_tokens: int, **more: Any) -> list[str]:
    """All pages of a pack; each one is checked for its budget, its legend and its last line."""
    found: list[str] = []
    arguments: dict[str, Any] = {"id": pack, **more}
    while True:
        text = desk.output(max_tokens=max_tokens, **arguments)
        assert size(text) <= max(room_of(max_tokens), LEAST_ROOM)
        assert text.startswith("[LEGEND]\n# Context pack: ")
        assert "\n\n[CONTENT]\n" in text
        found.append(text)
        ended = TRAILER.fullmatch(text.split("\n")[-1])
        if ended is None:
            assert "> truncated" not in text
            return found
        head = text.split("\n\n[CONTENT]\n")[0]
        assert head.endswith(f"\n\n{ended[0]}")  # where a client that cuts the end off still shows it
        assert len(found) < 5000
        arguments = {"cursor": ended[2]}


def code_lines(text: str) -> list[str]:
    """The numbered lines of a page."""
    return re.findall(r"^ *\d+: .*$", text, re.MULTILINE)


def big_pack(desk: Any, refs: int = 12, size: int = 40) -> str:
    """A pack with two sections of refs in groups, descriptions and a diagram."""
    desk.files["src/app.py"] = "".join(f"value_{number} = {number}\n" for number in range(1, 3001))
    pack: str = desk.create(title="Big", brief="b" * 300)
    for section in ("one", "two"):
        words = "\n".join(f"sentence {number} of {section}" for number in range(120))
        desk.section(pack, section, section_title=section.title(), section_description=words)
        for number in range(refs):
            group = {} if number % 3 == 0 else {"group": f"g{number % 3}"}
            start = 1 + number * size
            key = f"{section}-{number}"
            desk.ref(pack, key, start, start + size - 1, section_key=section, ref_why=f"why {key}", **group)
        chart = "graph TD\n" + "\n".join(
            f"  {section}{number} --> {section}x{number}" for number in range(100)
        )
        desk.change(pack, "upsert_diagram", section_key=section, diagram_key="dia", title="D", mermaid=chart)
    return pack


@pytest.mark.clause("PK-52")
@pytest.mark.parametrize("max_tokens", [500, 501, 777, 1500, 5000])
def test_pages_show_everything_once(desk: Any, max_tokens: int) -> None:
    pack = big_pack(desk)
    one = desk.output(id=pack, max_tokens=200_000)
    many = pages(desk, pack, max_tokens)
    assert "> truncated" not in one
    assert len(many) > 1
    together = "\n".join(many)
    assert [line for page in many for line in code_lines(page)] == code_lines(one)
    for pattern in (r"^## .*\]$", r"^#### .*\]$", r"^sentence .*$", r"^  \w+ --> \w+$", r"^- why: .*$"):
        assert re.findall(pattern, together, re.MULTILINE) == re.findall(pattern, one, re.MULTILINE), pattern
    groups = re.findall(r"^### .*[^)]$", together, re.MULTILINE)
    assert groups == re.findall(r"^### .*$", one, re.MULTILINE)


@pytest.mark.clause("PK-52")
def test_a_ref_larger_than_a_page_is_cut_and_says_which_lines_are_shown(desk: Any) -> None:
    desk.files["src/app.py"] = "".join(f"row number {number}\n" for number in range(1, 2001))
    pack = desk.pack_with_ref(101, 900)
    found = pages(desk, pack, 500)
    assert found[0].count("#### ref [main]\n") == 1
    following = 101
    for text in found:
        told = re.search(r"^> showing lines (\d+)-(\d+) of 101-900$", text, re.MULTILINE)
        assert told is not None
        numbers = [int(line.split(":")[0]) for line in code_lines(text)]
        assert numbers == list(range(int(told[1]), int(told[2]) + 1))
        assert numbers[0] == following
        following = numbers[-1] + 1
    assert following == 901
    assert all("#### ref [main] (continued)\n" in text for text in found[1:])
    assert all("- path: src/app.py\n- lines: 101-900\n" in text for text in found)


@pytest.mark.clause("PK-52")
def test_a_line_longer_than_a_page_is_cut_with_an_ellipsis(desk: Any) -> None:
    endless = "".join(f"<{number}>" for number in range(1500)) + "`" * 700 + "é" * 500
    desk.files["src/app.py"] = f"before\n{endless}\nafter\n"
    pack = desk.pack_with_ref(1, 3)
    before, cut, after = [line for text in pages(desk, pack, 1_000) for line in code_lines(text)]
    assert (before, after) == ("   1: before", "   3: after")
    assert cut.endswith("…")
    assert endless.startswith(cut.removeprefix("   2: ").removesuffix("…"))
    assert endless in desk.output(id=pack)


@pytest.mark.clause("PK-55")
def test_a_cursor_works_alone_or_beside_its_own_pack_until_that_changes(desk: Any) -> None:
    pack = big_pack(desk)
    desk.change(pack, "set_meta", title="Named")
    cursor = TRAILER.findall(desk.output(id=pack, max_tokens=500))[0][1]
    second = desk.output(cursor=cursor, max_tokens=500)
    assert desk.output(id=pack, cursor=cursor, max_tokens=500) == second
    other = desk.create()
    error = desk.refused("output", id=other, cursor=cursor)
    assert (error["code"], error["details"]["field"]) == ("invalid_data", "cursor")
    for broken in ("x", cursor[:-1], cursor + "A", cursor[::-1], "🙂", "a" * 4096):
        error = desk.refused("output", id=pack, cursor=broken)
        assert (error["code"], error["details"]["field"]) == ("invalid_data", "cursor")
    before = desk.store.get(pack).revision
    desk.change(pack, "set_meta", title="other")
    error = desk.refused("output", cursor=cursor)
    assert (error["kind"], error["code"]) == ("conflict", "revision_conflict")
    assert error["details"]["expected_revision"] == before
    assert error["details"]["actual_revision"] == before + 1


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
