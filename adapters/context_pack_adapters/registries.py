"""The registries of tools over the ports on disk: one that answers, and one that refuses every call."""

from __future__ import annotations

from typing import Any, NoReturn

import attrs

from context_pack.app import build
from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.registry import Registry
from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.logs import Log
from context_pack_adapters.settings import Settings


def load_registry(settings: Settings, log: Log) -> Registry:
    """Every tool, resource and prompt over the real ports, without the rate limits of a connection."""
    return build(
        open_ports(settings),
        max_source_bytes=settings.max_source_bytes,
        report=log.finished,
        alarm=log.alarm,
    )


def refusing_registry(settings: Settings, log: Log) -> Registry:
    """Every tool, so that a model sees them; each call is refused with what to set, and reads nothing."""

    def refuse(*_: Any) -> NoReturn:
        raise Failure(Code.INVALID_DATA, "; ".join(settings.refusals))

    ports = open_ports(settings._replace(refusals=(), store=""))
    registry = build(ports, report=log.finished, alarm=log.alarm)
    tools = {name: attrs.evolve(tool, choose=refuse) for name, tool in registry.tools.items()}
    return attrs.evolve(registry, tools=tools, resources=list, prompts={})
