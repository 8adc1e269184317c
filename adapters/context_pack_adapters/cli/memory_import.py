"""`memory import`: discoveries from Markdown notes and decision records."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import click

from context_pack.kernel.errors import Failure
from context_pack.memory.discovery import DiscoveryType
from context_pack.memory.notes import Note, notes_in
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.names import MODULE
from context_pack_adapters.files.folder import read_named

SUFFIXES = (".md", ".markdown", ".mdx")
MOST_BYTES = 4 * 1024 * 1024


class ImportOptions(NamedTuple):
    """What holds for every note."""

    kind: str | None
    module: str | None
    dry_run: bool


@command("memory import")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--type",
    "kind",
    type=click.Choice([each.value for each in DiscoveryType]),
    help="The type of notes that tell none.",
)
@click.option("--module", type=MODULE, metavar="NAME", help="The part of the project they are about.")
@flag("--dry-run", "Only say what would be recorded.")
def import_notes(
    app: App, paths: tuple[str, ...], kind: str | None, module: str | None, dry_run: bool
) -> int:
    """Record what Markdown notes and decision records say.

    A note is a list item or a paragraph under a heading that names its type (Rules, Decisions, Patterns,
    Issues), after such a word (`Rule: …`), or in a file whose front matter has `type`. A decision record, a
    file with the headings Context or Status and Decision, is one decision. What was recorded before is
    merged. Folders are searched for Markdown files.

    Examples:
      context-pack memory import docs/adr
      context-pack memory import NOTES.md --type pattern --module billing
      context-pack memory import docs/adr --dry-run
    """
    options = ImportOptions(kind, module, dry_run)
    rows: list[dict[str, Any]] = []
    failed = False
    rehearsed: set[str] = set()
    for file in [file for path in paths for file in _markdown(path)]:
        try:
            rows += _imported(file, read_named(file, MOST_BYTES).decode("utf-8-sig"), options, app, rehearsed)
        except (OSError, UnicodeDecodeError, Failure) as error:
            failed = True
            rows.append({"file": file, "line": 0, "outcome": "failed", "reason": _reason(error)})
    _show(rows, options, app)
    return 1 if failed else 0


def _markdown(path: str) -> Iterator[str]:
    """The Markdown files that a path means; of a folder no links, and nothing in hidden folders."""
    if not os.path.isdir(path):
        if not os.path.exists(path):
            raise click.UsageError(f"{path}: there is no such file or folder")
        yield path
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files = (os.path.join(folder, name) for name in sorted(names) if name.endswith(SUFFIXES))
        yield from (file for file in files if os.path.isfile(file) and not os.path.islink(file))


def _imported(
    file: str, text: str, options: ImportOptions, app: App, rehearsed: set[str]
) -> Iterator[dict[str, Any]]:
    """The outcome of each note of a file; `rehearsed` are the ids that a dry run would have recorded."""
    kind = None if options.kind is None else DiscoveryType(options.kind)
    recorder = app.cases.recorder
    for note in notes_in(text, os.path.basename(file), kind):
        row: dict[str, Any] = {"file": file, "line": note.line}
        if not isinstance(note, Note):
            yield {**row, "outcome": "skipped", "reason": note.reason}
            continue
        module = options.module or note.module
        row |= {"type": note.type.value, "content": note.content}
        command = recorder.of_note(note, module)
        if options.dry_run:
            would = recorder.rehearse(command)
            merged = would.merged or would.discovery.id in rehearsed
            rehearsed.add(would.discovery.id)
            yield {**row, "outcome": "would be merged" if merged else "would be recorded"}
            continue
        recorded = recorder.record(command)
        outcome = "merged" if recorded.merged else "recorded"
        yield {**row, "outcome": outcome, "id": recorded.discovery.id}


def _reason(error: Exception) -> str:
    if isinstance(error, Failure):
        return error.message
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(getattr(error, "strerror", error))


def _show(rows: list[dict[str, Any]], options: ImportOptions, app: App) -> None:
    counts = Counter({"would be recorded": 0} if options.dry_run else {})
    counts.update(row["outcome"] for row in rows)
    if app.json:
        output.value({"dryRun": options.dry_run, "counts": counts, "notes": rows})
        return
    for row in rows:
        said = row.get("reason") or f"{row['type']}: {row['content']}"
        output.line(f"{row['file']}:{row['line']}: {row['outcome']}: {said}")
    output.note(", ".join(f"{count} {what}" for what, count in counts.items()) or "0 notes")
