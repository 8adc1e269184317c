"""The one gate: everything that is written down about the project, and whether it still holds.

Packs, discoveries, the contexts of folders and bundles are asked alike. What cannot be read does not hold;
what could not be looked at just now (a database that is away) is unknown, and hides nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from attrs import frozen

from context_pack.kernel.errors import Failure
from context_pack.knowledge.about import KnownHere
from context_pack.knowledge.diffs import ChangedFile
from context_pack.knowledge.model import COSMETIC, SEVERITY, Known, Verdict, ranked, unreadable
from context_pack.knowledge.ports import KnownSource
from context_pack.toolkit.call import Check, never_cancelled

WORK_IN_PROGRESS = "HEAD"


@frozen
class Count:
    """How many rows of one family there are, and how many of them fail or could not be decided."""

    checked: int
    failing: int
    unknown: int


@frozen(slots=False)
class Report:
    """What a gate looked at, family by family; a row is one sentence about one place."""

    families: Mapping[str, Sequence[Known]]
    is_of_a_change: bool = False
    """Whether it is about what a change touches, and not about everything."""

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
    def counts(self) -> Mapping[str, Count]:
        """How many rows of each family there are."""
        return {
            name: Count(
                len(rows),
                sum(row.verdict is Verdict.FAILS for row in rows),
                sum(row.verdict is Verdict.UNKNOWN for row in rows),
            )
            for name, rows in self.families.items()
        }


@frozen
class Gate:
    """Checks what is written down, all of it or what a change touches."""

    here: KnownHere
    sources: Mapping[str, KnownSource]
    """By family: packs, discoveries, contexts, bundles."""

    def verify(self, check: Check = never_cancelled) -> Report:
        """Every sentence with the state of its code; changes nothing."""
        return Report({family: _rows(family, source, check) for family, source in self.sources.items()})

    def affected(self, base: str = WORK_IN_PROGRESS, check: Check = never_cancelled) -> Report:
        """What rests on code that was changed since a revision, whether it holds or not.

        Raises:
            Failure: there is no version control, or no such revision.
        """
        return self.touched_by(self.here.files_of(base), check)

    def touched_by(self, files: Sequence[ChangedFile], check: Check = never_cancelled) -> Report:
        """What rests on code that a diff changes."""
        report = self.verify(check)
        return Report(
            {
                family: [row for row in rows if any(row.is_touched_by(file) for file in files)]
                for family, rows in report.families.items()
            },
            is_of_a_change=True,
        )


def _rows(family: str, source: KnownSource, check: Check) -> Sequence[Known]:
    rows: Iterable[Known]
    try:
        rows = list(source.known(None, check))
    except Failure as failure:
        rows = [unreadable(family, failure)]
    return ranked(rows, ())
