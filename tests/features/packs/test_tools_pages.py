"""Pages: never over the budget, always further, and together everything once."""

from __future__ import annotations

import re
from typing import Any

import pytest

from context_pack.packs.render import LEAST_ROOM
from context_pack.toolkit.budget import room_of, size

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
