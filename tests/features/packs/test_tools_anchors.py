"""Anchors: their states, the difference shown, and what `verify`, `repair` and `accept` make of it."""

from __future__ import annotations

from typing import Any

import pytest

from context_pack.packs.anchors import digest_of
from context_pack.packs.record import to_record

FUNCTION = ["def load(path):", "    with open(path) as file:", "        return file.read()"]
AROUND = [f"constant_{number} = {number}" for number in range(10)]


def text_of(*parts: list[str]) -> str:
    """Lines as a file."""
    return "".join(line + "\n" for part in parts for line in part)


@pytest.fixture
def anchored(new_desk: Any) -> tuple[Any, str]:
    """A desk whose pack has one ref to a function in the middle of a file."""
    desk = new_desk({"src/app.py": text_of(AROUND[:5], FUNCTION, AROUND[5:])})
    return desk, desk.pack_with_ref(6, 8)


@pytest.mark.clause("AN-01")
def test_upsert_ref_stores_a_digest_and_keeps_the_text_beside(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    (ref,) = to_record(desk.store.get(pack))["sections"][0]["refs"]
    symbol = {"kind": "function", "name": "load", "part": "all", "signature": "def load(path)"}
    assert ref["anchor"] == {"digest": digest_of("\n".join(FUNCTION)), "lines": 3, "symbol": symbol}
    assert "anchor" not in str(desk.input(action="get", id=pack))
    assert "anchor" not in desk.output(id=pack)


@pytest.mark.clause("AN-02")
def test_line_endings_do_not_matter_and_everything_else_does(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    lines = desk.files["src/app.py"]
    desk.files["src/app.py"] = lines.replace("\n", "\r\n")
    assert desk.state(pack)["state"] == "exact"
    assert "- lines: 6-8\n" in desk.output(id=pack)
    for changed in ("def load(path): ", "def  load(path):", "def load(path):\t", "def load(path):\r\r"):
        desk.files["src/app.py"] = lines.replace("def load(path):", changed)
        assert desk.state(pack)["state"] == "cosmetic", changed


@pytest.mark.clause("AN-05", "AN-12")
def test_moved_code_is_followed(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.files["src/app.py"] = text_of(["import os", ""], AROUND[:5], FUNCTION, AROUND[5:])
    text = desk.output(id=pack)
    assert "- path: src/app.py\n- lines: 8-10 (moved from 6-8)\n" in text
    assert "   8: def load(path):\n" in text
    assert "changed since anchored" not in text
    state = desk.state(pack)
    assert (state["state"], state["reason"]) == ("moved", None)
    assert state["lines"] == {"start": 6, "end": 8}
    assert state["found"] == {"path": "src/app.py", "lines": {"start": 8, "end": 10}}


@pytest.mark.clause("AN-06")
def test_code_in_a_moved_file_is_followed(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.files["lib/deep/app.py"] = desk.files.pop("src/app.py")
    text = desk.output(id=pack)
    assert "- path: lib/deep/app.py (moved from src/app.py)\n- lines: 6-8\n" in text
    desk.files["lib/deep/app.py"] = text_of(FUNCTION)
    assert "- path: lib/deep/app.py (moved from src/app.py)\n- lines: 1-3 (moved from 6-8)\n" in desk.output(
        id=pack
    )
    assert desk.state(pack)["found"] == {"path": "lib/deep/app.py", "lines": {"start": 1, "end": 3}}


@pytest.mark.clause("AN-07")
def test_changed_code_is_shown_where_it_is_most_alike(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    edited = [FUNCTION[0], "    # now with a comment", *FUNCTION[1:]]
    desk.files["src/app.py"] = text_of(["import os", ""], AROUND[:5], edited, AROUND[5:])
    text = desk.output(id=pack)
    assert (
        "- lines: 8-11 (moved from 6-8)\n\n> changed since anchored: 1 of 4 lines, only comments\n\n"
        "```python\n   8: def load(path):\n" in text
    )
    state = desk.state(pack)
    assert (state["state"], state["reason"]) == ("cosmetic", "changed since anchored")
    assert state["found"]["lines"] == {"start": 8, "end": 11}


@pytest.mark.clause("AN-07", "AN-10")
def test_unrelated_code_is_not_shown_and_on_request_what_was_there(
    anchored: tuple[Any, str],
) -> None:
    desk, pack = anchored
    desk.files["src/app.py"] = "".join(f"unrelated {number}\n" for number in range(1, 30))
    text = desk.output(id=pack)
    assert "- lines: 6-8\n\n> stale ref: neither its text nor its definition is found" in text
    assert "unrelated" not in text
    assert "def load" not in text
    text = desk.output(id=pack, mode="diff")
    told = "> stale ref: neither its text nor its definition is found\n\n"
    told += "> what it was when it was anchored, and is nowhere now:\n\n```python\n   6: def load(path):\n"
    assert told in text
    other = ["def save(path, data):", "    path.write(data)", "    return None"]
    desk.files["src/app.py"] = text_of(AROUND[:5], other, AROUND[5:])
    assert desk.state(pack)["state"] == "stale"


@pytest.mark.clause("AN-10", "AN-01", "AN-02")
def test_a_ref_to_code_that_is_not_written_yet_waits_for_it(desk: Any) -> None:
    pack = desk.create()
    desk.section(pack)
    desk.ref(pack, "soon", 2, 3, path="src/soon.py")
    assert desk.state(pack)["state"] == "stale"
    assert "> stale ref: file not found" in desk.output(id=pack)
    desk.files["src/soon.py"] = "one\n"
    assert desk.state(pack)["reason"] == "lines 2-3 are past the end of the file (1 line)"
    desk.files["src/soon.py"] = "one\ntwo\nthree\n"
    assert desk.state(pack)["state"] == "unanchored"
    assert "- lines: 2-3\n\n```python\n   2: two\n   3: three\n```" in desk.output(id=pack)
    desk.change(pack, "set_status", status="finalized")
    assert desk.state(pack)["state"] == "exact"
    desk.files["src/soon.py"] = "zero\none\ntwo\nthree\n"
    assert desk.state(pack)["state"] == "moved"


@pytest.mark.clause("AN-13")
def test_repair_follows_what_moved_and_touches_nothing_else(anchored: tuple[Any, str]) -> None:
    desk, pack = anchored
    desk.ref(pack, "edge", 1, 1)
    desk.ref(pack, "edited", 11, 12, ref_title="E")
    desk.ref(pack, "gone", 1, 1, path="gone.py")
    desk.files["src/app.py"] = text_of(
        ["import os", ""], AROUND[:5], FUNCTION, AROUND[5:7], ["x = 1"], AROUND[8:]
    )
    before = {ref.key: ref for ref in desk.store.get(pack).sections[0].refs}
    states = [desk.state(pack, number)["state"] for number in range(4)]
    assert states == ["moved", "moved", "changed", "stale"]
    answer = desk.change(pack, "repair")
    assert answer["revision"] == 7
    assert answer["repaired"][0] == {
        "section": "main",
        "ref": "ref",
        "path": "src/app.py",
        "lines": {"start": 8, "end": 10},
        "from": {"path": "src/app.py", "lines": {"start": 6, "end": 8}},
    }
    assert [one["ref"] for one in answer["repaired"]] == ["ref", "edge"]
    after = {ref.key: ref for ref in desk.store.get(pack).sections[0].refs}
    assert (after["edited"], after["gone"]) == (before["edited"], before["gone"])
    assert after["ref"].anchor.digest == before["ref"].anchor.digest
    states = [desk.state(pack, number)["state"] for number in range(4)]
    assert states == ["exact", "exact", "changed", "stale"]


NAMES = ("one", "two", "six")
CODE = "\n\n".join(f"def {name}(value):\n    first_{name}(value)\n    return value" for name in NAMES) + "\n"


@pytest.fixture
def shop(new_desk: Any) -> tuple[Any, str]:
    """A desk with a ref to each of three functions, two of which have changed and moved."""
    desk = new_desk({"src/app.py": CODE})
    pack = desk.create()
    desk.section(pack)
    desk.section(pack, "more")
    for number, name in enumerate(NAMES):
        start = 1 + 4 * number
        desk.ref(pack, name, start, start + 2, ref_title=f"T {name}", ref_why="W", group="G")
    desk.files["src/app.py"] = "import os\n\n" + CODE.replace("return value", "return value + 1", 2)
    return desk, pack


def states(desk: Any, pack: str) -> dict[str, str]:
    refs = desk.store.get(pack).refs
    return {ref.key: desk.state(pack, index)["state"] for index, (_, ref) in enumerate(refs)}


@pytest.mark.clause("AN-13")
def test_accept_anchors_every_changed_ref_where_it_is_found(shop: tuple[Any, str]) -> None:
    desk, pack = shop
    assert states(desk, pack) == {"one": "changed", "two": "changed", "six": "moved"}
    answer = desk.change(pack, "accept")
    assert [one["ref"] for one in answer["accepted"]] == ["one", "two"]
    assert answer["accepted"][0]["from"] == {"path": "src/app.py", "lines": {"start": 1, "end": 3}}
    assert answer["accepted"][0]["lines"] == {"start": 3, "end": 5}
    assert states(desk, pack) == {"one": "exact", "two": "exact", "six": "moved"}
    ref = desk.input(action="get", id=pack)["sections"][0]["refs"][0]
    assert (ref["title"], ref["why"], ref["group"]) == ("T one", "W", "G")
    again = desk.change(pack, "accept")
    assert (again["accepted"], again["revision"]) == ([], answer["revision"])


@pytest.mark.clause("AN-13")
@pytest.mark.parametrize("names", [["main/two"], ["two", "six"]])
def test_accept_takes_only_the_refs_that_are_named(shop: tuple[Any, str], names: list[str]) -> None:
    desk, pack = shop
    desk.change(pack, "accept", refs=names)
    after = states(desk, pack)
    assert (after["one"], after["two"]) == ("changed", "exact")
    assert after["six"] == ("exact" if "six" in names else "moved")


@pytest.mark.clause("AN-13")
def test_a_ref_that_is_not_there_or_not_found_is_refused_and_nothing_changes(shop: tuple[Any, str]) -> None:
    desk, pack = shop
    call = {"action": "accept", "id": pack, "expected_revision": desk.store.get(pack).revision}
    assert desk.refused("input", **call, refs=["one", "none"])["code"] == "not_found"
    one, _, six = desk.files["src/app.py"].rpartition("import os\n\n")[2].split("\n\n")
    desk.files["src/app.py"] = f"{one}\n\nNAMES = (1, 2, 3)\n\n{six}"
    error = desk.refused("input", **call, refs=["one", "two"])
    assert (error["code"], [one["ref"] for one in error["details"]["refs"]]) == ("stale_ref", ["two"])
    assert error["message"] == "1 ref cannot be relied on; upsert or delete each"
    desk.ref(pack, "one", 1, 1, section_key="more")
    call["expected_revision"] += 1
    assert desk.refused("input", **call, refs=["one"])["details"]["field"] == "refs"
    assert "one" in states(desk, pack)


PRICES = """\
def price(item, count=1):
    # what it costs
    total = item.price * count
    return total


def other():
    return 2
"""


@pytest.fixture
def priced(new_desk: Any) -> tuple[Any, str]:
    """A desk with a ref to each function."""
    desk = new_desk({"src/shop.py": PRICES})
    pack = desk.create()
    desk.section(pack, section_description="About prices.")
    desk.ref(pack, "price", 1, 4, path="src/shop.py", group="money")
    desk.ref(pack, "other", 7, 8, path="src/shop.py")
    return desk, pack


@pytest.mark.clause("AN-20")
@pytest.mark.parametrize(
    ("old", "new", "lines", "kind"),
    [
        ("    total = item.price * count", "    total  =  item.price*count", 1, "only white space"),
        ("    # what it costs\n", "", 1, "only comments"),
        ("count=1", "count: int = 1", 1, "only types or lifetimes"),
        ("count=1", "count=2", 1, "signature"),
        ("total", "amount", 2, "only names of locals"),
        ("return total", "return total + 1", 1, "body"),
        ("price(item, count=1):\n    #", "price(item):\n    count = 1\n    #", 2, "signature and body"),
    ],
)
def test_a_changed_ref_reports_size_and_kind_of_the_change(
    priced: tuple[Any, str], old: str, new: str, lines: int, kind: str
) -> None:
    desk, pack = priced
    desk.files["src/shop.py"] = PRICES.replace(old, new, 2 if old == "total" else 1)
    change = desk.state(pack)["change"]
    assert (change["lines"], change["kind"]) == (lines, kind)
    assert f"> changed since anchored: {lines} of {change['of']} lines, {kind}\n" in desk.output(id=pack)
    assert "change" not in desk.state(pack, 1)


@pytest.mark.clause("AN-20", "PK-43")
def test_a_page_counts_the_states_and_shows_the_diff_below_the_code(priced: tuple[Any, str]) -> None:
    desk, pack = priced
    assert "- refs:" not in desk.output(id=pack)
    desk.files["src/shop.py"] = "import os\n" + PRICES.replace("return total", "return total + 1")
    text = desk.output(id=pack)
    assert "- refs: 2 (1 moved, 1 changed)\n" in text
    diff = text.partition("```diff\n")[2].partition("\n```")[0]
    assert diff.split("\n") == [
        "--- src/shop.py",
        "+++ src/shop.py",
        "@@ -1,4 +2,4 @@",
        " def price(item, count=1):",
        "     # what it costs",
        "     total = item.price * count",
        "-    return total",
        "+    return total + 1",
    ]
    assert f"   5:     return total + 1\n```\n\n> what changed:\n\n```diff\n{diff}\n```" in text


@pytest.mark.clause("AN-20")
def test_lines_that_hold_only_comments_are_compared_as_others_are(new_desk: Any) -> None:
    desk = new_desk({"a.go": "package a\n\n// one\n// two\n// three\n\nvar x = 1\n"})
    pack = desk.pack_with_ref(3, 5, path="a.go")
    desk.files["a.go"] = desk.files["a.go"].replace("two", "zwei")
    assert "> changed since anchored: 1 of 3 lines, only comments\n" in desk.output(id=pack)


@pytest.mark.clause("AN-20")
@pytest.mark.parametrize(("start", "end"), [(1, 9), (3, 7), (4, 5), (2, 8)])
def test_what_surrounds_a_change_is_never_shown_as_changed(new_desk: Any, start: int, end: int) -> None:
    body = ["    first = item.price", "    first += tax(first)", "    second = first * count"]
    body += ["    log(second)", "    return second"]
    lines = ["", "", "def price(item, count):", *body, ""]
    desk = new_desk({"a.py": "\n".join([*lines, "", "def other():", "    return 1", ""])})
    pack = desk.pack_with_ref(start, end, path="a.py")
    desk.files["a.py"] = "import tax\n" + desk.files["a.py"].replace("tax(first)", "vat(first)")
    text = desk.output(id=pack)
    diff = text.partition("```diff\n")[2].partition("\n```")[0].split("\n")[3:]
    changed = [line for line in diff if line[0] != " "]
    assert changed == ["-    first += tax(first)", "+    first += vat(first)"]


@pytest.mark.clause("PK-57", "AN-20")
def test_the_mode_diff_shows_only_what_changed(priced: tuple[Any, str]) -> None:
    desk, pack = priced
    assert desk.output(id=pack, mode="diff").endswith(
        "[CONTENT]\n> nothing has changed since it was anchored"
    )
    desk.files["src/shop.py"] = PRICES.replace("return total", "return total + 1")
    text = desk.output(id=pack, mode="diff")
    assert "[CONTENT]\n#### price [main]\n- path: src/shop.py\n- lines: 1-4\n" in text
    assert "+    return total + 1\n```" in text
    assert "other" not in text
    assert "About prices" not in text
    assert "```python" not in text
    desk.files["src/shop.py"] = "pass\n"
    assert desk.output(id=pack, mode="diff").count("> stale ref: ") == 2
