"""The ports of the core, and the use cases over them in straight lines, feature by feature."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from attrs import field, frozen

from context_pack.bridges import AnchoredPlaces, PacksAsNotes, ScopesOfContexts
from context_pack.code.grep import CodeSearcher
from context_pack.code.outline import Outliner
from context_pack.code.ports import AccessLog, CodeSearch
from context_pack.code.reading import FileReader
from context_pack.code.usages import UsageFinder
from context_pack.contexts.ports import Projects
from context_pack.contexts.queries import ContextQueries
from context_pack.contexts.refresh import ContextRefresher
from context_pack.documents.ports import DocumentPorts
from context_pack.documents.usecases.search import Finder
from context_pack.documents.usecases.shelf import DocumentShelf
from context_pack.draft_sources import FoundExcerpts
from context_pack.kernel.ports import Clock, SourceTree
from context_pack.kernel.syntax import NoSyntax, Syntax
from context_pack.knowledge.about import KnownHere
from context_pack.knowledge.ports import ChangesSince, KnownSource
from context_pack.knowledge_sources import (
    DefinitionsOfTree,
    KnownByContexts,
    KnownByDiscoveries,
    KnownByPacks,
)
from context_pack.memory.ports import DiscoveryStore, MemoryPorts, SessionLog
from context_pack.memory.usecases.record import Recorder
from context_pack.memory.usecases.refresh import Refresher
from context_pack.memory.usecases.search import MemorySearcher
from context_pack.packs.ports import DiagramCheck, ExcerptStore, NoExcerptStore, PackHistory, PackStore
from context_pack.packs.usecases.cases import PackUseCases
from context_pack.packs.usecases.draft import PackDrafter
from context_pack.packs.usecases.listing import PackLister
from context_pack.packs.usecases.read import PackReader
from context_pack.packs.usecases.verify import PackVerifier
from context_pack.packs.usecases.write import PackWriter

if TYPE_CHECKING:  # bundles load jsonschema
    from context_pack.bundles.opening import BundleShelf
    from context_pack.bundles.ports import BundleStore

DEFAULT_MAX_SOURCE_BYTES = 2 * 1024 * 1024


def _nothing() -> None:
    """There is nothing to close."""


@frozen
class Ports:
    """Everything the core asks of the world; a feature whose port is None is not offered.

    Documents and memory search by meaning, which loads numpy; so they are opened by the first who asks, and
    a command that lists packs does not wait for it.
    """

    clock: Clock
    source: SourceTree
    packs: PackStore
    syntax: Syntax = field(factory=NoSyntax)
    excerpts: ExcerptStore = field(factory=NoExcerptStore)
    history: PackHistory | None = None
    diagrams: DiagramCheck | None = None
    search: CodeSearch | None = None
    access: AccessLog | None = None
    bundles: BundleStore | None = None
    contexts: Projects | None = None
    changes: ChangesSince | None = None
    documents: Callable[[], DocumentPorts] | None = None
    discoveries: DiscoveryStore | None = None
    sessions: SessionLog | None = None
    memory: Callable[[], MemoryPorts] | None = None
    close: Callable[[], None] = _nothing
    """Closes what was opened; whoever made these ports calls it."""


class CodeCases(NamedTuple):
    """What is done with code; the last two need a search."""

    reader: FileReader
    outliner: Outliner
    searcher: CodeSearcher | None
    usages: UsageFinder | None


class ContextCases(NamedTuple):
    """What is done with directory contexts."""

    queries: ContextQueries
    refresher: ContextRefresher


class DocumentCases(NamedTuple):
    """What is done with documents."""

    shelf: DocumentShelf
    finder: Finder


@frozen(slots=False)
class UseCases:
    """Every use case over some ports, for the registry, the library and the commands.

    `search_seconds` is how long a call may look through the tree for the code of refs: a client waits for its
    answer, whoever runs a command or uses the library can stop it.
    """

    ports: Ports
    max_source_bytes: int = DEFAULT_MAX_SOURCE_BYTES
    search_seconds: float = inf

    @cached_property
    def packs(self) -> PackUseCases:
        """Packs; a draft asks every search that there is."""
        ports = self.ports
        shared = (
            ports.packs, ports.source, ports.clock, self.max_source_bytes, ports.syntax, ports.excerpts,
            self.search_seconds,
        )  # fmt: skip
        scopes = None if ports.contexts is None else ScopesOfContexts(self.contexts.queries)
        passages = FoundExcerpts(
            ports.source,
            None if ports.memory is None else lambda: self.memory,
            None if ports.documents is None else lambda: self.documents.finder,
            self.code.usages,
        )
        return PackUseCases(
            PackLister(ports.packs, ports.clock),
            PackReader(*shared, scopes, ports.history),
            PackWriter(*shared, ports.diagrams),
            PackVerifier(*shared),
            PackDrafter(*shared, passages=passages),
        )

    @cached_property
    def code(self) -> CodeCases:
        """Code."""
        ports, monotonic, search = self.ports, self.ports.clock.monotonic, self.ports.search
        return CodeCases(
            FileReader(ports.source, ports.syntax),
            Outliner(ports.source, ports.syntax, monotonic),
            None if search is None else CodeSearcher(search, monotonic),
            None if search is None else UsageFinder(ports.source, ports.syntax, search, monotonic),
        )

    @cached_property
    def knowledge(self) -> KnownHere:
        """What is known of a place, from all that is written down about code."""
        ports, reader = self.ports, self.packs.reader
        sources: list[KnownSource] = [KnownByPacks(reader)]
        if ports.discoveries is not None:
            sources.insert(0, KnownByDiscoveries(ports.discoveries, self.places))
        if ports.contexts is not None:
            sources.append(KnownByContexts(self.contexts.queries))
        return KnownHere(ports.source, sources, DefinitionsOfTree(reader), ports.changes)

    @cached_property
    def bundles(self) -> BundleShelf:
        """Bundles: everything is done with the shelf that they stand on."""
        from context_pack.bundles.opening import BundleShelf

        assert self.ports.bundles is not None
        return BundleShelf(self.ports.bundles)

    @cached_property
    def contexts(self) -> ContextCases:
        """Directory contexts."""
        assert self.ports.contexts is not None
        refresher = ContextRefresher(self.ports.clock, self.ports.syntax)
        return ContextCases(ContextQueries(self.ports.contexts), refresher)

    @cached_property
    def documents(self) -> DocumentCases:
        """Documents."""
        assert self.ports.documents is not None
        monotonic = self.ports.clock.monotonic
        shelf = DocumentShelf(self.ports.documents(), monotonic)
        return DocumentCases(shelf, Finder(shelf, monotonic))

    @cached_property
    def places(self) -> AnchoredPlaces:
        """The code that discoveries are about."""
        return AnchoredPlaces(self.packs.reader)

    @cached_property
    def recorder(self) -> Recorder:
        """Writes discoveries down."""
        ports = self.ports
        assert ports.discoveries is not None
        assert ports.sessions is not None
        return Recorder(ports.discoveries, ports.sessions, ports.clock, self.places)

    @cached_property
    def memory(self) -> MemorySearcher:
        """Searches code, discoveries, sessions and packs."""
        assert self.ports.memory is not None
        memory, monotonic = self.ports.memory(), self.ports.clock.monotonic
        refresher = Refresher(memory, PacksAsNotes(self.ports.packs), monotonic)
        return MemorySearcher(memory, refresher, monotonic, self.places)
