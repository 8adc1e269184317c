"""`memory import`: discoveries from Markdown notes and decision records."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import click

from context_pack.kernel.errors import Failure
from context_pack.memory.discovery import DiscoveryType
from context_pack.memory.notes import Note, notes_in
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.cli.names import MODULE
from context_pack_adapters.files.folder import read_named

SUFFIXES = (".md", ".markdown", ".mdx")
MOST_BYTES = 4 * 1024 * 1024


@command("memory import")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--type",
    "kind",
    type=click.Choice([each.value for each in DiscoveryType]),
    help="The type of notes that tell none.",
)
@click.option("--module", type=MODULE, metavar="NAME", help="The part of the project they are about.")
def import_notes(app: App, paths: tuple[str, ...], kind: str | None, module: str | None) -> int:
    """Record what Markdown notes and decision records say.

    A note is a list item or a paragraph under a heading that names its type (Rules, Decisions, Patterns,
    Issues), or after such a word (`Rule: …`). A decision record, a file with the headings Context or Status
    and Decision, is one decision. What was recorded before is merged. Of folders all Markdown files are read.

    Examples:
      context-pack memory import docs/adr
      context-pack memory import NOTES.md --type pattern --module billing
    """
    rows: list[dict[str, Any]] = []
    of_type = None if kind is None else DiscoveryType(kind)
    for file in [file for path in paths for file in _markdown(path)]:
        try:
            text = read_named(file, MOST_BYTES).decode("utf-8-sig")
            for note in notes_in(text, os.path.basename(file), of_type):
                rows.append({"file": file, "line": note.line, **_imported(app, note, module)})
        except (OSError, UnicodeDecodeError, Failure) as error:
            rows.append({"file": file, "line": 0, "outcome": "failed", "reason": _reason(error)})
    counts = Counter(row["outcome"] for row in rows)
    lines = [
        f"{row['file']}:{row['line']}: {row['outcome']}: {row.get('reason') or _content(row)}" for row in rows
    ]
    tally = ", ".join(f"{count} {what}" for what, count in counts.items()) or "0 notes"
    body = {"counts": counts, "notes": rows}
    return app.tell(body, *lines, notes=[tally], code=1 if counts["failed"] else 0)


def _content(row: Mapping[str, Any]) -> str:
    return f"{row['type']}: {row['content']}"


def _imported(app: App, note: Note, module: str | None) -> dict[str, Any]:
    """What becomes of a note."""
    recorder = app.cases.recorder
    done = recorder.record(recorder.of_note(note, module))
    outcome = "merged" if done.merged else "recorded"
    return {"type": note.type.value, "content": note.content, "outcome": outcome, "id": done.discovery.id}


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


def _reason(error: Exception) -> str:
    if isinstance(error, Failure):
        return error.message
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(getattr(error, "strerror", error))
