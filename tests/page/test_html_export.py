"""`context-pack packs export --html`, as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import CommandLine
from html_pages import Structure

CODE = "import os\n\n\ndef login(user):\n    return user.name\n"
BUILD = [
    {"action": "upsert_section", "section_key": "main", "section_title": "Main <b>"},
    {
        "action": "upsert_ref",
        "section_key": "main",
        "ref_key": "login",
        "path": "auth.py",
        "line_start": 4,
        "line_end": 5,
        "ref_why": "where it begins",
    },
    {
        "action": "upsert_ref",
        "section_key": "main",
        "ref_key": "gone",
        "path": "gone.py",
        "line_start": 1,
        "line_end": 2,
    },
    {
        "action": "upsert_diagram",
        "section_key": "main",
        "diagram_key": "flow",
        "title": "The flow",
        "mermaid": "flowchart LR\n  A --> B",
    },
]


@pytest.fixture
def shop(tmp_path: Path) -> CommandLine:
    """A project with a pack over its one source file."""
    (tmp_path / "auth.py").write_text(CODE)
    shop = CommandLine(tmp_path)
    made = shop.payload("action=create", "ttl_minutes=60", "name=auth", "title=How login works")
    shop.payload(
        json.dumps({"action": "batch", "id": made["id"], "expected_revision": 1, "operations": BUILD})
    )
    return shop


@pytest.mark.clause("HTML-01", "HTML-03", "CLI-45")
def test_export_writes_one_page_with_code_states_and_drawings(shop: CommandLine) -> None:
    done = shop("packs", "export", "auth", "--html")
    assert (done.code, done.out) == (0, "auth.html\n")
    page = (shop.folder / "auth.html").read_text("utf-8")
    Structure(page)
    assert '<span class="k">def</span><span class="w"> </span><span class="nf">login</span>' in page
    assert 'id="main.login-L-4"' in page
    assert "</span> exact</span>" in page
    assert "file not found" in page
    assert 'src="data:image/svg+xml;base64,' in page
    assert "Main &lt;b&gt;" in page


@pytest.mark.clause("HTML-03", "CLI-45")
def test_export_shows_moved_and_changed_code_as_such(shop: CommandLine) -> None:
    (shop.folder / "auth.py").write_text("import sys\n" + CODE)
    assert "moved from <code>auth.py:4-5</code>" in shop("packs", "export", "auth", "--html", "-o", "-").out
    (shop.folder / "auth.py").write_text(CODE.replace("user.name", "user.id"))
    assert "What changed since it was anchored" in shop("packs", "export", "auth", "--html", "-o", "-").out


@pytest.mark.clause("CLI-45")
def test_html_export_writes_to_the_given_file_and_never_overwrites(shop: CommandLine) -> None:
    assert shop("packs", "export", "auth", "--html", "-o", "docs.html").out == "docs.html\n"
    (shop.folder / "docs.html").write_text("mine")
    assert shop("packs", "export", "auth", "--html", "-o", "docs.html").code == 2
    assert (shop.folder / "docs.html").read_text() == "mine"
    assert shop("packs", "export", "auth", "--html", "-o", "docs.html", "--force").code == 0
    assert shop("packs", "export", "auth", "--html", "-o", "-").out.startswith("<!DOCTYPE html>")
    assert shop("packs", "export", "auth", "--html", "--compact").code == 2
