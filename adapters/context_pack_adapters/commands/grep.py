"""Search the project's text files for a regular expression, line by line.

Ignored files, hidden secrets, binaries and build folders are left out; case does not matter unless asked.
The exit code is 0 if something matches, 1 if nothing does, 2 if the search failed.

Examples:
  context-pack grep 'jwt\\.sign'
  context-pack grep -s 'class \\w+Error' -g '*.py'
  context-pack grep TODO -g '!**/*.md' -m 100 --json | jq '.totalMatches'
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from context_pack_adapters.commands.shell import Shell
from context_pack_adapters.commands.terminal import counted

FOUND, NOTHING, FAILED = 0, 1, 2
MOST_LINES = 100
PAINT_SECONDS = 0.05
Part = str | tuple[str, str]


def configure(parser: ArgumentParser) -> None:
    """What to look for, and where."""
    parser.add_argument("pattern", metavar="PATTERN", help="a regular expression")
    parser.add_argument(
        "-g", "--glob", metavar="GLOB", help="only files that match, as '**/*.ts'; '!' turns it round"
    )
    parser.add_argument(
        "-s", "--case-sensitive", action="store_true", help="upper and lower case are different"
    )
    parser.add_argument(
        "-m", "--max-count", type=_count, metavar="N", help="most lines to show, 1 to 100 (default 50)"
    )
    parser.add_argument("--json", action="store_true", help="print the tool's whole answer as JSON")


def _count(written: str) -> int:
    """A number of lines that may be shown."""
    number = int(written) if written.isdecimal() else 0
    if not 1 <= number <= MOST_LINES:
        raise ArgumentTypeError(f"{written!r} is not a number from 1 to {MOST_LINES}")
    return number


def run(options: Namespace, shell: Shell) -> int:
    """Ask `grep_codebase` and print what it found."""
    given = {
        "pattern": options.pattern,
        "filePattern": options.glob,
        "caseSensitive": options.case_sensitive,
        "limit": options.max_count,
    }
    with shell.workspace() as workspace:
        answer = workspace.call(
            "grep_codebase", {name: value for name, value in given.items() if value is not None}
        )
    found = json.loads(answer.text)
    if options.json:
        shell.terminal.json(found)
    elif answer.is_error:
        shell.terminal.complain(_trouble(found))
    else:
        _show(found, options, shell)
    if answer.is_error:
        return FAILED
    return FOUND if found["matches"] else NOTHING


def _trouble(found: Mapping[str, Any]) -> str:
    """An error of the tool in one line."""
    details = found.get("details")
    if isinstance(details, list):
        details = "; ".join(fault["message"] for fault in details)
    more = details or found.get("hint")
    return f"{found['error']}: {more}" if more else str(found["error"])


def _show(found: Mapping[str, Any], options: Namespace, shell: Shell) -> None:
    """The matches: under their files on a terminal, one to a line elsewhere."""
    terminal = shell.terminal
    paint = _painter(options) if terminal.colours else None
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
        terminal.styled_line(("green", str(line)), ":", *([text] if paint is None else paint(text)))
    if not found["matches"]:
        terminal.note(f"{found['message']} in {counted(found['filesSearched'], 'file')}.")
        if not found["filesSearched"] and options.glob:
            terminal.note(f"No file matches -g {options.glob!r}; a folder's files are 'folder/**'.")
    elif found.get("truncated"):
        shown = f"{len(found['matches'])} of {found['totalMatches']} matching lines"
        terminal.note(f"{shown}; -m shows up to 100, -g searches fewer files.")


def _painter(options: Namespace) -> Any:
    """Splits a line into parts, what matches in red; one that takes too long stays plain."""
    import regex

    from context_pack.code.domain.search_pattern import compiled

    meant = compiled(options.pattern, options.case_sensitive)
    pattern = regex.compile(
        meant.source, regex.V0 | regex.MULTILINE | (regex.IGNORECASE if meant.fold else 0)
    )

    def paint(text: str) -> Sequence[Part]:
        try:
            return list(
                _parts(text, [match.span() for match in pattern.finditer(text, timeout=PAINT_SECONDS)])
            )
        except TimeoutError:
            return [text]

    return paint


def _parts(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Part]:
    at = 0
    for start, end in spans:
        yield text[at:start]
        yield "red", text[start:end]
        at = end
    yield text[at:]
