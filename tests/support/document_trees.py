"""Small trees of documents for the tests, and what every document test's process is started with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from file_trees import lay

GUIDE = """\
# Handbook

How the service is run.

## Setup

Install the package with pip and set the token.

### Linux

Use the system package.

## Usage

Call `parse_http_header` to read a header.
"""
PASTA = "# Kitchen\n\nBoil the pasta for nine minutes, then add the sauce.\n"
KEYS = "---\ntitle: Rotating keys\n---\n\nKeys are rotated every ninety days by the scheduler.\n"


def configure(root: Path, **collections: Any) -> None:
    """Write `context.json`; a collection is a place, or an entry."""
    lay(root, {"context.json": _config(collections)})


def configure_user(root: Path, **collections: Any) -> None:
    """Write the user's own `context.json`, where `environ` has it."""
    lay(root / "xdg/context-pack", {"context.json": _config(collections)})


def _config(collections: Mapping[str, Any]) -> str:
    entries = {
        alias: entry if isinstance(entry, dict) else {"url": entry} for alias, entry in collections.items()
    }
    return json.dumps({"collections": entries})


def handbook(root: Path) -> Path:
    """A project with one collection of three documents."""
    lay(root, {"docs/guide.md": GUIDE, "docs/food/pasta.md": PASTA, "docs/keys.md": KEYS})
    configure(root, handbook={"url": "./docs", "description": "How we work"})
    return root


def environ(root: Path, **more: str) -> dict[str, str]:
    """The fast embedder, and no configuration of the person who runs the tests."""
    return {"CONTEXT_PACK_EMBEDDER": "fast", "XDG_CONFIG_HOME": str(root / "xdg"), **more}
