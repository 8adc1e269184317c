"""The stores that a team shares through one database; opening one asks no server."""

from __future__ import annotations

from collections.abc import Mapping

from context_pack.kernel.ports import IdSource
from context_pack_adapters.files.events import Tell
from context_pack_adapters.postgres.connection import Address, Database
from context_pack_adapters.postgres.discoveries import PostgresDiscoveryStore
from context_pack_adapters.postgres.documents import SharedCollection
from context_pack_adapters.postgres.excerpts import PostgresExcerptStore
from context_pack_adapters.postgres.packs import PostgresPackHistory, PostgresPackStore, change_token
from context_pack_adapters.postgres.projects import project_key
from context_pack_adapters.settings import Settings, store_password


class Team:
    """The stores of one project, over one set of connections."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], tell: Tell = lambda _: None) -> None:
        self.address = Address(settings.store, store_password(environ))
        self.database = Database(self.address, lambda: project_key(settings.source_root, settings.project))
        self._author = settings.author or None
        self._tell = tell

    def packs(self, ids: IdSource) -> PostgresPackStore:
        """The packs of the team; new ones have ids of that source."""
        return PostgresPackStore(self.database, ids, tell=self._tell, author=self._author)

    def history(self) -> PostgresPackHistory:
        """The last revisions of the team's packs."""
        return PostgresPackHistory(self.database)

    def excerpts(self) -> PostgresExcerptStore:
        """The excerpts that the refs of the team's packs were anchored to."""
        return PostgresExcerptStore(self.database)

    def discoveries(self) -> PostgresDiscoveryStore:
        """The discoveries of the team."""
        return PostgresDiscoveryStore(self.database, tell=self._tell, author=self._author)

    def collection(self, alias: str) -> SharedCollection:
        """The documents that the team shares under that name."""
        return SharedCollection(self.database, alias)

    def change_token(self) -> str:
        """A text that differs when a live pack or a discovery of the team has changed.

        Raises:
            Failure: the database cannot be reached.
        """
        return change_token(self.database)

    def close(self) -> None:
        """Close the connections."""
        self.database.close()
