"""What the context commands share: the project they are about, progress on a terminal, outcomes in words."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.commands.shell import Shell
from context_pack_adapters.settings import resolve_source_root, working_directory
from context_pack_adapters.workspace.contexts import answered as answered

if TYPE_CHECKING:
    from context_pack.contexts.ports import ContextPorts, Project
    from context_pack.contexts.usecases.refresh import ContextRefresher, Outcome

COLOURS: Mapping[str, str] = {
    "made": "green",
    "updated": "green",
    "left": "yellow",
    "failed": "red",
    "fresh": "green",
    "stale": "yellow",
    "missing": "red",
    "corrupt": "red",
}


class Opened(NamedTuple):
    """A project and what works on it."""

    project: Project
    ports: ContextPorts
    refresher: ContextRefresher


def add_place(parser: ArgumentParser) -> None:
    """The option that says which project."""
    parser.add_argument("--path", metavar="DIR", help="the project's root (default: the source root)")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def add_fingerprint(parser: ArgumentParser) -> None:
    """The options of the commands that write."""
    parser.add_argument(
        "--fingerprint", choices=["content", "stat"], help="what a new fingerprint is taken of (content)"
    )
    parser.add_argument("--agents", action="store_true", help="also keep a block about contexts in AGENTS.md")


def open_project(options: Namespace, shell: Shell) -> Opened:
    """The project that the options name.

    Raises:
        Failure: `not_found` when it is no readable folder.
    """
    from context_pack.contexts.ports import Refusal
    from context_pack.contexts.usecases.refresh import ContextRefresher
    from context_pack_adapters.bootstrap import open_ports

    settings = shell.settings
    path = (
        settings.source_root if not options.path else resolve_source_root(options.path, working_directory())
    )
    ports = open_ports(settings._replace(allowed_roots=(*settings.allowed_roots, path)))
    assert ports.contexts is not None
    project = ports.contexts.projects.open(path)
    if isinstance(project, Refusal):
        raise Failure(Code.NOT_FOUND, f'Failed to scan project at "{path}"')
    refresher = ContextRefresher(ports.contexts.format, ports.contexts.memory, ports.clock, ports.syntax)
    return Opened(project, ports.contexts, refresher)


def carry_out(options: Namespace, shell: Shell, **order: Any) -> int:
    """Make or refresh contexts and tell what became of each folder."""
    from context_pack.contexts.domain.fingerprint import Method
    from context_pack.contexts.usecases.refresh import Order
    from context_pack_adapters.commands.meter import Meter

    opened = open_project(options, shell)
    method = None if options.fingerprint is None else Method(options.fingerprint)
    with Meter() as meter:

        def progress(done: int, total: int, scope: str) -> None:
            if total:
                meter.draw(f"{done}/{total} {scope}")

        done = opened.refresher.refresh(
            opened.project, Order(method=method, agents=options.agents, **order), progress=progress
        )
    outcomes = answered(done)
    if options.json:
        shell.terminal.json(
            {"root": opened.project.root, "folders": [outcome_record(each) for each in outcomes]}
        )
    else:
        tell_outcomes(outcomes, shell)
        if not outcomes:
            shell.terminal.note("no folder there is worth a context; see min_tokens in .context.config.yaml")
    return 1 if any(outcome.deed == "failed" for outcome in outcomes) else 0


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    """What became of a folder, as JSON."""
    record: dict[str, Any] = {"scope": outcome.scope, "deed": outcome.deed}
    if outcome.reason is not None:
        record["reason"] = outcome.reason
    return {**record, "released": list(outcome.released)} if outcome.released else record


def tell_outcomes(outcomes: Sequence[Outcome], shell: Shell) -> None:
    """A line for every folder that is not as it was, and one that counts them all."""
    for outcome in outcomes:
        if outcome.deed == "unchanged":
            continue
        why = f"  {outcome.reason}" if outcome.reason else ""
        theirs = f"  yours from now on: {', '.join(outcome.released)}" if outcome.released else ""
        deed = (COLOURS[outcome.deed], outcome.deed.ljust(8))
        shell.terminal.styled_line(deed, f"  {outcome.scope}{why}{theirs}")
    deeds = [outcome.deed for outcome in outcomes]
    counted = [
        f"{deeds.count(deed)} {deed}" for deed in dict.fromkeys(("made", "updated", "unchanged", *deeds))
    ]
    shell.terminal.line(", ".join(counted))
