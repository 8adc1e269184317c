"""All ports of the core, and the one function that joins every feature into a registry.

The only module of the core that sees every feature; features never see each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import field, frozen

from context_pack.bundles.ports import BundleStore, NoBundles
from context_pack.code.domain.access import UnkeptAccess
from context_pack.code.ports import AccessLog, CodeSearch
from context_pack.contexts import resources as context_resources
from context_pack.contexts import tools as context_tools
from context_pack.contexts.ports import ContextPorts
from context_pack.documents.ports import DocumentPorts
from context_pack.kernel.ports import Clock, SourceTree
from context_pack.kernel.syntax import NoSyntax, Syntax
from context_pack.memory.ports import MemoryPorts
from context_pack.packs.ports import PackSettings, PackStore
from context_pack.toolkit.limits import RateLimiter
from context_pack.toolkit.metrics import Metrics
from context_pack.toolkit.offers import ResourceEntry, ResourceFamily, ResourceText
from context_pack.toolkit.registry import Finished, Registry, stats_text

STATS_URI = "context://stats"
DEFAULT_MAX_SOURCE_BYTES = 2 * 1024 * 1024


@frozen
class Ports:
    """Everything the core asks of the world; without a search there is no `grep_codebase`."""

    clock: Clock
    source: SourceTree
    packs: PackStore
    syntax: Syntax = field(factory=NoSyntax)
    search: CodeSearch | None = None
    access: AccessLog = field(factory=UnkeptAccess)
    bundles: BundleStore = field(factory=NoBundles)
    contexts: ContextPorts | None = None
    documents: DocumentPorts | None = None
    memory: MemoryPorts | None = None


def build(
    ports: Ports,
    *,
    max_source_bytes: int = DEFAULT_MAX_SOURCE_BYTES,
    rate_limits: Mapping[str, int] | None = None,
    report: Callable[[Finished], None] = lambda _: None,
    alarm: Callable[[str, BaseException], None] = lambda _, __: None,
) -> Registry:
    """Every tool, resource and prompt over these ports.

    `rate_limits` are calls per minute and tool; `report` hears of each call and `alarm` of the unforeseen.
    """
    # Here and not above: who only opens the ports for one feature need not load the others.
    from context_pack.bundles import resources as bundle_resources
    from context_pack.bundles import tools as bundle_tools
    from context_pack.code import tools as code_tools
    from context_pack.documents import resources as document_resources
    from context_pack.documents import tools as document_tools
    from context_pack.documents.usecases.search import Finder
    from context_pack.documents.usecases.shelf import Shelf
    from context_pack.excerpting import FoundExcerpts
    from context_pack.joints import ContextsAsScopes, PacksAsNotes
    from context_pack.memory import tools as memory_tools
    from context_pack.packs import prompts as pack_prompts
    from context_pack.packs import resources as pack_resources
    from context_pack.packs import tools as pack_tools

    metrics, contexts, memory = Metrics(), ports.contexts, ports.memory
    shelf = None if ports.documents is None else Shelf(ports.documents, ports.clock.monotonic)
    scopes = ContextsAsScopes.over(contexts)
    packs = (ports.packs, ports.source, ports.clock, PackSettings(max_source_bytes), scopes)
    finder = None if shelf is None else Finder(shelf, ports.clock.monotonic)
    searcher = (
        None if memory is None else memory_tools.searcher_of(memory, PacksAsNotes(ports.packs), ports.clock)
    )
    tools = (
        *pack_tools.build(*packs, FoundExcerpts(ports.source, searcher, finder)),
        *code_tools.build(ports.source, ports.syntax, ports.search, ports.access, ports.clock),
        *bundle_tools.build(ports.bundles, ports.clock),
        *(context_tools.build(contexts.projects, contexts.format) if contexts is not None else ()),
        *(document_tools.build(shelf, finder) if shelf is not None and finder is not None else ()),
        *(memory_tools.build(searcher, ports.clock) if searcher is not None else ()),
    )
    return Registry(
        tools={tool.name: tool for tool in tools},
        resources=[
            pack_resources.build(*packs),
            bundle_resources.build(ports.bundles),
            *([context_resources.build(contexts.projects, contexts.format)] if contexts is not None else []),
            *([document_resources.build(shelf)] if shelf is not None else []),
            stats_family(metrics),
        ],
        prompts={prompt.name: prompt for prompt in pack_prompts.build(ports.packs)},
        monotonic=ports.clock.monotonic,
        limiter=RateLimiter(dict(rate_limits or {})),
        metrics=metrics,
        report=report,
        alarm=alarm,
    )


def stats_family(metrics: Metrics) -> ResourceFamily:
    """`context://stats`: what this process's tools have done so far."""
    title, about = "Tool statistics", "Calls, failures by kind and latency quantiles of each tool, as JSON."
    entry = ResourceEntry(STATS_URI, "stats", title, about, "application/json")

    def read(uri: str) -> ResourceText | None:
        return ResourceText(uri, stats_text(metrics), "application/json") if uri == STATS_URI else None

    return ResourceFamily(
        prefix=STATS_URI,
        uri_template=None,
        name="stats",
        title=title,
        description=about,
        mime_type="application/json",
        entries=lambda: [entry],
        read=read,
    )
