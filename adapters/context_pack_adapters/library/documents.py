"""Documents for library callers: collections by alias or id, documents by path in the collection.

Every call first brings the index up to date with the disk, all of it, because there is no worker here.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

from context_pack.composition import UseCases
from context_pack.documents import commands
from context_pack.documents.model import Outcome
from context_pack.documents.search import SearchAnswers
from context_pack.documents.shelf import Described, DocumentSection, sync_all, under_every_name
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paging import Page
from context_pack.retrieval.headings import Heading
from context_pack.retrieval.model import IndexEntry, Summary
from context_pack.retrieval.ports import Stop
from context_pack.retrieval.upkeep import Report
from context_pack_adapters.library.spelling import given, listed, spelled


class Documents:
    """Every use case of documents; each raises `Failure` as the tools would answer it."""

    def __init__(self, cases: UseCases) -> None:
        if cases.ports.documents is None:
            raise Failure(Code.NOT_FOUND, "these ports have no documents")
        self.shelf, self.finder = cases.documents

    def collections(self) -> builtins.list[Described]:
        """Every configured collection."""
        self.shelf.bring_up_to_date(self.shelf.chosen(()))
        return self.shelf.collections()

    def list(self, collection: str, *, limit: int = 100, offset: int = 0) -> Page[Summary]:
        """A page of the documents of a collection, in the order of their ids."""
        wanted = spelled(commands.ListDocuments, collection=collection, limit=limit, offset=offset)
        found, _ = self.shelf.current(wanted.collection)
        listed = self.shelf.documents(found, wanted.limit, wanted.offset)
        shown = tuple(listed.documents)
        return Page(shown, listed.total, wanted.offset + len(shown) < listed.total)

    def get(self, collection: str, document: str) -> IndexEntry:
        """One document with its text and its pieces."""
        found, _ = self.shelf.current(collection)
        return self.shelf.document(found, document, collection)

    def outline(self, collection: str, document: str, *, max_depth: int = 3) -> builtins.list[Heading]:
        """The headings of a document."""
        wanted = spelled(commands.GetOutline, collection=collection, document=document, maxDepth=max_depth)
        return self.shelf.outline(self.get(collection, document), wanted.max_depth)

    def section(
        self, collection: str, document: str, section: str, *, include_subsections: bool = True
    ) -> DocumentSection:
        """One section of a document by its heading."""
        return self.shelf.section(self.get(collection, document), section, include_subsections)

    def search(
        self,
        query: str,
        *,
        collections: Sequence[str] = (),
        limit: int = 10,
        max_distance: float | None = None,
        hybrid: bool = True,
    ) -> SearchAnswers:
        """The passages that answer a question, the best first."""
        command = spelled(
            commands.SearchDocuments,
            query=query,
            collections=listed(collections),
            limit=limit,
            maxDistance=max_distance,
            hybridSearch=hybrid,
        )
        return self.finder.search(command)

    def search_batch(
        self,
        queries: Sequence[str | Mapping[str, Any]],
        *,
        limit: int = 5,
        max_distance: float | None = None,
        hybrid: bool = True,
    ) -> SearchAnswers:
        """The answers to several questions; a question is a text, or `{query, collections}`."""
        asked = [{"query": query} if isinstance(query, str) else dict(query) for query in queries]
        command = spelled(
            commands.SearchBatch, queries=asked, limit=limit, maxDistance=max_distance, hybridSearch=hybrid
        )
        return self.finder.batch(command)

    def related(
        self,
        collection: str,
        document: str,
        *,
        chunk: str | None = None,
        limit: int = 5,
        same_document: bool = False,
    ) -> SearchAnswers:
        """What is like a document or a text, within the document's collection."""
        command = spelled(
            commands.FindRelated,
            collection=collection,
            document=document,
            chunk=chunk,
            limit=limit,
            sameDocument=same_document,
        )
        return self.finder.related(command)[2]

    def sync(
        self, *collections: str, report: Report = lambda _, __, ___: None, stop: Stop = lambda: False
    ) -> builtins.list[Outcome]:
        """Bring these collections, or all, up to date; repositories are fetched."""
        outcomes = sync_all(self.shelf, self.shelf.chosen(collections), report=report, stop=stop)
        return outcomes if collections else under_every_name(self.shelf, outcomes)

    def add(self, alias: str, url: str, *, description: str | None = None, user_wide: bool = False) -> None:
        """Configure a collection; the file keeps what else is in it."""
        sources = self.shelf.ports.sources
        sources.resolve(alias, url, user_wide)
        sources.configure(alias, given(url=url, description=description), user_wide)

    def remove(self, alias: str, *, user_wide: bool = False) -> None:
        """Configure a collection no more, and forget what the index has of it."""
        collection = self.shelf.find(alias)
        self.shelf.ports.sources.configure(collection.alias, None, user_wide)
        left = self.shelf.catalogue().collections.values()
        if all(other.id != collection.id for other in left):
            self.shelf.ports.index.forget(collection.id)
