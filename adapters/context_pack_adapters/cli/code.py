"""The commands about code: read, outline, usages, grep; the rules and answers are those of the tools."""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from context_pack.code.outline import CodeOutline
from context_pack.code.patterns import compiled
from context_pack.code.tools import FAMILY, outlined_lines
from context_pack.kernel.errors import Failure
from context_pack.kernel.text import counted, split_lines
from context_pack.toolkit.arguments import parse
from context_pack.toolkit.spec import Answer, FailedCall
from context_pack_adapters.cli.arguments import argument, command, flag
from context_pack_adapters.cli.places import in_project, place_of
from context_pack_adapters.cli.shell import Shell, WrongUsage, body_of, refusal_in_words
from context_pack_adapters.cli.terminal import Part, Terminal
from context_pack_adapters.cli.tool_commands import from_tool

MOST_HITS = 100
PAINT_SECONDS = 0.05
_LINES = re.compile(r"(\d{1,18})?(-)?(\d{1,18})?", re.ASCII)


def _outline(shell: Shell, given: Mapping[str, Any]) -> Answer:
    """The outline, without a budget unless one is given."""
    if "maxTokens" in given or "max_tokens" in given:
        return shell.call("code_outline", **given)
    try:
        command = parse(CodeOutline, given)
        outlined = shell.cases().code.outliner.outline(command, room=inf)
    except Failure as failure:
        return FAMILY.error(failure, FailedCall("code_outline", None, given))
    return Answer("\n".join(outlined_lines(command, outlined)))


outline = from_tool(
    "code_outline",
    "outline:CodeOutline",
    "path",
    """List the definitions of a file or a folder, with their lines and signatures.

    The same as the tool `code_outline`: what to look at before reading a long file. The exit code is 1 where
    the path cannot be read.

    Examples:
      context-pack outline src/app.py
      context-pack outline src --depth 2
      context-pack outline . --query parse
    """,
    _outline,
)


usages = from_tool(
    "find_usages",
    "usages:FindUsages",
    "name",
    """List where a name is defined and used, outside comments and strings.

    The same as the tool `find_usages`: by name, not by type.

    Examples:
      context-pack usages Session.renew
      context-pack usages parse --path src
    """,
)


@command(
    argument("place", metavar="FILE", help="the file; with FILE:10-40 or FILE#Class.method a part of it"),
    flag("--deps", "add the files that it imports"),
    argument("--lines", metavar="A-B", help="only these lines, both included"),
    flag("--json", "print the tool's whole answer as JSON"),
)
def read(options: Namespace, shell: Shell) -> int:
    """Print a file of the project with line numbers, and on request the files that it imports.

    The rules are those of the tool `read_file`: paths are relative to the source root, secrets and files
    outside it are refused, and only text of at most 1 MiB is read.

    Examples:
      context-pack read src/app.py
      context-pack read src/app.py:40-60
      context-pack read src/app.py#Session.renew
      context-pack read src/app.py --lines 40-60      also 40- and -60
      context-pack read src/app.ts --deps             with the contents of what it imports
      context-pack read src/app.ts --deps --json | jq '.dependencies[].path'
    """
    place = place_of(options.place, shell.settings.source_root)
    lines = wanted_lines(options.lines if place.start is None else f"{place.start}-{place.end}")
    answer = shell.call("read_file", path=place.path, symbol=place.symbol, includeDeps=options.deps, **lines)
    found = body_of(answer)
    if options.json:
        shell.terminal.json(found)
    elif answer.is_error:
        shell.terminal.complain(refusal_in_words(found))
    else:
        _show_file(found, options.deps, shell.terminal)
        if found["file"]["lines"] < max(lines.values(), default=0):
            shell.terminal.note(f"{place.path} has {counted(found['file']['lines'], 'line')}.")
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
        raise WrongUsage(f"--lines {written!r} is no range; write it as 40-60, 40-, -60 or 40")
    start, end = match[1], match[3] if match[2] else match[1]
    wanted = {name: int(value) for name, value in (("startLine", start), ("endLine", end)) if value}
    if 0 in wanted.values():
        raise WrongUsage(f"--lines {written!r}: the first line of a file is 1")
    if wanted.get("startLine", 1) > wanted.get("endLine", sys.maxsize):
        raise WrongUsage(f"--lines {written!r} ends before it begins; write it as {end}-{start}")
    return wanted


def _show_file(found: Mapping[str, Any], deps: bool, terminal: Terminal) -> None:
    """The file's lines; with its imports, each file under a heading."""
    file = found["file"]
    if deps:
        _show_heading(file, terminal)
    _show_lines(file["content"], file.get("range", {}).get("startLine", 1), terminal)
    if not deps:
        return
    for dependency in found["dependencies"]:
        terminal.line()
        _show_heading(dependency, terminal)
        if dependency["content"] is None:
            terminal.styled_line(("yellow", f"(not shown: {dependency['omitted']})"))
        else:
            _show_lines(dependency["content"], 1, terminal)
    if found["metadata"]["external"]:
        terminal.line()
        terminal.styled_line(("bold", "external: "), ", ".join(found["metadata"]["external"]))


def _show_heading(file: Mapping[str, Any], terminal: Terminal) -> None:
    count = None if file["lines"] is None else counted(file["lines"], "line")
    facts = ", ".join(filter(None, (file["language"], count)))
    terminal.styled_line(("bold", f"== {file['path']}"), ("dim", f"  {facts}".rstrip()))


def _show_lines(content: str, first: int, terminal: Terminal) -> None:
    lines = split_lines(content)
    width = len(str(first + len(lines) - 1))
    for number, line in enumerate(lines, first):
        terminal.styled_line(("dim", f"{number:>{width}}: "), line)


def _count(written: str) -> int:
    """A number of lines that may be shown."""
    number = int(written) if written.isdecimal() else 0
    if not 1 <= number <= MOST_HITS:
        raise ArgumentTypeError(f"{written!r} is not a number from 1 to {MOST_HITS}")
    return number


@command(
    argument("pattern", metavar="PATTERN", help="a regular expression"),
    argument("path", metavar="PATH", nargs="?", help="only in this file or folder"),
    argument("-g", "--glob", metavar="GLOB", help="only files that match, as '**/*.ts'; '!' turns it round"),
    argument("-s", "--case-sensitive", action="store_true", help="upper and lower case are different"),
    argument("-m", "--max-count", type=_count, metavar="N", help="most lines to show, 1 to 100 (default 50)"),
    flag("--json", "print the tool's whole answer as JSON"),
)
def grep(options: Namespace, shell: Shell) -> int:
    """Search the project's text files for a regular expression, line by line.

    Ignored files, hidden secrets, binaries and build folders are left out; case does not matter unless asked.
    The exit code is 0 if something matches, 1 if nothing does, 2 if the search failed.

    Examples:
      context-pack grep 'jwt\\.sign'
      context-pack grep 'jwt\\.sign' src/auth
      context-pack grep -s 'class \\w+Error' -g '*.py'
      context-pack grep TODO -g '!**/*.md' -m 100 --json | jq '.totalMatches'
    """
    glob = options.glob if options.path is None else _glob_of(options, shell)
    answer = shell.call(
        "grep_codebase",
        pattern=options.pattern,
        filePattern=glob,
        caseSensitive=options.case_sensitive,
        limit=options.max_count,
    )
    found = body_of(answer)
    if options.json:
        shell.terminal.json(found)
    elif answer.is_error:
        shell.terminal.complain(refusal_in_words(found))
    else:
        _show_matches(found, options, shell.terminal)
    if answer.is_error:
        return 2
    return 0 if found["matches"] else 1


def _glob_of(options: Namespace, shell: Shell) -> str:
    """The glob of the files that a path and perhaps `-g` leave.

    Raises:
        WrongUsage: nothing is there, or the two cannot be put together.
    """
    root = shell.settings.source_root
    path = in_project(options.path, root)
    if not os.path.lexists(os.path.join(root, path)):
        raise WrongUsage(f"there is no {path} in the project; name a file or folder of it")
    if options.glob and (options.glob.startswith("!") or "/" in options.glob):
        raise WrongUsage("beside PATH, -g takes names such as '*.py'; write the folder into the glob")
    if path == ".":
        return options.glob or ""
    plain = re.sub(r"([*?\[\]{}!\\])", r"\\\1", path.rstrip("/"))
    if not os.path.isdir(os.path.join(root, path)):
        return plain
    return f"{plain}/**/{options.glob}" if options.glob else f"{plain}/**"


def _show_matches(found: Mapping[str, Any], options: Namespace, terminal: Terminal) -> None:
    """The matches: under their files on a terminal, one to a line elsewhere."""
    paint = _painter(options) if terminal.colours else lambda text: [text]
    last = None
    for match in found["matches"]:
        file, line, text = match["file"], match["line"], match["text"]
        if not terminal.interactive:
            terminal.line(f"{file}:{line}:{text}")
            continue
        if file != last:
            if last is not None:
                terminal.line()
            terminal.styled_line(("cyan", file))
            last = file
        terminal.styled_line(("green", str(line)), ":", *paint(text))
    if not found["matches"]:
        terminal.note(f"{found['message']} in {counted(found['filesSearched'], 'file')}.")
        if not found["filesSearched"] and options.glob:
            terminal.note(f"No file matches -g {options.glob!r}; a folder's files are 'folder/**'.")
    elif found.get("truncated"):
        shown = f"{len(found['matches'])} of {found['totalMatches']} matching lines"
        terminal.note(f"{shown}; -m shows up to 100, -g searches fewer files.")


def _painter(options: Namespace) -> Callable[[str], Sequence[Part]]:
    """Splits a line into parts with matches in red; a line that takes too long to match stays plain."""
    pattern = compiled(options.pattern, options.case_sensitive).compiled

    def paint(text: str) -> Sequence[Part]:
        try:
            spans = [match.span() for match in pattern.finditer(text, timeout=PAINT_SECONDS)]
        except TimeoutError:
            return [text]
        return list(_parts(text, spans))

    return paint


def _parts(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Part]:
    at = 0
    for start, end in spans:
        yield text[at:start]
        yield "red", text[start:end]
        at = end
    yield text[at:]
