"""The contract and the tests name each other: every clause is proved, every marker names a clause."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from pages import CLAUSE, all_pages, clauses, contract_pages

FAMILIES = sorted({name.partition("-")[0] for name, _ in clauses()})
LOOKS_LIKE_AN_ID = re.compile(rf"\b(?:{'|'.join(FAMILIES)})-[0-9]+\b")
INDEX_ROW = re.compile(r"^\| \[[^]]+\]\((docs/contract/[a-z]+\.md)\) \| ((?:`[A-Z]+` ?)+) \|", re.MULTILINE)


def markers(checkout: Path) -> dict[str, list[str]]:
    """Every clause id that a marker names, with the places."""
    named: dict[str, list[str]] = {}
    for path in sorted((checkout / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "clause"
            ):
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), f"{path.name}:{node.lineno} not a literal id"
                    named.setdefault(str(argument.value), []).append(f"{path.name}:{node.lineno}")
    return named


def test_clause_ids_are_unique_and_each_says_something() -> None:
    counts = Counter(name for name, _ in clauses())
    assert counts
    assert [name for name, count in counts.items() if count > 1] == []
    assert [name for name, sentence in clauses() if len(sentence) < 20] == []


def test_every_bullet_that_looks_like_a_clause_is_one() -> None:
    for page in contract_pages():
        text = page.read_text("utf-8")
        assert len(re.findall(r"^\s*[-*] +\*\*[A-Z]+-", text, re.MULTILINE)) == len(CLAUSE.findall(text)), (
            page
        )


def test_every_clause_is_named_by_a_test(checkout: Path) -> None:
    unproved = {name for name, _ in clauses()} - set(markers(checkout))
    assert sorted(unproved) == []


def test_every_marker_names_a_clause(checkout: Path) -> None:
    known = {name for name, _ in clauses()}
    unknown = {name: places for name, places in markers(checkout).items() if name not in known}
    assert unknown == {}


def test_every_reference_to_a_clause_leads_somewhere() -> None:
    known = {name for name, _ in clauses()}
    for page in all_pages():
        mentioned = set(LOOKS_LIKE_AN_ID.findall(page.read_text("utf-8")))
        assert sorted(mentioned - known) == [], page


def test_clauses_stand_in_numeric_order_and_a_family_on_one_page(checkout: Path) -> None:
    pages: dict[str, str] = {}
    for page in contract_pages():
        place = page.relative_to(checkout).as_posix()
        last: dict[str, int] = {}
        for name, _ in CLAUSE.findall(page.read_text("utf-8")):
            family, _, number = name.partition("-")
            assert pages.setdefault(family, place) == place, name
            assert last.get(family, 0) < int(number), f"{place}: {name} is not in order"
            last[family] = int(number)


def test_the_index_of_the_contract_names_every_page_with_its_families(checkout: Path) -> None:
    index = (checkout / "CONTRACT.md").read_text("utf-8")
    listed = {page: set(re.findall("[A-Z]+", families)) for page, families in INDEX_ROW.findall(index)}
    held = {
        page.relative_to(checkout).as_posix(): {
            name.partition("-")[0] for name, _ in CLAUSE.findall(page.read_text("utf-8"))
        }
        for page in contract_pages()[1:]
    }
    assert listed == held
    assert len(index.encode("utf-8")) <= 12 * 1024
