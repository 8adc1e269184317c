"""The commands about bundles: list, check, export, graph."""

from __future__ import annotations

import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from context_pack.bundles.exports import select
from context_pack.bundles.markdown import MOST_CHARS, mermaid
from context_pack.bundles.model import Bundle, Diagnostic, Unloadable
from context_pack.bundles.opening import EntityAddress, OpenedBundle, require
from context_pack.bundles.ports import BundlePlace
from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.call import CheckedCall, Overdue
from context_pack_adapters.cli.arguments import argument, command, flag
from context_pack_adapters.cli.packs import write
from context_pack_adapters.cli.shell import Shell, WrongUsage, body_of, nearest

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
BUNDLE = argument("--bundle", metavar="ID", help="the bundle, where there are several")
DEPTH = argument("--depth", type=int, default=3, metavar="N", help="how far to follow references (3)")


def _call(shell: Shell) -> CheckedCall:
    """A call with the deadline of the server's, because a schema may cost any amount of time."""
    overdue = Overdue(shell.settings.call_seconds)
    end = time.monotonic() + overdue.seconds

    def check() -> None:
        if time.monotonic() > end:
            raise overdue.failure()

    return CheckedCall(wanted=check)


def _bundles(shell: Shell) -> tuple[list[Found], Sequence[Diagnostic]]:
    """The bundles of this project, and what was wrong with the search for them."""
    shelf = shell.cases().bundles
    return shelf.bundles(_call(shell)), shelf.store.discover().diagnostics


def _serve(shell: Shell, bundle: str | None, work: Callable[[OpenedBundle], T]) -> T:
    """Run `work` on one bundle."""
    return shell.cases().bundles.serve(bundle, _call(shell), work)


def _print_search_problems(wrong: Sequence[Diagnostic], found: Sequence[Any], shell: Shell) -> None:
    """Print problems of the search; if no bundle was found, explain what a bundle is."""
    for one in wrong:
        shell.terminal.complain(f"{one.file or 'bundles'}: {one.message}")
    if not found:
        shell.terminal.line("No bundles found.")
        shell.terminal.note(
            "A bundle is a folder with an sdd-bundle.yaml: the source root or one below it, or one that "
            "bundles.yaml or CONTEXT_PACK_BUNDLES names."
        )


@command(flag("--json", "print the bundles as JSON"))
def list_bundles(options: Namespace, shell: Shell) -> None:
    """List the bundles of this project: those that load, and those that do not.

    Examples:
      context-pack bundles list
      context-pack bundles list --json | jq -r '.bundles[].id'
    """
    bundles, wrong = _bundles(shell)
    found = [_summary(place, bundle) for place, bundle in bundles]
    if options.json:
        diagnostics = [diagnostic.record() for diagnostic in wrong]
        shell.terminal.json({"count": len(found), "bundles": found, "diagnostics": diagnostics})
        return
    _print_search_problems(wrong, found, shell)
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
        shell.terminal.table(rows, "ID", "LOADS", "ENTITIES", "PROBLEMS", "FOLDER", "NAME")


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


@command(
    argument("bundles", nargs="*", metavar="ID", help="the bundles (default: every one)"),
    flag("--allow-orphans", "orphans are no failure"),
    flag("--json", "print the findings as JSON"),
)
def check(options: Namespace, shell: Shell) -> int:
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
    found, wrong = _bundles(shell)
    reports = [_report(*one, options.allow_orphans) for one in _chosen(found, options.bundles)]
    ok = bool(reports) and not wrong and all(report["ok"] for report in reports)
    if options.json:
        shell.terminal.json({"ok": ok, "bundles": reports, "diagnostics": [_record(one) for one in wrong]})
    else:
        _print_search_problems(wrong, reports, shell)
        for report in reports:
            _print_report(report, shell)
    return 0 if ok else 1


def _chosen(found: Sequence[Found], wanted: Sequence[str]) -> Sequence[Found]:
    known = {place.id: (place, bundle) for place, bundle in found}
    for name in wanted:
        if name not in known:
            raise WrongUsage(f"there is no bundle {name!r}{nearest(name, list(known))}")
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


def _print_report(report: dict[str, Any], shell: Shell) -> None:
    """Print one bundle: a line for itself, then its findings by kind."""
    verdict = ("green", "ok") if report["ok"] else ("red", "not sound")
    count = f"{report['entities']} entities, {report['references']} references"
    shell.terminal.styled_line(("bold", report["id"]), f"  {count}: ", verdict)
    for kind, head in HEADS.items():
        group = [one for one in report["findings"] if one["kind"] == kind]
        if group:
            shell.terminal.styled_line(f"  {head} ({len(group)})")
        for one in group:
            who = " ".join(filter(None, (one.get("entityType"), one.get("entityId"))))
            place = ": ".join(filter(None, (one.get("filePath"), who)))
            shell.terminal.styled_line("    ", (COLOURS[one["severity"]], place), f": {one['message']}")


@command(
    argument("targets", nargs="+", metavar="TYPE/ID", help="an entity; its id alone will do"),
    BUNDLE,
    DEPTH,
    argument("--format", choices=["json", "yaml"], default="json", help="json (default) or yaml"),
    flag("--no-schemas", "leave out the JSON Schemas"),
    flag("--no-relations", "leave out which field refers to what"),
    argument("-o", "--output", metavar="FILE", help="write to a file instead of stdout"),
    flag("--force", "replace an existing file"),
)
def export(options: Namespace, shell: Shell) -> None:
    """Export entities of a bundle with everything they depend on.

    The same as the tool export_context: one complete JSON or YAML snapshot, with relations and schemas.

    Examples:
      context-pack bundles export Feature/ride-start
      context-pack bundles export ride-start ride-end --depth 1 --format yaml
      context-pack bundles export ride-start -o snapshot.json
    """
    named = _serve(shell, options.bundle, lambda opened: _addresses(opened.bundle, options.targets))
    answer = shell.call(
        "export_context",
        targets=[{"entityType": one.type, "entityId": one.id} for one in named],
        dependencyDepth=options.depth,
        format=options.format,
        includeSchemas=not options.no_schemas,
        includeRelationMetadata=not options.no_relations,
        bundleId=options.bundle or None,
    )
    if answer.is_error:
        error = body_of(answer)["error"]
        raise Failure(REFUSALS.get(error["code"], Code.INTERNAL), error["message"], error["details"])
    text = answer.text if answer.text.endswith("\n") else answer.text + "\n"
    if options.output in (None, "-"):
        shell.terminal.raw(text)
        return
    write(options.output, text.encode("utf-8", "backslashreplace"), replace=options.force)
    shell.terminal.line(options.output)


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


@command(
    argument("targets", nargs="*", metavar="TYPE/ID", help="an entity; its id alone will do"), BUNDLE, DEPTH
)
def graph(options: Namespace, shell: Shell) -> None:
    """Draw an export as a Mermaid diagram: a box per entity, an arrow per reference.

    Without targets, the whole bundle. The diagram is one that a context pack can hold.

    Examples:
      context-pack bundles graph ride-start --depth 1
      context-pack bundles graph ride-start > ride.mmd
      context-pack call input action=upsert_diagram name=auth expected_revision=3 section_key=rides \\
        diagram_key=start title="Starting a ride" mermaid="$(context-pack bundles graph ride-start)"
    """
    if options.depth < 0:
        raise WrongUsage("--depth must not be negative")

    def draw(opened: OpenedBundle) -> str:
        bundle = opened.bundle
        named = _addresses(bundle, options.targets or list(bundle.entities))
        chosen = select(bundle, require(bundle, opened.id, named), options.depth)
        return mermaid(chosen.targets, chosen.dependencies, chosen.edges)

    text = _serve(shell, options.bundle, draw)
    if len(text) > MOST_CHARS:
        hint = "name fewer entities, or a smaller --depth"
        raise WrongUsage(f"the diagram has {len(text)} characters and a pack holds {MOST_CHARS}; {hint}")
    shell.terminal.raw(text)
