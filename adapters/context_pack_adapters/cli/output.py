"""What people see: lines on stdout, remarks on stderr, colours and tables only where a person looks.

On a terminal, control characters of packs and sources are shown as pictures, so that no text of a file can
steer the reader's terminal; into a pipe or a file everything goes as it is, and rich is not loaded.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from rich.console import Console

Part = str | tuple[str, str]
"""A text, plain or as (style, text)."""
Report = Callable[..., None]
"""Draws progress: how much is done, of how much, and on what (if that changes)."""
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def interactive() -> bool:
    """Whether a person looks at stdout."""
    return sys.stdout.isatty()


def coloured(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether stdout shows colours, and they are wanted."""
    return interactive() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


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
    raw_line = "".join(map(style, parts))
    sys.stdout.write(raw_line + "\n")


def style(part: Part) -> str:
    """A part made harmless for a terminal, and styled where there are colours."""
    look, text = ("", part) if isinstance(part, str) else part
    shown = harmless(text) if interactive() else text
    if not (look and shown and coloured()):
        return shown
    return click.style(shown, **({look: True} if look in ("bold", "dim") else {"fg": look}))


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
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, head in enumerate(heads):
        last = number == len(heads) - 1
        grid.add_column(head, no_wrap=not last and number == 0, overflow="fold")
    for row in cells:
        grid.add_row(*(Text(harmless(cell)) for cell in row))
    _console(sys.stdout).print(grid)


def _console(stream: TextIO) -> Console:
    """Rich on a stream, without any escape where colours are not wanted."""
    from rich.console import Console

    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Console(
        file=stream, color_system=None if plain else "standard", highlight=False, markup=False, emoji=False
    )


def markdown(document: str) -> None:
    """A rendered pack; in colours where there are any, without changing a character."""
    if not coloured():
        raw(document.rstrip("\n") + "\n")
        return
    from pygments import highlight
    from pygments.formatters import TerminalFormatter
    from pygments.lexers import MarkdownLexer

    lexer = MarkdownLexer(stripnl=False, ensurenl=True)
    sys.stdout.write(highlight(harmless(document), lexer, TerminalFormatter()))


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
            bar.update(
                task, completed=done, total=total, description=harmless(what if about is None else about)
            )

        yield report


def prepare_streams() -> None:
    """Escape what the encoding lacks instead of failing; replace streams that the process lacks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def numbered(lines: Sequence[str], first: int) -> None:
    """Lines of a file with their numbers."""
    width = len(str(first + len(lines) - 1))
    for number, text in enumerate(lines, first):
        line(("dim", f"{number:>{width}}: "), text)
