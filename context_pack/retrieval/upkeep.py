"""Keeps a corpus of an index in step with its source.

A survey tells the state of every file. What differs from what the index remembers is read, and stored if its
content differs too, a few files at a time. Only the index remembers how far this came, so whoever is stopped
or killed on the way has lost one batch, and the next run goes on from there.

What the index remembers has to be asked for before the survey that says what is gone: then what another
process adds meanwhile is never taken for gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from attrs import define, field, frozen

from context_pack.kernel.errors import Failure
from context_pack.retrieval.model import IndexEntry, KnownEntry, Progress
from context_pack.retrieval.ports import Background, SearchIndex, Stop

SMALL_BYTES = 1024 * 1024
BATCH_FILES, BATCH_CHARACTERS = 32, 256 * 1024

Report = Callable[[int, int, str], None]
"""(files done, files to do, the one that was done last)."""


class File(NamedTuple):
    """The state of a file: what changes with it, its bytes, and why it is not indexed, if it is not."""

    stamp: str
    size: int
    skipped: str | None = None


class Unchanged(NamedTuple):
    """A file that was read and says what is indexed of it; its stamp is a new one."""

    key: str
    stamp: str


class Gone(NamedTuple):
    """A file of which nothing is to be found any more."""

    key: str


Outcome = IndexEntry | Unchanged | Gone
"""What became of a file that was read."""
Spoiled = Callable[[IndexEntry, Exception], Outcome]
"""Returns the entry to store instead of one that could not be indexed."""


@frozen
class IndexPlan:
    """What is to be done: the files there are, those to read, the keys to forget, and what is indexed."""

    files: Mapping[str, File] = field(factory=dict)
    changed: Mapping[str, File] = field(factory=dict)
    gone: tuple[str, ...] = ()
    known: Mapping[str, KnownEntry] = field(factory=dict)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return not self.changed and not self.gone

    @property
    def skipped(self) -> dict[str, str]:
        """Files that are not indexed, and why."""
        return {key: file.skipped for key, file in self.files.items() if file.skipped is not None}

    @property
    def progress(self) -> Progress:
        """How many of the files are indexed as they are."""
        total = sum([file.skipped is None for file in self.files.values()])
        return Progress(total - len(self.changed), total)

    def is_small(self, most_files: int) -> bool:
        """Whether the plan is small enough to do within a call."""
        size = sum(file.size for file in self.changed.values())
        return len(self.changed) <= most_files and size <= SMALL_BYTES

    def is_left_to(self, background: Background | None, task: str, most_files: int) -> bool:
        """Whether the plan is large enough to leave to the background worker."""
        return not self.is_small(most_files) and background is not None and background.start(task)

    def has(self, key: str, digest: str) -> bool:
        """Whether that content is indexed under a key."""
        return key in self.known and self.known[key].digest == digest


def compared(
    known: Mapping[str, KnownEntry], files: Mapping[str, File], failed: Mapping[str, str]
) -> IndexPlan:
    """Compare files with the index; files that `failed` with the same stamp are left alone."""
    changed = {
        key: file
        for key, file in files.items()
        if file.skipped is None and file.stamp != (known[key].stamp if key in known else failed.get(key))
    }
    gone = tuple(key for key in known if key not in files or files[key].skipped is not None)
    return IndexPlan(files, changed, gone, known)


@define
class Upkeep:
    """One run over a corpus: what is stored, and how much of it is new."""

    index: SearchIndex
    corpus: str
    plan: IndexPlan
    spoiled: Spoiled
    added: int = 0
    updated: int = 0
    done: int = 0

    def carry_out(
        self,
        outcomes: Iterable[Outcome],
        stop: Stop = lambda: False,
        report: Report = lambda _, __, ___: None,
    ) -> bool:
        """Forget what is gone and store what became of each changed file; whether that was all of them.

        What was read when `stop` says yes is still stored.

        Raises:
            Failure: the index cannot be written.
        """
        if self.plan.gone:
            self.index.forget(self.corpus, self.plan.gone)
        batch: list[Outcome] = []
        weight = 0
        for outcome in outcomes:
            batch.append(outcome)
            weight += outcome.size if isinstance(outcome, IndexEntry) else 0
            self.done += 1
            report(self.done, len(self.plan.changed), outcome.key)
            stopped = stop()
            if stopped or len(batch) >= BATCH_FILES or weight >= BATCH_CHARACTERS:
                self._store(batch)
                batch, weight = [], 0
            if stopped:
                break
        self._store(batch)
        return self.done >= len(self.plan.changed)

    def _store(self, batch: Sequence[Outcome]) -> None:
        known = self.plan.known
        if stamps := {one.key: one.stamp for one in batch if isinstance(one, Unchanged) and one.key in known}:
            self.index.touch(self.corpus, stamps)
        if gone := [one.key for one in batch if isinstance(one, Gone) and one.key in known]:
            self.index.forget(self.corpus, gone)
        if entries := [one for one in batch if isinstance(one, IndexEntry)]:
            self._replace(entries)

    def _replace(self, entries: Sequence[IndexEntry]) -> None:
        """Store these entries; one that cannot be tokenised or embedded costs no other."""
        try:
            self.index.replace(entries)
        except Failure:
            raise
        except Exception as error:
            for entry in entries if len(entries) > 1 else ():
                self._replace([entry])
            if len(entries) == 1:
                if not entries[0].pieces:  # nothing in it to fail on
                    raise
                self._store([self.spoiled(entries[0], error)])
            return
        updated = sum(entry.key in self.plan.known for entry in entries)
        self.updated += updated
        self.added += len(entries) - updated


def embed_rest(background: Background | None, task: str, semantic: Progress | None) -> str | None:
    """Let the background embed what has no semantic vector yet; why it failed to, the last time."""
    if background is None or semantic is None or semantic.done >= semantic.total:
        return None
    background.start(task)
    return background.trouble(task)
