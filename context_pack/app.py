"""The registry of everything that the features offer: tools, resources and prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from math import inf
from typing import Any

from context_pack.bundles import tools as bundle_tools
from context_pack.code import tools as code_tools
from context_pack.composition import UseCases
from context_pack.contexts import tools as context_tools
from context_pack.documents import tools as document_tools
from context_pack.kernel.times import format_instant
from context_pack.knowledge.tools import for_tool
from context_pack.memory.tools import record_tool, search_tool
from context_pack.packs import offers as pack_offers
from context_pack.packs import tools as pack_tools
from context_pack.ports import DEFAULT_MAX_SOURCE_BYTES, Ports
from context_pack.toolkit.limits import Metrics, RateLimiter, stats_family
from context_pack.toolkit.offers import ResourceFamily
from context_pack.toolkit.registry import Finished, Registry
from context_pack.toolkit.spec import Tool

MOST_FILES = 20
"""So many of the files that are read most are told."""


def build(
    over: Ports | UseCases,
    *,
    max_source_bytes: int = DEFAULT_MAX_SOURCE_BYTES,
    search_seconds: float = inf,
    rate_limits: Mapping[str, int] | None = None,
    lock: AbstractContextManager[Any] | None = None,
    root: str | None = None,
    report: Callable[[Finished], None] = lambda _: None,
    alarm: Callable[[str, BaseException], None] = lambda _, __: None,
) -> Registry:
    """Every tool, resource and prompt over these ports, or over use cases that are composed already.

    `search_seconds` is how long a call may search the tree for the code of refs; `rate_limits` are calls per
    minute and tool; `lock` guards what is counted, where several threads call; `root` is where the project
    is, for advice on absolute paths; `report` hears of each call and `alarm` of the unforeseen.
    """
    cases = over if isinstance(over, UseCases) else UseCases(over, max_source_bytes, search_seconds)
    lock = lock or nullcontext()
    metrics = Metrics(lock=lock)
    return Registry(
        tools={tool.name: tool for tool in _tools(cases)},
        resources=lambda: list(_resources(cases, metrics)),
        prompts={prompt.name: prompt for prompt in pack_offers.prompts(cases.ports.packs)},
        monotonic=cases.ports.clock.monotonic,
        limiter=RateLimiter(dict(rate_limits or {}), lock),
        metrics=metrics,
        root=root,
        report=report,
        alarm=alarm,
    )


def _tools(cases: UseCases) -> Iterator[Tool]:
    """The tools of each feature that there are ports for, in the order of the server's instructions."""
    ports = cases.ports
    if ports.memory is not None:
        yield search_tool(cases.memory, cases.knowledge.near)
        yield record_tool(cases.recorder)
    yield from reversed(pack_tools.build(cases.packs, ports.clock))  # `output` is read first
    yield for_tool(cases.knowledge, code_tools.FAMILY)
    yield from code_tools.build(*cases.code, ports.access, ports.clock.now, cases.knowledge.near)
    if ports.documents is not None:
        yield from document_tools.build(*cases.documents)
    if ports.contexts is not None:
        yield from context_tools.build(cases.contexts.queries)
    if ports.bundles is not None:
        yield from bundle_tools.build(cases.bundles, ports.clock)


def _resources(cases: UseCases, metrics: Metrics) -> Iterator[ResourceFamily]:
    """The resources of each feature that has some, and the statistics."""
    ports = cases.ports
    yield pack_offers.resources(cases.packs.reader, ports.packs)
    if ports.bundles is not None:
        yield bundle_tools.resources(cases.bundles)
    if ports.contexts is not None:
        yield context_tools.resources(cases.contexts.queries)
    if ports.documents is not None:
        yield document_tools.resources(cases.documents.shelf)
    yield stats_family(metrics, lambda: most_read(ports))


def most_read(ports: Ports) -> list[dict[str, Any]]:
    """The files with the best scores of what `read_file` counts."""
    items = () if ports.access is None else ports.access.items()[:MOST_FILES]
    return [
        {
            "path": item.path.value,
            "count": item.count,
            "lastAccess": format_instant(item.last_access, whole_seconds=True),
            "score": round(item.score, 4),
        }
        for item in items
    ]
