"""The commands about directory contexts: init, refresh, status, show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click
from attrs import asdict

from context_pack.contexts.fingerprint import Method
from context_pack.contexts.model import CONTEXT_SCHEMA
from context_pack.contexts.ports import Project
from context_pack.contexts.queries import folder_at, opened, refusal
from context_pack.contexts.refresh import FolderOutcome, RefreshRequest
from context_pack.contexts.tools import listing_body
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import counted, one_line
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.client_files import ClientFile, UnreadableConfig, block_edit

STATE_CHARS, SUMMARY_CHARS = 8, 100


def _project(app: App) -> Project:
    return opened(app.cases.contexts.queries.projects, None)


AGENTS_FILE = "AGENTS.md"
AGENTS_BLOCK = """\
## Directory contexts

Folders of this project hold a `.context.yaml`: what the folder is for, decisions, constraints, interfaces.

- Which folders have one, and what they are for: the tool `list_contexts`, or `context-pack contexts status`.
- Before you explore or change a folder, read its context (tool `query_context`, or the file itself).
- Before you rely on one, check it (tool `check_freshness`): stale means that files changed since.
- After you changed files, correct what a person should know and run `context-pack contexts refresh`.
"""


FINGERPRINT = click.option(
    "--fingerprint", type=click.Choice(["content", "stat"]), help="What a new fingerprint is taken of."
)
AGENTS = flag("--agents", "Also keep a block about contexts in AGENTS.md.")


@command("contexts init", walks=True)
@FINGERPRINT
@AGENTS
def init(app: App, fingerprint: str | None, agents: bool) -> int:
    """Make a .context.yaml for every folder worth one that has none; those that are there stay as they are.

    A context says what its folder holds: summary, files, interfaces, dependencies, tests; made from the code,
    its documentation and its manifests, without a model and in seconds. Add what the code does not show
    (decisions, constraints) by hand. Which folders are worth one is said in .context.config.yaml
    (min_tokens).

    Examples:
      context-pack contexts init --agents              also tell agents about them, in AGENTS.md
      context-pack contexts init --fingerprint stat    times and sizes, as dotcontext has it
    """
    return _carry_out(app, fingerprint, agents=agents, only_missing=True)


@command("contexts refresh", walks=True)
@click.argument("scope", required=False)
@flag("--adopt", "Take over generated fields of dotcontext and of earlier versions.")
@FINGERPRINT
@AGENTS
def refresh(app: App, scope: str | None, adopt: bool, fingerprint: str | None, agents: bool) -> int:
    """Bring contexts up to date with their folders, and make those that are missing.

    Nothing that a person wrote is touched: only fingerprint, date and the fields named in derived_fields
    change, and a field that somebody edited leaves derived_fields instead. Comments stay. A corrupt file, or
    one of a later version, is left alone and told. With --adopt the fields that derived_fields names in files
    of dotcontext and of earlier versions, which have no digests, count as generated, too.

    Examples:
      context-pack contexts refresh src/core           only this folder and what is below it
      context-pack contexts refresh --adopt            once, in a project that used dotcontext
    """
    if scope is not None and agents:
        raise click.UsageError("--agents is about the whole project; leave out the scope")
    return _carry_out(app, fingerprint, agents=agents, scope=scope, adopt=adopt)


def _carry_out(app: App, fingerprint: str | None, agents: bool, **rest: Any) -> int:
    """Make or refresh contexts; a line for every changed folder, and one with the counts."""
    method = None if fingerprint is None else Method(fingerprint)
    project, order = _project(app), RefreshRequest(method=method, root_too=agents, **rest)
    outcomes = [*_block_for_agents(project.root)] if agents else []
    with output.progress("contexts") as report:
        outcomes += app.cases.contexts.refresher.refresh(project, order, progress=report)
    lines = []
    for outcome in outcomes:
        if outcome.result != "unchanged":
            why = f"  {outcome.reason}" if outcome.reason else ""
            theirs = f"  yours from now on: {', '.join(outcome.released)}" if outcome.released else ""
            lines.append(_state_line(outcome.result, f"{outcome.scope}{why}{theirs}"))
    lines.append(_tally(("made", "updated", "unchanged"), [outcome.result for outcome in outcomes]))
    body = {"root": project.root, "folders": [asdict(each) for each in outcomes]}
    nothing = "no folder there is worth a context; see min_tokens in .context.config.yaml"
    code = 1 if any(outcome.result == "failed" for outcome in outcomes) else 0
    return app.tell(body, *lines, notes=() if outcomes else [nothing], code=code)


def _block_for_agents(root: str) -> Iterator[FolderOutcome]:
    """Put the block into `AGENTS.md`, before the root's fingerprint is taken; tells what changed."""
    edit = block_edit(AGENTS_BLOCK, "context-pack:contexts")
    try:
        if ClientFile.in_project(root, AGENTS_FILE).change(edit, remove=False):
            yield FolderOutcome(AGENTS_FILE, "updated")
    except UnreadableConfig as fault:
        yield FolderOutcome(AGENTS_FILE, "left", str(fault))
    except OSError as error:
        yield FolderOutcome(AGENTS_FILE, "failed", error.strerror)


def _state_line(state: str, text: str) -> output.Line:
    return [output.state(state, STATE_CHARS), f"  {text}"]


def _tally(usual: Sequence[str], states: Iterable[str]) -> str:
    """How many there are of each state; the usual ones are counted even where there are none."""
    counts = Counter(dict.fromkeys(usual, 0))
    counts.update(states)
    return ", ".join(f"{count} {state}" for state, count in counts.items())


@command("contexts status")
@flag("--quiet", "Tell only what is not fresh.")
@flag("--schema", "Print the JSON Schema of a .context.yaml instead.")
def status(app: App, quiet: bool, schema: bool) -> int:
    """Tell for every folder worth a context whether it is fresh, stale, missing or corrupt, and why.

    Exit code 1 when one is not fresh, so that a CI job or a pre-commit hook can use it.

    Example:
      context-pack contexts status --quiet             only what is not fresh
    """
    if schema:
        output.value(CONTEXT_SCHEMA)
        return 0
    listing = app.workspace.contexts.list()
    states = {each.scope: "corrupt" if each.reason else each.state.value for each in listing.entries}
    fresh = all(state == "fresh" for state in states.values())
    width = max(map(len, states), default=0)
    lines = []
    for each in listing.entries:
        if not quiet or states[each.scope] != "fresh":
            words = one_line(each.reason or each.summary or "", SUMMARY_CHARS)
            lines.append(_state_line(states[each.scope], f"{each.scope.ljust(width)}  {words}".rstrip()))
    more = f"; {counted(listing.skipped, 'folder')} below the threshold" if listing.skipped else ""
    lines.append(_tally(("fresh", "stale", "missing"), states.values()) + more)
    notes = []
    if listing.warnings:
        notes.append(f"{listing.warnings} folders, names or settings could not be used")
    if not {"stale", "missing"}.isdisjoint(states.values()):
        notes.append("'context-pack contexts refresh' mends what is stale or missing.")
    body = {"ok": fresh, **listing_body(listing)}
    return app.tell(body, *lines, notes=notes, code=0 if fresh else 1)


@command("contexts show")
@click.argument("scope", default=".")
def show(app: App, scope: str) -> None:
    """Print the .context.yaml of a folder as it is, also one that is not valid; without SCOPE the root's.

    Examples:
      context-pack contexts show src/core
      context-pack contexts show src/core --json       the parsed context, with its state
    """
    if app.json:
        contexts = app.workspace.contexts
        state = contexts.check(scope=scope).freshness.state
        output.value({"scope": scope, "state": state, "context": contexts.query(scope=scope).context})
        return
    data = folder_at(_project(app), scope).context()
    if isinstance(data, Reason):
        raise refusal(data, scope)
    output.raw(data.decode("utf-8", "backslashreplace"))
