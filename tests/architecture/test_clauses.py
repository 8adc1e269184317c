"""CONTRACT.md and the tests name each other: every clause is proved, every marker names a clause."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

CLAUSE = re.compile(r"^- \*\*([A-Z]{2,4}-[0-9]{2,3})\*\* +(\S.*)$", re.MULTILINE)
LOOKS_LIKE_AN_ID = re.compile(r"\b(?:DC|TR|MCP|ER|KN|TK|PK|ST|AN|CLI|LIB|ENV|HTML|PG|TM)-[0-9]+\b")


def contract(checkout: Path) -> list[tuple[str, str]]:
    """Every clause of the contract as (id, sentence)."""
    return CLAUSE.findall((checkout / "CONTRACT.md").read_text("utf-8"))


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


def test_clause_ids_are_unique_and_each_says_something(checkout: Path) -> None:
    counts = Counter(name for name, _ in contract(checkout))
    assert counts
    assert [name for name, count in counts.items() if count > 1] == []
    assert [name for name, sentence in contract(checkout) if len(sentence) < 20] == []


def test_every_clause_is_named_by_a_test(checkout: Path) -> None:
    unproved = {name for name, _ in contract(checkout)} - set(markers(checkout))
    assert sorted(unproved) == []


def test_every_marker_names_a_clause(checkout: Path) -> None:
    known = {name for name, _ in contract(checkout)}
    unknown = {name: places for name, places in markers(checkout).items() if name not in known}
    assert unknown == {}


def test_every_reference_to_a_clause_leads_somewhere(checkout: Path) -> None:
    known = {name for name, _ in contract(checkout)}
    for document in ("CONTRACT.md", "README.md"):
        mentioned = set(LOOKS_LIKE_AN_ID.findall((checkout / document).read_text("utf-8")))
        assert sorted(mentioned - known) == [], document
