"""The project's pages for people, and the clauses and blocks in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLAUSE = re.compile(r"^- \*\*([A-Z]{2,4}-[0-9]{2,3})\*\* +(\S.*)$", re.MULTILINE)


def contract_pages() -> list[Path]:
    """CONTRACT.md and every page of its clauses."""
    return [ROOT / "CONTRACT.md", *sorted((ROOT / "docs/contract").glob("*.md"))]


def all_pages() -> list[Path]:
    """Every Markdown page of the project, those of the contract included."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def contract() -> str:
    """The text of the whole contract."""
    return "\n".join(page.read_text("utf-8") for page in contract_pages())


def clauses() -> list[tuple[str, str]]:
    """Every clause of the contract as (id, first line of its text), page by page."""
    return CLAUSE.findall(contract())
