"""How much an index file holds, for whoever only wants to tell people."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def pieces_in(path: Path) -> int:
    """How many pieces an index file has; 0 for one that is not there or cannot be read."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT COUNT(*) FROM pieces").fetchone()[0])
    except sqlite3.Error:
        return 0
