"""The commands about code: read, outline, usages, grep; the rules and answers are those of the tools."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

import click

from context_pack.code.grep import GrepCodebase
from context_pack.code.outline import CodeOutline
from context_pack.code.tools import outlined_lines, usage_lines
from context_pack.code.usages import FindUsages
from context_pack.kernel.text import counted, split_lines
from context_pack.toolkit.arguments import parse
from context_pack.toolkit.call import QuietCall
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.arguments import WrittenPlace, path, place, tool_command

SEARCH_FAILED = 2
_NOTICE = re.compile(r"\[.*\]|No definitions.*|Not parsed, with matching lines: .*")
"""The lines of a list that are about it; they are told on stderr."""
_GLOB_SIGNS = re.compile(r"[\\*?\[\]{}]")
_NARROWED = re.compile(r"\b(path|query|depth|offset|limit)\b")


@tool_command("outline", CodeOutline, "path")
def outline(app: App, **arguments: Any) -> int:
    """List the definitions of a file or a folder, with their lines and signatures.

    The same as the tool `code_outline`: what to look at before reading a long file. The exit code is 1 where
    the path cannot be read.

    Examples:
      context-pack outline src --depth 2
      context-pack outline . --query parse
    """
    query = parse(CodeOutline, arguments)
    room = None if "maxTokens" in arguments else inf  # all of it, unless it is told otherwise
    return _tell(
        app, outlined_lines(query, app.cases.code.outliner.outline(query, QuietCall(), room)), "PATH"
    )


@tool_command("usages", FindUsages, "name")
def usages(app: App, **arguments: Any) -> int:
    """List where a name is defined and used, outside comments and strings.

    The same as the tool `find_usages`: by name, not by type. The exit code is 1 where there is none.

    Examples:
      context-pack usages Session.renew
      context-pack usages parse --path src
    """
    answer = app.workspace.code.usages(**arguments)
    lines = usage_lines(answer, len(answer.definitions), len(answer.uses))
    return _tell(app, lines, "--path") or (0 if answer.definitions or answer.total else 1)


def _tell(app: App, lines: Iterable[str], path: str) -> int:
    """Print a list, and on stderr what it says about itself, in the words of the command line."""
    rows: list[str] = []
    notices: list[str] = []
    for line in lines:
        (notices if _NOTICE.fullmatch(line) else rows).append(line)
    notes = [
        output.command_words(
            _NARROWED.sub(lambda name: path if name[0] == "path" else f"--{name[0]}", notice.strip("[]"))
        )
        for notice in dict.fromkeys(notices)
    ]
    return app.tell({"lines": rows, "notices": notices}, *rows, notes=notes)


@command("read")
@click.argument("place", type=place, metavar="FILE")
@flag("--deps", "Add the files that it imports.")
def read(app: App, place: WrittenPlace, deps: bool) -> int:
    """Print a file of the project with line numbers, and on request the files that it imports.

    FILE:10-40 or FILE#Class.method is a part of it. The rules are those of the tool `read_file`: secrets and
    files outside the project are refused, and only text of at most 1 MiB is read.

    Examples:
      context-pack read src/app.py:40-60
      context-pack read src/app.py#Session.renew
      context-pack read src/app.ts --deps --json | jq '.dependencies[].path'
    """
    span: dict[str, Any] = {"startLine": place.start, "endLine": place.end}
    body = app.answer("read_file", path=place.path, symbol=place.symbol, includeDeps=deps, **span)
    file, lines = body["file"], _file_lines(body["file"], deps)
    for dependency in body.get("dependencies", ()):
        lines += ["", *_file_lines(dependency, deps)]
    is_short = file["lines"] < (place.end or 0)
    notes = [f"{place.path} has {counted(file['lines'], 'line')}."] if is_short else []
    return app.tell(body, *lines, notes=notes)


def _file_lines(file: Mapping[str, Any], heading: bool) -> list[output.Line]:
    """The lines of a file, perhaps under a heading; of one that is not shown the reason."""
    if file["content"] is None:
        lines: list[output.Line] = [[("yellow", f"(not shown: {file['omitted']})")]]
    else:
        lines = output.numbered(split_lines(file["content"]), file.get("range", {}).get("startLine", 1))
    if heading:
        lines.insert(0, [("bold", f"== {file['path']}"), ("dim", f"  {file['language']}")])
    return lines


@tool_command(
    "grep", GrepCodebase, "pattern", fixed=("context", "maxTokens"), spelled={"filePattern": "--glob"}
)
@click.argument("inside", type=path, required=False, metavar="[PATH]")
def grep(app: App, inside: str | None = None, **arguments: Any) -> int:
    """Search the project's text files for a regular expression, line by line.

    Ignored files, hidden secrets, binaries and build folders are left out; case does not matter unless asked.
    The exit code is 0 if something matches, 1 if nothing does, 2 if the search failed.

    Examples:
      context-pack grep 'jwt\\.sign' src
      context-pack grep 'class \\w+Error' --case-sensitive --glob 'src/**/*.py'
      context-pack grep TODO --glob '!**/*.md' --limit 100 --json | jq '.totalMatches'
    """
    if inside is not None:
        if "filePattern" in arguments:
            raise click.UsageError("give a file or folder, or --glob, not both")
        inside = inside and os.path.normpath(inside)
        there = os.path.join(app.settings.source_root, inside)
        if inside.split("/")[0] in ("", "..") or not os.path.exists(there):
            raise click.UsageError(f"there is no {inside!r} in the project; --glob takes patterns")
        if inside != ".":
            name = "/" + _GLOB_SIGNS.sub(r"\\\g<0>", inside)
            arguments["filePattern"] = f"{name}/**" if os.path.isdir(there) else name
    body = app.answer("grep_codebase", failing=SEARCH_FAILED, **arguments)
    matches, note = body["matches"], body.get("message", "")
    if not matches:
        note = f"{note} ({counted(body['filesSearched'], 'file')} searched)"
    elif body.get("truncated"):
        note = f"{len(matches)} of {body['totalMatches']} matching lines; --limit shows up to 100"
        note += ", --glob searches fewer files"
    lines: list[output.Line] = [
        [("cyan", each["file"]), ":", ("green", str(each["line"])), f":{each['text']}"] for each in matches
    ]
    return app.tell(body, *lines, notes=[f"{note}."] if note else [], code=0 if matches else 1)
