"""Bringing the code of the tree into the index: what differs is read, parsed, cut and stored in batches.

Whoever indexes goes on from what the index knows: nothing else is remembered, so that a kill at any moment
costs at most the batch that was under way. Whatever goes wrong with one file costs that file: it is cut into
plain lines, or kept without any, and the index remembers why.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping

from attrs import frozen

from context_pack.kernel.errors import Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.syntax import NotParsed, Syntax
from context_pack.memory.domain.entries import CODE, FAILED, PLAIN, SKIPPED
from context_pack.memory.ports import CodeTree, FileState, GoOn, MemoryPorts
from context_pack.retrieval.model import Entry, Known, Progress
from context_pack.retrieval.ports import SearchIndex, Stop

FEW_FILES, FEW_BYTES = 50, 1024 * 1024
BATCH_FILES, BATCH_BYTES = 24, 256 * 1024
MOST_NAMED = 5
Outcome = Entry | tuple[str, str]
"""What became of a file: its entry, or its path and new stamp where its content is the indexed one."""


@frozen
class _Text:
    """A file that is to be parsed."""

    path: str
    text: str
    digest: str
    stamp: str


@frozen
class CodePlan:
    """What is to be done: files to read with their stamps, files to forget.

    `total` counts every file that is indexed; `failed` are unchanged files that failed before, and why.
    """

    changed: Mapping[str, str]
    gone: tuple[str, ...]
    bytes: int
    total: int
    skipped: Mapping[str, str]
    failed: Mapping[str, str]

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
    syntax: Syntax

    @classmethod
    def over(cls, ports: MemoryPorts) -> CodeIndexer:
        """The indexer of a project's memory."""
        return cls(ports.tree, ports.index, ports.syntax)

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
        failed = self.failed() if known is None else {}
        known = self.index.known(CODE) if known is None else known
        changed = {path: state.stamp for path, state in wanted.items() if _differs(known.get(path), state)}
        return CodePlan(
            changed,
            tuple(path for path in known if path not in wanted),
            sum(wanted[path].size for path in changed),
            len(wanted),
            {path: state.skipped for path, state in states.items() if state.skipped is not None},
            {path: why for path, why in failed.items() if path in wanted and path not in changed},
        )

    def failed(self) -> dict[str, str]:
        """The indexed files that something is wrong with, and what."""
        return {
            path: str(facts.get(PLAIN) or facts.get(SKIPPED))
            for path, facts in self.index.facts(CODE).items()
            if facts.get(FAILED)
        }

    def carry_out(
        self, plan: CodePlan, stop: Stop = lambda: False, report: Callable[[Progress], None] = lambda _: None
    ) -> Progress:
        """Index what the plan names, in batches, until it is done or `stop` says so; how far it came."""
        if plan.gone:
            self.index.forget(CODE, plan.gone)
        done = plan.total - len(plan.changed)
        known = self.index.known(CODE)
        for batch in _batches(self._outcomes(plan.changed, known), stop):
            self._store([each for each in batch if isinstance(each, Entry)])
            if stamps := dict(each for each in batch if not isinstance(each, Entry)):
                self.index.touch(CODE, stamps)
            done += len(batch)
            report(Progress(done, plan.total))
        return Progress(done, plan.total)

    def _outcomes(self, changed: Mapping[str, str], known: Mapping[str, Known]) -> Iterator[Outcome]:
        """What became of each file, in order: its new stamp where its content is the same, or its entry."""
        # Here and not above: most processes that could index never have to.
        from context_pack.memory.domain.code_entries import code_entry

        read: deque[Outcome | _Text] = deque()

        def texts() -> Iterator[tuple[str, str]]:
            for path, stamp in changed.items():
                read.append(file := self._read(path, stamp, known.get(path)))
                if isinstance(file, _Text):
                    yield language_of(path), file.text

        for parsed in self.syntax.parse_all(texts()):
            while not isinstance(file := read.popleft(), _Text):
                yield file
            try:
                yield code_entry(file.path, file.text, file.digest, file.stamp, parsed)
            except Exception as error:
                why = _unforeseen("parsing", error)
                yield code_entry(file.path, file.text, file.digest, file.stamp, why)
        yield from (file for file in read if not isinstance(file, _Text))

    def _read(self, path: str, stamp: str, before: Known | None) -> Outcome | _Text:
        """A file's text, or what became of a file that needs no parsing."""
        from context_pack.memory.domain.code_entries import code_digest, skipped_entry

        try:
            file = self.tree.read(path)
            if file.skipped is not None:
                return skipped_entry(path, file.stamp, NotParsed(file.skipped, failed=False))
            digest = code_digest(file.text)
        except Exception as error:
            return skipped_entry(path, stamp, _unforeseen("reading", error))
        if before is not None and before.digest == digest:
            return path, file.stamp
        return _Text(path, file.text, digest, file.stamp)

    def _store(self, entries: list[Entry]) -> None:
        """Store these entries; one that cannot be tokenised or embedded is kept without pieces.

        Raises:
            Failure: the index cannot be written.
        """
        from context_pack.memory.domain.code_entries import skipped_entry

        if not entries:
            return
        try:
            self.index.replace(entries)
        except Failure:
            raise
        except Exception as error:
            if len(entries) == 1:
                (entry,) = entries
                self.index.replace([skipped_entry(entry.key, entry.stamp, _unforeseen("indexing", error))])
                return
            for entry in entries:
                self._store([entry])


def _unforeseen(doing: str, error: Exception) -> NotParsed:
    return NotParsed(f"{doing} it failed inside ({type(error).__name__})")


def failed_in_words(failed: Mapping[str, str]) -> str | None:
    """One sentence that names the files something is wrong with, a few of many; None without any."""
    if not failed:
        return None
    named = [f"{path}: {why}" for path, why in sorted(failed.items())[:MOST_NAMED]]
    more = [f"and {len(failed) - MOST_NAMED} more"] if len(failed) > MOST_NAMED else []
    return f"not indexed as code ({', '.join((*named, *more))})"


def _differs(known: Known | None, state: FileState) -> bool:
    return known is None or known.stamp != state.stamp


def _batches(outcomes: Iterable[Outcome], stop: Stop) -> Iterator[list[Outcome]]:
    """The outcomes in batches that are quickly written; what was read when `stop` comes is still written."""
    batch: list[Outcome] = []
    weight = 0
    for each in outcomes:
        batch.append(each)
        weight += each.size if isinstance(each, Entry) else 0
        stopped = stop()
        if stopped or len(batch) >= BATCH_FILES or weight >= BATCH_BYTES:
            yield batch
            batch, weight = [], 0
        if stopped:
            return
    if batch:
        yield batch
