"""Names that a shell completes while they are typed: packs and their parts, collections, modules, tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from context_pack.kernel.errors import Failure
from context_pack_adapters.cli.app import App

MOST_PACKS = 500


class Name(click.ParamType[str]):
    """A text that is one of the names that there are, as far as a shell wants to know."""

    def __init__(self, name: str, there: Callable[[App, Mapping[str, Any]], Iterable[str]]) -> None:
        self.name, self.there = name, there

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """The names that begin so; none where something fails, because nobody could be told."""
        try:
            names = list(self.there(ctx.ensure_object(App), ctx.params))
        except (Failure, OSError, ImportError):
            return []
        return [CompletionItem(name) for name in dict.fromkeys(names) if name.startswith(incomplete)]


def _packs(app: App, _: Mapping[str, Any]) -> Iterable[str]:
    return [pack.name or pack.id for pack in app.workspace.packs.list(limit=MOST_PACKS).items]


def _sections(app: App, given: Mapping[str, Any]) -> Iterable[str]:
    handle = given.get("pack") or given.get("id")
    # Behind an option that waits for its value click has not read the words before it.
    packs = [app.workspace.packs.get(handle)] if handle else app.workspace.packs.list(limit=MOST_PACKS).items
    return [section.key for pack in packs for section in pack.sections]


def _refs(app: App, given: Mapping[str, Any]) -> Iterable[str]:
    handle = given.get("pack") or given.get("id")
    pack = app.workspace.packs.get(handle) if handle else None
    return [f"{section.key}/{ref.key}" for section, ref in pack.refs] if pack else []


def _parts(app: App, given: Mapping[str, Any]) -> Iterable[str]:
    handle = given.get("pack") or given.get("id")
    sections = app.workspace.packs.get(handle).sections if handle else ()
    for section in sections:
        yield section.key
        yield from (f"{section.key}/{ref.key}" for ref in section.refs)
        yield from (f"{section.key}/{diagram.key}" for diagram in section.diagrams)


def _collections(app: App, _: Mapping[str, Any]) -> Iterable[str]:
    return app.cases.documents.shelf.catalogue().collections


def _modules(app: App, _: Mapping[str, Any]) -> Iterable[str]:
    return [each.module for each in app.ports.discoveries.all() if each.module]


def _expired(app: App, _: Mapping[str, Any]) -> Iterable[str]:
    return [pack.name or pack.id for pack in app.workspace.packs.expired()]


def _discoveries(app: App, _: Mapping[str, Any]) -> Iterable[str]:
    return [each.id for each in app.ports.discoveries.all()]


def _tools(app: App, _: Mapping[str, Any]) -> Iterable[str]:
    return app.workspace.tools


PACK, EXPIRED = Name("pack", _packs), Name("pack", _expired)
SECTION, REF, PART = Name("section", _sections), Name("ref", _refs), Name("part", _parts)
COLLECTION, MODULE = Name("collection", _collections), Name("module", _modules)
DISCOVERY, TOOL = Name("discovery", _discoveries), Name("tool", _tools)
TYPES: Mapping[str, click.ParamType[Any]] = {
    "id": PACK,
    "refs": REF,
    "section_key": SECTION,
    "collection": COLLECTION,
    "collections": COLLECTION,
    "module": MODULE,
}
"""What arguments of tools are completed with, by their names."""
