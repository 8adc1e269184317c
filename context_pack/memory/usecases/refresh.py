"""Keeping the index true: notes on every call, code by the state of its files.

A look at the tree costs names and states only; what differs from the index is read, and indexed again if its
content differs too. A few changed files are indexed before the answer; many are left to the background, and
the answer says how far it is. Whoever indexes goes on from what the index knows: nothing else is remembered,
so that a kill at any moment costs at most the batch that was under way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from attrs import frozen

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.instants import format_instant
from context_pack.kernel.paths import RelativePath, module_of
from context_pack.memory.domain.entries import (
    CODE,
    DISCOVERY,
    PACK,
    SESSION,
    discovery_entry,
    pack_entry,
    session_entry,
)
from context_pack.memory.ports import CodeTree, FileState, GoOn, MemoryPorts, PackNote, PackNotes
from context_pack.retrieval.model import Entry, Known, Progress
from context_pack.retrieval.ports import SearchIndex, Stop

ERRAND = "memory"
FEW_FILES, FEW_BYTES = 50, 1024 * 1024
BATCH_FILES, BATCH_BYTES = 24, 256 * 1024
SURVEY_SECONDS = 2.0
MOMENT_SECONDS = 1.0
"""How long a call indexes by itself where no background can be started."""


@frozen
class CodePlan:
    """What is to be done: files to read, files to forget; `total` counts every file that is indexed."""

    changed: tuple[str, ...]
    gone: tuple[str, ...]
    bytes: int
    total: int
    skipped: Mapping[str, str]

    @property
    def small(self) -> bool:
        """Whether it can be done while somebody waits."""
        return len(self.changed) <= FEW_FILES and self.bytes <= FEW_BYTES

    @property
    def progress(self) -> Progress:
        """How far the index is."""
        return Progress(self.total - len(self.changed), self.total)


@frozen
class CodeIndexer:
    """Brings the code of the tree into the index."""

    tree: CodeTree
    index: SearchIndex

    def plan(self, known: Mapping[str, Known] | None = None) -> CodePlan:
        """What differs between the tree and the index, or what is said to be known of it."""
        states = self.tree.survey()
        assert states is not None, "who may take all the time sees the whole tree"
        return self._compared(states, known)

    def plan_within(self, go_on: GoOn) -> CodePlan | None:
        """The same, or None when the tree could not be looked at while `go_on` said yes."""
        states = self.tree.survey(go_on)
        return None if states is None else self._compared(states, None)

    def _compared(self, states: Mapping[str, FileState], known: Mapping[str, Known] | None) -> CodePlan:
        wanted = {path: state for path, state in states.items() if state.skipped is None}
        known = self.index.known(CODE) if known is None else known
        changed = tuple(path for path, state in wanted.items() if _differs(known.get(path), state))
        return CodePlan(
            changed,
            tuple(path for path in known if path not in wanted),
            sum(wanted[path].size for path in changed),
            len(wanted),
            {path: state.skipped for path, state in states.items() if state.skipped is not None},
        )

    def carry_out(
        self, plan: CodePlan, stop: Stop = lambda: False, report: Callable[[Progress], None] = lambda _: None
    ) -> Progress:
        """Index what the plan names, in batches, until it is done or `stop` says so; how far it came."""
        if plan.gone:
            self.index.forget(CODE, plan.gone)
        done = plan.total - len(plan.changed)
        known = self.index.known(CODE)
        for batch in _batches(self._entries(plan.changed, known), stop):
            if entries := [each for each in batch if isinstance(each, Entry)]:
                self.index.replace(entries)
            if stamps := dict(each for each in batch if not isinstance(each, Entry)):
                self.index.touch(CODE, stamps)
            done += len(batch)
            report(Progress(done, plan.total))
        return Progress(done, plan.total)

    def _entries(self, paths: Iterable[str], known: Mapping[str, Known]) -> Iterator[Entry | tuple[str, str]]:
        """Each file as an entry, or as a new stamp where its content is the indexed one."""
        # Here and not above: most processes that could index never have to.
        from context_pack.memory.domain.code_entries import code_digest, code_entry

        for path in paths:
            file = self.tree.read(path)
            if file.skipped is not None:
                # Kept without pieces, so that it is not read again before it changes.
                yield Entry(CODE, path, f"skipped: {file.skipped}", file.stamp)
                continue
            digest = code_digest(file.text)
            before = known.get(path)
            if before is not None and before.digest == digest:
                yield path, file.stamp
            else:
                yield code_entry(path, file.text, digest, file.stamp)


def _differs(known: Known | None, state: FileState) -> bool:
    return known is None or known.stamp != state.stamp


def _batches(
    entries: Iterator[Entry | tuple[str, str]], stop: Stop
) -> Iterator[list[Entry | tuple[str, str]]]:
    """The entries in batches that are quickly written; what was read when `stop` comes is still written."""
    batch: list[Entry | tuple[str, str]] = []
    weight = 0
    for entry in entries:
        batch.append(entry)
        weight += entry.size if isinstance(entry, Entry) else 0
        stopped = stop()
        if stopped or len(batch) >= BATCH_FILES or weight >= BATCH_BYTES:
            yield batch
            batch, weight = [], 0
        if stopped:
            return
    if batch:
        yield batch


@frozen
class Refreshed:
    """How far the code is while the index is behind, and what could not be read."""

    indexing: Progress | None
    warnings: tuple[str, ...] = ()


@frozen
class Refresher:
    """Brings everything that memory searches up to date, within what a call may take."""

    ports: MemoryPorts
    packs: PackNotes
    monotonic: Callable[[], float]

    def refresh(self, check: Callable[[], None] = lambda: None) -> Refreshed:
        """Look at everything; index what is little, and have the rest indexed.

        Raises:
            Failure: `malformed_discovery`, or what the index raises.
        """
        self._replace(DISCOVERY, map(discovery_entry, self.ports.discoveries.all()))
        self._replace(SESSION, map(session_entry, self.ports.sessions.past()))
        warnings = tuple(self._refresh_packs())
        return Refreshed(self._refresh_code(check), warnings)

    def _refresh_packs(self) -> Iterator[str]:
        """Packs that cannot be read are told of, not searched: the rest is worth finding without them."""
        try:
            entries = [_pack_entry(note) for note in self.packs.notes()]
        except Failure as failure:
            if failure.code is Code.INTERNAL:
                raise
            self._replace(PACK, [])
            yield f"packs are not searched: {failure.message}"
        else:
            self._replace(PACK, entries)

    def _replace(self, corpus: str, entries: Iterable[Entry]) -> None:
        """Make a corpus hold exactly these entries; the same ones cost nothing."""
        known, fresh = self.ports.index.known(corpus), {entry.key: entry for entry in entries}
        changed = [
            entry for key, entry in fresh.items() if key not in known or known[key].digest != entry.digest
        ]
        if changed:
            self.ports.index.replace(changed)
        if gone := known.keys() - fresh.keys():
            self.ports.index.forget(corpus, sorted(gone))

    def _planned(self, indexer: CodeIndexer, check: Callable[[], None]) -> CodePlan | None:
        """What is to be done; None for a tree that is too large to be looked at while somebody waits."""
        end = self.monotonic() + SURVEY_SECONDS

        def go_on() -> bool:
            check()
            return self.ports.background is None or self.monotonic() < end

        return indexer.plan_within(go_on)

    def _refresh_code(self, check: Callable[[], None]) -> Progress | None:
        indexer, background = CodeIndexer(self.ports.tree, self.ports.index), self.ports.background
        plan = self._planned(indexer, check)
        if plan is None:
            assert background is not None
            background.start(ERRAND)
            known = len(self.ports.index.known(CODE))
            return Progress(known, known)
        if not plan.changed and not plan.gone:
            return None
        stop = _never(check)
        if background is not None and not plan.small:
            if background.start(ERRAND):
                return plan.progress
            end = self.monotonic() + MOMENT_SECONDS
            stop = _until(self.monotonic, end, check)
        done = indexer.carry_out(plan, stop)
        return None if done.done >= done.total else done


def _never(check: Callable[[], None]) -> Stop:
    def stop() -> bool:
        check()
        return False

    return stop


def _until(monotonic: Callable[[], float], end: float, check: Callable[[], None]) -> Stop:
    def stop() -> bool:
        check()
        return monotonic() >= end

    return stop


def _pack_entry(note: PackNote) -> Entry:
    """A section or ref of a pack as an entry; a ref belongs to the module of its file."""
    facts = {
        "pack": note.pack,
        "section": note.section,
        "ref": note.ref,
        "path": note.path,
        "startLine": note.start,
        "endLine": note.end,
        "date": format_instant(note.updated, whole_seconds=True),
    }
    key = "/".join(filter(None, (note.pack, note.section, note.ref)))
    module = "" if note.path is None else module_of(RelativePath(note.path))
    return pack_entry(key, note.title, note.text, module, {k: v for k, v in facts.items() if v is not None})
