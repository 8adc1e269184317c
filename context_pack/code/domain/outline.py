"""The definitions of source files as an indented list: which are shown, and how a line of it looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

from attrs import frozen

from context_pack.kernel.syntax import Definition

INDENT = "  "


@frozen
class FileOutline:
    """The definitions of a file that were asked for, and how many of them are `left` out.

    `plain` says why a file was not parsed.
    """

    path: str
    language: str
    lines: int
    definitions: tuple[Definition, ...]
    plain: str | None = None
    left: int = 0


def chosen(definitions: Sequence[Definition], depth: int, query: str | None) -> tuple[Definition, ...]:
    """The definitions at most `depth` levels deep.

    With a query: those whose name has it, however deep, and the definitions around them.
    """
    if query is None:
        return tuple(each for each in definitions if each.depth < depth)
    wanted = query.lower()
    kept: dict[Definition, None] = {}
    around: list[Definition] = []
    for each in definitions:
        del around[each.depth :]
        around.append(each)
        if wanted in (each.qualified if "." in wanted else each.name).lower():
            kept.update(dict.fromkeys(around))
    return tuple(kept)


def outline_lines(outline: FileOutline) -> Iterator[str]:
    """The list of one file: its name, then a line for each definition with its lines and signature."""
    left = f"{outline.left} more definitions" * (outline.left > 0)
    said = ", ".join(filter(None, (outline.language, f"{outline.lines} lines", outline.plain, left)))
    yield f"{outline.path} ({said})"
    for each in outline.definitions:
        yield f"{INDENT * (each.depth + 1)}{line_range(each.start, each.end)} {each.signature or each.name}"


def nearly_named(definitions: Sequence[Definition], symbol: str) -> list[Definition]:
    """The definitions whose names are like a name, the likest first."""
    by_name = {each.qualified: each for each in definitions}
    by_name |= {each.name: each for each in definitions}
    likely = get_close_matches(symbol, list(by_name), n=5, cutoff=0.6)
    return list(dict.fromkeys(by_name[name] for name in likely))


def line_range(start: int, end: int) -> str:
    """Lines as `12-30`, one line as `12`."""
    return str(start) if start == end else f"{start}-{end}"


def innermost(definitions: Iterable[Definition], line: int) -> Definition | None:
    """The definition that most closely encloses a line."""
    around = [each for each in definitions if each.start <= line <= each.end]
    return max(around, key=lambda each: (each.start, -each.end), default=None)
