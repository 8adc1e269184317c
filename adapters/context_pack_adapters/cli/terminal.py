"""What a person sees: tables and bars by rich, Markdown in colours by pygments; loaded on terminals alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from pygments import highlight
from pygments.formatters import TerminalFormatter
from pygments.lexers import get_lexer_by_name
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

Update = Callable[[int, int, str], None]
"""Takes how much is done, of how much, and what is said beside."""


def _console(stream: TextIO) -> Console:
    """Rich on a stream, without any escape where colours are not wanted."""
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    columns, lines = shutil.get_terminal_size()  # rich takes a dumb terminal for 80 columns, whatever it says
    return Console(
        file=stream,
        width=columns,
        height=lines,
        color_system=None if plain else "standard",
        highlight=False,
        markup=False,
        emoji=False,
    )


def table(stream: TextIO, rows: Iterable[Iterable[str]], heads: Sequence[str]) -> None:
    """Columns under their heads, as wide as the terminal has them."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, head in enumerate(heads):
        last = number == len(heads) - 1
        grid.add_column(head, no_wrap=not last and number == 0, overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    _console(stream).print(grid)


def coloured_markdown(document: str) -> str:
    """Markdown in colours, without changing a character."""
    lexer = get_lexer_by_name("markdown", stripnl=False, ensurenl=True)
    return str(highlight(document, lexer, TerminalFormatter()))


@contextmanager
def bar(stream: TextIO, what: str) -> Iterator[Update]:
    """A bar that is gone when the work ends."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=_console(stream), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total, about: progress.update(task, completed=done, total=total, description=about)
