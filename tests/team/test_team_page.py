"""The page about teams can be followed: its commands run against a real database."""

from __future__ import annotations

import os
from pathlib import Path

from page_walk import Walk
from pages import ROOT
from postgres_server import Server


def test_every_example_of_the_team_page_runs(postgres: Server, own_database: str, tmp_path: Path) -> None:
    given = {
        "CONTEXT_PACK_PROJECT": "example.org/shop",
        "CONTEXT_PACK_EMBEDDER": "fast",
        "HOME": str(tmp_path),
    }
    walk = Walk(tmp_path, {**os.environ, **given})
    (tmp_path / "hello.py").write_text("def hello():\n    return 1\n", "utf-8")
    for words in ("create greeting", "add greeting hello.py:1-2"):
        walk.succeed(f"context-pack packs {words}")
    address = postgres.address("postgres", own_database)
    walk.through((ROOT / "docs/team.md").read_text("utf-8").replace("postgresql:///team", address))
    assert walk.ran > 5
    assert "greeting" in walk.succeed("context-pack packs list")
