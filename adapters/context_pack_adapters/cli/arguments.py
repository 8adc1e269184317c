"""What people write behind a command: places in code, times, names that a shell completes, options.

`tool_command` stands above a function as `command` does, and takes names, types, bounds and help of the
arguments from the class that a tool has them in; the function gets those that were given.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from context_pack.kernel.errors import Failure
from context_pack.packs.model import Pack
from context_pack.toolkit.arguments import schema_of
from context_pack_adapters.cli.app import App, F, command
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
    match = _PLACE.fullmatch(written)
    if match is None or os.path.lexists(os.path.join(source_root, written)):
        return WrittenPlace(in_project(written, source_root))
    start = None if match["start"] is None else int(match["start"])
    end = start if match["end"] is None else int(match["end"])
    return WrittenPlace(in_project(match["path"], source_root), start, end, match["symbol"])


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


def path(written: str) -> str:
    """A path of an argument, from the source root."""
    return in_project(written, _source_root())


def place(written: str) -> WrittenPlace:
    """A place of an argument, with its path from the source root."""
    return place_of(written, _source_root())


def _source_root() -> str:
    return click.get_current_context().ensure_object(App).settings.source_root


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
TOOL = Name("tool", lambda app, _: app.workspace.tools)
TYPES: Mapping[str, click.ParamType[Any]] = {
    "id": PACK,
    "refs": PART,
    "section_key": SECTION,
    "collection": COLLECTION,
    "collections": COLLECTION,
    "module": MODULE,
    "path": click.types.FuncParamType(path),
}
"""What arguments of tools are completed with, by their names."""


FILLED_IN = ("action", "expected_revision", "cursor")
"""What the commands of packs know by themselves: the action, the revision of now, all pages."""
OPTIONAL = {"path", "refs", "query"}
"""Words that need not be given, unless the tool requires them."""
SHOWN = {"id": "PACK", "refs": "SECTION/REF", "section_key": "SECTION"}
BUDGET = "Budget of the answer"
WHOLE = "Most tokens of the answer; without it, all of it"
Kinds = Mapping[str, click.ParamType[Any]]


def tool_command(
    name: str,
    kind: type,
    *words: str,
    fixed: Collection[str] = (),
    defaults: Mapping[str, Any] | None = None,
    spelled: Mapping[str, str] | None = None,
    named: Kinds | None = None,
    **rules: Any,
) -> Callable[[F], F]:
    """Make a command of a function whose arguments are those of a class, but for the `fixed` ones.

    `words` are those without an option, in order; a default of None makes an argument optional; `spelled`
    gives options another name, `named` what a shell completes them with, other than `TYPES` has it.
    """
    schema, defaults, spelled = schema_of(kind), defaults or {}, spelled or {}
    properties = {
        each: rule for each, rule in schema["properties"].items() if each not in (*FILLED_IN, *fixed)
    }
    if "id" in properties and "id" not in (named or {}):  # a pack by its name or by its id
        properties.pop("name", None)
        words = ("id", *words)
    required = {*schema.get("required", ()), *({*words} - OPTIONAL)} - defaults.keys()
    kinds = {**TYPES, **(named or {})}
    params: list[click.Parameter] = [
        _argument(each, properties.pop(each), kinds, each in required) for each in words
    ]
    for each, rule in properties.items():
        params.append(_option(each, rule, kinds, each in required, defaults.get(each), spelled.get(each)))

    def register(run: F) -> F:
        @wraps(run)
        def with_given(app: App, **values: Any) -> int | None:
            given = {each: value for each, value in values.items() if value is not None and value != ()}
            lists = {each: list(value) for each, value in given.items() if type(value) is tuple}
            return run(app, **{**given, **lists})

        command(name, params, **rules)(with_given)
        return run

    return register


def _type(name: str, rule: Mapping[str, Any], kinds: Kinds) -> Any:
    if name in kinds:
        return kinds[name]
    if name.endswith("_minutes"):
        return Minutes()
    if "enum" in rule:
        return click.Choice([str(value) for value in rule["enum"]])
    low, high = rule.get("minimum"), rule.get("maximum")
    if rule["type"] == "integer":
        return click.INT if low is high is None else click.IntRange(low, high)
    return click.FloatRange(low, high) if rule["type"] == "number" else click.STRING


def _argument(name: str, rule: Mapping[str, Any], kinds: Kinds, required: bool) -> click.Argument:
    many = rule["type"] == "array"
    shown = SHOWN.get(name, name.upper())
    metavar = f"[{shown}]..." if many else shown if required else f"[{shown}]"
    kind = _type(name, rule["items"] if many else rule, kinds)
    return click.Argument(
        ["pack" if name == "id" else name],
        type=kind,
        nargs=-1 if many else 1,
        required=required,
        metavar=metavar,
    )


def _option(
    name: str, rule: Mapping[str, Any], kinds: Kinds, required: bool, default: Any, option: str | None
) -> click.Option:
    option = option or "--" + re.sub(r"(?<=[a-z])(?=[A-Z])|_", "-", name.removesuffix("_minutes")).lower()
    about = re.sub("^[a-z]+: ", "", rule["description"])  # the action that it is for
    about = (about[:1].upper() + about[1:]).replace(BUDGET, WHOLE)
    if rule["type"] == "boolean":
        return click.Option([option, name], is_flag=True, default=None, help=f"{about}.")
    many = rule["type"] == "array"
    kind = _type(name, rule["items"] if many else rule, kinds)
    metavar = "N" if rule["type"] in ("integer", "number") else None
    if isinstance(kind, Minutes):
        metavar, about = "TIME", "How long: 90 (minutes), 12h, 7d."
    shown = rule.get("default") if default is None and BUDGET not in rule["description"] else default
    if shown not in (None, []):
        about += f" [default: {shown}]"
    return click.Option(
        [option, name],
        type=kind,
        multiple=many,
        required=required,
        default=default,
        metavar=metavar,
        help=about,
    )
