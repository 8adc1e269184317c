"""Watch the project and tell when a context becomes stale, fresh, missing, corrupt or gone; Ctrl-C ends it.

With --refresh, what became stale is refreshed at once; what people wrote stays, as with 'contexts refresh'.

Examples:
  context-pack contexts watch
  context-pack contexts watch --refresh
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from context_pack_adapters.commands.contexts import (
    COLOURS,
    Opened,
    add_place,
    answered,
    open_project,
    outcome_record,
    tell_outcomes,
)
from context_pack_adapters.commands.contexts_status import shown
from context_pack_adapters.commands.shell import Shell
from context_pack_adapters.commands.terminal import counted

if TYPE_CHECKING:
    from context_pack_adapters.stores.context_watch import FoldersWatch

GONE = "gone"
"""A folder that is no longer there, or no longer worth a context."""


def configure(parser: ArgumentParser) -> None:
    """Which project, and whether to mend what became stale."""
    parser.add_argument("--refresh", action="store_true", help="refresh what became stale or is missing")
    add_place(parser)


def run(options: Namespace, shell: Shell) -> int:
    """Tell of changes until somebody has seen enough."""
    from context_pack_adapters.bootstrap import watch_folders

    opened = open_project(options, shell)
    watch = watch_folders(opened.project.root)
    states: dict[str, str] = {}
    try:
        while True:
            _follow(opened, watch)
            now = _states(opened)
            if options.refresh and any(state in ("stale", "missing") for state in now.values()):
                _refresh(opened, shell, options)
                now = _states(opened)
            _tell(states, now, shell, options)
            states = now
            shell.terminal.flush()
            watch.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        watch.close()


def _follow(opened: Opened, watch: FoldersWatch) -> None:
    """Watch every folder; one that came while its parent was not watched yet is found by looking again."""
    followed: set[str] = set()
    while (scopes := _scopes(opened)) != followed:
        watch.follow(sorted(scopes))
        followed = scopes


def _scopes(opened: Opened) -> set[str]:
    from context_pack.contexts.ports import unwatched

    scan = opened.project.scan(unwatched)
    return set() if scan is None else {folder.scope for folder in scan.folders}


def _states(opened: Opened) -> dict[str, str]:
    from context_pack.contexts.usecases.listing import ContextLister

    lister = ContextLister(opened.ports.projects, opened.ports.format)
    listing = answered(lister.survey(opened.project))
    return {entry.scope: shown(entry) for entry in listing.entries}


def _refresh(opened: Opened, shell: Shell, options: Namespace) -> None:
    from context_pack.contexts.usecases.refresh import Order

    outcomes = answered(opened.refresher.refresh(opened.project, Order()))
    told = [each for each in outcomes if each.deed != "unchanged"]
    if not options.json:
        tell_outcomes(told, shell)
        return
    for each in told:
        shell.terminal.json(outcome_record(each))


def _tell(before: dict[str, str], now: dict[str, str], shell: Shell, options: Namespace) -> None:
    """The first time a count of states, then a line per folder whose state has changed."""
    if not before and not options.json:
        kinds = dict.fromkeys(("fresh", "stale", "missing", *now.values()))
        states = ", ".join(f"{list(now.values()).count(state)} {state}" for state in kinds)
        shell.terminal.line(f"watching {counted(len(now), 'folder')}: {states}")
        return
    gone = dict.fromkeys(before.keys() - now.keys(), GONE)
    for scope, state in sorted({**now, **gone}.items()):
        if before.get(scope) == state:
            continue
        if options.json:
            shell.terminal.json({"scope": scope, "state": state})
        else:
            shell.terminal.styled_line((COLOURS.get(state, ""), state.ljust(8)), f"  {scope}")
