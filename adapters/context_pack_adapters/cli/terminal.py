"""What people see: lines on stdout, troubles on stderr, colours only where there is a terminal to show them.

On a terminal, control characters of packs and sources are shown as pictures, so that no text of a file can
steer the reader's terminal; into a pipe or a file everything goes as it is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any, TextIO

Part = str | tuple[str, str]
"""A text, plain or with a style."""
RESET = "\x1b[0m"
STYLES: Mapping[str, str] = {
    "bold": "\x1b[1m",
    "dim": "\x1b[2m",
    "red": "\x1b[31m",
    "green": "\x1b[32m",
    "yellow": "\x1b[33m",
    "blue": "\x1b[34m",
    "cyan": "\x1b[36m",
}
SEPARATOR = "  "
LEAST_ROOM = 24
"""Fewer columns than this are too few for the last column of a table."""
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Terminal:
    """The two output streams of a command."""

    def __init__(self, out: TextIO, err: TextIO, environ: Mapping[str, str]) -> None:
        self._out, self._err = out, err
        self.interactive = out.isatty()
        self.colours = self.interactive and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"

    def line(self, text: str = "") -> None:
        """One line (or more) of the result."""
        self._out.write((harmless(text) if self.interactive else text) + "\n")

    def styled_line(self, *parts: Part) -> None:
        """One line of parts, each plain or (style, text)."""
        self._out.write("".join(map(self.style, parts)) + "\n")

    def style(self, part: Part) -> str:
        """A part made harmless for a terminal, and coloured if there are colours."""
        name, text = ("", part) if isinstance(part, str) else part
        shown = harmless(text) if self.interactive else text
        return f"{STYLES[name]}{shown}{RESET}" if name and shown and self.colours else shown

    def raw(self, text: str) -> None:
        """Text exactly as it is, with no line end added: the content of a file."""
        self._out.write(harmless(text) if self.interactive else text)

    def json(self, value: Any) -> None:
        """A value as JSON: for people on a terminal, one compact line elsewhere."""
        if self.interactive:
            self.line(json.dumps(value, ensure_ascii=False, indent=2))
        else:
            self.line(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def table(self, rows: Iterable[Iterable[object]], *heads: str) -> None:
        """Left-aligned columns under their heads; the last is as wide as it is, and wrapped on a terminal."""
        shown = [[str(cell) for cell in row] for row in rows]
        widths = [max(map(len, column)) for column in zip(heads, *shown, strict=True)]
        widths[-1] = 0
        columns = shutil.get_terminal_size().columns if self.interactive else sys.maxsize
        self.styled_line(("bold", "\n".join(_wrapped_row(heads, widths, columns))))
        for row in shown:
            self.styled_line("\n".join(_wrapped_row(row, widths, columns)))

    def note(self, text: str) -> None:
        """A remark beside the result, on stderr."""
        self._err.write((harmless(text) if self._err.isatty() else text) + "\n")

    def complain(self, text: str) -> None:
        """A trouble in words, on stderr."""
        self.note(f"context-pack: {text}")

    def flush(self) -> None:
        """Flush now, so that a closed pipe is noticed while it can be handled."""
        self._out.flush()
        self._err.flush()


def standard_terminal() -> Terminal:
    """The process's own streams; a text that the encoding lacks is escaped instead of failing."""
    if sys.stdout is None or sys.stderr is None:
        _replace_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    return Terminal(sys.stdout, sys.stderr, os.environ)


def _replace_missing_streams() -> None:
    """Replace streams the process was started without by the null device.

    The descriptors are filled too, or the next file to be opened would be taken for a standard stream.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        continue
    nothing = os.fdopen(descriptor, "w", encoding="utf-8")
    sys.stdout, sys.stderr = sys.stdout or nothing, sys.stderr or nothing


def harmless(text: str) -> str:
    """The text with control and direction characters as visible pictures; tabs and line feeds stay."""
    return _CONTROL.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return SEPARATOR.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _wrapped_row(cells: Sequence[str], widths: Sequence[int], columns: int) -> list[str]:
    """A row in lines of some columns: the last cell under itself, or below the row if there is no room."""
    whole = _row(cells, widths)
    if len(whole) <= columns:
        return [whole]
    indent = sum(widths) + len(SEPARATOR) * (len(widths) - 1)
    beside = columns - indent >= LEAST_ROOM
    if not beside:
        indent = len(SEPARATOR)
    lines = wrap(cells[-1], max(columns - indent, 1), break_long_words=False, break_on_hyphens=False)
    first = _row([*cells[:-1], lines.pop(0) if beside and lines else ""], widths)
    return [first, *(" " * indent + line for line in lines)]
