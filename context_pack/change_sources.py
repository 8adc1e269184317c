"""Passages for a change: a diff, or a stack trace.

A diff is answered with the definitions that its new lines are in, then with who calls them and which tests
use them, one hop away, and with what is known of the code that it touches; a stack trace with the functions
that its frames are in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attrs import frozen

from context_pack.code.usages import Usage, UsageFinder
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath, is_test
from context_pack.kernel.ports import SourceFile, SourceTree
from context_pack.kernel.syntax import Definition, Syntax, readable_part
from context_pack.kernel.text import LineRange, counted, one_line, split_lines
from context_pack.knowledge.about import NO_FRAME, KnownHere
from context_pack.knowledge.diffs import ChangedFile
from context_pack.knowledge.traces import frames, project_path
from context_pack.packs.ports import Excerpt, Excerpted
from context_pack.toolkit.call import Check, CheckedCall, never_cancelled

MOST_FILE_BYTES = 2 * 1024 * 1024
SAID_CHARS = 600
CALLERS = 2
"""Of so many callers of a changed definition the lines are shown."""
SHORT_CALLER, LINES_BESIDE = 12, 1
"""A caller of so many lines is shown whole, a longer one by its line that calls and those beside it."""
_NAME = re.compile(r"(?:[\w$]+\.)*([A-Za-z_$][\w$]*)")
MOST_LOOKED_UP, MOST_TESTS = 30, 3
"""Of so many changed definitions callers and tests are looked for; so many tests of each are shown."""
LONG_FRAME, LINES_OF_FRAME = 120, 30
"""Of a longer function only so many lines before and after the frame's are shown."""
LONG_TYPE = 60
LINES_BETWEEN = 5
"""Changed lines with so few others between them are one place."""
MOST_KNOWN = 30
NOTHING_CHANGED = "nothing has changed; name an older revision, or give a diff's text"


@frozen
class ChangeExcerpts:
    """What a change touches, over the files and what is known of them."""

    tree: SourceTree
    usages: UsageFinder | None
    knowledge: KnownHere
    syntax: Syntax

    def changed(self, diff: str, check: Check = never_cancelled, /) -> Excerpted:
        """The definitions that a diff touches, whole; who calls and tests them; what is known there."""
        files = self.knowledge.files_of(diff)
        if not files:
            raise Failure(Code.NOT_FOUND, NOTHING_CHANGED)
        items = [item for file in files for item in self._touched(file)]
        for number, item in enumerate(list(items)):
            check()
            if number < MOST_LOOKED_UP and item.title and self.usages is not None:
                items += self._users(item, self.usages, check)
        known = [each for each in self.knowledge.of_diff(files, check).known if not each.is_unreadable]
        texts = {"changed": "\n".join(map(_counted, files))}
        said = (f"{one_line(each.text)[:SAID_CHARS]} ({each.source})" for each in known)
        return Excerpted(items, {}, {**texts, **_known_text(said)})

    def traced(self, trace: str, check: Check = never_cancelled, /) -> Excerpted:
        """The functions that a trace goes through, in its order, and what is known there."""
        items: dict[tuple[str, int, int], Excerpt] = {}
        for frame in frames(trace):
            path = project_path(frame.file, self._is_file) or self._only_file(frame.file)
            if path is None:
                continue
            around = self.knowledge.definitions.around(RelativePath(path), frame.line)
            name, lines = around or (frame.name or "", LineRange(frame.line, frame.line))
            first, last = lines.start, lines.end
            if last - first >= LONG_FRAME:
                first, last = max(first, frame.line - LINES_OF_FRAME), min(last, frame.line + LINES_OF_FRAME)
            what = f"at line {frame.line}"
            items.setdefault(
                (path, lines.start, lines.end), Excerpt("trace", name, 1.0, "", path, first, last, what)
            )
        if not items:
            raise Failure(Code.NOT_FOUND, NO_FRAME)
        near = [self.knowledge.near(path, first, last, check) for path, first, last in items]
        return Excerpted(list(items.values()), {}, _known_text(line for lines in near for line in lines))

    def _is_file(self, path: str) -> bool:
        try:
            return self.tree.is_file(RelativePath(path))
        except Failure:
            return False

    def _only_file(self, file: str) -> str | None:
        """The one file of the tree whose path ends like this: frames of Java name no source folder."""
        folders, _, name = file.replace("\\", "/").rpartition("/")
        ends = f"/{folders}/{name}" if folders else f"/{name}"
        places = [path.value for path in self.tree.names().named(name) if f"/{path.value}".endswith(ends)]
        return places[0] if len(places) == 1 else None

    def _touched(self, file: ChangedFile) -> Iterator[Excerpt]:
        """The innermost definitions around the new lines of a file, then new lines that are in none.

        Of a long type only its changed lines are shown, because its members are definitions of their own.
        """
        path = None if file.new is None else RelativePath.lenient(file.new)
        source = None if path is None else self.tree.read(path, MOST_FILE_BYTES)
        if path is None or not isinstance(source, SourceFile):
            return
        definitions = readable_part(self.syntax.parse(language_of(path.value), source.text)).definitions
        owners: dict[int, Definition] = {}
        for each in sorted(definitions, key=lambda each: each.start - each.end):
            owners.update(dict.fromkeys(range(each.start, each.end + 1), each))
        counts: dict[tuple[int, int, str], int] = {}
        loose: list[int] = []
        lines = split_lines(source.text)
        for hunk in file.hunks:
            # Where something was only taken away, the line before the place says where it was.
            for number in range(max(1, hunk.new_start), hunk.new_start + max(1, hunk.new_count)):
                owner = owners.get(number)
                if owner is None or (owner.kind.holds_members and owner.end - owner.start >= LONG_TYPE):
                    loose += [number] if any(map(str.strip, lines[number - 1 : number])) else []
                else:
                    place = (owner.start, owner.end, owner.qualified)
                    counts[place] = counts.get(place, 0) + (hunk.new_count > 0)
        for start, end, name in sorted(counts):
            if not any(
                low <= start and end <= high and (low, high) != (start, end) for low, high, _ in counts
            ):
                new = counted(counts[start, end, name], "new line")
                rank = 2 if is_test(path) else 0
                yield Excerpt("changed", name, 1.0, "", path.value, start, end, new, rank=rank)
        for start, end in _runs(loose):
            inside = owners.get(start)
            name = path.name if inside is None else inside.qualified
            yield Excerpt("changed", name, 0.5, "", path.value, start, end, "changed lines", rank=2)

    def _users(self, item: Excerpt, usages: UsageFinder, check: Check) -> Iterator[Excerpt]:
        """Who calls a changed definition, and which tests use it."""
        name, call = item.title.rpartition(".")[2], CheckedCall(wanted=check)
        if item.rank or _NAME.fullmatch(name) is None:
            return
        try:
            callers = usages.callers(name, CALLERS, call)
            tests = usages.callers(name, MOST_TESTS, call, tests=True)
        except Failure as failure:
            if failure.code is not Code.TIMED_OUT:
                raise
            return
        for kind, rank, places in (("callers", 1, callers), ("tests", 3, tests)):
            for use in places:
                first, last = beside(use)
                yield Excerpt(kind, use.inside, 0.5, "", use.path, first, last, f"uses {name}", rank=rank)


def beside(caller: Usage) -> tuple[int, int]:
    """The lines of a caller that are shown."""
    first, last = caller.around
    if last - first >= SHORT_CALLER:
        return max(first, caller.line - LINES_BESIDE), min(last, caller.line + LINES_BESIDE)
    return first, last


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Line numbers as first and last lines."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and number <= runs[-1][1] + LINES_BETWEEN:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def _counted(file: ChangedFile) -> str:
    """A file of a diff, and how many lines it lost and gained."""
    old, new = sum(hunk.old_count for hunk in file.hunks), sum(hunk.new_count for hunk in file.hunks)
    way = file.new or f"{file.old}, which is gone"
    if file.old is None:
        way = f"{way}, which is new"
    elif file.new not in (None, file.old):
        way = f"{file.new}, which was {file.old}"
    return f"- {way}: +{new} -{old}"


def _known_text(sentences: Iterable[str]) -> dict[str, str]:
    """What is known of the places, as the text of a section."""
    lines = dict.fromkeys(f"- {sentence}" for sentence in sentences)
    return {"known": "\n".join(list(lines)[:MOST_KNOWN])} if lines else {}
