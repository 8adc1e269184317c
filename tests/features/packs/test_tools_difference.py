"""What changed since a ref was anchored: how much, of which kind, as a diff, and where it is told."""

from __future__ import annotations

from typing import Any

import pytest

CODE = """\
def price(item, count=1):
    # what it costs
    total = item.price * count
    return total


def other():
    return 2
"""


@pytest.fixture
def shop(new_desk: Any) -> tuple[Any, str]:
    """A desk with a ref to each function."""
    desk = new_desk({"src/shop.py": CODE})
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
    shop: tuple[Any, str], old: str, new: str, lines: int, kind: str
) -> None:
    desk, pack = shop
    desk.files["src/shop.py"] = CODE.replace(old, new, 2 if old == "total" else 1)
    change = desk.state(pack)["change"]
    assert (change["lines"], change["kind"]) == (lines, kind)
    assert f"> changed since anchored: {lines} of {change['of']} lines, {kind}\n" in desk.output(id=pack)
    assert "change" not in desk.state(pack, 1)


@pytest.mark.clause("AN-20", "PK-43")
def test_a_page_counts_the_states_and_shows_the_diff_below_the_code(shop: tuple[Any, str]) -> None:
    desk, pack = shop
    assert "- refs:" not in desk.output(id=pack)
    desk.files["src/shop.py"] = "import os\n" + CODE.replace("return total", "return total + 1")
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
def test_the_mode_diff_shows_only_what_changed(shop: tuple[Any, str]) -> None:
    desk, pack = shop
    assert desk.output(id=pack, mode="diff").endswith(
        "[CONTENT]\n> nothing has changed since it was anchored"
    )
    desk.files["src/shop.py"] = CODE.replace("return total", "return total + 1")
    text = desk.output(id=pack, mode="diff")
    assert "[CONTENT]\n#### price [main]\n- path: src/shop.py\n- lines: 1-4\n" in text
    assert "+    return total + 1\n```" in text
    assert "other" not in text
    assert "About prices" not in text
    assert "```python" not in text
    desk.files["src/shop.py"] = "pass\n"
    assert desk.output(id=pack, mode="diff").count("> stale ref: ") == 2
