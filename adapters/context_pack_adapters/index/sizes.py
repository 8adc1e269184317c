"""How much an index file holds, for whoever only wants to tell people."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from context_pack_adapters.index.connections import BUSY_SECONDS, connect
from context_pack_adapters.index.faults import Damaged
from context_pack_adapters.index.schema import check_schema


def pieces_in(path: Path) -> int:
    """How many pieces an index file has; 0 for one that is not there or cannot be read."""
    try:
        with closing(connect(str(path), BUSY_SECONDS, "ro")) as connection:
            check_schema(connection)
            return int(connection.execute("SELECT COUNT(*) FROM pieces").fetchone()[0])
    except (sqlite3.Error, Damaged):
        return 0
