"""Print a file of the project with line numbers, and on request the files that it imports.

The rules are those of the tool `read_file`: paths are relative to the source root, secrets and files outside
it are refused, and only text of at most 1 MiB is read.

Examples:
  context-pack read src/app.py
  context-pack read src/app.py --lines 40-60      also 40- and -60
  context-pack read src/app.ts --deps             with the contents of what it imports
  context-pack read src/app.ts --deps --json | jq '.dependencies[].path'
"""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from context_pack_adapters.commands.shell import Shell, Usage
from context_pack_adapters.commands.terminal import Terminal, counted

_LINES = re.compile(r"(\d{1,18})?(-)?(\d{1,18})?", re.ASCII)


def configure(parser: ArgumentParser) -> None:
    """Which file, which lines, and what besides."""
    parser.add_argument("path", metavar="PATH", help="the file, relative to the source root")
    parser.add_argument("--deps", action="store_true", help="add the files that it imports")
    parser.add_argument("--lines", metavar="A-B", help="only these lines, both included")
    parser.add_argument("--json", action="store_true", help="print the tool's whole answer as JSON")


def run(options: Namespace, shell: Shell) -> int:
    """Ask `read_file` and print what it says."""
    arguments = {"path": options.path, "includeDeps": options.deps, **wanted_lines(options.lines)}
    with shell.workspace() as workspace:
        answer = workspace.call("read_file", arguments)
    read = json.loads(answer.text)
    if options.json:
        shell.terminal.json(read)
    elif answer.is_error:
        shell.terminal.complain(trouble(read))
    else:
        _show(read, options.deps, shell.terminal)
    return 1 if answer.is_error else 0


def wanted_lines(written: str | None) -> dict[str, int]:
    """The arguments that `A-B`, `A-`, `-B` or `A` stand for.

    Raises:
        Usage: it is none of these, or no lines at all.
    """
    if written is None:
        return {}
    match = _LINES.fullmatch(written.strip())
    if match is None or not (match[1] or match[3]):
        raise Usage(f"--lines {written!r} is no range; write it as 40-60, 40-, -60 or 40")
    start, end = match[1], match[3] if match[2] else match[1]
    wanted = {name: int(value) for name, value in (("startLine", start), ("endLine", end)) if value}
    if 0 in wanted.values():
        raise Usage(f"--lines {written!r}: the first line of a file is 1")
    if wanted.get("startLine", 1) > wanted.get("endLine", sys.maxsize):
        raise Usage(f"--lines {written!r} ends before it begins; write it as {end}-{start}")
    return wanted


def trouble(read: Mapping[str, Any]) -> str:
    """An error of the tool in one line."""
    details = read.get("details")
    if isinstance(details, list):
        details = "; ".join(fault["message"] for fault in details)
    parts = [read["error"], read.get("path"), details, read.get("hint")]
    return ": ".join(str(part) for part in parts if part)


def _show(read: Mapping[str, Any], deps: bool, terminal: Terminal) -> None:
    """The file's lines; with its imports, each file under a heading."""
    file = read["file"]
    first = file.get("range", {}).get("startLine", 1)
    if not deps:
        _numbered(file["content"], first, terminal)
        return
    _heading(file, terminal)
    _numbered(file["content"], first, terminal)
    for dependency in read["dependencies"]:
        terminal.line()
        _heading(dependency, terminal)
        if dependency["content"] is None:
            terminal.styled_line(("yellow", f"(not shown: {dependency['omitted']})"))
        else:
            _numbered(dependency["content"], 1, terminal)
    if read["metadata"]["external"]:
        terminal.line()
        terminal.styled_line(("bold", "external: "), ", ".join(read["metadata"]["external"]))


def _heading(file: Mapping[str, Any], terminal: Terminal) -> None:
    lines = file["lines"]
    count = None if lines is None else counted(lines, "line")
    facts = ", ".join(filter(None, (file["language"], count)))
    terminal.styled_line(("bold", f"== {file['path']}"), ("dim", f"  {facts}".rstrip()))


def _numbered(content: str, first: int, terminal: Terminal) -> None:
    from context_pack.kernel.lines import split_lines

    lines = split_lines(content)
    width = len(str(first + len(lines) - 1))
    for number, line in enumerate(lines, first):
        terminal.styled_line(("dim", f"{number:>{width}}: "), line)
