"""All ports of the core, the use cases over them, and the registry of everything that they offer.

The only module of the core that sees every feature; features never see each other. A feature is loaded when
one of its use cases, tools or resources is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from attrs import field, frozen

from context_pack.toolkit.lazy import LazyMapping, LazySequence
from context_pack.toolkit.limits import RateLimiter
from context_pack.toolkit.metrics import Metrics
from context_pack.toolkit.offers import ResourceFamily
from context_pack.toolkit.registry import Finished, Registry, stats_family

if TYPE_CHECKING:
    from context_pack.bundles.ports import BundleStore
    from context_pack.bundles.usecases.shelf import Shelf as BundleShelf
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
    from context_pack.documents.usecases.shelf import Shelf
    from context_pack.kernel.ports import Clock, SourceTree
    from context_pack.kernel.syntax import Syntax
    from context_pack.memory.ports import MemoryPorts
    from context_pack.memory.usecases.indexing import CodeIndexer
    from context_pack.memory.usecases.record import Recorder
    from context_pack.memory.usecases.search import MemorySearcher
    from context_pack.packs.ports import ExcerptStore, PackHistory, PackStore
    from context_pack.packs.usecases.draft import PackDrafter
    from context_pack.packs.usecases.read import PackReader
    from context_pack.packs.usecases.verify import PackVerifier
    from context_pack.packs.usecases.write import PackWriter
    from context_pack.toolkit.offers import Prompt
    from context_pack.toolkit.spec import Tool

DEFAULT_MAX_SOURCE_BYTES = 2 * 1024 * 1024
PACK_TOOLS = ("output", "input")
BUNDLE_TOOLS = ("export_context", "get_context", "export_entity_markdown")
CONTEXT_TOOLS = ("list_contexts", "query_context", "check_freshness")
DOCUMENT_TOOLS = (
    "documents_search",
    "documents_get_section",
    "documents_list_collections",
    "documents_get_document",
    "documents_list_documents",
    "documents_get_outline",
    "documents_search_batch",
    "documents_find_related",
    "documents_sync",
)
MEMORY_TOOLS = ("context_search", "context_record")
PROMPTS = ("hand_over", "take_over", "review_with_pack")


def _no_syntax() -> Syntax:
    from context_pack.kernel.syntax import NoSyntax

    return NoSyntax()


def _no_excerpts() -> ExcerptStore:
    from context_pack.packs.ports import NoExcerptStore

    return NoExcerptStore()


def _no_history() -> PackHistory:
    from context_pack.packs.ports import NoHistory

    return NoHistory()


def _no_access() -> AccessLog:
    from context_pack.code.domain.access import UnkeptAccess

    return UnkeptAccess()


@frozen
class Ports:
    """Everything the core asks of the world; without a search there is no `grep_codebase`."""

    clock: Clock
    source: SourceTree
    packs: PackStore
    syntax: Syntax = field(factory=_no_syntax)
    excerpts: ExcerptStore = field(factory=_no_excerpts)
    history: PackHistory = field(factory=_no_history)
    search: CodeSearch | None = None
    access: AccessLog = field(factory=_no_access)
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


class PackCases(NamedTuple):
    """What is done with packs."""

    reader: PackReader
    writer: PackWriter
    verifier: PackVerifier
    drafter: PackDrafter


class CodeCases:
    """What is done with code, each loaded when it is first asked for; the last two need a search."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    @cached_property
    def reader(self) -> FileReader:
        """Reads files."""
        from context_pack.code.usecases.read_file import FileReader

        return FileReader(self._ports.source, self._ports.syntax)

    @cached_property
    def outliner(self) -> Outliner:
        """Outlines files and folders."""
        from context_pack.code.usecases.outline import Outliner

        return Outliner(self._ports.source, self._ports.syntax, self._ports.clock.monotonic)

    @cached_property
    def searcher(self) -> CodeSearcher:
        """Searches for lines."""
        from context_pack.code.usecases.grep import CodeSearcher

        assert self._ports.search is not None
        return CodeSearcher(self._ports.search, self._ports.clock.monotonic)

    @cached_property
    def usages(self) -> UsageFinder:
        """Finds where names are used."""
        from context_pack.code.usecases.usages import UsageFinder

        assert self._ports.search is not None
        return UsageFinder(self._ports.source, self._ports.syntax, self._ports.search)


class ContextCases(NamedTuple):
    """What is done with directory contexts."""

    queries: ContextQueries
    refresher: ContextRefresher


class DocumentCases(NamedTuple):
    """What is done with documents."""

    shelf: Shelf
    finder: Finder


class MemoryCases(NamedTuple):
    """What is done with memory."""

    recorder: Recorder
    searcher: MemorySearcher
    indexer: CodeIndexer


class UseCases:
    """Every use case over some ports; a feature is loaded when it is first asked for.

    Whoever asks for a feature whose ports are missing has not looked at `Ports.has`.
    """

    def __init__(self, ports: Ports, max_source_bytes: int) -> None:
        self.ports = ports
        self._max_source_bytes = max_source_bytes

    @cached_property
    def packs(self) -> PackCases:
        """Packs; contexts and searches join when a pack first needs them."""
        from context_pack.joints import ContextsAsScopes, SearchedExcerpts
        from context_pack.packs.ports import PackSettings
        from context_pack.packs.usecases.draft import PackDrafter
        from context_pack.packs.usecases.history import RememberingStore
        from context_pack.packs.usecases.read import PackReader
        from context_pack.packs.usecases.resolving import Memory
        from context_pack.packs.usecases.verify import PackVerifier
        from context_pack.packs.usecases.write import PackWriter

        ports, settings = self.ports, PackSettings(self._max_source_bytes)
        # Shared: what one of them found out about a file, the others need not find out again.
        packs = RememberingStore(ports.packs, ports.history)
        parts = (packs, ports.source, ports.clock, settings, Memory(), ports.syntax, ports.excerpts)
        scopes = ContextsAsScopes(lambda: self.contexts.queries if ports.has("contexts") else None)
        excerpts = SearchedExcerpts(
            ports.source,
            lambda: self.memory.searcher if ports.has("memory") else None,
            lambda: self.documents.finder if ports.has("documents") else None,
        )
        return PackCases(
            PackReader(*parts, scopes, ports.history),
            PackWriter(*parts),
            PackVerifier(*parts),
            PackDrafter(packs, ports.source, ports.clock, excerpts, *parts[3:]),
        )

    @cached_property
    def code(self) -> CodeCases:
        """Code."""
        return CodeCases(self.ports)

    @cached_property
    def bundles(self) -> BundleShelf:
        """Bundles: everything is done with the shelf that they stand on."""
        from context_pack.bundles.usecases.shelf import Shelf

        assert self.ports.bundles is not None
        return Shelf(self.ports.bundles)

    @cached_property
    def contexts(self) -> ContextCases:
        """Directory contexts."""
        from context_pack.contexts.usecases.query import ContextQueries
        from context_pack.contexts.usecases.refresh import ContextRefresher

        ports = self.ports.contexts
        assert ports is not None
        return ContextCases(
            ContextQueries(ports.projects, ports.format),
            ContextRefresher(ports.format, ports.memory, self.ports.clock, self.ports.syntax),
        )

    @cached_property
    def documents(self) -> DocumentCases:
        """Documents."""
        from context_pack.documents.usecases.search import Finder
        from context_pack.documents.usecases.shelf import Shelf

        assert self.ports.documents is not None
        shelf = Shelf(self.ports.documents, self.ports.clock.monotonic)
        return DocumentCases(shelf, Finder(shelf, self.ports.clock.monotonic))

    @cached_property
    def memory(self) -> MemoryCases:
        """Memory."""
        from context_pack.joints import PacksAsNotes
        from context_pack.memory.usecases.indexing import CodeIndexer
        from context_pack.memory.usecases.record import Recorder
        from context_pack.memory.usecases.refresh import Refresher
        from context_pack.memory.usecases.search import MemorySearcher

        ports, clock = self.ports.memory, self.ports.clock
        assert ports is not None
        refresher = Refresher(ports, PacksAsNotes(self.ports.packs), clock.monotonic)
        return MemoryCases(
            Recorder(ports.discoveries, ports.sessions, clock),
            MemorySearcher(ports, refresher, clock.monotonic),
            CodeIndexer.over(ports),
        )


def compose(ports: Ports, max_source_bytes: int = DEFAULT_MAX_SOURCE_BYTES) -> UseCases:
    """The use cases over these ports, for the registry, the library and the commands."""
    return UseCases(ports, max_source_bytes)


def build(
    over: Ports | UseCases,
    *,
    max_source_bytes: int = DEFAULT_MAX_SOURCE_BYTES,
    rate_limits: Mapping[str, int] | None = None,
    report: Callable[[Finished], None] = lambda _: None,
    alarm: Callable[[str, BaseException], None] = lambda _, __: None,
) -> Registry:
    """Every tool, resource and prompt over these ports, or over use cases that are composed already.

    `rate_limits` are calls per minute and tool; `report` hears of each call and `alarm` of the unforeseen.
    """
    cases = over if isinstance(over, UseCases) else compose(over, max_source_bytes)
    metrics, ports = Metrics(), cases.ports
    return Registry(
        tools=LazyMapping(list(_tools(cases))),
        resources=LazySequence(lambda: [*_resources(cases), stats_family(metrics)]),
        prompts=LazyMapping([(PROMPTS, lambda: _prompts(ports))]),
        monotonic=ports.clock.monotonic,
        limiter=RateLimiter(dict(rate_limits or {})),
        metrics=metrics,
        report=report,
        alarm=alarm,
    )


def _tools(cases: UseCases) -> Iterator[tuple[Sequence[str], Callable[[], Sequence[Tool]]]]:
    """The tools of each feature that there are ports for, by name, and how to make them."""
    ports = cases.ports

    def packs() -> Sequence[Tool]:
        from context_pack.packs import tools

        return tools.build(*cases.packs, ports.clock)

    def read() -> Sequence[Tool]:
        from context_pack.code.tools import read_tool

        return [read_tool(cases.code.reader, lambda: ports.access, ports.clock.now)]

    def outline() -> Sequence[Tool]:
        from context_pack.code.outline_tools import outline_tool, usages_tool

        found = [outline_tool(cases.code.outliner)]
        return [*found, usages_tool(cases.code.usages)] if ports.has("search") else found

    def grep() -> Sequence[Tool]:
        from context_pack.code.search_tools import grep_tool

        return [grep_tool(cases.code.searcher)]

    def bundles() -> Sequence[Tool]:
        from context_pack.bundles import tools

        return tools.build(cases.bundles, ports.clock)

    def contexts() -> Sequence[Tool]:
        from context_pack.contexts import tools

        return tools.build(cases.contexts.queries)

    def documents() -> Sequence[Tool]:
        from context_pack.documents import tools

        return tools.build(*cases.documents)

    def memory() -> Sequence[Tool]:
        from context_pack.memory import tools

        return tools.build(cases.memory.searcher, cases.memory.recorder)

    # In the order in which the server's instructions name them.
    if ports.has("memory"):
        yield MEMORY_TOOLS, memory
    yield PACK_TOOLS, packs
    yield (("code_outline", "find_usages") if ports.has("search") else ("code_outline",)), outline
    if ports.has("search"):
        yield ("grep_codebase",), grep
    yield ("read_file",), read
    if ports.has("documents"):
        yield DOCUMENT_TOOLS, documents
    if ports.has("contexts"):
        yield CONTEXT_TOOLS, contexts
    if ports.has("bundles"):
        yield BUNDLE_TOOLS, bundles


def _resources(cases: UseCases) -> Iterator[ResourceFamily]:
    """The resources of each feature that has some."""
    from context_pack.packs import resources as pack_resources

    ports = cases.ports
    yield pack_resources.build(cases.packs.reader, ports.packs)
    if ports.has("bundles"):
        from context_pack.bundles import resources as bundle_resources

        yield bundle_resources.build(cases.bundles)
    if ports.has("contexts"):
        from context_pack.contexts import resources as context_resources

        yield context_resources.build(cases.contexts.queries)
    if ports.has("documents"):
        from context_pack.documents import resources as document_resources

        yield document_resources.build(cases.documents.shelf)


def _prompts(ports: Ports) -> Sequence[Prompt]:
    from context_pack.packs import prompts

    return prompts.build(ports.packs)
