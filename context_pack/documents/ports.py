"""What documents ask of the world: configured sources that can be looked at, read and locked.

What can be searched is behind `retrieval.ports`. A source is foreign: nothing outside it can be reached
through it, and an entry that leads out fails alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from attrs import frozen

from context_pack.documents.model import Catalogue, Collection, DocumentText, Failed, Survey
from context_pack.retrieval.ports import Background, Embedder, SearchIndex

Check = Callable[[], None]
"""Called now and then during long work; what it raises ends the work."""


class CollectionSource(Protocol):
    """One opened collection. Raises `Failure` where the whole of it cannot be had."""

    def survey(self, since: str = "") -> Survey | None:
        """What it holds now; None if it is as it was at the signature `since`."""

    def read(self, documents: Sequence[str]) -> Iterator[DocumentText | Failed]:
        """The contents of these documents, each or why it cannot be had, in any order."""


class CollectionSources(Protocol):
    """The configured collections of one project.

    A collection of the project's own configuration lies in the project, or in a repository that the user has
    allowed; one of the user's own configuration may be anywhere.
    """

    @property
    def project(self) -> str:
        """What tells this project's collections in an index from those of others."""

    def catalogue(self) -> Catalogue:
        """Every collection, what is wrong with the configuration, and which repositories are allowed."""

    def open(
        self, collection: Collection, fetch: bool = False, check: Check = lambda: None
    ) -> CollectionSource:
        """The source of a collection; `fetch` brings what is far away up to date first.

        Raises:
            Failure: it is not there, cannot be read or cannot be fetched, or the project may not name it.
        """

    def locked(self, collection: str, check: Check) -> AbstractContextManager[object]:
        """The lock of a collection's sync: one holder at a time, and others ask `check` while they wait."""

    def resolve(self, alias: str, url: str, user_wide: bool = False) -> Collection:
        """The collection that such an entry of the configuration would be.

        Raises:
            Failure: `invalid_data` for a name or a place that cannot be one, `permission_denied` for a place
                on this disk that the project may not name.
        """

    def configure(self, alias: str, entry: Mapping[str, Any] | None, user_wide: bool = False) -> None:
        """Set a collection in the configuration, or remove it without an entry; all else stays.

        Raises:
            Failure: the configuration cannot be edited.
        """

    def allow(self, address: str, credentials: bool | None) -> None:
        """Let a repository be fetched when a project names it, with credentials or without; None: no more.

        Raises:
            Failure: the user's configuration cannot be edited.
        """


@frozen
class DocumentPorts:
    """Everything that documents ask of the world."""

    sources: CollectionSources
    index: SearchIndex
    fast: Embedder
    semantic: Embedder | None = None
    background: Background | None = None
    """Without one, long work is done inside the call."""
    warning: str | None = None
    """What is wrong with the embedder that was asked for."""
