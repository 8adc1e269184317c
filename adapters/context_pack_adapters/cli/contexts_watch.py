"""`contexts watch`: print each change of a context's state until interrupted."""

from __future__ import annotations

import time
from argparse import Namespace

from context_pack.contexts.refresh import RefreshRequest
from context_pack.kernel.text import counted
from context_pack_adapters.cli.arguments import command, flag
from context_pack_adapters.cli.contexts import (
    PLACE,
    OpenedProject,
    open_project,
    outcome_record,
    print_outcomes,
    print_state,
    states_in,
    tally,
)
from context_pack_adapters.cli.shell import Shell
from context_pack_adapters.library.contexts import answered

LOOK_SECONDS = 1.0
"""Between two looks at the whole project: a folder that is as it was costs its listing."""
GONE = "gone"
"""A folder that is no longer there, or no longer worth a context."""


@command(flag("--refresh", "refresh what became stale or is missing"), *PLACE)
def watch(options: Namespace, shell: Shell) -> None:
    """Watch the project and tell when a context becomes stale, fresh, missing, corrupt or gone; Ctrl-C ends
    it.

    With --refresh, what became stale is refreshed at once; what people wrote stays, as with 'contexts
    refresh'.

    Examples:
      context-pack contexts watch
      context-pack contexts watch --refresh
    """
    opened = open_project(options, shell)
    states: dict[str, str] = {}
    try:
        while True:
            now = states_in(opened.listing())
            if options.refresh and not {"stale", "missing"}.isdisjoint(now.values()):
                _refresh(opened, shell, options)
                now = states_in(opened.listing())
            _print_changes(states, now, shell, options)
            states = now
            shell.terminal.flush()
            time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        return


def _refresh(opened: OpenedProject, shell: Shell, options: Namespace) -> None:
    outcomes = answered(opened.refresher.refresh(opened.project, RefreshRequest()))
    told = [each for each in outcomes if each.result != "unchanged"]
    if not options.json:
        print_outcomes(told, shell)
        return
    for each in told:
        shell.terminal.json(outcome_record(each))


def _print_changes(before: dict[str, str], now: dict[str, str], shell: Shell, options: Namespace) -> None:
    """Print a count of states the first time, then a line per folder whose state has changed."""
    if not before and not options.json:
        states = tally(("fresh", "stale", "missing"), list(now.values()))
        shell.terminal.line(f"watching {counted(len(now), 'folder')}: {states}")
        return
    gone = dict.fromkeys(before.keys() - now.keys(), GONE)
    for scope, state in sorted({**now, **gone}.items()):
        if before.get(scope) == state:
            continue
        if options.json:
            shell.terminal.json({"scope": scope, "state": state})
        else:
            print_state(state, scope, shell)
