"""Check that every .context.yaml is a valid context of version 1; what is missing or stale does not matter.

Exit code 1 when a file is not valid.

Examples:
  context-pack contexts validate                   every folder of the project
  context-pack contexts validate src/core lib      these
  context-pack contexts validate --schema          print the JSON Schema instead
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.commands.contexts import Opened, add_place, open_project
from context_pack_adapters.commands.shell import Shell

if TYPE_CHECKING:
    from context_pack.contexts.ports import Folder


def configure(parser: ArgumentParser) -> None:
    """Which folders of which project."""
    parser.add_argument("scopes", nargs="*", metavar="SCOPE", help="folders, from the root (default: all)")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of the format")
    add_place(parser)


def run(options: Namespace, shell: Shell) -> int:
    """Print a line per file that is not valid."""
    from context_pack.contexts.domain.model import CONTEXT_FILE, Context
    from context_pack.contexts.domain.schema import CONTEXT_SCHEMA
    from context_pack.contexts.ports import Refusal
    from context_pack.contexts.usecases.reading import OUTSIDE, ContextReader

    if options.schema:
        shell.terminal.json(CONTEXT_SCHEMA)
        return 0
    opened = open_project(options, shell)
    reader = ContextReader(opened.ports.format)
    checked, invalid = 0, {}
    for folder in _folders(opened, options.scopes):
        verdict = reader.read(folder)
        checked += verdict is not None
        if isinstance(verdict, Refusal):
            invalid[folder.scope] = OUTSIDE.reason
        elif verdict is not None and not isinstance(verdict, Context):
            invalid[folder.scope] = verdict.reason
    if options.json:
        told = [{"scope": scope, "reason": reason} for scope, reason in invalid.items()]
        shell.terminal.json({"ok": not invalid, "checked": checked, "invalid": told})
        return 1 if invalid else 0
    for scope, reason in invalid.items():
        name = CONTEXT_FILE if scope == "." else f"{scope}/{CONTEXT_FILE}"
        shell.terminal.styled_line(("red", "invalid"), f"  {name}  {reason}")
    shell.terminal.line(f"{checked} checked, {len(invalid)} invalid")
    return 1 if invalid else 0


def _folders(opened: Opened, scopes: list[str]) -> Iterator[Folder]:
    from context_pack.contexts.ports import Refusal, unwatched
    from context_pack.contexts.usecases.query import refused, unscannable

    project = opened.project
    for scope in scopes:
        folder = project.find(scope)
        if folder is None or isinstance(folder, Refusal):
            raise Failure(Code.NOT_FOUND, refused(folder, scope).error)
        yield folder
    if not scopes:
        scan = project.scan(unwatched)
        if scan is None:
            raise Failure(Code.NOT_FOUND, unscannable(project.root).error)
        yield from sorted(scan.folders, key=lambda folder: folder.scope)
