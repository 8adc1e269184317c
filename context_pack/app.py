"""The registry of everything that the features offer: tools, resources and prompts.

A feature is loaded when one of its tools or resources is first asked for; features never see each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from context_pack.cases import DEFAULT_MAX_SOURCE_BYTES, Ports, UseCases, compose
from context_pack.toolkit.lazy import LazyMapping
from context_pack.toolkit.limits import Metrics, RateLimiter
from context_pack.toolkit.registry import Finished, Registry

if TYPE_CHECKING:
    from context_pack.toolkit.offers import Prompt, ResourceFamily
    from context_pack.toolkit.spec import Tool

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
PROMPTS = ("hand_over", "take_over", "review_with_pack")


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
        resources=cache(lambda: list(_resources(cases, metrics))),
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

        return tools.build(cases.packs, ports.clock)

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

    def search_memory() -> Sequence[Tool]:
        from context_pack.memory.tools import search_tool

        return [search_tool(cases.memory.searcher)]

    def record() -> Sequence[Tool]:
        from context_pack.memory.record_tool import record_tool

        return [record_tool(cases.memory.recorder)]

    # In the order in which the server's instructions name them.
    if ports.has("memory"):
        yield ("context_search",), search_memory
        yield ("context_record",), record
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


def _resources(cases: UseCases, metrics: Metrics) -> Iterator[ResourceFamily]:
    """The resources of each feature that has some, and the statistics."""
    from context_pack.packs import resources as pack_resources
    from context_pack.toolkit.stats import stats_family

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
    yield stats_family(metrics)


def _prompts(ports: Ports) -> Sequence[Prompt]:
    from context_pack.packs import prompts

    return prompts.build(ports.packs)
