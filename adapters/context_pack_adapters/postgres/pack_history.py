"""The last revisions of packs, as the store wrote them into `cp_history` together with each change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString

from context_pack.kernel.errors import Failure
from context_pack.packs.domain.model import Pack
from context_pack_adapters.postgres.connection import Database
from context_pack_adapters.stores import pack_format

_KEPT: LiteralString = """
    SELECT DISTINCT revision FROM context_pack.cp_history
    WHERE project = %(project)s AND id = %(id)s AND body IS NOT NULL ORDER BY revision"""
_GET: LiteralString = """
    SELECT body FROM context_pack.cp_history
    WHERE project = %(project)s AND id = %(id)s AND revision = %(revision)s AND body IS NOT NULL"""


class PostgresPackHistory:
    """A `PackHistory` in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, pack_id: str, revision: int) -> Pack | None:
        """A kept revision."""
        for (body,) in self._database.tried(_GET, id=pack_id, revision=revision):
            try:
                return pack_format.decode(body.encode("utf-8"), pack_id)
            except Failure:
                return None
        return None

    def revisions(self, pack_id: str) -> Sequence[int]:
        """The kept revisions of a pack, the oldest first."""
        return [revision for (revision,) in self._database.tried(_KEPT, id=pack_id)]
