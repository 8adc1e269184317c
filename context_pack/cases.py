"""All ports of the core, and the use cases over them, each loaded when it is first asked for.

The registry of tools, the library and the commands take their use cases from `compose`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from attrs import field, frozen

from context_pack.between_features import AnchoredPlaces, ContextsAsScopes, PacksAsNotes
from context_pack.bundles.ports import BundleStore
from context_pack.bundles.usecases.shelf import BundleShelf
from context_pack.code.domain.access import UnkeptAccess
from context_pack.code.ports import AccessLog, CodeSearch
from context_pack.code.usecases.grep import CodeSearcher
from context_pack.code.usecases.outline import Outliner
from context_pack.code.usecases.read_file import FileReader
from context_pack.code.usecases.usages import UsageFinder
from context_pack.contexts.ports import ContextPorts
from context_pack.contexts.usecases.query import ContextQueries
from context_pack.contexts.usecases.refresh import ContextRefresher
from context_pack.documents.ports import DocumentPorts
from context_pack.documents.usecases.search import Finder
from context_pack.documents.usecases.shelf import DocumentShelf
from context_pack.excerpting import FoundExcerpts
from context_pack.kernel.ports import Clock, SourceTree
from context_pack.kernel.syntax import NoSyntax, Syntax
from context_pack.memory.ports import CodePlaces, MemoryPorts
from context_pack.memory.usecases.indexing import CodeIndexer
from context_pack.memory.usecases.record import Recorder
from context_pack.memory.usecases.refresh import Refresher
from context_pack.memory.usecases.search import MemorySearcher
from context_pack.packs.ports import ExcerptStore, NoExcerptStore, NoHistory, PackHistory, PackStore
from context_pack.packs.usecases.draft import PackDrafter
from context_pack.packs.usecases.listing import PackLister
from context_pack.packs.usecases.read import PackReader
from context_pack.packs.usecases.resolving import RefMemory
from context_pack.packs.usecases.verify import PackVerifier
from context_pack.packs.usecases.write import PackWriter

DEFAULT_MAX_SOURCE_BYTES = 2 * 1024 * 1024


@frozen
class Ports:
    """Everything the core asks of the world; without a search there is no `grep_codebase`."""

    clock: Clock
    source: SourceTree
    packs: PackStore
    syntax: Syntax = field(factory=NoSyntax)
    excerpts: ExcerptStore = field(factory=NoExcerptStore)
    history: PackHistory = field(factory=NoHistory)
    search: CodeSearch | None = None
    access: AccessLog = field(factory=UnkeptAccess)
    bundles: BundleStore | None = None
    contexts: ContextPorts | None = None
    documents: DocumentPorts | None = None
    memory: MemoryPorts | None = None

    def has(self, feature: str) -> bool:
        """Whether a port that may be missing is there; opens nothing."""
        return getattr(self, feature) is not None

    def opened(self, feature: str) -> object:
        """A port, if it has been opened."""
        found: object = getattr(self, feature)
        return found


class PackCases:
    """What is done with packs, each loaded when it is first asked for."""

    def __init__(self, cases: UseCases, max_source_bytes: int) -> None:
        self._cases, self._ports, self._max_source_bytes = cases, cases.ports, max_source_bytes

    @cached_property
    def lister(self) -> PackLister:
        """Lists packs."""
        return PackLister(self._ports.packs, self._ports.clock)

    @cached_property
    def reader(self) -> PackReader:
        """Reads packs with their code, and with the contexts that they rely on."""
        cases, has = self._cases, self._ports.has
        scopes = ContextsAsScopes(lambda: cases.contexts.queries if has("contexts") else None)
        return PackReader(*self._parts, scopes, self._ports.history)

    @cached_property
    def writer(self) -> PackWriter:
        """Makes and changes packs."""
        return PackWriter(*self._parts)

    @cached_property
    def verifier(self) -> PackVerifier:
        """Checks and repairs refs."""
        return PackVerifier(*self._parts)

    @cached_property
    def drafter(self) -> PackDrafter:
        """Makes packs of what the searches find."""
        cases, has = self._cases, self._ports.has
        found = FoundExcerpts(
            self._ports.source,
            lambda: cases.memory.searcher if has("memory") else None,
            lambda: cases.documents.finder if has("documents") else None,
            lambda: cases.code.usages if has("search") else None,
        )
        return PackDrafter(*self._parts, passages=found)

    @cached_property
    def _parts(
        self,
    ) -> tuple[PackStore, SourceTree, Clock, int, RefMemory, Syntax, ExcerptStore]:
        """Shared: what one of them found out about a file, the others need not find out again."""
        ports, most = self._ports, self._max_source_bytes
        return ports.packs, ports.source, ports.clock, most, RefMemory(), ports.syntax, ports.excerpts


class CodeCases:
    """What is done with code, each loaded when it is first asked for; the last two need a search."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    @cached_property
    def reader(self) -> FileReader:
        """Reads files."""
        return FileReader(self._ports.source, self._ports.syntax)

    @cached_property
    def outliner(self) -> Outliner:
        """Outlines files and folders."""
        return Outliner(self._ports.source, self._ports.syntax, self._ports.clock.monotonic)

    @cached_property
    def searcher(self) -> CodeSearcher:
        """Searches for lines."""
        assert self._ports.search is not None
        return CodeSearcher(self._ports.search, self._ports.clock.monotonic)

    @cached_property
    def usages(self) -> UsageFinder:
        """Finds where names are used."""
        ports = self._ports
        assert ports.search is not None
        return UsageFinder(ports.source, ports.syntax, ports.search, ports.clock.monotonic)


class ContextCases:
    """What is done with directory contexts, each loaded when it is first asked for."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    @property
    def _contexts(self) -> ContextPorts:
        assert self._ports.contexts is not None
        return self._ports.contexts

    @cached_property
    def queries(self) -> ContextQueries:
        """Reads contexts and tells whether they are fresh."""
        return ContextQueries(self._contexts.projects, self._contexts.format)

    @cached_property
    def refresher(self) -> ContextRefresher:
        """Writes contexts anew."""
        contexts, ports = self._contexts, self._ports
        return ContextRefresher(contexts.format, contexts.memory, ports.clock, ports.syntax)


class DocumentCases(NamedTuple):
    """What is done with documents."""

    shelf: DocumentShelf
    finder: Finder


class MemoryCases:
    """What is done with memory, each loaded when it is first asked for."""

    def __init__(self, ports: Ports, packs: Callable[[], PackReader]) -> None:
        self._ports, self._packs = ports, packs

    @property
    def _memory(self) -> MemoryPorts:
        assert self._ports.memory is not None
        return self._ports.memory

    @cached_property
    def recorder(self) -> Recorder:
        """Records discoveries."""
        return Recorder(self._memory.discoveries, self._memory.sessions, self._ports.clock, self.places)

    @cached_property
    def places(self) -> CodePlaces:
        """Anchors the code that discoveries are about, as packs anchor theirs."""
        return AnchoredPlaces(self._packs)

    @cached_property
    def searcher(self) -> MemorySearcher:
        """Searches discoveries, sessions, packs and code."""
        monotonic = self._ports.clock.monotonic
        refresher = Refresher(self._memory, PacksAsNotes(lambda: self._ports.packs), monotonic)
        return MemorySearcher(self._memory, refresher, monotonic, self.places)

    @cached_property
    def indexer(self) -> CodeIndexer:
        """Indexes code."""
        return CodeIndexer.over(self._memory)


class UseCases:
    """Every use case over some ports; a feature is loaded when it is first asked for.

    Whoever asks for a feature whose ports are missing has not looked at `Ports.has`.
    """

    def __init__(self, ports: Ports, max_source_bytes: int) -> None:
        self.ports = ports
        self._max_source_bytes = max_source_bytes

    @cached_property
    def packs(self) -> PackCases:
        """Packs."""
        return PackCases(self, self._max_source_bytes)

    @cached_property
    def code(self) -> CodeCases:
        """Code."""
        return CodeCases(self.ports)

    @cached_property
    def bundles(self) -> BundleShelf:
        """Bundles: everything is done with the shelf that they stand on."""
        assert self.ports.bundles is not None
        return BundleShelf(self.ports.bundles)

    @cached_property
    def contexts(self) -> ContextCases:
        """Directory contexts."""
        return ContextCases(self.ports)

    @cached_property
    def documents(self) -> DocumentCases:
        """Documents."""
        assert self.ports.documents is not None
        shelf = DocumentShelf(self.ports.documents, self.ports.clock.monotonic)
        return DocumentCases(shelf, Finder(shelf, self.ports.clock.monotonic))

    @cached_property
    def memory(self) -> MemoryCases:
        """Memory."""
        return MemoryCases(self.ports, lambda: self.packs.reader)


def compose(ports: Ports, max_source_bytes: int = DEFAULT_MAX_SOURCE_BYTES) -> UseCases:
    """The use cases over these ports, for the registry, the library and the commands."""
    return UseCases(ports, max_source_bytes)
