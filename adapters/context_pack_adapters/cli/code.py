"""The commands about code: read, outline, usages, grep; the rules and answers are those of the tools."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

import click

from context_pack.code.outline import CodeOutline
from context_pack.code.patterns import compiled
from context_pack.code.tools import outlined_lines
from context_pack.code.usages import FindUsages
from context_pack.kernel.errors import Failure
from context_pack.kernel.text import counted, split_lines
from context_pack.toolkit.arguments import parse
from context_pack.toolkit.spec import FailedCall, worded
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.generated import generate, parameters
from context_pack_adapters.cli.places import in_project, place_of
from context_pack_adapters.cli.words import body_of, command_words, refusal_in_words

MOST_HITS = 100
PAINT_SECONDS = 0.05
_LINES = re.compile(r"(\d{1,18})?(-)?(\d{1,18})?", re.ASCII)
_NOTICE = re.compile(r"\[.*\]|No definitions.*|Not parsed, with matching lines: .*")
"""The lines of a list that are about it; they are told on stderr."""


def _list(app: App, asked: dict[str, Any], tool: str) -> int:
    """Print the list that a tool answers, and on stderr what it says about it."""
    if asked.get("path"):
        asked["path"] = in_project(asked["path"], app.settings.source_root)
    if tool == "code_outline" and "maxTokens" not in asked:
        try:
            wanted = parse(CodeOutline, asked)
            text = "\n".join(outlined_lines(wanted, app.cases.code.outliner.outline(wanted, room=inf)))
        except Failure as failure:
            output.complain(refusal_in_words(worded(failure, FailedCall(tool, None, asked))))
            return 1
    else:
        answer = app.call(tool, **asked)
        if answer.is_error:
            output.complain(refusal_in_words(body_of(answer)))
            return 1
        text = answer.text
    rows: list[str] = []
    notices: list[str] = []
    for line in text.split("\n"):
        (notices if _NOTICE.fullmatch(line) else rows).append(line)
    app.tell({"lines": rows, "notices": notices}, *rows)
    options = {"path": "PATH" if tool == "code_outline" else "--path"}
    options |= {name: f"--{name}" for name in ("query", "depth", "offset", "limit")}
    for notice in () if app.json else dict.fromkeys(notices):
        words = re.sub(rf"\b({'|'.join(options)})\b", lambda name: options[name[0]], notice.strip("[]"))
        output.note(command_words(words))
    return 0


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
    partial(_list, tool="code_outline"),
)
generate(
    "usages",
    """List where a name is defined and used, outside comments and strings.

    The same as the tool `find_usages`: by name, not by type.

    Examples:
      context-pack usages Session.renew
      context-pack usages parse --path src
    """,
    parameters(FindUsages, ("name",), filled_in=("action",)),
    partial(_list, tool="find_usages"),
)


@command("read")
@click.argument("place", metavar="FILE")
@flag("--deps", "Add the files that it imports.")
@click.option("--lines", metavar="A-B", help="Only these lines, both included.")
def read(app: App, place: str, deps: bool, lines: str | None) -> int:
    """Print a file of the project with line numbers, and on request the files that it imports.

    FILE:10-40 or FILE#Class.method is a part of it. The rules are those of the tool `read_file`: secrets and
    files outside the project are refused, and only text of at most 1 MiB is read.

    Examples:
      context-pack read src/app.py
      context-pack read src/app.py:40-60
      context-pack read src/app.py#Session.renew
      context-pack read src/app.py --lines 40-60      also 40- and -60
      context-pack read src/app.ts --deps             with the contents of what it imports
      context-pack read src/app.ts --deps --json | jq '.dependencies[].path'
    """
    meant = place_of(place, app.settings.source_root)
    span = wanted_lines(lines if meant.start is None else f"{meant.start}-{meant.end}")
    answer = app.call("read_file", path=meant.path, symbol=meant.symbol, includeDeps=deps, **span)
    body = body_of(answer)
    if app.json:
        output.value(body)
    elif answer.is_error:
        output.complain(refusal_in_words(body))
    else:
        _show_file(body, deps)
        if body["file"]["lines"] < max(span.values(), default=0):
            output.note(f"{meant.path} has {counted(body['file']['lines'], 'line')}.")
    return 1 if answer.is_error else 0


def wanted_lines(written: str | None) -> dict[str, int]:
    """The arguments that `A-B`, `A-`, `-B` or `A` stand for.

    Raises:
        click.UsageError: it is none of these, or no lines at all.
    """
    if written is None:
        return {}
    match = _LINES.fullmatch(written.strip())
    if match is None or not (match[1] or match[3]):
        raise click.UsageError(f"--lines {written!r} is no range; write it as 40-60, 40-, -60 or 40")
    start, end = match[1], match[3] if match[2] else match[1]
    wanted = {name: int(value) for name, value in (("startLine", start), ("endLine", end)) if value}
    if 0 in wanted.values():
        raise click.UsageError(f"--lines {written!r}: the first line of a file is 1")
    if wanted.get("startLine", 1) > wanted.get("endLine", sys.maxsize):
        raise click.UsageError(f"--lines {written!r} ends before it begins; write it as {end}-{start}")
    return wanted


def _show_file(found: Mapping[str, Any], deps: bool) -> None:
    """The file's lines; with its imports, each file under a heading."""
    file = found["file"]
    if deps:
        _show_heading(file)
    output.numbered(split_lines(file["content"]), file.get("range", {}).get("startLine", 1))
    if not deps:
        return
    for dependency in found["dependencies"]:
        output.line()
        _show_heading(dependency)
        if dependency["content"] is None:
            output.line(("yellow", f"(not shown: {dependency['omitted']})"))
        else:
            output.numbered(split_lines(dependency["content"]), 1)
    if found["metadata"]["external"]:
        output.line()
        output.line(("bold", "external: "), ", ".join(found["metadata"]["external"]))


def _show_heading(file: Mapping[str, Any]) -> None:
    count = None if file["lines"] is None else counted(file["lines"], "line")
    facts = ", ".join(filter(None, (file["language"], count)))
    output.line(("bold", f"== {file['path']}"), ("dim", f"  {facts}".rstrip()))


@command("grep")
@click.argument("pattern")
@click.argument("path", required=False)
@click.option("-g", "--glob", metavar="GLOB", help="Only files that match, as '**/*.ts'; '!' turns it round.")
@flag("-s", "Upper and lower case are different.", "--case-sensitive")
@click.option(
    "-m", "--max-count", type=click.IntRange(1, MOST_HITS), metavar="N", help="Most lines, 1 to 100 [50]."
)
def grep(
    app: App, pattern: str, path: str | None, glob: str | None, case_sensitive: bool, max_count: int | None
) -> int:
    """Search the project's text files for a regular expression, line by line.

    Ignored files, hidden secrets, binaries and build folders are left out; case does not matter unless asked.
    The exit code is 0 if something matches, 1 if nothing does, 2 if the search failed.

    Examples:
      context-pack grep 'jwt\\.sign'
      context-pack grep 'jwt\\.sign' src/auth
      context-pack grep -s 'class \\w+Error' -g '*.py'
      context-pack grep TODO -g '!**/*.md' -m 100 --json | jq '.totalMatches'
    """
    answer = app.call(
        "grep_codebase",
        pattern=pattern,
        filePattern=glob if path is None else _glob_of(app, path, glob),
        caseSensitive=case_sensitive,
        limit=max_count,
    )
    body = body_of(answer)
    if app.json:
        output.value(body)
    elif answer.is_error:
        output.complain(refusal_in_words(body))
    else:
        _show_matches(body, _painter(pattern, case_sensitive), glob)
    if answer.is_error:
        return 2
    return 0 if body["matches"] else 1


def _glob_of(app: App, written: str, glob: str | None) -> str:
    """The glob of the files that a path and perhaps `-g` leave.

    Raises:
        click.UsageError: nothing is there, or the two cannot be put together.
    """
    root = app.settings.source_root
    path = in_project(written, root)
    if not os.path.lexists(os.path.join(root, path)):
        raise click.UsageError(f"there is no {path} in the project; name a file or folder of it")
    if glob and (glob.startswith("!") or "/" in glob):
        raise click.UsageError("beside PATH, -g takes names such as '*.py'; write the folder into the glob")
    if path == ".":
        return glob or ""
    plain = re.sub(r"([*?\[\]{}!\\])", r"\\\1", path.rstrip("/"))
    if not os.path.isdir(os.path.join(root, path)):
        return plain
    return f"{plain}/**/{glob}" if glob else f"{plain}/**"


def _show_matches(
    body: Mapping[str, Any], paint: Callable[[str], Sequence[output.Part]], glob: str | None
) -> None:
    """The matches: under their files on a terminal, one to a line elsewhere."""
    last = None
    for match in body["matches"]:
        file, line, text = match["file"], match["line"], match["text"]
        if not output.interactive():
            output.line(f"{file}:{line}:{text}")
            continue
        if file != last:
            if last is not None:
                output.line()
            output.line(("cyan", file))
            last = file
        output.line(("green", str(line)), ":", *(paint(text) if output.coloured() else [text]))
    if not body["matches"]:
        output.note(f"{body['message']} in {counted(body['filesSearched'], 'file')}.")
        if not body["filesSearched"] and glob:
            output.note(f"No file matches -g {glob!r}; a folder's files are 'folder/**'.")
    elif body.get("truncated"):
        shown = f"{len(body['matches'])} of {body['totalMatches']} matching lines"
        output.note(f"{shown}; -m shows up to 100, -g searches fewer files.")


def _painter(pattern: str, case_sensitive: bool) -> Callable[[str], Sequence[output.Part]]:
    """Splits a line into parts with matches in red; a line that takes too long to match stays plain."""
    expression = compiled(pattern, case_sensitive).compiled

    def paint(text: str) -> Sequence[output.Part]:
        try:
            spans = [match.span() for match in expression.finditer(text, timeout=PAINT_SECONDS)]
        except TimeoutError:
            return [text]
        return list(_parts(text, spans))

    return paint


def _parts(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[output.Part]:
    at = 0
    for start, end in spans:
        yield text[at:start]
        yield "red", text[start:end]
        at = end
    yield text[at:]
