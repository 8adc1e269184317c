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
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.generated import generate, parameters
from context_pack_adapters.cli.names import in_project, place_of

_NOTICE = re.compile(r"\[.*\]|No definitions.*|Not parsed, with matching lines: .*")
"""The lines of a list that are about it; they are told on stderr."""


def _outline(app: App, asked: dict[str, Any]) -> None:
    wanted = CodeOutline(**_placed(app, asked))
    room = None if "max_tokens" in asked else inf  # all of it, unless it is told otherwise
    _print_list(app, outlined_lines(wanted, app.cases.code.outliner.outline(wanted, room=room)), "PATH")


def _usages(app: App, asked: dict[str, Any]) -> int:
    found = app.workspace.code.usages(**_placed(app, asked))
    _print_list(app, usage_lines(found, len(found.definitions), len(found.uses)), "--path")
    return 0 if found.definitions or found.total else 1


def _placed(app: App, asked: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with the path as the use cases take it."""
    if "path" in asked:
        asked["path"] = in_project(asked["path"], app.settings.source_root)
    if "maxTokens" in asked:
        asked["max_tokens"] = asked.pop("maxTokens")
    return asked


def _print_list(app: App, lines: Iterable[str], path: str) -> None:
    """Print a list, and on stderr what it says about itself, in the words of the command line."""
    rows: list[str] = []
    notices: list[str] = []
    for line in lines:
        (notices if _NOTICE.fullmatch(line) else rows).append(line)
    app.tell({"lines": rows, "notices": notices}, *rows)
    options = {"path": path, **{name: f"--{name}" for name in ("query", "depth", "offset", "limit")}}
    for notice in dict.fromkeys(notices):
        words = re.sub(rf"\b({'|'.join(options)})\b", lambda name: options[name[0]], notice.strip("[]"))
        app.note(output.command_words(words))


generate(
    "outline",
    """List the definitions of a file or a folder, with their lines and signatures.

    The same as the tool `code_outline`: what to look at before reading a long file. The exit code is 1 where
    the path cannot be read.

    Examples:
      context-pack outline src/app.py
      context-pack outline src --depth 2
      context-pack outline . --query parse
    """,
    parameters(CodeOutline, ("path",)),
    _outline,
)
generate(
    "usages",
    """List where a name is defined and used, outside comments and strings.

    The same as the tool `find_usages`: by name, not by type. The exit code is 1 where there is none.

    Examples:
      context-pack usages Session.renew
      context-pack usages parse --path src
    """,
    parameters(FindUsages, ("name",)),
    _usages,
)


@command("read")
@click.argument("place", metavar="FILE")
@flag("--deps", "Add the files that it imports.")
def read(app: App, place: str, deps: bool) -> int:
    """Print a file of the project with line numbers, and on request the files that it imports.

    FILE:10-40 or FILE#Class.method is a part of it. The rules are those of the tool `read_file`: secrets and
    files outside the project are refused, and only text of at most 1 MiB is read.

    Examples:
      context-pack read src/app.py
      context-pack read src/app.py:40-60
      context-pack read src/app.py#Session.renew
      context-pack read src/app.ts --deps             with the contents of what it imports
      context-pack read src/app.ts --deps --json | jq '.dependencies[].path'
    """
    meant = place_of(place, app.settings.source_root)
    span = {"startLine": meant.start, "endLine": meant.end}
    answer = app.call("read_file", path=meant.path, symbol=meant.symbol, includeDeps=deps, **span)
    body = output.body_of(answer)
    if app.json:
        output.value(body)
    elif answer.is_error:
        output.complain(output.refusal_in_words(body))
    else:
        file = body["file"]
        _print_file(file, deps)
        for dependency in body.get("dependencies", ()):
            output.line()
            _print_file(dependency, deps)
        if file["lines"] < (meant.end or 0):
            output.note(f"{meant.path} has {counted(file['lines'], 'line')}.")
    return 1 if answer.is_error else 0


def _print_file(file: Mapping[str, Any], heading: bool) -> None:
    """The lines of a file, perhaps under a heading; of one that is not shown the reason."""
    if heading:
        output.line(("bold", f"== {file['path']}"), ("dim", f"  {file['language']}"))
    if file["content"] is None:
        output.line(("yellow", f"(not shown: {file['omitted']})"))
    else:
        output.numbered(split_lines(file["content"]), file.get("range", {}).get("startLine", 1))


def _grep(app: App, asked: dict[str, Any]) -> int:
    if (place := asked.pop("place", None)) is not None:
        if "filePattern" in asked:
            raise click.UsageError("give a file or folder, or --glob, not both")
        inside = os.path.relpath(os.path.realpath(place), os.path.realpath(app.settings.source_root))
        if inside.startswith("..") or not os.path.exists(place):
            raise click.UsageError(f"there is no {place!r} in the project; --glob takes patterns")
        if inside != ".":
            asked["filePattern"] = f"{inside}/**" if os.path.isdir(place) else f"/{inside}"
    answer = app.call("grep_codebase", **asked)
    body = output.body_of(answer)
    if answer.is_error:
        output.complain(output.refusal_in_words(body))
        return 2
    if app.json:
        output.value(body)
    for each in () if app.json else body["matches"]:
        output.line(("cyan", each["file"]), ":", ("green", str(each["line"])), f":{each['text']}")
    if not body["matches"]:
        app.note(f"{body['message']} ({counted(body['filesSearched'], 'file')} searched).")
    elif body.get("truncated"):
        shown = f"{len(body['matches'])} of {body['totalMatches']} matching lines"
        app.note(f"{shown}; --limit shows up to 100, --glob searches fewer files.")
    elif "message" in body:
        app.note(f"{body['message']}.")
    return 0 if body["matches"] else 1


generate(
    "grep",
    """Search the project's text files for a regular expression, line by line.

    Ignored files, hidden secrets, binaries and build folders are left out; case does not matter unless asked.
    The exit code is 0 if something matches, 1 if nothing does, 2 if the search failed.

    Examples:
      context-pack grep 'jwt\\.sign' src
      context-pack grep 'class \\w+Error' --case-sensitive --glob 'src/**/*.py'
      context-pack grep TODO --glob '!**/*.md' --limit 100 --json | jq '.totalMatches'
    """,
    [
        *parameters(GrepCodebase, ("pattern",), ("context", "maxTokens"), spelled={"filePattern": "--glob"}),
        click.Argument(["place"], required=False, metavar="[PATH]"),
    ],
    _grep,
)
