"""The commands about directory contexts: init, refresh, status, validate, show; see also `contexts_watch`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.commands.arguments import argument, command, flag
from context_pack_adapters.commands.shell import Shell, WrongUsage
from context_pack_adapters.settings import resolve_source_root, working_directory

if TYPE_CHECKING:
    from context_pack.contexts.ports import Project, ProjectFolder
    from context_pack.contexts.queries import ContextQueries, FolderListing
    from context_pack.contexts.refresh import ContextRefresher, FolderOutcome

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
PLACE = (
    argument("--path", metavar="DIR", help="the project's root (default: the source root)"),
    flag("--json", "print the answer as JSON"),
)
WRITING = (
    argument(
        "--fingerprint", choices=["content", "stat"], help="what a new fingerprint is taken of (content)"
    ),
    flag("--agents", "also keep a block about contexts in AGENTS.md"),
)


class OpenedProject(NamedTuple):
    """An opened project with its queries and its refresher."""

    project: Project
    queries: ContextQueries
    refresher: ContextRefresher

    def listing(self) -> FolderListing:
        """Every folder that has, or should have, a context."""
        from context_pack_adapters.workspace.contexts import answered

        return answered(self.queries.survey(self.project))


def open_project(options: Namespace, shell: Shell) -> OpenedProject:
    """The project that the options name.

    Raises:
        Failure: `not_found` when it is no readable folder.
    """
    from context_pack.kernel.ports import Reason

    settings = shell.settings
    path = resolve_source_root(options.path, working_directory()) if options.path else settings.source_root
    allowed = settings._replace(allowed_roots=(*settings.allowed_roots, path))
    cases = shell._replace(settings=allowed).cases().contexts
    project = cases.queries.projects.open(path)
    if isinstance(project, Reason):
        raise Failure(Code.NOT_FOUND, f'Failed to scan project at "{path}"')
    return OpenedProject(project, cases.queries, cases.refresher)


@command(*WRITING, *PLACE)
def init(options: Namespace, shell: Shell) -> int:
    """Make a .context.yaml for every folder worth one that has none; those that are there stay as they are.

    A context says what its folder holds: summary, files, interfaces, dependencies, tests; made from the code,
    its documentation and its manifests, without a model and in seconds. Add what the code does not show
    (decisions, constraints) by hand: it stays. Which folders are worth one is said in .context.config.yaml
    (min_tokens).

    Examples:
      context-pack contexts init
      context-pack contexts init --path ../other-project
      context-pack contexts init --agents              also tell agents about them, in AGENTS.md
      context-pack contexts init --fingerprint stat  times and sizes instead of contents, as dotcontext has it
    """
    return _carry_out(options, shell, only_missing=True)


@command(
    argument("scope", nargs="?", metavar="SCOPE", help="a folder, from the root (default: all)"),
    *WRITING,
    *PLACE,
)
def refresh(options: Namespace, shell: Shell) -> int:
    """Bring contexts up to date with their folders, and make those that are missing.

    Nothing that a person wrote is touched: only fingerprint, date and the fields named in derived_fields
    change, and a field that somebody edited leaves derived_fields instead. Comments stay. A corrupt file, or
    one of a later version, is left alone and told.

    Examples:
      context-pack contexts refresh
      context-pack contexts refresh src/core           only this folder and what is below it
      context-pack contexts refresh --fingerprint stat
    """
    if options.scope is not None and options.agents:
        raise WrongUsage("--agents is about the whole project; leave out the scope")
    return _carry_out(options, shell, scope=options.scope)


def _carry_out(options: Namespace, shell: Shell, **order: Any) -> int:
    """Make or refresh contexts and print the outcome of each folder."""
    from context_pack.contexts.fingerprint import Method
    from context_pack.contexts.refresh import RefreshRequest
    from context_pack_adapters.commands.meter import Meter
    from context_pack_adapters.workspace.contexts import answered

    opened = open_project(options, shell)
    method = None if options.fingerprint is None else Method(options.fingerprint)
    with Meter() as meter:

        def progress(done: int, total: int, scope: str) -> None:
            if total:
                meter.draw(f"{done}/{total} {scope}")

        outcomes = answered(
            opened.refresher.refresh(
                opened.project,
                RefreshRequest(method=method, agents=options.agents, **order),
                progress=progress,
            )
        )
    if options.json:
        folders = [outcome_record(each) for each in outcomes]
        shell.terminal.json({"root": opened.project.root, "folders": folders})
    else:
        print_outcomes(outcomes, shell)
        if not outcomes:
            shell.terminal.note("no folder there is worth a context; see min_tokens in .context.config.yaml")
    return 1 if any(outcome.result == "failed" for outcome in outcomes) else 0


def outcome_record(outcome: FolderOutcome) -> dict[str, Any]:
    """The outcome of a folder as JSON."""
    record: dict[str, Any] = {"scope": outcome.scope, "result": outcome.result}
    if outcome.reason is not None:
        record["reason"] = outcome.reason
    return {**record, "released": list(outcome.released)} if outcome.released else record


def print_outcomes(outcomes: Sequence[FolderOutcome], shell: Shell) -> None:
    """Print a line for every changed folder, and one with the counts."""
    for outcome in outcomes:
        if outcome.result == "unchanged":
            continue
        why = f"  {outcome.reason}" if outcome.reason else ""
        theirs = f"  yours from now on: {', '.join(outcome.released)}" if outcome.released else ""
        print_state(outcome.result, f"{outcome.scope}{why}{theirs}", shell)
    shell.terminal.line(tally(("made", "updated", "unchanged"), [outcome.result for outcome in outcomes]))


def print_state(state: str, text: str, shell: Shell) -> None:
    """Print a line that begins with a state in its colour."""
    shell.terminal.styled_line((COLOURS.get(state, ""), state.ljust(8)), f"  {text}")


def tally(usual: Iterable[str], states: Sequence[str]) -> str:
    """How many there are of each state; the usual ones are counted even where there are none."""
    return ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys((*usual, *states)))


@command(flag("--quiet", "tell only what is not fresh"), *PLACE)
def status(options: Namespace, shell: Shell) -> int:
    """Tell for every folder worth a context whether it is fresh, stale, missing or corrupt.

    Exit code 1 when one is not fresh, so that a CI job or a pre-commit hook can use it.

    Examples:
      context-pack contexts status
      context-pack contexts status --quiet             only what is not fresh
      context-pack contexts status --json
    """
    from context_pack.contexts.tools import listing_body

    listing = open_project(options, shell).listing()
    states = states_in(listing)
    fresh = all(state == "fresh" for state in states.values())
    if options.json:
        shell.terminal.json({"ok": fresh, **listing_body(listing)})
        return 0 if fresh else 1
    width = max(map(len, states))
    for entry in listing.entries:
        if not options.quiet or states[entry.scope] != "fresh":
            told = " ".join((entry.summary or entry.reason or "").split())[:100]
            print_state(states[entry.scope], f"{entry.scope.ljust(width)}  {told}", shell)
    more = f"; {listing.skipped} folders below the threshold" if listing.skipped else ""
    shell.terminal.line(tally(("fresh", "stale", "missing"), list(states.values())) + more)
    if listing.warnings:
        shell.terminal.note(f"{listing.warnings} folders, names or settings could not be used")
    if not {"stale", "missing"}.isdisjoint(states.values()):
        shell.terminal.note("'context-pack contexts refresh' mends what is stale or missing.")
    return 0 if fresh else 1


def states_in(listing: FolderListing) -> dict[str, str]:
    """The state of each folder for people: an unusable file is called corrupt, not missing."""
    return {
        entry.scope: "corrupt" if entry.reason is not None else entry.state.value for entry in listing.entries
    }


@command(
    argument("scopes", nargs="*", metavar="SCOPE", help="folders, from the root (default: all)"),
    flag("--schema", "print the JSON Schema of the format"),
    *PLACE,
)
def validate(options: Namespace, shell: Shell) -> int:
    """Check that every .context.yaml is a valid context of version 1; what is missing or stale does not
    matter.

    Exit code 1 when a file is not valid.

    Examples:
      context-pack contexts validate                   every folder of the project
      context-pack contexts validate src/core lib      these
      context-pack contexts validate --schema          print the JSON Schema instead
    """
    from context_pack.contexts.model import CONTEXT_FILE, CONTEXT_SCHEMA, Context
    from context_pack.contexts.queries import OUTSIDE, context_of
    from context_pack.kernel.ports import Reason

    if options.schema:
        shell.terminal.json(CONTEXT_SCHEMA)
        return 0
    opened = open_project(options, shell)
    checked, invalid = 0, {}
    for folder in _folders(opened.project, options.scopes):
        verdict = context_of(folder, opened.queries.format)
        checked += verdict is not Reason.MISSING
        if not isinstance(verdict, Context) and verdict is not Reason.MISSING:
            invalid[folder.scope] = (OUTSIDE if isinstance(verdict, Reason) else verdict).reason
    if options.json:
        told = [{"scope": scope, "reason": reason} for scope, reason in invalid.items()]
        shell.terminal.json({"ok": not invalid, "checked": checked, "invalid": told})
    else:
        for scope, reason in invalid.items():
            name = CONTEXT_FILE if scope == "." else f"{scope}/{CONTEXT_FILE}"
            shell.terminal.styled_line(("red", "invalid"), f"  {name}  {reason}")
        shell.terminal.line(f"{checked} checked, {len(invalid)} invalid")
    return 1 if invalid else 0


def _folders(project: Project, scopes: Sequence[str]) -> Iterator[ProjectFolder]:
    """The folders of these scopes, or all."""
    from context_pack.contexts.ports import unwatched
    from context_pack.contexts.queries import refused, unscannable
    from context_pack.kernel.ports import Reason

    for scope in scopes:
        folder = project.find(scope)
        if isinstance(folder, Reason):
            raise Failure(Code.NOT_FOUND, refused(folder, scope).error)
        yield folder
    if not scopes:
        scan = project.scan(unwatched)
        if scan is None:
            raise Failure(Code.NOT_FOUND, unscannable(project.root).error)
        yield from sorted(scan.folders, key=lambda folder: folder.scope)


@command(argument("scope", metavar="SCOPE", help="a folder, from the root; . is the root"), *PLACE)
def show(options: Namespace, shell: Shell) -> None:
    """Print the .context.yaml of a folder as it is, or what it says as JSON.

    Examples:
      context-pack contexts show src/core
      context-pack contexts show .
      context-pack contexts show src/core --json       the parsed context, with its state
    """
    from context_pack.contexts.queries import CheckFreshness, QueryContext, refused
    from context_pack_adapters.workspace.contexts import answered

    opened = open_project(options, shell)
    if options.json:
        asked = {"scope": options.scope, "path": opened.project.root}
        found = answered(opened.queries.query(QueryContext(**asked)))
        state = answered(opened.queries.check(CheckFreshness(**asked))).freshness.state.value
        shell.terminal.json({"scope": options.scope, "state": state, "context": found.context})
        return
    (folder,) = _folders(opened.project, [options.scope])
    data = folder.context()
    if not isinstance(data, bytes):
        raise Failure(Code.NOT_FOUND, refused(data, options.scope).error)
    shell.terminal.raw(data.decode("utf-8", "backslashreplace"))
