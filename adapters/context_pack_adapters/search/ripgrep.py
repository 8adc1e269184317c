"""The ripgrep engine: `rg` counts the matching lines of files we name, and we show the first of them.

Which files count, what is text and what a pattern means are decided by us, so that `rg` only has to match:
it is told exact paths and a pattern written out for it, and trusted with files that look to it as they look
to us. `rg` opens files by path; so what it found is taken only if file and folders are afterwards what they
were before, and every shown line is read by ourselves. The other files we read, and give `rg` their texts if
the pattern could keep the pure engine busy for long; the rest, and whatever `rg` cannot do, that engine does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TypeVar

from attrs import define, field

from context_pack.code.domain.search import Found, Hit
from context_pack.code.domain.search_pattern import Pattern
from context_pack.code.domain.search_ripgrep import RipgrepSource
from context_pack.code.domain.search_walk import Cost
from context_pack_adapters.search.deadline import Deadline
from context_pack_adapters.search.folders import Folders
from context_pack_adapters.search.listing import Snapshot
from context_pack_adapters.search.matching import Matcher
from context_pack_adapters.search.regex_walk import hits_in, search
from context_pack_adapters.search.ripgrep_places import (
    COUNTS,
    NAMES,
    PLACES,
    Unusable,
    names,
    place,
    records,
    spots,
)
from context_pack_adapters.search.ripgrep_process import Run
from context_pack_adapters.search.ripgrep_sorting import MORE, OURS, plain
from context_pack_adapters.search.ripgrep_trust import STDIN, batches, trusted, trusts
from context_pack_adapters.search.roll import Known
from context_pack_adapters.search.shelf import Shelf

_ALWAYS = (
    *("--no-config", "--color=never", "--no-messages", "--no-ignore", "--hidden", "--no-heading"),
    *("--text", "--encoding=none", "--with-filename", "--null", "--case-sensitive", "--no-crlf"),
)
_NOTHING = Found((), 0, 0)
T = TypeVar("T")


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
    sorts_from: int
    """From how many unknown files on `rg` is asked which of them are plain."""
    files: int = 0
    counts: dict[str, int] = field(factory=dict)
    own: set[str] = field(factory=set)
    """Files whose lines we have counted ourselves."""
    shut: set[str] = field(factory=set)
    """Files that have gone, or may not be read."""
    states: Mapping[str, Known] = field(factory=dict)

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
            told = self._told(others, folders) if self.pattern.cost is Cost.UNKNOWN and others else _NOTHING
        rest = search(self.shelf, sorted(others), self.pattern, self.limit, self.deadline)
        hits = sorted([*mine, *told.hits, *rest.hits], key=lambda hit: (hit.path, hit.line))
        total = sum(self.counts.values()) + told.total + rest.total
        return Found(tuple(hits[: self.limit]), total, self.files + told.files + rest.files)

    def _count(self, paths: Sequence[str], folders: Folders) -> list[str]:
        """Let `rg` count what it is trusted with; returns the other files.

        It starts on what was known of the files before, while we look whether that is still so.
        """
        roll = self.shelf.roll(paths)
        known = trusted(roll, self.source)
        first = known.batches[0] if known.batches else ()
        with ExitStack() as stack:
            run = stack.enter_context(self._run(COUNTS, first)) if first else None
            stale = [paths[index] for index in roll.stale(self.deadline)]
            self.states, others = known.states, list(known.others)
            fresh = self._look_at(stale, others, folders) if stale else {}
            if run is not None:
                self._take_counts(run, first)
        for batch in known.batches[1:]:
            self._count_in(batch)
        for path in stale:
            self.counts.pop(path, None)
        self.counts.update((path, total) for path, total in fresh.items() if total)
        self.own.update(path for path, total in fresh.items() if total)
        for batch in batches([path for path, total in fresh.items() if total is None]):
            self._count_in(batch)
        self.files = len(self.states.keys() - self.shut)
        return others

    def _count_in(self, batch: Sequence[str]) -> None:
        with self._run(COUNTS, batch) as run:
            self._take_counts(run, batch)

    def _look_at(self, stale: Sequence[str], others: list[str], folders: Folders) -> dict[str, int | None]:
        """Look at what is not what it was: how many lines match in each that `rg` is now trusted with.

        A text that had to be read is searched while it is at hand, unless that could take long: then `rg` has
        yet to count, as it has where nothing was read. Files that it is not trusted with join the others.
        """
        fresh: dict[str, int | None] = {}
        left_over = set(others).difference(stale)
        states = dict(self.states)
        matcher = Matcher(self.pattern, self.deadline)
        quick = self.pattern.cost is not Cost.UNKNOWN
        unread = self._sorted(stale) if len(stale) >= self.sorts_from else {}
        for path in stale:
            self.deadline.left()
            states.pop(path, None)
            text = None
            seen = unread.get(path)
            if seen is None:
                seen, text = self.shelf.read(path, folders, keep=False)
            if trusts(path, seen, self.source):
                states[path] = seen
                counted = quick and text is not None
                fresh[path] = matcher.in_text(text or "", 0, seen.has_long_lines).total if counted else None
            elif seen.is_text:
                left_over.add(path)
        self.states = states
        others[:] = left_over
        return fresh

    def _sorted(self, paths: Sequence[str]) -> dict[str, Known]:
        """The files that need not be read before `rg` is trusted with them, and what it says of them."""
        looked_at = self.shelf.look_at((path for path in paths if path != STDIN), self.deadline)
        more = self._named(MORE, list(looked_at))
        ours = self._named(OURS, [path for path in looked_at if path in more])
        found = plain(looked_at, more, ours | self.shut)
        self.shelf.learn(found)
        return found

    def _named(self, regexp: str, paths: Sequence[str]) -> set[str]:
        """The files in which something matches."""
        found: set[str] = set()
        for batch in batches(paths):
            with self._run(NAMES, batch, regexp=regexp) as run:
                found.update(self._despite_shut(names, run, batch, NAMES, regexp))
        return found

    def _run(
        self,
        options: Sequence[str],
        paths: Sequence[str],
        data: bytes | None = None,
        regexp: str | None = None,
    ) -> Run:
        sought = self.source.text if regexp is None else regexp
        words = [self.binary, *_ALWAYS, *options, f"--regexp={sought}", "--", *paths]
        try:
            return Run(words, self.snapshot.top, self.deadline, data)
        except OSError as error:
            raise Unusable(str(error)) from error

    def _take_counts(self, run: Run, batch: Sequence[str]) -> None:
        counts = self._despite_shut(records, run, batch, COUNTS)
        self.counts.update((path, int(count)) for path, count in counts)

    def _despite_shut(
        self,
        take: Callable[[Run], list[T]],
        run: Run,
        paths: Sequence[str],
        options: Sequence[str],
        regexp: str | None = None,
    ) -> list[T]:
        """What a run says; once more without files that cannot be opened, each of which makes `rg` fail.

        Raises:
            Unusable: `rg` failed for another reason.
        """
        try:
            return take(run)
        except Unusable:
            left = self.shelf.readable(paths)
            if len(left) == len(paths):
                raise
        self.shut.update(set(paths).difference(left))
        if not left:  # without a file, `rg` would look for its own
            return []
        with self._run(options, left, regexp=regexp) as again:
            return take(again)

    def _doubtful(self) -> list[str]:
        """Matching files that are not surely what they were while `rg` read them; they are no longer ours."""
        matching = {path: self.states[path] for path in self.counts if path not in self.own}
        if not matching:
            return []
        if self.snapshot.unchanged(self.deadline, matching):
            doubtful = self.shelf.differ(matching, self.deadline)
        else:
            doubtful = list(matching)
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
            found = []
            if known.state == self.states[path].state:
                if easy:
                    found = matcher.in_text(text, self.limit, known.has_long_lines).spots
                else:
                    found = list(spots(text, places.get(path, {})))
            if len(found) == min(self.limit, self.counts[path]):
                hits.extend(hits_in(path, text, found))
            else:
                self._hand_over(path)
                others.append(path)
        return hits

    def _places(self, paths: Sequence[str]) -> dict[str, dict[int, int | None]]:
        """Where the first matches are in the first lines of each file."""
        found: dict[str, dict[int, int | None]] = {}
        with self._run([*PLACES, f"--max-count={self.limit}"], paths) as run:
            for path, value in records(run):
                line, column = place(value)
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
            return _NOTHING
        others[:] = set(others).difference(path for path, _ in texts)
        with self._run(PLACES, [STDIN], "".join(text for _, text in texts).encode()) as run:
            places = [place(value) for _, value in records(run)]
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
                yield from hits_in(path, text, list(spots(text, mine)))
            first = after
