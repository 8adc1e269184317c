"""From a file, lines, a symbol, a diff or a stack trace to what is known there; and one gate over all of it.

The gate asks packs, discoveries, contexts of folders and bundles alike. What cannot be read does not hold;
what could not be looked at just now (a database that is away) is unknown, and hides nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from typing import Protocol

from attrs import frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FileNames, SourceTree, near_paths
from context_pack.kernel.text import LineRange, counted
from context_pack.knowledge.model import (
    COSMETIC,
    SEVERITY,
    ExpiredPack,
    Known,
    PlaceInCode,
    Verdict,
    ranked,
    sentences_within,
    unreadable,
)
from context_pack.knowledge.places import ChangedFile, frames, looks_like_diff, parse_diff, project_path
from context_pack.toolkit.arguments import arg, text
from context_pack.toolkit.call import Check, never_cancelled


class KnownSource(Protocol):
    """One kind of knowledge: discoveries, packs, contexts of folders."""

    def known(self, paths: Collection[str] | None, check: Check = never_cancelled, /) -> Iterable[Known]:
        """What is written down about these files, or about all, with its state.

        Of some files only what was written down about them is looked at, so that it is quick; code that came
        into them from other files is found where all is asked for.
        """


class Definitions(Protocol):
    """Finds definitions in the source tree."""

    def located(self, symbol: str, path: RelativePath | None, /) -> tuple[RelativePath, LineRange]:
        """Where the one definition of that name is; raises `Failure` with what is near."""

    def around(self, path: RelativePath, line: int, /) -> tuple[str, LineRange] | None:
        """The name and the lines of the innermost definition around a line; None if there is none."""

    def line_count(self, path: RelativePath, /) -> int | None:
        """How many lines a file has; None for one that cannot be read."""


class ChangesSince(Protocol):
    """What version control knows."""

    def since(self, base: str, /) -> str:
        """What differs between a revision and the files as they are, as a unified diff without context.

        Raises:
            Failure: there is no repository, or no such revision.
        """

    def head(self) -> str:
        """The commit that the project is at; raises `Failure` without one."""


PATH_CHARS = 4096
MOST_TEXT = 200_000
NO_PLACE = "say where: 'path' (with 'lines' or 'symbol'), 'symbol', 'diff' or 'trace'"
NO_FRAME = "the trace names no file of this project; give the whole output, with its file names and lines"
NO_REPOSITORY = "there is no version control here to ask; give the text of the diff"


@frozen(kw_only=True)
class ContextFor:
    """What `context_for` is asked: one place, or the places of a diff or a trace."""

    path: str | None = arg(text(1, PATH_CHARS), "File or folder", default=None)
    lines: str | None = arg(
        text(1, 30, pattern="^[1-9][0-9]*(-[1-9][0-9]*)?$"), "With path: 10-20", default=None
    )
    symbol: str | None = arg(text(1, 500), "A definition: `Type.method`", default=None)
    diff: str | None = arg(text(1, MOST_TEXT), "A base revision, or a diff's text", default=None)
    trace: str | None = arg(text(1, MOST_TEXT), "A stack trace, a failing test's output", default=None)


@frozen
class KnowledgeOfPlaces:
    """What is known of some places, the most binding first; those of a diff are known to who gave it."""

    places: Sequence[PlaceInCode]
    known: Sequence[Known]


@frozen
class KnownHere:
    """Answers what is known of a place."""

    tree: SourceTree
    sources: Sequence[KnownSource]
    definitions: Definitions
    changes: ChangesSince | None = None

    def about(self, command: ContextFor, check: Check = never_cancelled) -> KnowledgeOfPlaces:
        """What is known of the place that was named.

        Raises:
            Failure: `invalid_data` without a place or with several, `not_found` for one that is not there.
        """
        if command.diff is not None:
            return self.of_diff(self.files_of(command.diff), check)
        if command.trace is not None:
            return self._known_of(self.of_trace(command.trace), check)
        place = self._place(command)
        known = self._known_of([place], check)
        if all(each.path != place.path for each in known.known):  # of a file that is gone, much may be known
            self._check_there(RelativePath.lenient(place.path), place.lines)
        return known

    def files_of(self, diff: str) -> list[ChangedFile]:
        """The files of a diff, or of what changed since a revision."""
        if looks_like_diff(diff):
            return parse_diff(diff)
        if self.changes is None:
            raise Failure(Code.NOT_FOUND, NO_REPOSITORY)
        return parse_diff(self.changes.since(diff))

    def of_diff(self, files: Sequence[ChangedFile], check: Check = never_cancelled) -> KnowledgeOfPlaces:
        """What rests on code that a diff touches; contexts of the folders are not part of it."""
        touched = [each for each in self._all(None, check) if any(each.is_touched_by(file) for file in files)]
        return KnowledgeOfPlaces((), ranked(touched, ()))

    def of_trace(self, trace: str) -> list[PlaceInCode]:
        """The functions of this project that a trace goes through, in its order."""
        return list(self.lines_of_trace(trace))

    def lines_of_trace(self, trace: str) -> dict[PlaceInCode, int]:
        """The same, each with the line of its first frame.

        Raises:
            Failure: `not_found`, the trace names no file of this project.
        """
        places: dict[PlaceInCode, int] = {}
        names = cache(self.tree.names)  # one walk for all frames, and none where nobody asks
        for frame in frames(trace):
            path = project_path(frame.file, self._is_file) or _only_file(frame.file, names)
            if path is not None:
                around = self.definitions.around(RelativePath(path), frame.line)
                symbol, lines = around or (None, LineRange(frame.line, frame.line))
                places.setdefault(PlaceInCode(path, lines, symbol), frame.line)
        if not places:
            raise Failure(Code.NOT_FOUND, NO_FRAME)
        return places

    def near(self, path: str, first: float, last: float, check: Check = never_cancelled, /) -> list[str]:
        """What an answer about these lines carries along of what is known there: a few sentences."""
        try:
            about = ranked(self._all({path}, check), [PlaceInCode(path)])
        except Failure:  # of a store: whoever reads code is not to be stopped by it
            return []
        return sentences_within([each for each in about if each.is_within(first, last)])

    def _all(self, paths: set[str] | None, check: Check) -> list[Known]:
        return [each for source in self.sources for each in source.known(paths, check)]

    def _known_of(self, places: Sequence[PlaceInCode], check: Check) -> KnowledgeOfPlaces:
        known = [*self._all(None, check), *self._all({each.path for each in places}, check)]
        return KnowledgeOfPlaces(places, ranked(known, places))

    def _place(self, command: ContextFor) -> PlaceInCode:
        path = None if command.path is None else RelativePath.lenient(command.path)
        if command.symbol is not None:
            if command.lines is not None:
                raise invalid("'symbol' and 'lines' cannot both be given; leave one out", "lines")
            file, lines = self.definitions.located(command.symbol, path)
            return PlaceInCode(file.value, lines, command.symbol)
        if path is None:
            raise invalid(NO_PLACE, "path")
        if command.lines is None:
            return PlaceInCode(path.value, None)
        first, _, last = command.lines.partition("-")
        return PlaceInCode(path.value, LineRange(int(first), int(last or first)))

    def _check_there(self, path: RelativePath, lines: LineRange | None) -> None:
        """That nothing is known of a place that is not there must not be taken for leave to go on."""
        count = None if lines is None else self.definitions.line_count(path)
        if lines is not None and count is not None and lines.start > count:
            words = f"lines {lines} do not exist, and nothing is written about them: {path} has "
            raise Failure(Code.NOT_FOUND, words + counted(count, "line"))
        if not (self.tree.is_folder(path) or self.tree.is_file(path)):
            near = near_paths(path, self.tree.names())
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise Failure(Code.NOT_FOUND, f"{path} does not exist, and nothing is written about it{hint}")

    def _is_file(self, path: str) -> bool:
        try:
            return self.tree.is_file(RelativePath(path))
        except Failure:
            return False


def _only_file(file: str, names: Callable[[], FileNames]) -> str | None:
    """The one file of the tree whose path ends like this: frames of Java name no source folder."""
    folders, _, name = file.replace("\\", "/").rpartition("/")
    ends = f"/{folders}/{name}" if folders else f"/{name}"
    places = [path.value for path in names().named(name) if f"/{path.value}".endswith(ends)]
    return places[0] if len(places) == 1 else None


WORK_IN_PROGRESS = "HEAD"


@frozen(slots=False)
class Report:
    """What a gate looked at, family by family; a row is one sentence about one place."""

    families: Mapping[str, Sequence[Known]]
    is_of_a_change: bool = False
    """Whether it is about what a change touches, and not about everything."""
    expired: Sequence[ExpiredPack] = ()
    """Packs that could not be asked, because their time is over; of a change those about its files."""

    @cached_property
    def rows(self) -> Sequence[Known]:
        """Every row: what fails first, then what could not be decided."""
        rows = [row for family in self.families.values() for row in family]
        return sorted(rows, key=lambda row: SEVERITY.index(row.verdict))

    @property
    def told(self) -> Sequence[Known]:
        """The rows that a reader is told: what does not hold or changed cosmetically; all of a change."""
        return [row for row in self.rows if self.is_of_a_change or not row.holds or row.state == COSMETIC]

    @property
    def verdict(self) -> Verdict:
        """One word for all of it: the gravest of any row."""
        return self.rows[0].verdict if self.rows else Verdict.HOLDS

    @property
    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """How many rows of each family there are, fail and could not be decided."""
        names = {"failing": Verdict.FAILS, "unknown": Verdict.UNKNOWN}
        return {
            family: {"checked": len(rows)}
            | {name: sum(row.verdict is verdict for row in rows) for name, verdict in names.items()}
            for family, rows in self.families.items()
        }


@frozen
class Gate:
    """Checks what is written down, all of it or what a change touches."""

    here: KnownHere
    sources: Mapping[str, KnownSource]
    """By family: packs, discoveries, contexts, bundles."""
    expired: Callable[[], Sequence[ExpiredPack]]
    """The packs that have expired and can be brought back."""

    def verify(self, check: Check = never_cancelled) -> Report:
        """Every sentence with the state of its code; changes nothing."""
        families: dict[str, Sequence[Known]] = {}
        for family, source in self.sources.items():
            try:
                families[family] = ranked(source.known(None, check), ())
            except Failure as failure:
                families[family] = [unreadable(family, failure)]
        expired: Sequence[ExpiredPack] = ()
        with suppress(Failure):  # of a store that is away: its family says so
            expired = self.expired()
        return Report(families, expired=expired)

    def affected(self, base: str = WORK_IN_PROGRESS, check: Check = never_cancelled) -> Report:
        """What rests on code that was changed since a revision, whether it holds or not.

        Raises:
            Failure: there is no version control, or no such revision.
        """
        return self.touched_by(self.here.files_of(base), check)

    def touched_by(self, files: Sequence[ChangedFile], check: Check = never_cancelled) -> Report:
        """What rests on code that a diff changes."""
        everything = self.verify(check)
        touched = {
            family: [row for row in rows if any(row.is_touched_by(file) for file in files)]
            for family, rows in everything.families.items()
        }
        paths = {path for file in files for path in file.paths}
        expired = [pack for pack in everything.expired if pack.paths & paths]
        return Report(touched, is_of_a_change=True, expired=expired)
