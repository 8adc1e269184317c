"""The team's stores as the settings ask for them; opening loads no driver and asks no server."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.postgres.projects import project_key
from context_pack_adapters.settings import Settings, store_password
from context_pack_adapters.stores.events import Tell
from context_pack_adapters.system import SystemIds

if TYPE_CHECKING:
    from context_pack.kernel.ports import IdSource
    from context_pack.memory.ports import DiscoveryStore
    from context_pack.packs.ports import ExcerptStore, PackHistory, PackStore
    from context_pack.retrieval.ports import Embedder, SearchIndex
    from context_pack_adapters.postgres.connection import Address, Database

INSTALL = "pip install 'context-pack[postgres]'"
NOT_INSTALLED = f"CONTEXT_PACK_STORE names a Postgres database, but its driver does not load: {INSTALL}"


class Unopened:
    """Stands in for a store that cannot be opened: every call raises the reason.

    Whoever asks whether there is something to close is not refused: there is nothing.
    """

    def __init__(self, failure: Failure) -> None:
        self._failure = failure

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name) if name == "close" else self._failure


class Team:
    """The stores that a team shares through one database."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], tell: Tell = lambda _: None) -> None:
        self.settings = settings
        self._environ = environ
        self._tell = tell

    @property
    def address(self) -> Address:
        """Where the database is.

        Raises:
            Failure: the driver does not load.
        """
        try:
            from context_pack_adapters.postgres.connection import Address
        except ImportError:
            raise Failure(Code.IO_ERROR, NOT_INSTALLED, {"reason": "not_installed"}) from None
        return Address(self.settings.store, store_password(self._environ))

    @cached_property
    def database(self) -> Database:
        """Its connections."""
        address = self.address
        from context_pack_adapters.postgres.connection import Database

        return Database(address, self.project)

    def project(self) -> str:
        """By which name this project is known there."""
        return project_key(self.settings.source_root, self.settings.project)

    @cached_property
    def packs(self) -> PackStore:
        """The packs of the team."""
        return self.packs_with(SystemIds())

    def packs_with(self, ids: IdSource) -> PackStore:
        """These packs, with ids of another source for new ones."""
        try:
            database = self.database
        except Failure as failure:
            return Unopened(failure)
        from context_pack_adapters.postgres.pack_store import PostgresPackStore

        return PostgresPackStore(database, ids, tell=self._tell, author=self.settings.author or None)

    @cached_property
    def discoveries(self) -> DiscoveryStore:
        """The discoveries of the team."""
        try:
            database = self.database
        except Failure as failure:
            return Unopened(failure)
        from context_pack_adapters.postgres.discovery_store import PostgresDiscoveryStore

        return PostgresDiscoveryStore(database, tell=self._tell, author=self.settings.author or None)

    def token(self) -> str:
        """One text for the state of the team's discoveries and live packs.

        Raises:
            Failure: the database cannot be reached.
        """
        database = self.database
        from context_pack_adapters.postgres.change_token import change_token

        return change_token(database)

    @cached_property
    def history(self) -> PackHistory:
        """The last revisions of the team's packs."""
        try:
            database = self.database
        except Failure:
            from context_pack.packs.ports import NoHistory

            return NoHistory()
        from context_pack_adapters.postgres.pack_history import PostgresPackHistory

        return PostgresPackHistory(database)

    @cached_property
    def excerpts(self) -> ExcerptStore:
        """The excerpts that the refs of the team's packs were anchored to."""
        try:
            database = self.database
        except Failure:
            from context_pack.packs.ports import NoExcerptStore

            return NoExcerptStore()
        from context_pack_adapters.postgres.excerpt_store import PostgresExcerptStore

        return PostgresExcerptStore(database)

    def documents_beside(self, local: SearchIndex, fast: Embedder) -> SearchIndex:
        """The index of shared collections, beside the local one of all others."""
        from context_pack_adapters.postgres.split_index import SplitIndex

        try:
            database = self.database
        except Failure as failure:
            return SplitIndex(local, Unopened(failure))
        from context_pack_adapters.postgres.piece_index import PostgresIndex

        return SplitIndex(local, PostgresIndex(database, fast))

    def embedding_once(self, embedder: Embedder) -> Embedder:
        """An embedder that reuses vectors which another team member has computed."""
        try:
            database = self.database
        except Failure:
            return embedder
        from context_pack_adapters.postgres.vectors import SharedVectors

        return SharedVectors(embedder, database)
