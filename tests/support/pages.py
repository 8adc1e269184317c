"""The project's pages for people, and the clauses and blocks in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
CLAUSE = re.compile(r"^- \*\*([A-Z]{2,4}-[0-9]{2,3})\*\* +(\S.*)$", re.MULTILINE)


def contract_pages() -> list[Path]:
    """CONTRACT.md and every page of its clauses."""
    return [ROOT / "CONTRACT.md", *sorted((ROOT / "docs/contract").glob("*.md"))]


def all_pages() -> list[Path]:
    """Every Markdown page of the project, those of the contract included."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


GUIDES = [page for page in all_pages() if page not in contract_pages()]


def name_of(page: Path) -> str:
    """A page's path in the project."""
    return page.relative_to(ROOT).as_posix()


def contract() -> str:
    """The text of the whole contract."""
    return "\n".join(page.read_text("utf-8") for page in contract_pages())


def clauses() -> list[tuple[str, str]]:
    """Every clause of the contract as (id, first line of its text), page by page."""
    return CLAUSE.findall(contract())


class Block(NamedTuple):
    """A fence: what it is, what it holds, the section it stands in, and the mark in a comment before it."""

    info: str
    text: str
    section: str
    mark: str


def blocks(page: str) -> Iterator[Block]:
    """Every fence of a page; marks are `ci: NAME`, `not run: WHY`, `file: PATH` and `change: PATH`."""
    section, mark = "", ""
    tokens = MarkdownIt("commonmark").parse(page)
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            section = tokens[index + 1].content
        elif token.type == "html_block":
            found = re.search(r"<!-- ((?:ci|not run|file|change): .+?) -->", token.content)
            mark = found[1] if found else ""
        elif token.type == "fence":
            yield Block(token.info.strip(), token.content, section, mark)
            mark = ""
