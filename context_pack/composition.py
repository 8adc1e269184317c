"""The ports of the core, and the use cases over them in straight lines, feature by feature.

A feature is imported and composed when somebody first asks for it: a command that lists packs should not pay
for searches by meaning. That is the one lazy import of a feature; its modules import at their top.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from attrs import field, frozen

from context_pack.kernel.ports import Clock, SourceTree
from context_pack.kernel.syntax import NoSyntax, Syntax
from context_pack.packs.domain.scopes import Scopes
from context_pack.packs.ports import (
    DiagramCheck,
    Excerpted,
    ExcerptStore,
    NoExcerptStore,
    PackHistory,
    PackStore,
    Waiting,
    patiently,
)

if TYPE_CHECKING:  # what a feature imports is loaded with the feature
    from context_pack.bundles.opening import BundleShelf
    from context_pack.bundles.ports import BundleStore
    from context_pack.code.ports import AccessLog, CodeSearch
    from context_pack.code.usecases.grep import CodeSearcher
    from context_pack.code.usecases.outline import Outliner
    from context_pack.code.usecases.read_file import FileReader
    from context_pack.code.usecases.usages import UsageFinder
    from context_pack.contexts.ports import Projects
    from context_pack.contexts.queries import ContextQueries
    from context_pack.contexts.refresh import ContextRefresher
    from context_pack.documents.ports import DocumentPorts
    from context_pack.documents.usecases.search import Finder
    from context_pack.documents.usecases.shelf import DocumentShelf
    from context_pack.memory.ports import CodePlaces, MemoryPorts
    from context_pack.memory.usecases.record import Recorder
    from context_pack.memory.usecases.search import MemorySearcher
    from context_pack.packs.usecases.cases import PackUseCases

T = TypeVar("T")

DEFAULT_MAX_SOURCE_BYTES = 2 * 1024 * 1024


@frozen
class Ports:
    """Everything the core asks of the world; a feature whose port is None is not offered."""

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
    documents: DocumentPorts | None = None
    memory: MemoryPorts | None = None

    def has(self, feature: str) -> bool:
        """Whether a port that may be missing is there; opens nothing."""
        return getattr(self, feature) is not None

    def close(self) -> None:
        """Close what was opened; whoever made these ports closes them."""


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


class MemoryCases(NamedTuple):
    """What is done with memory."""

    recorder: Recorder
    searcher: MemorySearcher
    places: CodePlaces


class UseCases:
    """Every use case over some ports, each feature composed once.

    `lock` is held while a feature is composed, where several threads may ask for one; composing one feature
    may ask for another, so it must be one that a thread can take twice.
    """

    def __init__(
        self,
        ports: Ports,
        max_source_bytes: int,
        search_seconds: float,
        lock: AbstractContextManager[Any],
    ) -> None:
        self.ports = ports
        self.max_source_bytes = max_source_bytes
        self.search_seconds = search_seconds
        self._lock = lock
        self._features: dict[Callable[..., Any], Any] = {}

    @property
    def packs(self) -> PackUseCases:
        """Packs."""
        return self._feature(_packs)

    @property
    def code(self) -> CodeCases:
        """Code."""
        return self._feature(_code)

    @property
    def bundles(self) -> BundleShelf:
        """Bundles: everything is done with the shelf that they stand on."""
        return self._feature(_bundles)

    @property
    def contexts(self) -> ContextCases:
        """Directory contexts."""
        return self._feature(_contexts)

    @property
    def documents(self) -> DocumentCases:
        """Documents."""
        return self._feature(_documents)

    @property
    def memory(self) -> MemoryCases:
        """Memory."""
        return self._feature(_memory)

    def _feature(self, composed: Callable[[UseCases], T]) -> T:
        with self._lock:
            if composed not in self._features:
                self._features[composed] = composed(self)
            feature: T = self._features[composed]
            return feature


def compose(
    ports: Ports,
    max_source_bytes: int = DEFAULT_MAX_SOURCE_BYTES,
    search_seconds: float = inf,
    lock: AbstractContextManager[Any] | None = None,
) -> UseCases:
    """The use cases over these ports, for the registry, the library and the commands.

    `search_seconds` is how long a call may look through the tree for the code of refs: a client waits for its
    answer, whoever runs a command or uses the library can stop it.
    """
    return UseCases(ports, max_source_bytes, search_seconds, lock or nullcontext())


@frozen
class _ScopesOfContexts:
    """A `ScopeWatch` that asks the contexts, which are loaded with the first pack that names one."""

    cases: UseCases

    def states(self, scopes: Sequence[str], waiting: Waiting = patiently, /) -> Scopes:
        """The state of each of these scopes."""
        from context_pack.bridges import scope_states

        return scope_states(self.cases.contexts.queries, scopes, waiting)


@frozen
class _PassagesOfSearches:
    """An `Excerpts` over the searches that there are, which are loaded with the first draft."""

    cases: UseCases

    def best(self, query: str, limit: int, check: Waiting = patiently, /) -> Excerpted:
        """At most `limit` passages of all searches, the best first."""
        from context_pack.draft_sources import FoundExcerpts

        cases, has = self.cases, self.cases.ports.has
        found = FoundExcerpts(
            cases.ports.source,
            cases.memory.searcher if has("memory") else None,
            cases.documents.finder if has("documents") else None,
            cases.code.usages,
        )
        return found.best(query, limit, check)


def _packs(cases: UseCases) -> PackUseCases:
    from context_pack.packs.usecases.cases import PackUseCases
    from context_pack.packs.usecases.draft import PackDrafter
    from context_pack.packs.usecases.listing import PackLister
    from context_pack.packs.usecases.read import PackReader
    from context_pack.packs.usecases.verify import PackVerifier
    from context_pack.packs.usecases.write import PackWriter

    ports = cases.ports
    shared = (
        ports.packs, ports.source, ports.clock, cases.max_source_bytes, ports.syntax, ports.excerpts,
        cases.search_seconds,
    )  # fmt: skip
    scopes = _ScopesOfContexts(cases) if ports.has("contexts") else None
    return PackUseCases(
        PackLister(ports.packs, ports.clock),
        PackReader(*shared, scopes, ports.history),
        PackWriter(*shared, ports.diagrams),
        PackVerifier(*shared),
        PackDrafter(*shared, passages=_PassagesOfSearches(cases)),
    )


def _code(cases: UseCases) -> CodeCases:
    from context_pack.code.usecases.grep import CodeSearcher
    from context_pack.code.usecases.outline import Outliner
    from context_pack.code.usecases.read_file import FileReader
    from context_pack.code.usecases.usages import UsageFinder

    ports, monotonic = cases.ports, cases.ports.clock.monotonic
    return CodeCases(
        FileReader(ports.source, ports.syntax),
        Outliner(ports.source, ports.syntax, monotonic),
        None if ports.search is None else CodeSearcher(ports.search, monotonic),
        None if ports.search is None else UsageFinder(ports.source, ports.syntax, ports.search, monotonic),
    )


def _bundles(cases: UseCases) -> BundleShelf:
    from context_pack.bundles.opening import BundleShelf

    assert cases.ports.bundles is not None
    return BundleShelf(cases.ports.bundles)


def _contexts(cases: UseCases) -> ContextCases:
    from context_pack.contexts.queries import ContextQueries
    from context_pack.contexts.refresh import ContextRefresher

    assert cases.ports.contexts is not None
    refresher = ContextRefresher(cases.ports.clock, cases.ports.syntax)
    return ContextCases(ContextQueries(cases.ports.contexts), refresher)


def _documents(cases: UseCases) -> DocumentCases:
    from context_pack.documents.usecases.search import Finder
    from context_pack.documents.usecases.shelf import DocumentShelf

    assert cases.ports.documents is not None
    monotonic = cases.ports.clock.monotonic
    shelf = DocumentShelf(cases.ports.documents, monotonic)
    return DocumentCases(shelf, Finder(shelf, monotonic))


def _memory(cases: UseCases) -> MemoryCases:
    from context_pack.bridges import AnchoredPlaces, PacksAsNotes
    from context_pack.memory.usecases.record import Recorder
    from context_pack.memory.usecases.refresh import Refresher
    from context_pack.memory.usecases.search import MemorySearcher

    ports, memory = cases.ports, cases.ports.memory
    assert memory is not None
    places = AnchoredPlaces(cases.packs.reader)
    refresher = Refresher(memory, PacksAsNotes(ports.packs), ports.clock.monotonic)
    return MemoryCases(
        Recorder(memory.discoveries, memory.sessions, ports.clock, places),
        MemorySearcher(memory, refresher, ports.clock.monotonic, places),
        places,
    )
