"""Where a name is used: by name and not by type, outside comments and strings, definitions first.

A text search finds the files, the syntax port the identifiers in them. Tests, examples and the like come
last: of a name with many uses a page shows those that a change must mind. Files that are not parsed are named
with the number of their matching lines, so that nobody takes silence for absence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from math import inf

from attrs import field, frozen

from context_pack.code.grep import CodeSearch, LineQuery, shown
from context_pack.code.outline import innermost
from context_pack.code.reading import LONGEST_PATH, MAX_BYTES, read_source, within_root
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath, is_aside, is_test
from context_pack.kernel.ports import SourceFile, SourceTree
from context_pack.kernel.syntax import Definition, NotParsed, Syntax, name_parts, readable_part
from context_pack.toolkit.arguments import arg, integer, text
from context_pack.toolkit.call import Call

MOST_LINES = 5_000
"""How many matching lines of the tree are looked into."""
SECONDS = 8.0
"""How long a client waits until no more files are looked into."""
SHOWN_CHARS = 160
DEFAULT_USES, MOST_USES = 50, 500
MOST_MENTIONS, MOST_CALLING_FILES = 200, 20
"""On more lines a name is that of many things, or everywhere; of a rarer one so many files are parsed."""
_LEFT_OUT = "what is ignored, a link, denied or no text is left out; name another place"
NAME = "^[^\\s\"'`()]*(operator[^\"'`]+)?$"
"""A name, or an operator of C++, which may have brackets and blanks."""
_GLOB_SIGNS = re.compile(r"([*?\[\]{}!\\])")


@frozen
class FindUsages:
    """What `find_usages` is asked."""

    name: str = arg(text(1, 200, pattern=NAME), "The name; of `Class.method` the last part")
    path: str | None = arg(text(1, LONGEST_PATH), "Only in this file or folder", default=None)
    limit: int = arg(integer(1, MOST_USES), "Most uses, and definitions", default=DEFAULT_USES)
    offset: int = arg(integer(0), "Uses to skip", default=0)


@frozen
class Usage:
    """One place where the name stands: its line, the definition around it, and the line's text."""

    path: str
    line: int
    inside: str
    text: str
    around: tuple[int, int] = (0, 0)
    """The first and last line of that definition."""


@frozen
class Usages:
    """Where a name is defined and used; `uses` are those from `offset` on, at most `limit`.

    `unparsed` counts matching lines of files that are not parsed, `unsearched` the files that were not looked
    into: the time was over before.
    """

    name: str
    definitions: tuple[Usage, ...]
    uses: tuple[Usage, ...]
    total: int
    unparsed: Mapping[str, int]
    complete: bool
    offset: int = 0
    limit: int = DEFAULT_USES
    unsearched: int = 0


@frozen
class UsageFinder:
    """Finds usages in the source tree; `monotonic` gives seconds."""

    tree: SourceTree
    syntax: Syntax
    search: CodeSearch
    monotonic: Callable[[], float] = field(default=lambda: 0.0)

    def find(self, command: FindUsages, call: Call) -> Usages:
        """Where the name is defined and used; to a client what was found in time.

        Raises:
            Failure: `timed_out` before any file, or the path is refused: no file there is searched.
        """
        end = self.monotonic() + (inf if call.request_id is None else SECONDS) - call.waited
        name = name_parts(command.name)[-1]
        place = within_root(command.path)
        is_file = place is not None and self.tree.is_file(place)
        inside = "" if place is None else place.value
        mentions = self.search.search(_query(name, inside, is_file), call)
        if place is not None and not mentions.files:
            if not self.tree.is_folder(place):
                read_source(self.tree, place)  # says what is wrong with it
            raise Failure(Code.NOT_FOUND, "No file is searched there", {"hint": _LEFT_OUT})
        lines = Counter(hit.path for hit in mentions.hits)
        definitions: list[Usage] = []
        uses: list[Usage] = []
        unparsed: dict[str, int] = {}
        unsearched = mentions.unsearched
        for number, (path, count) in enumerate(sorted(lines.items(), key=_last_of_all)):
            call.check()
            if number and self.monotonic() > end:
                unsearched += len(lines) - number
                break
            places, is_parsed = self._places(path, name)
            if not is_parsed:
                unparsed[path] = count
            for is_definition, usage in places:
                (definitions if is_definition and _fits(usage, command.name) else uses).append(usage)
        page = tuple(uses[command.offset : command.offset + command.limit])
        complete = len(mentions.hits) == mentions.total and not unsearched
        return Usages(
            command.name, tuple(definitions), page, len(uses), unparsed, complete,
            command.offset, command.limit, unsearched,
        )  # fmt: skip

    def callers(self, name: str, most: int, call: Call, *, tests: bool = False) -> list[Usage]:
        """The first use in each of so many other definitions, in tests or aside from them.

        None of a name that is everywhere.

        Raises:
            Failure: `timed_out` before any file.
        """
        mentions = self.search.search(_query(name, "", is_file=False), call)
        if mentions.total > MOST_MENTIONS:
            return []
        paths = [
            path
            for path in dict.fromkeys(hit.path for hit in mentions.hits)
            if is_test(RelativePath(path)) == tests
        ]
        callers: dict[tuple[str, str], Usage] = {}
        for path in paths[:MOST_CALLING_FILES]:
            call.check()
            for is_definition, usage in self._places(path, name)[0]:
                if not is_definition and usage.inside and usage.inside.rpartition(".")[2] != name:
                    callers.setdefault((path, usage.inside), usage)
            if len(callers) >= most:
                break
        return list(callers.values())[:most]

    def _places(self, path: str, name: str) -> tuple[list[tuple[bool, Usage]], bool]:
        """The identifiers in a file, each with whether it is a definition's own; and whether it was parsed.

        Of a file that was not, the definitions that could be read.
        """
        source = self.tree.read(RelativePath(path), MAX_BYTES)
        if not isinstance(source, SourceFile):
            return [], True
        language = language_of(path)
        places = self.syntax.occurrences(language, source.text, name)
        definitions = readable_part(self.syntax.parse(language, source.text)).definitions
        numbers: set[int] = set()
        if not isinstance(places, NotParsed):
            starts = [0, *(match.end() for match in re.finditer("\n", source.text))]
            numbers = {bisect_right(starts, place) for place in places}
        usages = _usages(path, name, source.text.split("\n"), numbers, definitions)
        return list(usages), not isinstance(places, NotParsed)


def _last_of_all(mentions: tuple[str, int]) -> bool:
    """Whether a file comes behind the others, which keep their order: it is a test, or lies aside."""
    return is_test(RelativePath(mentions[0])) or is_aside(mentions[0])


def _usages(
    path: str, name: str, lines: list[str], numbers: set[int], definitions: tuple[Definition, ...]
) -> Iterator[tuple[bool, Usage]]:
    own = {each.line: each for each in definitions if each.name == name}
    # What a grammar could not read, or spells by a word of its own (`init`), is none of its identifiers.
    for number in sorted({*numbers, *own}):
        text = shown(lines[number - 1].strip(), most=SHOWN_CHARS)
        if (defined := own.get(number)) is not None:
            yield True, Usage(path, number, defined.qualified, defined.signature or text)
        else:
            around = innermost(definitions, number)
            inside, span = ("", (0, 0)) if around is None else (around.qualified, (around.start, around.end))
            yield False, Usage(path, number, inside, text, span)


def _fits(usage: Usage, written: str) -> bool:
    """Whether a definition is the one that was asked for, as far as its qualified name says."""
    wanted = name_parts(written)
    return usage.inside.split(".")[-len(wanted) :] == wanted or len(wanted) == 1


def _query(name: str, place: str, is_file: bool) -> LineQuery:
    """The text search for lines that have the name, in a file, a folder or everywhere."""
    before, after = (r"\b" if re.match(r"\w", char) else "" for char in (name[0], name[-1]))
    word = re.sub(r"\Aoperator(?=[^\w\s\"])", r"operator\\s*", re.escape(name).replace("\\ ", r"\s+"))
    plain = _GLOB_SIGNS.sub(r"\\\1", place)
    glob = f"/{plain}" if is_file else f"/{plain}/**" if place else None
    return LineQuery(f"{before}{word}{after}", glob, True, MOST_LINES)
