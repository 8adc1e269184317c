"""From the captures of a query to imports as they are written: the same rules for every language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import define, field
from tree_sitter import Node

from context_pack.kernel.syntax import Import
from context_pack_adapters.syntax.above import CommentsAbove, text_of

MOST_IMPORTS = 20_000
MOST_INSIDE = 64
"""Inline modules nest without end; those further down do not count."""
_QUOTES = frozenset("\"'`")

Match = tuple[int, dict[str, list[Node]]]


@define
class _WrittenImport:
    """The merged matches of one import specifier."""

    pattern: int
    whole: Node
    specifier: Node
    names: dict[str, None] = field(factory=dict)


def imports(matches: Sequence[Match], hows: Sequence[str], above: CommentsAbove) -> list[Import]:
    """The imports that the matches say, in order; the names taken from one specifier stand together.

    `hows` says the kind of import by the number of its pattern; of several for one import the first counts.
    """
    found: dict[tuple[int, int], _WrittenImport] = {}
    for pattern, captures in matches:
        whole, specifier = captures.get("import"), captures.get("specifier")
        if whole is None or specifier is None or len(found) >= MOST_IMPORTS:
            continue
        key = (whole[0].start_byte, specifier[0].start_byte)
        written = found.setdefault(key, _WrittenImport(pattern, whole[0], specifier[0]))
        written.pattern = min(pattern, written.pattern)
        written.names.update(dict.fromkeys(text_of(node) for node in captures.get("imported", ())))
    modules = _Inside(sorted(_modules(matches)) if found else [])
    return [
        Import(
            _specifier(each.specifier, above),
            tuple(each.names),
            each.whole.start_point.row + 1,
            hows[each.pattern],
            modules.at(start),
        )
        for (start, _), each in sorted(found.items(), key=lambda item: item[0])
    ]


def _modules(matches: Iterable[Match]) -> Iterator[tuple[int, int, str]]:
    """Where the modules are that are written inside the text."""
    for _, captures in matches:
        if "module" in captures and "name" in captures:
            node = captures["module"][0]
            yield node.start_byte, node.end_byte, text_of(captures["name"][0])


@define
class _Inside:
    """The inline modules around each place of a text; places are asked in their order."""

    modules: Sequence[tuple[int, int, str]]
    _next: int = field(default=0, init=False)
    _open: list[tuple[int, str]] = field(factory=list, init=False)

    def at(self, place: int) -> tuple[str, ...]:
        """The names of the modules around a place, the outermost first."""
        while self._next < len(self.modules) and self.modules[self._next][0] < place:
            start, end, name = self.modules[self._next]
            self._close(start)
            self._open.append((end, name))
            self._next += 1
        self._close(place)
        return tuple(name for _, name in self._open[:MOST_INSIDE])

    def _close(self, place: int) -> None:
        while self._open and self._open[-1][0] <= place:
            self._open.pop()


def _specifier(node: Node, above: CommentsAbove) -> str:
    """The text of a specifier without its quotes and comments."""
    said = above.code(node.start_byte, node.end_byte)
    quoted = len(said) > 1 and said[0] == said[-1] and said[0] in _QUOTES
    return said[1:-1] if quoted else said
