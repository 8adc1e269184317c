"""What is in the team's database, and how far away it is."""

from __future__ import annotations

import time
from typing import LiteralString

from attrs import frozen

from context_pack_adapters.postgres.connection import VERSION, Database

_COUNTS: LiteralString = """
    SELECT (SELECT count(*) FROM context_pack.cp_packs
            WHERE project = %(project)s AND expires_at > clock_timestamp()),
           (SELECT count(*) FROM context_pack.cp_discoveries WHERE project = %(project)s),
           (SELECT count(*) FROM context_pack.cp_documents WHERE project = %(project)s),
           current_setting('server_version'), current_user, current_setting('is_superuser')::boolean"""


@frozen
class DatabaseStatus:
    """The state of the database."""

    project: str
    schema: int
    server: str
    login: str
    bypasses_security: bool
    latency_ms: float
    packs: int
    discoveries: int
    documents: int


def read_status(database: Database) -> DatabaseStatus:
    """Query the state of the database.

    Raises:
        Failure: it cannot be reached or used.
    """
    ((packs, discoveries, documents, server, login, superuser),) = database.rows(_COUNTS, {})
    begun = time.perf_counter()  # the connection is there already
    database.rows("SELECT 1", {})
    latency = round((time.perf_counter() - begun) * 1000, 2)
    return DatabaseStatus(
        database.project, VERSION, server, login, superuser, latency, packs, discoveries, documents
    )
