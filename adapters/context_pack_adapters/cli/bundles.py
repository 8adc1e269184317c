"""The commands about bundles: check them, and export entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from context_pack.bundles.exports import ExportContext
from context_pack.bundles.model import Bundle, Diagnostic, Unloadable
from context_pack.bundles.ports import BundlePlace
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.arguments import tool_command
from context_pack_adapters.cli.output import nearest

NO_BUNDLE = """\
A bundle is a folder with an sdd-bundle.yaml: the source root or one below it, or one that bundles.yaml or \
CONTEXT_PACK_BUNDLES names."""


@command("bundles check")
@click.argument("bundles", nargs=-1, metavar="[ID]...")
@flag("--allow-orphans", "Orphans are no failure.")
def check(app: App, bundles: tuple[str, ...], allow_orphans: bool) -> int:
    """List the bundles, and check their files, schemas, ids and references.

    Prints what cannot be read, entities that fail their schema, ids that appear twice, references to nothing,
    and orphans (entities that refer to nothing and that nothing refers to). Exit code 1 when there is any of
    it, or no bundle at all, so that a CI job or a pre-commit hook can use it; a type without a folder is only
    told.

    Examples:
      context-pack bundles check                     every bundle
      context-pack bundles check shop --allow-orphans
    """
    shelf = app.cases.bundles
    wrong = shelf.store.discover().diagnostics
    reports = {place.id: _report(place, one, allow_orphans) for place, one in shelf.bundles()}
    for name in bundles:
        if name not in reports:
            raise click.UsageError(f"there is no bundle {name!r}{nearest(name, list(reports))}")
    chosen = [reports[name] for name in dict.fromkeys(bundles or reports)]
    ok = bool(chosen) and not wrong and all(report["ok"] for report in chosen)
    for one in wrong if not app.json else ():
        output.complain(f"{one.file or 'bundles'}: {one.message}")
    lines = [line for report in chosen for line in _report_lines(report)]
    body = {"ok": ok, "bundles": chosen, "diagnostics": list(map(_record, wrong))}
    return app.tell(
        body,
        *(lines or ["No bundles found."]),
        notes=[] if chosen else [NO_BUNDLE],
        code=0 if ok else 1,
    )


def _report(place: BundlePlace, bundle: Bundle | Unloadable, allow_orphans: bool) -> dict[str, Any]:
    findings = list(bundle.findings())
    fails = any(one.severity == "error" or (one.sort == "orphan" and not allow_orphans) for one in findings)
    loaded = bundle if isinstance(bundle, Bundle) else None
    return {
        "id": place.id,
        "name": loaded.name if loaded else "",
        "path": place.path,
        "ok": loaded is not None and not fails,
        "entities": len(loaded.entities) if loaded else 0,
        "references": sum(map(len, loaded.edges.values())) if loaded else 0,
        "findings": list(map(_record, findings)),
    }


def _record(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic as JSON, with the entity or file that it is about."""
    return {"kind": diagnostic.sort.value, **diagnostic.record()}


def _report_lines(report: Mapping[str, Any]) -> list[output.Line]:
    """A line for the bundle, and one for each finding."""
    count = f"  {report['entities']} entities, {report['references']} references: "
    lines: list[output.Line] = [
        [("bold", report["id"]), count, output.state("ok" if report["ok"] else "not sound")]
    ]
    for one in report["findings"]:
        who = " ".join(filter(None, (one.get("entityType"), one.get("entityId"))))
        place = ": ".join(filter(None, (one.get("filePath"), who)))
        kind = (output.COLOURS.get(one["severity"], ""), one["kind"].ljust(9))
        lines.append(["  ", kind, f"  {place}: {one['message']}"])
    return lines


@tool_command(
    "bundles export",
    ExportContext,
    fixed=("targets", "includeSchemas", "includeRelationMetadata"),
    spelled={"dependencyDepth": "--depth", "bundleId": "--bundle"},
)
@click.argument("targets", nargs=-1, required=True, metavar="[TYPE/]ID...")
def export(app: App, targets: Sequence[str], **arguments: Any) -> None:
    """Export entities of a bundle with everything they depend on.

    The same as the tool export_context: one complete JSON or YAML snapshot, with relations and schemas.

    Examples:
      context-pack bundles export Feature/ride-start > snapshot.json
      context-pack bundles export ride-start ride-end --depth 1 --format yaml
    """
    bundle = app.cases.bundles.open(arguments.get("bundleId"))
    answer = app.call("export_context", targets=_addresses(bundle, targets), **arguments)
    if answer.is_error:
        output.body_of(answer)
    output.raw(answer.text.rstrip("\n") + "\n")


def _addresses(bundle: Bundle, targets: Sequence[str]) -> list[dict[str, str]]:
    """Entities as people name them: `Type/id`, or an id, which is unique in its bundle."""
    addresses = []
    for target in targets:
        named = bundle.entities.get(target)
        kind, key = (named.type, target) if named is not None else target.rpartition("/")[::2]
        addresses.append({"entityType": kind or "?", "entityId": key or "?"})
    return addresses
