"""Code, documents, memory, directory contexts and bundles for library callers.

Every method raises `Failure` where the tool of its command would refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from context_pack.bundles.exports import (
    EntityNeighbours,
    ExportContext,
    ExportedText,
    ExportMarkdown,
    GetContext,
    Target,
    WrittenDocument,
    export,
    look_around,
    write_document,
)
from context_pack.bundles.model import Bundle, Unloadable
from context_pack.bundles.ports import BundlePlace
from context_pack.code.grep import FoundLines, GrepCodebase, query_of
from context_pack.code.outline import CodeOutline, Outlined
from context_pack.code.reading import FileRead, ReadFile
from context_pack.code.usages import FindUsages, Usages
from context_pack.composition import UseCases
from context_pack.contexts.queries import (
    CheckedContext,
    CheckFreshness,
    ContextPart,
    FolderListing,
    ListContexts,
    QueryContext,
    opened,
)
from context_pack.contexts.refresh import FolderOutcome, RefreshRequest
from context_pack.documents import commands
from context_pack.documents.model import Outcome
from context_pack.documents.search import SearchAnswers
from context_pack.documents.shelf import DocumentSection, find_section, outline
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paging import Page
from context_pack.memory.discovery import Discovery
from context_pack.memory.entries import CODE
from context_pack.memory.ports import Recorded
from context_pack.memory.record import ContextRecord
from context_pack.memory.search import ContextSearch
from context_pack.results import (
    DocumentHit,
    DocumentHits,
    ListedCollection,
    MemoryHit,
    MemoryHits,
    StoredDocument,
)
from context_pack.retrieval.headings import Heading
from context_pack.retrieval.model import IndexEntry, Ranked
from context_pack.retrieval.ports import Stop
from context_pack.retrieval.upkeep import Report
from context_pack.toolkit.budget import room_of
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS
from context_pack_adapters.library.asking import Feature, asks

T = TypeVar("T")


class SourceCode(Feature):
    """The code of the project."""

    @asks(ReadFile)
    def read(self, command: ReadFile) -> FileRead:
        """A file, lines of it or one definition: `content`, `language`, `lines`, `span`, `dependencies`."""
        read, ports = self.cases.code.reader.read(command), self.cases.ports
        if ports.access is not None:
            ports.access.record(read.source.path, ports.clock.now())
        return read

    @asks(CodeOutline)
    def outline(self, command: CodeOutline) -> Outlined:
        """The definitions of a file, or of the files in a folder: `outlines`, one for each file."""
        return self.cases.code.outliner.outline(command, QuietCall())

    @asks(FindUsages)
    def usages(self, command: FindUsages) -> Usages:
        """Where a name is defined (`definitions`) and used (`uses`), by name and not by type."""
        return _searching(self.cases.code.usages).find(command, QuietCall())

    @asks(GrepCodebase)
    def grep(self, command: GrepCodebase) -> FoundLines:
        """The lines that match: `hits` with `path`, `line`, `text`; `total` of all."""
        return _searching(self.cases.code.search).search(query_of(command), QuietCall())


def _searching(case: T | None) -> T:
    """A use case that needs the port of a search."""
    if case is None:
        raise Failure(Code.NOT_FOUND, "these ports have no search")
    return case


class Documents(Feature):
    """Collections of documents, by alias or id; each call first brings the index up to date with the disk."""

    def __init__(self, cases: UseCases) -> None:
        super().__init__(cases)
        self.shelf, self.finder = cases.documents

    def collections(self) -> Sequence[ListedCollection]:
        """Every configured collection."""
        self.shelf.bring_up_to_date(self.shelf.chosen(()))
        return [
            ListedCollection(
                listed.collection.alias,
                listed.collection.where.place,
                listed.documents,
                listed.description,
                listed.version,
            )
            for listed in self.shelf.collections()
        ]

    @asks(commands.ListDocuments)
    def list(self, command: commands.ListDocuments) -> Page[StoredDocument]:
        """A page of the documents of a collection, in the order of their paths, without their texts."""
        stored, _ = self.shelf.current(command.collection)
        entries, total = self.shelf.documents(stored, command.limit, command.offset)
        rows = tuple(StoredDocument(command.collection, row.key, row.title, row.size) for row in entries)
        return Page(rows, total, command.offset + len(rows) < total)

    @asks(commands.GetDocument)
    def get(self, command: commands.GetDocument) -> StoredDocument:
        """One document with its text."""
        entry = self._entry(command)
        return StoredDocument(command.collection, entry.key, entry.title, entry.size, entry.text)

    @asks(commands.GetOutline)
    def outline(self, command: commands.GetOutline) -> Sequence[Heading]:
        """The headings of a document down to a level: `level`, `text` and `line` of each."""
        return outline(self._entry(command), command.max_depth)

    @asks(commands.GetSection)
    def section(self, command: commands.GetSection) -> DocumentSection:
        """One section of a document by its heading: its `content`, from line `start` to `end`."""
        return find_section(self._entry(command), command.section, command.subsections)

    def _entry(self, command: commands.GetDocument | commands.GetOutline | commands.GetSection) -> IndexEntry:
        _, entry, _ = self.shelf.document(command.collection, command.document)
        return entry

    @asks(commands.SearchDocuments)
    def search(self, command: commands.SearchDocuments) -> DocumentHits:
        """The passages that answer a question, the best first."""
        return _document_hits(self.finder.search(command))

    @asks(commands.FindRelated)
    def related(self, command: commands.FindRelated) -> DocumentHits:
        """Passages of the collection that are like a document, or like the text `chunk`."""
        return _document_hits(self.finder.related(command)[2])

    def sync(
        self, *collections: str, report: Report = lambda _, __, ___: None, stop: Stop = lambda: False
    ) -> Sequence[Outcome]:
        """Bring these collections, or all, up to date; repositories are fetched."""
        return self.shelf.sync_all(self.shelf.chosen(collections), report=report, stop=stop)

    def add(self, alias: str, url: str, *, description: str | None = None, user_wide: bool = False) -> None:
        """Configure a collection in `context.json`; the file keeps what else is in it.

        Args:
            alias: what to call it.
            url: a folder of the project, or the URL of a repository.
            description: what it holds, for those who search.
            user_wide: for all projects of the user, in the `user_config` of `open_workspace`.
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


def _document_hits(search: SearchAnswers) -> DocumentHits:
    """The answer to one question without what only the index knows."""
    (answer,) = search.answers
    hits = []
    for hit in answer.hits:
        piece, alias, relevance = hit.ranked.found, hit.collection.alias, hit.ranked.relevance
        lines = (piece.start, piece.end)
        hits.append(DocumentHit(alias, piece.key, *lines, piece.text, piece.title, piece.heading, relevance))
    return DocumentHits(tuple(hits), search.stale, search.warning)


class Memory(Feature):
    """What was found out about the project, and one search over all of it and the code."""

    def __init__(self, cases: UseCases) -> None:
        super().__init__(cases)
        if cases.ports.memory is None or cases.ports.discoveries is None:
            raise Failure(Code.NOT_FOUND, "these ports have no memory")
        self._store = cases.ports.discoveries

    @asks(ContextRecord)
    def record(self, command: ContextRecord) -> Recorded:
        """Keep a discovery; what was said before in the same words is merged (`merged`, `discovery`)."""
        return self.cases.recorder.record(command)

    def discoveries(self) -> Sequence[Discovery]:
        """Every discovery, the oldest first."""
        return self._store.all()

    def forget(self, discovery_id: str) -> Discovery | None:
        """Remove a discovery and return it, or None when its file was malformed."""
        return self.cases.recorder.forget(discovery_id)

    def accept(self, discovery_id: str) -> Discovery:
        """Anchor a discovery anew where its code is found now: it was read again, and still holds."""
        return self.cases.recorder.accept(discovery_id)

    @asks(ContextSearch)
    def search(self, command: ContextSearch) -> MemoryHits:
        """What memory and the code have on a question, the best first; what has changed is indexed before."""
        search = self.cases.memory.search(command)
        return MemoryHits(tuple(map(_memory_hit, search.hits)), search.total, search.warnings)


def _memory_hit(hit: Ranked) -> MemoryHit:
    """A hit without what only the index knows."""
    piece = hit.found
    if piece.corpus == CODE:
        lines, symbol = (piece.start, piece.end), piece.heading or None
        return MemoryHit(CODE, piece.text, hit.relevance, piece.key, *lines, symbol, module=piece.module)
    facts = dict(piece.entry_facts)
    module = piece.module or facts.pop("module", None)
    return MemoryHit(piece.corpus, piece.text, hit.relevance, id=piece.key, module=module, facts=facts)


class Contexts(Feature):
    """The contexts of the project's folders; `scope` is a folder, `path` another project than the opened."""

    def __init__(self, cases: UseCases) -> None:
        super().__init__(cases)
        self.queries, self.refresher = cases.contexts

    @asks(ListContexts)
    def list(self, command: ListContexts) -> FolderListing:
        """Every folder that has, or should have, a context: `entries` with `scope` and `state`."""
        return self.queries.list(command)

    @asks(QueryContext)
    def query(self, command: QueryContext) -> ContextPart:
        """The context of a folder as a mapping (`context`), whole or only these fields."""
        return self.queries.query(command)

    @asks(CheckFreshness)
    def check(self, command: CheckFreshness) -> CheckedContext:
        """Whether the context of a folder is still true: `freshness.state`."""
        return self.queries.check(command)

    def refresh(
        self, scope: str | None = None, *, only_missing: bool = False, path: str | None = None
    ) -> Sequence[FolderOutcome]:
        """Make what is missing and bring the rest up to date; what people wrote stays.

        Args:
            scope: only this folder.
            only_missing: leave alone what is there.
            path: another project than the opened one.
        """
        project = opened(self.queries.projects, path)
        return self.refresher.refresh(project, RefreshRequest(scope, only_missing))


class Bundles(Feature):
    """Graphs of entities in files; where there is one bundle, it need not be named."""

    def __init__(self, cases: UseCases) -> None:
        super().__init__(cases)
        self.shelf = cases.bundles

    def list(self) -> Sequence[tuple[BundlePlace, Bundle | Unloadable]]:
        """Every bundle, with its entities and what is wrong with it, or why it does not load."""
        return self.shelf.bundles()

    def export(
        self, targets: Iterable[tuple[str, str]], *, bundle_id: str | None = None, dependency_depth: int = 3
    ) -> ExportedText:
        """Entities, each (type, id), with what they depend on; `data` is JSON text."""
        entities = tuple(Target(entity_type=kind, entity_id=name) for kind, name in targets)
        command = ExportContext(targets=entities, dependency_depth=dependency_depth)
        return export(self.shelf.open(bundle_id), command, self.cases.ports.clock)

    @asks(GetContext)
    def around(self, command: GetContext) -> EntityNeighbours:
        """An entity and its neighbours: what it refers to, and what refers to it."""
        return look_around(self.shelf.open(command.bundle_id), command)

    @asks(ExportMarkdown)
    def document(self, command: ExportMarkdown) -> WrittenDocument:
        """An entity, with what it depends on down to a depth, as `markdown`."""
        bundle = self.shelf.open(command.bundle_id)
        return write_document(bundle, command, room_of(DEFAULT_MAX_TOKENS))
