"""The commands about bundles: list, check, export, graph."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from context_pack.bundles.exports import select
from context_pack.bundles.markdown import MOST_CHARS, mermaid
from context_pack.bundles.model import Bundle, Diagnostic, Unloadable
from context_pack.bundles.opening import EntityAddress, OpenedBundle, require
from context_pack.bundles.ports import BundlePlace
from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.call import CheckedCall, Overdue
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.packs import write
from context_pack_adapters.cli.words import body_of, nearest

if TYPE_CHECKING:
    Found = tuple[BundlePlace, Bundle | Unloadable]

T = TypeVar("T")

HEADS = {
    "file": "Files that cannot be used",
    "schema": "Schema errors",
    "duplicate": "Duplicate ids",
    "reference": "Broken references",
    "orphan": "Orphans",
}
COLOURS = {"error": "red", "warning": "yellow"}
REFUSALS = {"NOT_FOUND": Code.NOT_FOUND, "BAD_REQUEST": Code.INVALID_DATA}
BUNDLE = click.option("--bundle", metavar="ID", help="The bundle, where there are several.")
DEPTH = click.option(
    "--depth", type=click.IntRange(0), default=3, show_default=True, help="How far to follow references."
)


def call_in_time(app: App) -> CheckedCall:
    """A call with the deadline of the server's, because a schema may cost any amount of time."""
    overdue = Overdue(app.settings.call_seconds)
    end = time.monotonic() + overdue.seconds

    def check() -> None:
        if time.monotonic() > end:
            raise overdue.failure()

    return CheckedCall(wanted=check)


def _bundles(app: App) -> tuple[list[Found], Sequence[Diagnostic]]:
    """The bundles of this project, and what was wrong with the search for them."""
    shelf = app.cases.bundles
    return shelf.bundles(call_in_time(app)), shelf.store.discover().diagnostics


def _serve(app: App, bundle: str | None, work: Callable[[OpenedBundle], T]) -> T:
    """Run `work` on one bundle."""
    return work(app.cases.bundles.open(bundle, call_in_time(app)))


def _print_search_problems(wrong: Sequence[Diagnostic], found: Sequence[Any]) -> None:
    """Print problems of the search; if no bundle was found, explain what a bundle is."""
    for one in wrong:
        output.complain(f"{one.file or 'bundles'}: {one.message}")
    if not found:
        output.line("No bundles found.")
        output.note(
            "A bundle is a folder with an sdd-bundle.yaml: the source root or one below it, or one that "
            "bundles.yaml or CONTEXT_PACK_BUNDLES names."
        )


@command("bundles list")
def list_bundles(app: App) -> None:
    """List the bundles of this project: those that load, and those that do not.

    Examples:
      context-pack bundles list
      context-pack bundles list --json | jq -r '.bundles[].id'
    """
    bundles, wrong = _bundles(app)
    found = [_summary(place, bundle) for place, bundle in bundles]
    if app.json:
        diagnostics = [diagnostic.record() for diagnostic in wrong]
        output.value({"count": len(found), "bundles": found, "diagnostics": diagnostics})
        return
    _print_search_problems(wrong, found)
    if found:
        rows = [
            (
                one["id"],
                "yes" if one["loads"] else "no",
                one["entities"],
                one["problems"],
                one["path"],
                one["name"],
            )
            for one in found
        ]
        output.table(rows, "ID", "LOADS", "ENTITIES", "PROBLEMS", "FOLDER", "NAME")


def _summary(place: BundlePlace, bundle: Bundle | Unloadable) -> dict[str, Any]:
    loads = isinstance(bundle, Bundle)
    entities = bundle.entities.values() if isinstance(bundle, Bundle) else ()
    return {
        "id": place.id,
        "name": bundle.name if isinstance(bundle, Bundle) else "",
        "path": place.path,
        "description": place.description,
        "tags": list(place.tags),
        "loads": loads,
        "entities": len(entities),
        "types": dict(Counter(entity.type for entity in entities)),
        "problems": len(bundle.diagnostics),
    }


@command("bundles check")
@click.argument("bundles", nargs=-1, metavar="[ID]...")
@flag("--allow-orphans", "Orphans are no failure.")
def check(app: App, bundles: tuple[str, ...], allow_orphans: bool) -> int:
    """Check bundles: files, schemas, ids and references.

    Prints what cannot be read, entities that fail their schema, ids that appear twice, references to nothing,
    and orphans (entities that refer to nothing and that nothing refers to). Exit code 1 when there is any of
    it, or no bundle at all, so that a CI job or a pre-commit hook can use it; a type without a folder is only
    told.

    Examples:
      context-pack bundles check                     every bundle
      context-pack bundles check shop                this one
      context-pack bundles check --allow-orphans     orphans are told, but are no failure
      context-pack bundles check --json
    """
    found, wrong = _bundles(app)
    reports = [_report(*one, allow_orphans) for one in _chosen(found, bundles)]
    ok = bool(reports) and not wrong and all(report["ok"] for report in reports)
    if app.json:
        output.value({"ok": ok, "bundles": reports, "diagnostics": [_record(one) for one in wrong]})
    else:
        _print_search_problems(wrong, reports)
        for report in reports:
            _print_report(report)
    return 0 if ok else 1


def _chosen(found: Sequence[Found], wanted: Sequence[str]) -> Sequence[Found]:
    known = {place.id: (place, bundle) for place, bundle in found}
    for name in wanted:
        if name not in known:
            raise click.UsageError(f"there is no bundle {name!r}{nearest(name, list(known))}")
    return [known[name] for name in dict.fromkeys(wanted)] if wanted else found


def _report(place: BundlePlace, bundle: Bundle | Unloadable, allow_orphans: bool) -> dict[str, Any]:
    found = list(bundle.findings())
    fails = any(one.severity == "error" or (one.sort == "orphan" and not allow_orphans) for one in found)
    return {
        "id": place.id,
        "path": place.path,
        "ok": isinstance(bundle, Bundle) and not fails,
        "entities": len(bundle.entities) if isinstance(bundle, Bundle) else 0,
        "references": sum(map(len, bundle.edges.values())) if isinstance(bundle, Bundle) else 0,
        "findings": [_record(one) for one in found],
    }


def _record(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic as JSON, with the entity or file that it is about."""
    return {"kind": diagnostic.sort.value, **diagnostic.record()}


def _print_report(report: dict[str, Any]) -> None:
    """Print one bundle: a line for itself, then its findings by kind."""
    verdict = ("green", "ok") if report["ok"] else ("red", "not sound")
    count = f"{report['entities']} entities, {report['references']} references"
    output.line(("bold", report["id"]), f"  {count}: ", verdict)
    for kind, head in HEADS.items():
        group = [one for one in report["findings"] if one["kind"] == kind]
        if group:
            output.line(f"  {head} ({len(group)})")
        for one in group:
            who = " ".join(filter(None, (one.get("entityType"), one.get("entityId"))))
            place = ": ".join(filter(None, (one.get("filePath"), who)))
            output.line("    ", (COLOURS[one["severity"]], place), f": {one['message']}")


@command("bundles export")
@click.argument("targets", nargs=-1, required=True, metavar="TYPE/ID...")
@BUNDLE
@DEPTH
@click.option(
    "--format", "kind", type=click.Choice(["json", "yaml"]), default="json", show_default=True, help="How."
)
@flag("--no-schemas", "Leave out the JSON Schemas.")
@flag("--no-relations", "Leave out which field refers to what.")
@click.option("-o", "--output", "target", metavar="FILE", help="Write to a file instead of stdout.")
@flag("--force", "Replace an existing file.")
def export(
    app: App,
    targets: tuple[str, ...],
    bundle: str | None,
    depth: int,
    kind: str,
    no_schemas: bool,
    no_relations: bool,
    target: str | None,
    force: bool,
) -> None:
    """Export entities of a bundle with everything they depend on.

    The same as the tool export_context: one complete JSON or YAML snapshot, with relations and schemas.

    Examples:
      context-pack bundles export Feature/ride-start
      context-pack bundles export ride-start ride-end --depth 1 --format yaml
      context-pack bundles export ride-start -o snapshot.json
    """
    named = _serve(app, bundle, lambda opened: _addresses(opened.bundle, targets))
    answer = app.call(
        "export_context",
        targets=[{"entityType": one.type, "entityId": one.id} for one in named],
        dependencyDepth=depth,
        format=kind,
        includeSchemas=not no_schemas,
        includeRelationMetadata=not no_relations,
        bundleId=bundle or None,
    )
    if answer.is_error:
        error = body_of(answer)["error"]
        raise Failure(REFUSALS.get(error["code"], Code.INTERNAL), error["message"], error["details"])
    text = answer.text if answer.text.endswith("\n") else answer.text + "\n"
    if target in (None, "-"):
        output.raw(text)
        return
    write(target, text.encode("utf-8", "backslashreplace"), replace=force)
    output.line(target)


def _addresses(bundle: Bundle, targets: Sequence[str]) -> list[EntityAddress]:
    """Entities as people name them: `Type/id`, or an id, which is unique in its bundle."""
    found: list[EntityAddress] = []
    for target in targets:
        type_, slash, key = target.partition("/")
        named = bundle.entities.get(target)
        if named is not None and not (slash and bundle.find(type_, key)):
            found.append(EntityAddress(named.type, named.id))
        else:
            found.append(EntityAddress(type_ or "?", key or "?") if slash else EntityAddress("?", target))
    return found


@command("bundles graph")
@click.argument("targets", nargs=-1, metavar="[TYPE/ID]...")
@BUNDLE
@DEPTH
def graph(app: App, targets: tuple[str, ...], bundle: str | None, depth: int) -> None:
    """Draw an export as a Mermaid diagram: a box per entity, an arrow per reference.

    Without targets, the whole bundle. The diagram is one that a context pack can hold.

    Examples:
      context-pack bundles graph ride-start --depth 1
      context-pack bundles graph ride-start > ride.mmd
      context-pack call input action=upsert_diagram name=auth expected_revision=3 section_key=rides \\
        diagram_key=start title="Starting a ride" mermaid="$(context-pack bundles graph ride-start)"
    """

    def draw(opened: OpenedBundle) -> str:
        entities = opened.bundle.entities
        named = _addresses(opened.bundle, targets or list(entities))
        chosen = select(opened.bundle, require(opened.bundle, opened.id, named), depth)
        return mermaid(chosen.targets, chosen.dependencies, chosen.edges)

    text = _serve(app, bundle, draw)
    if len(text) > MOST_CHARS:
        hint = "name fewer entities, or a smaller --depth"
        raise click.UsageError(
            f"the diagram has {len(text)} characters and a pack holds {MOST_CHARS}; {hint}"
        )
    output.raw(text)
