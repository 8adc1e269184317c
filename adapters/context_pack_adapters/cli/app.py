"""What every command shares: the places it works in, how its results are told, and how it is declared.

A command is a function with click's decorators under `@command("packs show")`; it takes the `App` and its
arguments, and returns an exit code or nothing. Where the commands are is in `dispatch`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from context_pack.kernel.errors import Failure
from context_pack_adapters.cli import output
from context_pack_adapters.logs import Log
from context_pack_adapters.settings import (
    Settings,
    no_project,
    read_settings,
    resolve_source_root,
    working_directory,
)

if TYPE_CHECKING:
    from context_pack.composition import UseCases
    from context_pack.toolkit.spec import Answer
    from context_pack_adapters.disk_ports import DiskPorts
    from context_pack_adapters.library import Workspace

NAME, COMPLETE = "context-pack", "_CONTEXT_PACK_COMPLETE"
"""Our name, and the variable by which a shell asks for completions."""
Run = Callable[..., int | None]
F = TypeVar("F", bound=Run)
WITHOUT_END = 10**9
"""A budget in tokens that no answer reaches: a command prints all, unless it is told otherwise."""
REGISTERED: dict[str, click.Command] = {}
"""The commands of the modules that are loaded, by their whole names."""


class Outcomes(NamedTuple):
    """What became of several packs or discoveries that a command was to do something with."""

    noun: str
    results: list[Any]
    failures: dict[str, Failure]
    """By the name that was given; by none, what names the files that could not be read."""

    @property
    def failed(self) -> list[dict[str, str]]:
        """What failed and why, as JSON; each file that could not be read is one."""
        rows = []
        for name, why in self.failures.items():
            files = () if name else why.details.get("files", ())
            parts = [(each["file"].partition(".")[0], each["reason"]) for each in files]
            for subject, words in parts or [(name, why.message)]:
                rows.append({self.noun: subject, "code": why.code, "message": words})
        return rows


class App:
    """One run of the command line; of an option given before and after the command the last counts."""

    root: str | None = None
    source_root: str | None = None
    json: bool = False

    @cached_property
    def settings(self) -> Settings:
        """The environment's settings, with the places given as options taken from the working directory."""
        environ, here = dict(os.environ), working_directory()
        given = {"CONTEXT_PACK_SOURCE_ROOT": self.source_root, "CONTEXT_PACK_ROOT": self.root}
        environ.update({name: resolve_source_root(place, here) for name, place in given.items() if place})
        return read_settings(environ, here)

    @cached_property
    def log(self) -> Log:
        """The log of this command."""
        return Log(self.settings.log_level if self.settings.log_level_given else "warn")

    @cached_property
    def ports(self) -> DiskPorts:
        """The real ports; loaded with the first command that needs them."""
        from context_pack_adapters.disk_ports import open_ports

        return open_ports(self.settings)

    @cached_property
    def workspace(self) -> Workspace:
        """The library over these settings."""
        from context_pack_adapters.library import Workspace

        return Workspace(self.ports, self.settings.max_source_bytes)

    @property
    def cases(self) -> UseCases:
        """Every use case over the real ports."""
        return self.workspace.cases

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool and return its answer, which no page cuts; arguments that are None are left out."""
        given = {name: value for name, value in arguments.items() if value is not None}
        return self.workspace.call(tool, given, page_tokens=WITHOUT_END)

    def answer(self, tool: str, *, failing: int = 1, **arguments: Any) -> dict[str, Any]:
        """The answer of a tool as JSON; a refusal ends the command with the exit code `failing`."""
        return output.body_of(self.call(tool, **arguments), failing)

    def close(self) -> None:
        """Close what this run has opened."""
        if "workspace" in self.__dict__:
            self.workspace.close()

    def tell(
        self,
        body: Any,
        *lines: output.Line,
        notes: Iterable[str] = (),
        failures: Mapping[str, Failure] | None = None,
        code: int = 0,
    ) -> int:
        """Print a result, as JSON or in lines, and on stderr what failed; returns the exit code.

        `notes` are said beside what people read, on stderr.
        """
        if self.json:
            output.value(body)
        else:
            for line in lines:
                output.line(*([line] if isinstance(line, str) else line))
            for note in notes:
                output.note(note)
        self.complain(failures or {})
        return code or (1 if failures else 0)

    def complain(self, failures: Mapping[str, Failure]) -> None:
        """Print failures on stderr, each with its subject."""
        for subject, failure in failures.items():
            for words in output.words_for(failure, self.settings.root):
                output.complain(f"{subject}: {words}" if subject else words)

    def table(
        self,
        body: Any,
        rows: Sequence[Iterable[object]],
        heads: Sequence[str],
        none: str,
        notes: Iterable[str] = (),
    ) -> int:
        """Print a result, as JSON or as a table; `none` is said of an empty one."""
        if self.json or not rows:
            return self.tell(body, none, notes=notes)
        output.table(rows, *heads)
        return self.tell(body, notes=notes)

    def each(
        self, noun: str, names: Iterable[str], work: Callable[[str], Any], broken: Failure | None = None
    ) -> Outcomes:
        """Do something with packs or discoveries one by one; `broken` names files that could not be read."""
        done = Outcomes(noun, [], {} if broken is None else {"": broken})
        for name in names:
            try:
                done.results.append(work(name))
            except Failure as failure:
                done.failures[name] = failure
        return done

    def tell_each(self, done: Outcomes, key: str, *lines: output.Line, notes: Iterable[str] = ()) -> int:
        """Print what became of several things, under `key` those that did not fail."""
        body = {"ok": not done.failures, key: done.results, "failed": done.failed}
        return self.tell(body, *lines, notes=notes, failures=done.failures)

    def prepare(self, command: Command, parameters: Mapping[str, Any]) -> None:
        """Check that the command can work in these places.

        Raises:
            click.UsageError: the source root is no folder, or nobody named the project that would be walked.
            Failure: a setting that says where data is cannot be understood.
        """
        from context_pack_adapters.private_places import check_settings, open_places

        settings = self.settings
        for complaint in settings.complaints:
            self.log.write("warn", complaint)
        if self.source_root and command.name != "doctor" and not os.path.isdir(settings.source_root):
            where = f"{settings.source_root} is not a folder"
            raise click.UsageError(f"{where}; --source-root says where the project is")
        if command.walks:
            place = no_project(settings)
            if place and not parameters.get("path") and not os.path.isdir(settings.root):
                raise click.UsageError(f"{place} is no project; go into one, or name it with --source-root")
            if trouble := open_places(settings).trouble:
                gone = f"what is indexed now is gone when this command ends: {trouble}"
                self.log.write("warn", f"{gone}; see 'doctor'")
        if not command.anywhere:
            check_settings(settings)


def _remember(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value and parameter.name:
        setattr(context.ensure_object(App), parameter.name, value)


def _shared(name: str, **rules: Any) -> click.Option:
    # eager: paths among the arguments are read from these places
    return click.Option([name], expose_value=False, callback=_remember, is_eager=True, **rules)


ROOT = _shared("--root", metavar="DIR", help="Where packs are kept; wins over CONTEXT_PACK_ROOT.")
SOURCE_ROOT = _shared("--source-root", metavar="DIR", help="The project; wins over CONTEXT_PACK_SOURCE_ROOT.")
JSON = _shared("--json", is_flag=True, help="Print the result as JSON.")
EVERYWHERE = (JSON, ROOT, SOURCE_ROOT)
"""Options of every command, which may stand before it too."""


class Formatter(click.HelpFormatter):
    """click's help, with headings and names in style where a person looks."""

    def write_heading(self, heading: str) -> None:
        """A heading of a section."""
        self.write(f"{'':>{self.current_indent}}{output.style(('bold', heading + ':'))}\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 34, col_spacing: int = 2) -> None:
        """Names and what they are for."""
        super().write_dl(
            [(output.style(("cyan", name)), about) for name, about in rows], col_max, col_spacing
        )


class HelpContext(click.Context):
    """A context whose help is in our format."""

    formatter_class = Formatter


class Command(click.Command):
    """A command with the options that every one has; its examples are printed as they are written.

    `walks`: it walks the whole project. `anywhere`: it runs although settings do not say where data is.
    """

    context_class = HelpContext

    def __init__(self, *args: Any, walks: bool = False, anywhere: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.walks, self.anywhere = walks, anywhere
        self.params += EVERYWHERE
        if self.help:  # click wraps paragraphs, but for those after this mark
            self.help = re.sub(r"\n\n(?=Examples?:)", "\n\n\b\n", cleandoc(self.help))

    def invoke(self, ctx: click.Context) -> Any:
        """Run it, if it can run here."""
        app: App = ctx.ensure_object(App)
        app.prepare(self, ctx.params)
        return super().invoke(ctx)


def command(
    name: str, params: Iterable[click.Parameter] = (), about: str = "", **rules: Any
) -> Callable[[F], F]:
    """Make a command of a function, whose docstring is the help if `about` is not; `params` come first."""

    def register(run: F) -> F:
        own = reversed(getattr(run, "__click_params__", []))
        REGISTERED[name] = Command(
            name.split()[-1],
            params=[*params, *own],
            callback=click.pass_obj(run),
            help=about or run.__doc__,
            **rules,
        )
        return run

    return register


def flag(name: str, about: str, *more: str) -> Callable[[F], F]:
    """An option without a value."""
    return click.option(name, *more, is_flag=True, help=about)
