"""The ripgrep engine: `rg` counts the matching lines of files we name, and we show the first of them.

Which files count, what is text and what a pattern means are decided by us, so that `rg` only has to match:
it is told exact paths and a pattern written out for it, and trusted with files that look to it as they look
to us. `rg` opens files by path; so what it found is taken only if file and folders are afterwards what they
were before, and every shown line is read by ourselves. The other files we read, and give `rg` their texts if
the pattern could keep the pure engine busy for long; the rest, and whatever `rg` cannot do, that engine does.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack

from attrs import define, field

from context_pack.code.domain.search import Found, Hit
from context_pack.code.domain.search_pattern import Pattern
from context_pack.code.domain.search_ripgrep import RipgrepSource
from context_pack.code.domain.search_walk import Cost
from context_pack_adapters.search.deadline import Deadline
from context_pack_adapters.search.folders import Folders
from context_pack_adapters.search.listing import Snapshot
from context_pack_adapters.search.matching import Matcher, Spot
from context_pack_adapters.search.regex_walk import hits_in, search
from context_pack_adapters.search.ripgrep_process import Run
from context_pack_adapters.search.shelf import Known, Shelf

ARGUMENT_BYTES = 30_000 if os.name == "nt" else min(1_000_000, os.sysconf("SC_ARG_MAX") // 2)
"""What one command line may hold; the environment needs room too."""
SOME, NONE = 0, 1
"""Exit codes: lines were found, or none were."""
NOTHING = Found((), 0, 0)
_ALWAYS = (
    *("--no-config", "--color=never", "--no-messages", "--no-ignore", "--hidden", "--no-heading"),
    *("--text", "--encoding=none", "--with-filename", "--null", "--case-sensitive", "--no-crlf"),
)


_PLACES = ("--line-number", "--column", "--max-columns=1")


class Unusable(Exception):
    """`rg` did not do what it was asked: the pure engine must."""


def trusts(known: Known, source: RipgrepSource) -> bool:
    """Whether a file looks to `rg` as it looks to us."""
    if not known.is_text or known.is_odd:
        return False
    return known.reach <= source.reach and not (known.has_returns and source.no_returns)


@define
class RipgrepSearch:
    """One search with `rg`."""

    binary: str
    shelf: Shelf
    snapshot: Snapshot
    pattern: Pattern
    source: RipgrepSource
    limit: int
    deadline: Deadline
    files: int = 0
    counts: dict[str, int] = field(factory=dict)
    states: dict[str, Known] = field(factory=dict)

    def search(self, paths: Sequence[str]) -> Found:
        """The lines of these files that match.

        Raises:
            TimedOut: it takes too long.
            Unusable: `rg` failed.
        """
        with self.shelf.open() as folders:
            others = self._count(paths, folders)
            others += self._doubtful()
            mine = self._details(folders, others)
            told = self._told(others, folders) if self.pattern.cost is Cost.UNKNOWN and others else NOTHING
        rest = search(self.shelf, sorted(others), self.pattern, self.limit, self.deadline)
        hits = sorted([*mine, *told.hits, *rest.hits], key=lambda hit: (hit.path, hit.line))
        total = sum(self.counts.values()) + told.total + rest.total
        return Found(tuple(hits[: self.limit]), total, self.files + told.files + rest.files)

    def _count(self, paths: Sequence[str], folders: Folders) -> list[str]:
        """Let `rg` count what it is trusted with; returns the other files.

        It starts on what was known of the files before, while we look whether that is still so.
        """
        assumed = [path for path in paths if self._assumed(path)]
        batches = _batches(assumed)
        with ExitStack() as stack:
            run = stack.enter_context(self._run(["--count"], batches[0])) if batches else None
            fresh, others = self._sort(paths, folders, frozenset(assumed))
            if run is not None:
                self._take_counts(run)
        for batch in batches[1:]:
            with self._run(["--count"], batch) as run:
                self._take_counts(run)
        for path, total in fresh.items():
            self.counts.pop(path, None)
            if total:
                self.counts[path] = total
        for batch in _batches([path for path, total in fresh.items() if total is None]):
            with self._run(["--count"], batch) as run:
                self._take_counts(run)
        self.counts = {path: count for path, count in self.counts.items() if path in self.states}
        self.files = len(self.states)
        return others

    def _assumed(self, path: str) -> bool:
        known = self.shelf.remembered(path)
        return known is not None and trusts(known, self.source) and path != "-"

    def _sort(
        self, paths: Sequence[str], folders: Folders, started: Collection[str]
    ) -> tuple[dict[str, int | None], list[str]]:
        """Look at every file: those that `rg` is only now trusted with, and those that it is not.

        A text that had to be read is searched while it is at hand, unless that could take long. A file that
        `rg` was not started on may be known by now, from another thread.
        """
        fresh: dict[str, int | None] = {}
        others: list[str] = []
        matcher = Matcher(self.pattern, self.deadline)
        at_hand = self.pattern.cost is not Cost.UNKNOWN
        for path, known in zip(paths, self.shelf.survey(paths, self.deadline), strict=True):
            seen, text = known, ""
            if seen is None:
                self.deadline.left()
                seen, text = self.shelf.read(path, folders, keep=False)
            if trusts(seen, self.source) and path != "-":
                self.states[path] = seen
                if known is None and at_hand:
                    fresh[path] = matcher.in_text(text, 0, seen.has_long_lines).total
                elif known is None or path not in started:
                    fresh[path] = None
            elif seen.is_text:
                others.append(path)
        return fresh, others

    def _run(self, options: Sequence[str], paths: Sequence[str], data: bytes | None = None) -> Run:
        words = [self.binary, *_ALWAYS, *options, f"--regexp={self.source.text}", "--", *paths]
        try:
            return Run(words, self.snapshot.top, self.deadline, data)
        except OSError as error:
            raise Unusable(str(error)) from error

    def _take_counts(self, run: Run) -> None:
        for path, count in _records(run):
            self.counts[path] = int(count)

    def _doubtful(self) -> list[str]:
        """Matching files that are not surely what they were while `rg` read them; they are no longer ours."""
        if not self.counts:
            return []
        paths = list(self.counts)
        if self.snapshot.unchanged(self.deadline, paths):
            now = self.shelf.survey(paths, self.deadline)
            doubtful = [path for path, known in zip(paths, now, strict=True) if known != self.states[path]]
        else:
            doubtful = paths
        for path in doubtful:
            self._hand_over(path)
        return doubtful

    def _hand_over(self, path: str) -> None:
        del self.counts[path]
        self.files -= 1

    def _details(self, folders: Folders, others: list[str]) -> list[Hit]:
        """The first hits, read by ourselves; a file that has changed meanwhile is handed over."""
        chosen: list[str] = []
        room = self.limit
        for path in sorted(self.counts):
            if room <= 0:
                break
            chosen.append(path)
            room -= self.counts[path]
        # What can take long is left to `rg`, which cannot.
        easy = self.pattern.cost is not Cost.UNKNOWN
        places = {} if easy or not chosen else self._places(chosen)
        matcher = Matcher(self.pattern, self.deadline)
        hits: list[Hit] = []
        for path in chosen:
            known, text = self.shelf.read(path, folders, keep=False)
            spots: list[Spot] = []
            if known.state == self.states[path].state:
                if easy:
                    spots = matcher.in_text(text, self.limit, known.has_long_lines).spots
                else:
                    spots = list(_spots(text, places.get(path, {})))
            if len(spots) == min(self.limit, self.counts[path]):
                hits.extend(hits_in(path, text, spots))
            else:
                self._hand_over(path)
                others.append(path)
        return hits

    def _places(self, paths: Sequence[str]) -> dict[str, dict[int, int | None]]:
        """Line and byte of the first match in the first lines of each file, both from 1.

        Lines themselves are not shown, but for those of one byte. `rg` finds no column for a match of nothing
        behind the last character of a file: there it is None.
        """
        found: dict[str, dict[int, int | None]] = {}
        with self._run([*_PLACES, f"--max-count={self.limit}"], paths) as run:
            for path, place in _records(run):
                line, column = _place(place)
                found.setdefault(path, {})[line] = column
        return found

    def _told(self, others: list[str], folders: Folders) -> Found:
        """What `rg` finds in the joined texts of other files; those it was given are no others any more."""
        texts: list[tuple[str, str]] = []
        for path in sorted(others):
            self.deadline.left()
            known, text = self.shelf.read(path, folders, keep=False)
            # A `\r` that ends no line is a character to us, and none that `rg` was told of.
            if known.is_text and known.reach <= self.source.reach and "\r" not in text:
                texts.append((path, text))
        if not texts:
            return NOTHING
        others[:] = set(others).difference(path for path, _ in texts)
        with self._run(_PLACES, ["-"], "".join(text for _, text in texts).encode()) as run:
            places = [_place(place) for _, place in _records(run)]
        return Found(tuple(self._shared(texts, places)), len(places), len(texts))

    def _shared(
        self, texts: Sequence[tuple[str, str]], places: Sequence[tuple[int, int | None]]
    ) -> Iterator[Hit]:
        """The first places found in joined texts as hits of the files that the texts are of."""
        first = at = 0
        wanted = places[: self.limit]
        for path, text in texts:
            if at == len(wanted):
                return
            after = first + text.count("\n")
            mine: dict[int, int | None] = {}
            while at < len(wanted) and wanted[at][0] <= after:
                line, column = wanted[at]
                mine[line - first] = column
                at += 1
            if mine:
                yield from hits_in(path, text, list(_spots(text, mine)))
            first = after


def _batches(paths: Sequence[str]) -> list[list[str]]:
    """The paths in groups that fit on a command line."""
    batches: list[list[str]] = []
    left = 0
    for path in paths:
        size = (len(path) if path.isascii() else len(os.fsencode(path))) + 16
        if size > left:
            batches.append([])
            left = ARGUMENT_BYTES
        batches[-1].append(path)
        left -= size
    return batches


def _records(run: Run) -> Iterator[tuple[str, bytes]]:
    """The lines of the output: a path and what is said of it."""
    answer = run.finish()
    if answer.code not in (SOME, NONE):
        raise Unusable(f"exit code {answer.code}")
    for line in answer.output.split(b"\n")[:-1]:
        path, _, value = line.partition(b"\0")
        yield os.fsdecode(path), value


def _place(record: bytes) -> tuple[int, int | None]:
    """Line and column of a match, and what of the line is shown behind them."""
    line, column, *more = record.split(b":", 2)
    return int(line), int(column) if more and column else None


def _spots(text: str, places: dict[int, int | None]) -> Iterator[Spot]:
    lines = text.split("\n")
    for line, column in places.items():
        whole = lines[line - 1]
        before = whole if column is None else whole.encode()[: column - 1].decode("utf-8", "ignore")
        yield Spot(line - 1, len(before))
