"""The use cases over the ports, in straight lines, feature by feature.

Loaded with the first use are only those features that need a large library (`jsonschema`) or half of the
searches: a command that lists packs waits for none of it.
"""

from __future__ import annotations

from functools import cached_property, partial
from math import inf
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from attrs import evolve, frozen

from context_pack import bridges
from context_pack.code.grep import CodeSearch
from context_pack.code.outline import Outliner
from context_pack.code.reading import FileReader
from context_pack.code.usages import UsageFinder
from context_pack.contexts.queries import ContextQueries
from context_pack.contexts.refresh import ContextRefresher
from context_pack.kernel.errors import Code, Failure
from context_pack.knowledge.about import Gate, KnownHere, KnownSource
from context_pack.memory.record import Recorder
from context_pack.packs.answers import PackUseCases
from context_pack.packs.draft import PackDrafter
from context_pack.packs.listing import PackLister
from context_pack.packs.read import PackReader, PackVerifier
from context_pack.packs.write import PackWriter
from context_pack.ports import DEFAULT_MAX_SOURCE_BYTES, Ports

if TYPE_CHECKING:
    from context_pack.bundles.loading import BundleShelf
    from context_pack.documents.search import Finder
    from context_pack.documents.shelf import DocumentShelf
    from context_pack.draft_sources import DraftSources
    from context_pack.memory.search import MemorySearcher

T = TypeVar("T")


class CodeCases(NamedTuple):
    """What is done with code; the last two need a search."""

    reader: FileReader
    outliner: Outliner
    search: CodeSearch | None
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
        limit, seconds = self.max_source_bytes, self.search_seconds
        own = (ports.packs, ports.source, ports.clock, limit, ports.syntax, ports.excerpts, seconds)
        packs, excerpts = ports.packs, ports.excerpts
        if ports.readable is not None:
            packs, excerpts = ports.readable.packs, ports.readable.excerpts
        readable = (packs, ports.source, ports.clock, limit, ports.syntax, excerpts, seconds)
        return PackUseCases(
            PackLister(packs, ports.clock),
            PackReader(*readable, ports.history),
            PackWriter(*own, ports.diagrams),
            PackVerifier(*own),
            PackDrafter(*own, passages=lambda: self.passages),
        )

    @cached_property
    def code(self) -> CodeCases:
        """Code."""
        ports, monotonic = self.ports, self.ports.clock.monotonic
        search = None if ports.search is None else ports.search()
        return CodeCases(
            FileReader(ports.source, ports.syntax),
            Outliner(ports.source, ports.syntax, monotonic),
            search,
            None if search is None else UsageFinder(ports.source, ports.syntax, search, monotonic),
        )

    @cached_property
    def knowledge(self) -> KnownHere:
        """What is known of a place, from all that is written down about code."""
        ports, reader = self.ports, self.packs.reader
        discoveries = ports.discoveries if ports.readable is None else ports.readable.discoveries
        sources: list[KnownSource] = [bridges.KnownByPacks(reader)]
        if discoveries is not None:
            sources.insert(0, bridges.KnownByDiscoveries(discoveries, self.places))
        if ports.contexts is not None:
            sources.append(bridges.KnownByContexts(self.contexts.queries))
        return KnownHere(ports.source, sources, bridges.DefinitionsOfTree(reader), ports.changes)

    @cached_property
    def gate(self) -> Gate:
        """The one gate over everything that there is; of packs only those of this worktree."""
        ports = self.ports
        own = evolve(self.packs.reader, store=ports.packs)
        sources: dict[str, KnownSource] = {"packs": bridges.KnownByPacks(own, drafted=True)}
        if ports.discoveries is not None:
            sources["discoveries"] = bridges.KnownByDiscoveries(ports.discoveries, self.places)
        if ports.contexts is not None:
            sources["contexts"] = bridges.CheckedContexts(self.contexts.queries)
        if ports.bundles is not None:
            sources["bundles"] = bridges.CheckedBundles(self.bundles)
        return Gate(self.knowledge, sources, partial(bridges.expired_packs, self.packs.lister))

    @cached_property
    def bundles(self) -> BundleShelf:
        """Bundles: everything is done with the shelf that they stand on."""
        from context_pack.bundles.loading import BundleShelf

        return BundleShelf(_there(self.ports.bundles, "bundles")())

    @cached_property
    def contexts(self) -> ContextCases:
        """Directory contexts."""
        projects = _there(self.ports.contexts, "contexts")()
        return ContextCases(ContextQueries(projects), ContextRefresher(self.ports.clock, self.ports.syntax))

    @cached_property
    def documents(self) -> DocumentCases:
        """Documents."""
        from context_pack.documents import search, shelf

        documents = shelf.DocumentShelf(_there(self.ports.documents, "documents")())
        return DocumentCases(documents, search.Finder(documents, self.ports.clock.monotonic))

    @cached_property
    def places(self) -> bridges.AnchoredPlaces:
        """The code that discoveries are about."""
        return bridges.AnchoredPlaces(self.packs.reader)

    @cached_property
    def recorder(self) -> Recorder:
        """Writes discoveries down."""
        ports = self.ports
        discoveries, sessions = _there(ports.discoveries, "memory"), _there(ports.sessions, "memory")
        return Recorder(discoveries, sessions, ports.clock, self.places)

    @cached_property
    def memory(self) -> MemorySearcher:
        """Searches code, discoveries, sessions and packs."""
        from context_pack.memory import refresh, search

        memory, monotonic = _there(self.ports.memory, "memory")(), self.ports.clock.monotonic
        refresher = refresh.Refresher(memory, bridges.PacksAsNotes(self.packs.reader.store), monotonic)
        return search.MemorySearcher(memory, refresher, monotonic, self.places)

    @cached_property
    def passages(self) -> DraftSources:
        """Passages for drafts, from all of these."""
        from context_pack.draft_sources import DraftSources

        ports = self.ports
        return DraftSources(
            self.packs.reader,
            self.code.usages,
            self.knowledge,
            None if ports.memory is None else lambda: self.memory,
            None if ports.documents is None else lambda: self.documents.finder,
        )


def _there(port: T | None, feature: str) -> T:
    """The port of a feature.

    Raises:
        Failure: `not_found`, these ports do not have it.
    """
    if port is None:
        raise Failure(Code.NOT_FOUND, f"these ports have no {feature}")
    return port
