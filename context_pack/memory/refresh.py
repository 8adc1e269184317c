"""Keeps the index current: discoveries and packs on every call, code by the state of its files.

A look at the tree costs names and states only; what differs from the index is read, and indexed again if its
content differs too. A few changed files are indexed before the answer; many are left to the background, and
the answer says how far it is. Whatever goes wrong with one file costs that file: it is cut into plain lines,
or kept without any, and the index remembers why.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping

from attrs import evolve, frozen

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath, module_of
from context_pack.kernel.syntax import NotParsed, Syntax
from context_pack.kernel.times import format_instant
from context_pack.memory.entries import (
    CODE,
    CORPORA,
    DISCOVERY,
    FAILED,
    PACK,
    PLAIN,
    SESSION,
    SKIPPED,
    discovery_entry,
    pack_entry,
    session_entry,
)
from context_pack.memory.ports import CodeTree, GoOn, MemoryPorts, PackNote, PackNotes, always
from context_pack.memory.snippets import code_digest, code_entry, skipped_entry
from context_pack.retrieval.model import IndexEntry, KnownEntry, Progress
from context_pack.retrieval.ports import Background, SearchIndex, Stop
from context_pack.retrieval.upkeep import IndexPlan, Outcome, Unchanged, Upkeep, compared

MOST_NAMED = 5


@frozen
class _Text:
    """A file that is to be parsed."""

    path: str
    text: str
    digest: str
    stamp: str


@frozen
class CodeIndexer:
    """Brings the code of the tree into the index."""

    tree: CodeTree
    index: SearchIndex
    syntax: Callable[[], Syntax]
    """Loads it: mostly there is nothing to parse."""

    @classmethod
    def over(cls, ports: MemoryPorts) -> CodeIndexer:
        """The indexer of a project's memory."""
        return cls(ports.tree, ports.index, lambda: ports.syntax)

    def plan(self, known: Mapping[str, KnownEntry] | None = None) -> IndexPlan:
        """The plan of changes between the tree and the index, or the given known state of it."""
        plan = self.plan_within(always, known)
        assert plan is not None, "who may take all the time sees the whole tree"
        return plan

    def plan_within(self, go_on: GoOn, known: Mapping[str, KnownEntry] | None = None) -> IndexPlan | None:
        """The plan of changes; None if the survey was not finished while `go_on` returned true."""
        known = self.index.known(CODE) if known is None else known
        files = self.tree.survey(go_on)
        return None if files is None else compared(known, files, {})

    def failed(self) -> dict[str, str]:
        """The indexed files that something is wrong with, and what."""
        return {
            path: str(facts.get(PLAIN) or facts.get(SKIPPED))
            for path, facts in self.index.facts(CODE).items()
            if facts.get(FAILED)
        }

    def carry_out(
        self, plan: IndexPlan, stop: Stop = lambda: False, report: Callable[[Progress], None] = lambda _: None
    ) -> Progress:
        """Index what the plan names, until it is done or `stop` says so; how far it came."""
        before, total = plan.progress.done, plan.progress.total
        upkeep = Upkeep(self.index, CODE, plan, _spoiled)
        upkeep.carry_out(
            self._outcomes(plan), stop, lambda done, _, __: report(Progress(before + done, total))
        )
        return Progress(before + upkeep.done, total)

    def _outcomes(self, plan: IndexPlan) -> Iterator[Outcome]:
        """What became of each changed file, in order; texts are parsed ahead."""
        read: deque[Outcome | _Text] = deque()

        def texts() -> Iterator[tuple[str, str]]:
            for path, state in plan.changed.items():
                read.append(file := self._read(path, state.stamp, plan))
                if isinstance(file, _Text):
                    yield language_of(path), file.text

        for parsed in self.syntax().parse_all(texts()):
            while not isinstance(file := read.popleft(), _Text):
                yield file
            try:
                yield code_entry(file.path, file.text, file.digest, file.stamp, parsed)
            except Exception as error:
                why = _unforeseen("parsing", error)
                yield code_entry(file.path, file.text, file.digest, file.stamp, why)
        yield from (file for file in read if not isinstance(file, _Text))

    def _read(self, path: str, stamp: str, plan: IndexPlan) -> Outcome | _Text:
        """A file's text, or what became of a file that needs no parsing."""
        try:
            file = self.tree.read(path)
            if file.skipped is not None:
                return skipped_entry(path, file.stamp, NotParsed(file.skipped, failed=False))
            digest = code_digest(file.text)
        except Exception as error:
            return skipped_entry(path, stamp, _unforeseen("reading", error))
        if plan.has(path, digest):
            return Unchanged(path, file.stamp)
        return _Text(path, file.text, digest, file.stamp)


def _spoiled(entry: IndexEntry, error: Exception) -> IndexEntry:
    """A file that cannot be tokenised or embedded is kept without pieces."""
    return skipped_entry(entry.key, entry.stamp, _unforeseen("indexing", error))


def _unforeseen(doing: str, error: Exception) -> NotParsed:
    return NotParsed(f"{doing} it failed inside ({type(error).__name__})")


def failed_in_words(failed: Mapping[str, str]) -> tuple[str, ...]:
    """One sentence that names the files something is wrong with, a few of many; none without any."""
    if not failed:
        return ()
    named = [f"{path}: {why}" for path, why in sorted(failed.items())[:MOST_NAMED]]
    more = [f"and {len(failed) - MOST_NAMED} more"] if len(failed) > MOST_NAMED else []
    return (f"not indexed as code ({', '.join((*named, *more))})",)


Known = Mapping[str, Mapping[str, KnownEntry]]
"""What the index remembers of each entry, by corpus and key."""
Tell = Callable[[int, int], None]
"""Called with how many files of how many are indexed."""
TASK = "memory"
FEW_FILES = 50
"""Up to this many changed files are indexed within a call."""
SURVEY_SECONDS = 2.0
FIRST_SECONDS, SLICE_SECONDS = 8.0, 0.25
"""How long the first search of a project waits for its index, and how often it looks."""
MOMENT_SECONDS = 1.0
"""How long a call indexes by itself where no background can be started."""


@frozen
class Refreshed:
    """How far the code is while the index is behind, and what could not be read or indexed as it should."""

    indexing: Progress | None
    warnings: tuple[str, ...] = ()


@frozen
class Refresher:
    """Brings everything that memory searches up to date, within what a call may take."""

    ports: MemoryPorts
    packs: PackNotes
    monotonic: Callable[[], float]

    def refresh(self, check: Callable[[], None] = lambda: None, tell: Tell = lambda _, __: None) -> Refreshed:
        """Check everything; index small changes, leave large ones to the worker; `tell` gets the progress.

        Raises:
            Failure: `malformed_discovery`, or what the index raises.
        """
        known = self.ports.index.known_each(CORPORA)
        warnings = (*self._refresh_discoveries(known), *self._refresh_packs(known))
        self._replace(SESSION, map(session_entry, self.ports.sessions.past()), known)
        code = self._refresh_code(check, tell, known[CODE])
        return evolve(code, warnings=(*warnings, *code.warnings)) if warnings else code

    def _refresh_discoveries(self, known: Known) -> Iterator[str]:
        """Index the discoveries; an unreachable store is a warning, and its old index is searched."""
        try:
            self._replace(DISCOVERY, map(discovery_entry, self.ports.discoveries.all()), known)
        except Failure as failure:
            if failure.code is not Code.UNAVAILABLE:
                raise
            yield f"discoveries may be out of date: {failure.message}"

    def _refresh_packs(self, known: Known) -> Iterator[str]:
        """Index the packs; unreadable ones are a warning and are not searched."""
        try:
            entries = [_pack_entry(note) for note in self.packs.notes()]
        except Failure as failure:
            if failure.code is Code.INTERNAL:
                raise
            if failure.code is Code.UNAVAILABLE:
                yield f"packs may be out of date: {failure.message}"
                return
            self._replace(PACK, [], known)
            yield f"packs are not searched: {failure.message}"
        else:
            self._replace(PACK, entries, known)

    def _replace(self, corpus: str, entries: Iterable[IndexEntry], known: Known) -> None:
        """Make a corpus hold exactly these entries; the same ones cost nothing."""
        old, fresh = known[corpus], {entry.key: entry for entry in entries}
        changed = [entry for key, entry in fresh.items() if key not in old or old[key].digest != entry.digest]
        if changed:
            self.ports.index.replace(changed)
        if gone := old.keys() - fresh.keys():
            self.ports.index.forget(corpus, sorted(gone))

    def _refresh_code(
        self, check: Callable[[], None], tell: Tell, known: Mapping[str, KnownEntry]
    ) -> Refreshed:
        """How far the index is if it is behind, and which files something is wrong with."""
        indexer, background = CodeIndexer.over(self.ports), self.ports.background
        go_on = self._within(check, None if background is None else SURVEY_SECONDS)
        plan = indexer.plan_within(go_on, known)
        if plan is None:
            assert background is not None
            left, first = background.start(TASK), not known
        else:
            left = plan.is_left_to(background, TASK, FEW_FILES)
            first = left and not plan.progress.done
        if left and first and background is not None:
            # Nothing of this project is indexed yet: an answer now would look as if there were nothing.
            self._await(background, 0 if plan is None else plan.progress.total, check, tell)
            plan = indexer.plan_within(self._within(check, SURVEY_SECONDS)) or plan
            left = plan is not None and not plan.is_small(FEW_FILES)
        if plan is None:
            count = len(self.ports.index.known(CODE))
            return Refreshed(Progress(count, count), failed_in_words(indexer.failed()))
        if left:
            todo = {*plan.changed, *plan.gone}
            unchanged = {path: why for path, why in indexer.failed().items() if path not in todo}
            return Refreshed(plan.progress, failed_in_words(unchanged))
        behind = None
        if not plan.is_idle:
            hurried = background is not None and not plan.is_small(FEW_FILES)
            go_on = self._within(check, MOMENT_SECONDS if hurried else None)
            done = indexer.carry_out(plan, lambda: not go_on())
            behind = None if done.done >= done.total else done
        return Refreshed(behind, failed_in_words(indexer.failed()))

    def _await(self, background: Background, total: int, check: Callable[[], None], tell: Tell) -> None:
        """Wait for the first index, for a bounded time."""
        end = self.monotonic() + FIRST_SECONDS
        while self.monotonic() < end and not background.wait(TASK, SLICE_SECONDS):
            check()
            done = len(self.ports.index.known(CODE))
            tell(done, max(done, total))

    def _within(self, check: Callable[[], None], seconds: float | None) -> GoOn:
        """Says yes for so many seconds, and for ever without any; asks `check` each time."""
        end = None if seconds is None else self.monotonic() + seconds

        def go_on() -> bool:
            check()
            return end is None or self.monotonic() < end

        return go_on


def _pack_entry(note: PackNote) -> IndexEntry:
    """A section or ref of a pack as an entry; a ref belongs to the module of its file."""
    facts = {
        "pack": note.pack,
        "section": note.section,
        "ref": note.ref,
        "path": note.path,
        "startLine": note.start,
        "endLine": note.end,
        "worktree": note.worktree,
        "date": format_instant(note.updated, whole_seconds=True),
    }
    key = "/".join(filter(None, (note.pack, note.section, note.ref)))
    module = "" if note.path is None else module_of(RelativePath(note.path))
    return pack_entry(key, note.title, note.text, module, {k: v for k, v in facts.items() if v is not None})
