"""Documents for library callers: collections by alias or id, documents by path in the collection.

Every call first brings the index up to date with the disk, all of it, because there is no worker here.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from context_pack.composition import UseCases
from context_pack.documents import commands
from context_pack.documents.model import Outcome
from context_pack.documents.search import RankedPassage, SearchAnswers
from context_pack.documents.shelf import DocumentSection, sync_all, under_every_name
from context_pack.kernel.errors import invalid
from context_pack.kernel.paging import Page
from context_pack.results import DocumentHit, DocumentHits, ListedCollection, StoredDocument
from context_pack.retrieval.headings import Heading
from context_pack.retrieval.model import IndexEntry
from context_pack.retrieval.ports import Stop
from context_pack.retrieval.upkeep import Report


class Documents:
    """Collections of documents; each method raises `Failure` where the tools would refuse."""

    def __init__(self, cases: UseCases) -> None:
        self.shelf, self.finder = cases.documents

    def collections(self) -> builtins.list[ListedCollection]:
        """Every configured collection."""
        self.shelf.bring_up_to_date(self.shelf.chosen(()))
        return [
            ListedCollection(
                each.collection.alias,
                each.collection.where.place,
                each.documents,
                each.description,
                each.version,
            )
            for each in self.shelf.collections()
        ]

    def list(self, collection: str, *, limit: int = 100, offset: int = 0) -> Page[StoredDocument]:
        """A page of the documents of a collection, in the order of their paths, without their texts."""
        command = commands.ListDocuments(collection=collection, limit=limit, offset=offset)
        stored, _ = self.shelf.current(command.collection)
        page = self.shelf.documents(stored, limit, offset)
        rows = tuple(StoredDocument(collection, each.key, each.title, each.size) for each in page.documents)
        return Page(rows, page.total, offset + len(rows) < page.total)

    def get(self, collection: str, document: str) -> StoredDocument:
        """One document with its text."""
        entry = self._entry(collection, document)
        return StoredDocument(collection, entry.key, entry.title, entry.size, entry.text)

    def outline(self, collection: str, document: str, *, max_depth: int = 3) -> builtins.list[Heading]:
        """The headings of a document down to a level: `level`, `text` and `line` of each."""
        command = commands.GetOutline(collection, document, max_depth)
        return self.shelf.outline(self._entry(collection, document), command.max_depth)

    def section(
        self, collection: str, document: str, section: str, *, include_subsections: bool = True
    ) -> DocumentSection:
        """One section of a document by its heading: its `content`, from line `start` to `end`."""
        return self.shelf.section(self._entry(collection, document), section, include_subsections)

    def _entry(self, collection: str, document: str) -> IndexEntry:
        stored, _ = self.shelf.current(collection)
        return self.shelf.document(stored, document, collection)

    def search(
        self,
        query: str,
        *,
        collections: Sequence[str] = (),
        limit: int = 10,
        max_distance: float | None = None,
        hybrid: bool = True,
    ) -> DocumentHits:
        """The passages that answer a question, the best first.

        Args:
            query: a question or some words.
            collections: only these, by alias or id; else all.
            limit: at most so many hits.
            max_distance: leave out what is farther away by meaning, from 0 (the same) to 2.
            hybrid: whether words count beside the meaning.
        """
        if isinstance(collections, str):  # a type checker takes one text for a sequence of them
            raise invalid("'collections' must be a list of texts", "collections")
        command = commands.SearchDocuments(query, tuple(collections), limit, max_distance, hybrid)
        return _flat(self.finder.search(command))

    def related(
        self,
        collection: str,
        document: str,
        *,
        chunk: str | None = None,
        limit: int = 5,
        same_document: bool = False,
    ) -> DocumentHits:
        """Passages of the collection that are like a document, or like the text `chunk`."""
        command = commands.FindRelated(collection, document, chunk, limit, same_document)
        return _flat(self.finder.related(command)[2])

    def sync(
        self, *collections: str, report: Report = lambda _, __, ___: None, stop: Stop = lambda: False
    ) -> builtins.list[Outcome]:
        """Bring these collections, or all, up to date; repositories are fetched."""
        outcomes = sync_all(self.shelf, self.shelf.chosen(collections), report=report, stop=stop)
        return outcomes if collections else under_every_name(self.shelf, outcomes)

    def add(self, alias: str, url: str, *, description: str | None = None, user_wide: bool = False) -> None:
        """Configure a collection in `context.json`; the file keeps what else is in it.

        Args:
            alias: what to call it.
            url: a folder of the project, or the URL of a repository.
            description: what it holds, for those who search.
            user_wide: for all projects of the user, in the file that `open_workspace` was told.
        """
        sources = self.shelf.ports.sources
        sources.resolve(alias, url, user_wide)
        fields = {"url": url} if description is None else {"url": url, "description": description}
        sources.configure(alias, fields, user_wide)

    def remove(self, alias: str, *, user_wide: bool = False) -> None:
        """Configure a collection no more, and forget what the index has of it."""
        collection = self.shelf.find(alias)
        self.shelf.ports.sources.configure(collection.alias, None, user_wide)
        others = self.shelf.catalogue().collections.values()
        if all(other.id != collection.id for other in others):
            self.shelf.ports.index.forget(collection.id)


def _flat(found: SearchAnswers) -> DocumentHits:
    """The answer to one question without what only the index knows."""
    (answer,) = found.answers
    return DocumentHits(tuple(map(_hit, answer.hits)), found.stale, found.warning)


def _hit(hit: RankedPassage) -> DocumentHit:
    piece, alias = hit.ranked.found, hit.collection.alias
    lines = (piece.start, piece.end)
    return DocumentHit(alias, piece.key, *lines, piece.text, piece.title, piece.heading, hit.ranked.relevance)
