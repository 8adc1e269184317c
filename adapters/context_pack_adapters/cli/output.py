"""What people see: lines on stdout, remarks on stderr, failures in the words of the command line.

Colours and tables are for terminals, and rich is not loaded elsewhere. On a terminal, control characters of
packs and sources are shown as pictures, so that no text of a file can steer the reader's terminal; into a
pipe or a file everything goes as it is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TextIO

import click

from context_pack.kernel.errors import Code, Failure

if TYPE_CHECKING:
    from context_pack.toolkit.spec import Answer

Part = str | tuple[str, str]
"""A text, plain or as (style, text)."""
Line = str | list[Part]
"""A line of a result: a text, or its parts."""
Report = Callable[..., None]
"""Draws progress: how much is done, of how much, and on what (if that changes)."""
COLOURS: Mapping[str, str] = {
    **dict.fromkeys(("ok", "holds", "exact", "fresh", "made", "updated"), "green"),
    **dict.fromkeys(("moved", "unanchored", "cosmetic"), "blue"),
    **dict.fromkeys(("changed", "unknown", "could not be decided", "left", "warning"), "yellow"),
    **dict.fromkeys(("stale", "ambiguous", "does not hold", "missing", "corrupt", "failed"), "red"),
    **dict.fromkeys(("error", "not sound"), "red"),
}
"""The colours of states, whatever is in them: code, packs, contexts, bundles."""
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def interactive() -> bool:
    """Whether a person looks at stdout."""
    return sys.stdout.isatty()


def _plain() -> bool:
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def harmless(text: str) -> str:
    """The text with control and direction characters as visible pictures; tabs and line feeds stay."""
    return _CONTROL.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else f"<U+{code:04X}>"


def raw(text: str) -> None:
    """Text as it is, with no line end added: the content of a file."""
    sys.stdout.write(harmless(text) if interactive() else text)


def line(*parts: Part) -> None:
    """One line of the result."""
    sys.stdout.write("".join(map(style, parts)) + "\n")


def style(part: Part) -> str:
    """A part made harmless for a terminal, and styled where there are colours."""
    look, text = ("", part) if isinstance(part, str) else part
    if not interactive():
        return text
    text = harmless(text)
    if not (look and text) or _plain():
        return text
    return click.style(text, **({look: True} if look in ("bold", "dim") else {"fg": look}))


def state(word: str, width: int = 0) -> Part:
    """A state in its colour, so wide."""
    return COLOURS.get(word, ""), word.ljust(width)


def value(body: Any) -> None:
    """A value as JSON: laid out on a terminal, one compact line elsewhere."""
    layout: dict[str, Any] = {"indent": 2} if interactive() else {"separators": (",", ":")}
    line(json.dumps(body, ensure_ascii=False, **layout))


def table(rows: Iterable[Iterable[object]], *heads: str) -> None:
    """Columns under their heads; on a terminal they fit it, elsewhere every row is one line."""
    cells = [[str(cell) for cell in row] for row in rows]
    if not interactive():
        widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
        for row in ([*heads], *cells):
            line("  ".join(map(str.ljust, row, widths)).rstrip())
        return
    from rich import table, text

    grid = table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, head in enumerate(heads):
        grid.add_column(head, no_wrap=number == 0 and len(heads) > 1, overflow="fold")
    for row in cells:
        grid.add_row(*(text.Text(harmless(cell)) for cell in row))
    _console(sys.stdout).print(grid)


def markdown(document: str) -> None:
    """A rendered pack; in colours where there are any, without changing a character."""
    if not interactive() or _plain():
        raw(document.rstrip("\n") + "\n")
        return
    from pygments import formatters, highlight, lexers

    lexer = lexers.get_lexer_by_name("markdown", stripnl=False, ensurenl=True)
    sys.stdout.write(highlight(harmless(document), lexer, formatters.TerminalFormatter()))


def _console(stream: TextIO) -> Any:
    """Rich on a stream, without any escape where colours are not wanted."""
    from rich.console import Console

    columns, lines = shutil.get_terminal_size()  # rich takes a dumb terminal for 80 columns, whatever it says
    colours, look = None if _plain() else "standard", {"highlight": False, "markup": False, "emoji": False}
    return Console(file=stream, width=columns, height=lines, color_system=colours, **look)  # type: ignore[arg-type]


def numbered(lines: Sequence[str], first: int) -> list[Line]:
    """Lines of a file with their numbers."""
    width = len(str(first + len(lines) - 1))
    return [[("dim", f"{number:>{width}}: "), text] for number, text in enumerate(lines, first)]


def difference(lines: Iterable[str]) -> list[Line]:
    """Lines that went and came."""
    return [["    ", ({"-": "red", "+": "green"}.get(text[:1], ""), text)] for text in lines]


def note(text: str) -> None:
    """A remark beside the result, on stderr."""
    sys.stderr.write((harmless(text) if sys.stderr.isatty() else text) + "\n")


def complain(text: str) -> None:
    """A trouble in words, on stderr."""
    note(f"context-pack: {text}")


@contextmanager
def progress(what: str) -> Iterator[Report]:
    """A bar on stderr while a person looks; it is gone when the work ends."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda *_: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=_console(sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def report(done: int, total: int, about: str | None = None) -> None:
            bar.update(task, completed=done, total=total, description=harmless(about or what))

        yield report


def prepare_streams() -> None:
    """Escape what the encoding lacks instead of failing; replace streams that the process lacks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


# -- in words

SPELLINGS: Mapping[str, str] = {
    "No embeddings found. Run initial session to generate context": (
        "there is nothing to search in this folder: no code, notes or packs"
    ),
    "filePattern": "--glob",
    "caseSensitive": "--case-sensitive",
    "includeDeps": "--deps",
    "maxTokens": "--max-tokens",
    "max_tokens": "--max-tokens",
    "section_key": "--section",
    "ref_key": "--key",
    "ref_title": "--title",
    "ref_why": "--why",
    "line_start": "the first line",
    "line_end": "the last line",
    "ttl_minutes": "--ttl",
    "extend_minutes": "--ttl",
    "set_status to draft": "'context-pack packs reopen' makes it a draft",
    "get the pack to see its keys": "'packs show PACK --compact' lists its keys",
    "list the packs to see them": "'context-pack packs list' shows them",
    "upsert the section first": "make it with 'packs section'",
    "list_contexts": "'context-pack contexts status'",
    "check_freshness": "'context-pack contexts status'",
}
"""What the tools call an argument or another tool, and what it is on the command line."""
KEY_PATTERN = "string, 2 to 64 characters, matching `^[a-z0-9][a-z0-9_-]{1,63}$`"
KEY_WORDS = "2 to 64 of a-z, 0-9, '-' and '_'"
_SPELLED = re.compile(rf"'?\b({'|'.join(SPELLINGS)})\b'?")
PACK_ADVICE = "mend it or move it away; until then the other packs answer by id, and 'verify' checks them"
FILES: Mapping[Code, tuple[str, str, str]] = {
    Code.MALFORMED_PACK: ("pack", "packs", PACK_ADVICE),
    Code.MIGRATION_REQUIRED: ("pack", "packs", PACK_ADVICE),
    Code.MALFORMED_DISCOVERY: (
        "discovery",
        "memory/discoveries",
        "mend it, or remove it with 'memory forget' and its id",
    ),
}
"""Of failures about files: what they hold, where in the storage root they are, and what to do about them."""


def words_for(failure: Failure, root: str = "") -> list[str]:
    """The lines that tell a person what failed and where; with the storage root, also what to do about it."""
    details = failure.details
    kind, folder, advice = FILES.get(failure.code, ("", "packs", ""))
    path, files = str(details.get("path") or ""), details.get("files", ())
    is_told = path in failure.message or path.startswith("$")  # of a fault, the path in the arguments
    message = failure.message if is_told else f"{failure.message}: {path}"
    if kind and files:  # each has a line of its own
        count = details.get("count", len(files))
        message = f"a {kind} file is malformed" if count == 1 else f"{count} {kind} files are malformed"
    lines = [f"{os.path.join(root, folder, str(file.get('file')))}: {file.get('reason')}" for file in files]
    lines += [
        f"{ref['section']}/{ref['ref']}  {ref['state']}  {way_of(ref)} ({ref['reason']})"
        for ref in details.get("refs", ())
    ]
    lines += [str(problem.get("message")) for problem in details.get("problems", ())[1:]]
    lines += [str(details["hint"])] if "hint" in details else []
    in_file = "store" not in details  # failures of a team's database name it
    lines += [advice] if advice and root and in_file else []
    return [command_words(message), *(f"  {command_words(each)}" for each in lines)]


class Refused(Exception):
    """What a tool refused: its answer, that in one line, and the exit code."""

    def __init__(self, body: Any, words: str, code: int) -> None:
        super().__init__(words)
        self.body, self.code = body, code


def body_of(answer: Answer, failing: int = 1) -> dict[str, Any]:
    """An answer of a tool as the JSON object that a client gets; `failing` is the exit code of an error.

    Raises:
        Refused: the tool answered with an error.
    """
    try:
        body = json.loads(answer.text)
    except ValueError:  # documents refuse in a sentence
        body = {"error": answer.text}
    if answer.is_error:
        raise Refused(body, command_words(refusal_in_words(body)), failing)
    return dict(body)


def refusal_in_words(refusal: Mapping[str, Any], *, coded: bool = False) -> str:
    """A refusal in one line, whatever the shape of its family; `coded` with its code, if it has one."""
    error = refusal.get("error")
    if not isinstance(error, str):
        inner = error if isinstance(error, Mapping) else refusal
        return f"{inner['code']}: {inner['message']}" if coded else str(inner["message"])
    details = refusal.get("details")
    if isinstance(details, list):
        details = "; ".join(fault["message"] for fault in details)
    near = [
        f"{each['symbol']} ({each['startLine']}-{each['endLine']})" for each in refusal.get("candidates", ())
    ]
    path, message, hint = map(refusal.get, ("path", "message", "hint"))
    parts = (error, path, message, details, ", ".join(near), hint)
    return ": ".join(str(part) for part in parts if part)


def notes_in_words(answer: Mapping[str, Any]) -> Iterator[str]:
    """What an answer says beside its results, a line each: warnings, and what was not searched yet."""
    if answer.get("warning"):
        yield str(answer["warning"])
    for name, done, rest in (
        ("indexing", "files are indexed", "index"),
        ("semantic", "notes are embedded", "index"),
        ("documents", "passages of documents are embedded", "docs sync"),
    ):
        if (progress := answer.get(name)) is not None:
            count = f"{progress['done']} of {progress['total']}"
            yield f"{count} {done} so far; 'context-pack {rest}' does the rest"


def command_words(text: str) -> str:
    """The words of a tool as the command line has them."""
    text = re.sub(r"^operation \d+: ", "", text).replace(KEY_PATTERN, KEY_WORDS)
    return _SPELLED.sub(lambda match: SPELLINGS[match[1]], text)


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint that names the known word closest to `word`, or nothing."""
    near = get_close_matches(word, list(known))
    return f"; did you mean {near[0]!r}?" if near else ""


def way_of(ref: Mapping[str, Any]) -> str:
    """Where a ref points, and where its code was found if that is elsewhere."""
    return way(ref, ref["found"] or ref)


def way(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """A place, and where it is now if that is elsewhere."""
    old, new = place_text(before), place_text(now)
    return old if old == new else f"{old} → {new}"


def place_text(ref: Mapping[str, Any]) -> str:
    """A path with its lines."""
    return f"{ref['path']}:{ref['lines']['start']}-{ref['lines']['end']}"
