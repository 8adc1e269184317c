"""Check bundles: files, schemas, ids and references.

Prints what cannot be read, entities that fail their schema, ids that appear twice, references to nothing,
and orphans (entities that refer to nothing and that nothing refers to). Exit code 1 when there is any of it,
or no bundle at all, so that a CI job or a pre-commit hook can use it; a type without a folder is only told.

Examples:
  context-pack bundles check                     every bundle
  context-pack bundles check shop                this one
  context-pack bundles check --allow-orphans     orphans are told, but are no failure
  context-pack bundles check --json
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from context_pack_adapters.commands.bundles import open_shelf, tell_none, told
from context_pack_adapters.commands.shell import Shell, Usage, nearest

if TYPE_CHECKING:
    from context_pack.bundles.domain.model import Bundle, Diagnostic, Unloadable
    from context_pack.bundles.ports import Place

HEADS = {
    "file": "Files that cannot be used",
    "schema": "Schema errors",
    "duplicate": "Duplicate ids",
    "reference": "Broken references",
    "orphan": "Orphans",
}
COLOURS = {"error": "red", "warning": "yellow"}


def configure(parser: ArgumentParser) -> None:
    """Which bundles, and how strictly."""
    parser.add_argument("bundles", nargs="*", metavar="ID", help="the bundles (default: every one)")
    parser.add_argument("--allow-orphans", action="store_true", help="orphans are no failure")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Check the bundles one by one."""
    from context_pack.toolkit.call import QuietCall

    shelf, _ = open_shelf(shell)
    found = shelf.bundles(QuietCall())
    search = shelf.store.discover().diagnostics
    chosen = _chosen(found, options.bundles)
    reports = [_report(place, bundle, options.allow_orphans) for place, bundle in chosen]
    ok = bool(reports) and not search and all(report["ok"] for report in reports)
    if options.json:
        shell.terminal.json({"ok": ok, "bundles": reports, "diagnostics": [told(one) for one in search]})
        return 0 if ok else 1
    for diagnostic in search:
        shell.terminal.complain(f"{diagnostic.file or 'bundles'}: {diagnostic.message}")
    if not reports:
        tell_none(shell)
    for report in reports:
        _tell(report, shell)
    return 0 if ok else 1


def _chosen(
    found: Sequence[tuple[Place, Bundle | Unloadable]], wanted: Sequence[str]
) -> list[tuple[Place, Bundle | Unloadable]]:
    known = {place.id: (place, bundle) for place, bundle in found}
    for name in wanted:
        if name not in known:
            raise Usage(f"there is no bundle {name!r}{nearest(name, list(known))}")
    return [known[name] for name in dict.fromkeys(wanted)] if wanted else list(found)


def _report(place: Place, bundle: Bundle | Unloadable, allow_orphans: bool) -> dict[str, Any]:
    from context_pack.bundles.domain.model import Bundle
    from context_pack.bundles.usecases.checking import findings

    found = list(findings(bundle))
    return {
        "id": place.id,
        "path": place.path,
        "ok": isinstance(bundle, Bundle) and not any(_fails(one, allow_orphans) for one in found),
        "entities": len(bundle.entities) if isinstance(bundle, Bundle) else 0,
        "references": sum(map(len, bundle.edges.values())) if isinstance(bundle, Bundle) else 0,
        "findings": [told(one) for one in found],
    }


def _fails(finding: Diagnostic, allow_orphans: bool) -> bool:
    """Whether a finding is wrong enough to fail a job."""
    return finding.severity == "error" or (finding.sort == "orphan" and not allow_orphans)


def _tell(report: dict[str, Any], shell: Shell) -> None:
    """One bundle: a line for itself, then its findings by kind."""
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
