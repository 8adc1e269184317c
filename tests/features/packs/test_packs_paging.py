"""Pages: never over the budget, always further, and together everything once."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack.packs.pages import Body, Line, Style, joined, part, shrunk
from context_pack.packs.render import LEAST_ROOM
from context_pack.toolkit.budget import cut_text, room_of, size, tokens_of

TRAILER = re.compile(r'> truncated: (\d+) refs left; continue with output \{"cursor": "([^"]+)"\}')


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
def test_the_last_line_counts_the_refs_that_are_left(desk: Any) -> None:
    pack = big_pack(desk)
    shown = 0
    for text in pages(desk, pack, 900):
        # A ref is finished when its last line is shown: every one has forty.
        shown += len(code_lines(text))
        ended = TRAILER.search(text)
        if ended is not None:
            assert int(ended[1]) == 24 - shown // 40
    assert shown == 24 * 40


@pytest.mark.clause("PK-52")
def test_a_pack_that_just_fits_comes_whole(desk: Any) -> None:
    pack = big_pack(desk)
    one = desk.output(id=pack, max_tokens=200_000)
    tokens = tokens_of(one)
    assert desk.output(id=pack, max_tokens=tokens) == one
    assert "> truncated" in desk.output(id=pack, max_tokens=tokens - 1)


@pytest.mark.clause("PK-52")
def test_the_default_budget_is_twenty_thousand_tokens(desk: Any) -> None:
    desk.files["src/app.py"] = ("x" * 75 + "\n") * 2000
    pack = desk.pack_with_ref(1, 2000)
    assert 49_000 < len(desk.output(id=pack).encode()) <= 50_000


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


@pytest.mark.parametrize("max_tokens", [3_200, 5_000])
@pytest.mark.parametrize("size_of_refs", [3, 40, 140])
def test_every_page_but_the_last_is_filled_to_four_fifths(
    desk: Any, max_tokens: int, size_of_refs: int
) -> None:
    found = pages(desk, big_pack(desk, 21, size_of_refs), max_tokens)
    assert len(found) > 1
    assert all(size(text) >= 0.8 * room_of(max_tokens) for text in found[:-1])


@pytest.mark.clause("PK-52")
def test_large_descriptions_and_diagrams_never_flood_a_page(desk: Any) -> None:
    pack = desk.create()
    words = [f"word{number}" for number in range(2200)]
    desk.section(pack, section_description="\n".join(words)[:20_000])
    chart = "\n".join(f"n{number}" for number in range(8000))
    desk.change(pack, "upsert_diagram", section_key="main", diagram_key="dia", title="D", mermaid=chart)
    found = "\n".join(pages(desk, pack, 500))
    assert re.findall(r"^word\d+$", found, re.MULTILINE) == words
    assert re.findall(r"^n\d+$", found, re.MULTILINE) == chart.split("\n")


@pytest.mark.clause("PK-52")
def test_fields_that_are_larger_than_a_page_are_cut_and_marked(desk: Any) -> None:
    pack = desk.create(
        title="é" * 200, brief="ß" * 2000, tags=[f"{number}" + "ü" * 60 for number in range(50)]
    )
    assert desk.output(id=pack, max_tokens=500).count("…") >= 2
    assert len(desk.output(id=pack, max_tokens=500).encode()) <= 2000
    desk.section(pack, section_title="ä" * 200)
    path = "/".join(["d" * 100] * 10)
    desk.ref(pack, ref_title="é" * 200, ref_why="ö" * 2000, group="ï" * 120, path=path)
    for text in (*pages(desk, pack, 500), *pages(desk, pack, 500, mode="compact")):
        assert "- id: " + pack in text
    assert "…" not in desk.output(id=pack).partition("## ")[2]


@pytest.mark.clause("PK-55")
def test_a_cursor_works_alone_or_beside_its_own_pack(desk: Any) -> None:
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


@pytest.mark.clause("PK-55")
def test_a_cursor_of_a_changed_pack_is_a_conflict(desk: Any) -> None:
    pack = big_pack(desk)
    cursor = TRAILER.findall(desk.output(id=pack, max_tokens=500))[0][1]
    before = desk.store.get(pack).revision
    desk.change(pack, "set_meta", title="other")
    error = desk.refused("output", cursor=cursor)
    assert (error["kind"], error["code"]) == ("conflict", "revision_conflict")
    assert error["details"]["expected_revision"] == before
    assert error["details"]["actual_revision"] == before + 1


@pytest.mark.clause("PK-55")
def test_a_cursor_keeps_its_mode(desk: Any) -> None:
    pack = big_pack(desk)
    assert code_lines("\n".join(pages(desk, pack, 500, mode="compact"))) == []
    cursor = TRAILER.findall(desk.output(id=pack, max_tokens=500, mode="compact"))[0][1]
    assert desk.refused("output", cursor=cursor, mode="full")["details"]["field"] == "mode"
    assert desk.output(cursor=cursor, mode="compact", max_tokens=500)


@pytest.mark.clause("PK-52")
def test_a_file_that_shrinks_between_pages_ends_nothing_and_repeats_nothing(desk: Any) -> None:
    rows = [f"row {number} = {'x' * 20}\n" for number in range(1, 31)]
    desk.files["src/app.py"] = "".join(rows)
    pack = desk.pack_with_ref(1, 30)
    desk.ref(pack, "small", 1, 2)
    cursor = TRAILER.findall(desk.output(id=pack, max_tokens=500))[0][1]
    desk.files["src/app.py"] = "".join(rows[:12])
    text = desk.output(cursor=cursor, max_tokens=4000)
    assert "#### ref [main] (continued)\n- path: src/app.py\n- lines: 1-12 (moved from 1-30)\n" in text
    assert "> changed since anchored" in text
    assert [line[:11] for line in code_lines(text)] == ["   1: row 1", "   2: row 2"]
    del desk.files["src/app.py"]
    text = desk.output(cursor=cursor, max_tokens=500)
    assert text.count("> stale ref: file not found") == 2
    assert code_lines(text) == []


texts = st.text(alphabet="ab`é\u2028 #~\r🙂", max_size=60)


@pytest.mark.clause("PK-52")
@settings(max_examples=200)
@given(st.lists(texts, min_size=1, max_size=30), st.integers(200, 600), st.sampled_from(Style), st.booleans())
def test_parts_fit_their_room_and_get_to_the_end(
    lines: list[str], room: int, style: Style, numbered: bool
) -> None:
    body = Body(style, lines, "python", 7 if numbered and style is Style.FENCE else None)
    line = 0
    for _ in range(50):
        shown = part(body, line, room)
        assert size(shown.text) <= room
        if shown.next is None:
            break
        assert shown.next > line
        line = shown.next
    else:
        pytest.fail("the parts never end")
    assert part(body, 0, 10**6).text == part(body).text


@pytest.mark.clause("PK-52")
@given(st.lists(st.text(alphabet="aé🙂", max_size=50), max_size=8), st.integers(0, 300))
def test_shortening_shares_the_room_and_never_passes_it(texts: list[str], room: int) -> None:
    lines = [Line("- x: ", text, " [k]") for text in texts]
    fixed = size(joined([Line("- x: ", "", " [k]") for _ in texts]))
    short = shrunk(lines, room)
    if size(joined(lines)) <= room:
        assert short == lines
    elif room >= fixed + 3 * len(texts):
        assert size(joined(short)) <= room
    for before, after in zip(lines, short, strict=True):
        assert after.lead == before.lead
        assert after.tail == before.tail
        assert after.text == before.text or after.text.endswith("…")
        assert before.text.startswith(after.text.removesuffix("…"))


@pytest.mark.clause("PK-52")
def test_a_cut_text_is_marked_and_never_splits_a_character() -> None:
    assert cut_text("abc", 3) == "abc"
    assert cut_text("abcd", 3) == "…"
    assert cut_text("ééé", 5) == "é…"
    assert cut_text("🙂🙂", 7) == "🙂…"
