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
from typing import Any

import click

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
    _terminal().table(sys.stdout, ([harmless(cell) for cell in row] for row in cells), heads)


def markdown(document: str) -> None:
    """A rendered pack; in colours where there are any, without changing a character."""
    if not coloured():
        raw(document.rstrip("\n") + "\n")
        return
    sys.stdout.write(_terminal().coloured_markdown(harmless(document)))


def _terminal() -> Any:
    """What needs rich and pygments; loaded where a person looks."""
    from context_pack_adapters.cli import terminal

    return terminal


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
    with _terminal().bar(sys.stderr, what) as update:
        yield lambda done, total, about=None: update(done, total, harmless(what if about is None else about))


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
