"""Names that people write: places in code, and packs, collections and modules that a shell completes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from context_pack.kernel.errors import Failure
from context_pack.packs.model import Pack
from context_pack_adapters.cli.app import App
from context_pack_adapters.settings import working_directory

MOST_PACKS = 500
_PLACE = re.compile(r"(?P<path>.+?)(?::(?P<start>\d{1,18})(?:-(?P<end>\d{1,18}))?|#(?P<symbol>.+))", re.ASCII)


class WrittenPlace(NamedTuple):
    """A file, and lines or a definition of it; with neither, the whole file. No path is any file."""

    path: str
    start: int | None = None
    end: int | None = None
    symbol: str | None = None

    def __str__(self) -> str:
        if self.symbol is not None:
            return f"{self.path}#{self.symbol}".lstrip("#")
        lines = f"{self.start}" if self.start == self.end else f"{self.start}-{self.end}"
        return self.path if self.start is None else f"{self.path}:{lines}"


def place_of(written: str, source_root: str) -> WrittenPlace:
    """The place that `FILE`, `FILE:10-40`, `FILE:10` or `FILE#Class.method` means."""
    found = _PLACE.fullmatch(written)
    if found is None or os.path.lexists(os.path.join(source_root, written)):
        return WrittenPlace(in_project(written, source_root))
    start = None if found["start"] is None else int(found["start"])
    end = start if found["end"] is None else int(found["end"])
    return WrittenPlace(in_project(found["path"], source_root), start, end, found["symbol"])


def in_project(path: str, source_root: str) -> str:
    """A path from the source root, as tools take it.

    A path is meant from the source root; from the working directory if it is absolute, begins with `./` or
    `../`, or is only there. What leads out of the source root stays as it is written, for the tool to refuse.
    """
    meant_here = os.path.isabs(path) or path.split("/")[0] in {".", ".."}
    if not meant_here and os.path.lexists(os.path.join(source_root, path)):
        return path
    here = os.path.normpath(os.path.join(working_directory(), path))
    if here == source_root:
        return "."
    below = os.path.join(source_root, "")
    if not here.startswith(below) or not (meant_here or os.path.lexists(here)):
        return path
    return here.removeprefix(below)


class ProjectPath(click.ParamType[str]):
    """A path, as tools take it."""

    name = "path"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """The path from the source root."""
        return in_project(value, _app_of(ctx).settings.source_root)


class PlaceInProject(click.ParamType[WrittenPlace]):
    """A file, lines of it or a definition in it."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> WrittenPlace:  # noqa: ARG002
        """The place, with its path from the source root."""
        return (
            value if isinstance(value, WrittenPlace) else place_of(value, _app_of(ctx).settings.source_root)
        )


def _app_of(context: click.Context | None) -> App:
    return App() if context is None else context.ensure_object(App)


class Minutes(click.ParamType[int]):
    """A time to live, written as 90 (minutes), 12h or 7d."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The minutes."""
        match = re.fullmatch(r"(\d{1,9})([mhd]?)", str(value), re.ASCII)
        if match is None:
            self.fail("it is a number of minutes, or of hours or days as in 12h and 7d", param, ctx)
        return int(match[1]) * {"h": 60, "d": 24 * 60}.get(match[2], 1)


class Name(click.ParamType[str]):
    """A text that is one of the names that there are, as far as a shell wants to know."""

    def __init__(self, name: str, there: Callable[[App, Mapping[str, Any]], Iterable[str | None]]) -> None:
        self.name, self.there = name, there

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """The names that begin so; none where something fails, because nobody could be told."""
        try:
            names = dict.fromkeys(self.there(ctx.ensure_object(App), ctx.params))
        except (Failure, OSError, ImportError):
            return []
        return [CompletionItem(name) for name in names if name and name.startswith(incomplete)]


def _packs(app: App, given: Mapping[str, Any]) -> Iterable[Pack]:
    """The pack that was named, else all: behind an option that waits click has not read the words before."""
    handle = given.get("pack")
    return [app.workspace.packs.get(handle)] if handle else app.workspace.packs.list(limit=MOST_PACKS)


def _parts(app: App, given: Mapping[str, Any]) -> Iterable[str]:
    for section in (section for pack in _packs(app, given) for section in pack.sections):
        yield section.key
        keys = [*(ref.key for ref in section.refs), *(diagram.key for diagram in section.diagrams)]
        yield from (f"{section.key}/{key}" for key in keys)


def _names(packs: Iterable[Pack]) -> Iterable[str]:
    return [pack.name or pack.id for pack in packs]


PACK = Name("pack", lambda app, _: _names(_packs(app, {})))
EXPIRED = Name("pack", lambda app, _: _names(app.workspace.packs.expired()))
SECTION = Name("section", lambda app, given: [each for each in _parts(app, given) if "/" not in each])
PART = Name("part", _parts)
COLLECTION = Name("collection", lambda app, _: app.cases.documents.shelf.catalogue().collections)
MODULE = Name("module", lambda app, _: [each.module for each in app.ports.discoveries.all()])
DISCOVERY = Name("discovery", lambda app, _: [each.id for each in app.ports.discoveries.all()])
PLACE = PlaceInProject()
TOOL = Name("tool", lambda app, _: app.workspace.tools)
TYPES: Mapping[str, click.ParamType[Any]] = {
    "id": PACK,
    "refs": PART,
    "section_key": SECTION,
    "collection": COLLECTION,
    "collections": COLLECTION,
    "module": MODULE,
    "path": ProjectPath(),
}
"""What arguments of tools are completed with, by their names."""
