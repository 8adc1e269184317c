"""Bringing the code of the tree into the index: what differs is read, parsed, cut and stored in batches.

Whatever goes wrong with one file costs that file: it is cut into plain lines, or kept without any, and the
index remembers why.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping

from attrs import frozen

from context_pack.kernel.languages import language_of
from context_pack.kernel.syntax import NotParsed, Syntax
from context_pack.memory.domain.code_entries import code_digest, code_entry, skipped_entry
from context_pack.memory.domain.entries import CODE, FAILED, PLAIN, SKIPPED
from context_pack.memory.ports import CodeTree, GoOn, MemoryPorts, always
from context_pack.retrieval.model import IndexEntry, KnownEntry, Progress
from context_pack.retrieval.ports import SearchIndex, Stop
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
        # Here and not above: most processes that could index never have to.

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
