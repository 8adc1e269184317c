"""What the knowledge of a place asks of the other features and of the world."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange
from context_pack.knowledge.model import Known
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


class ChangesSince(Protocol):
    """What version control knows."""

    def since(self, base: str, /) -> str:
        """What differs between a revision and the files as they are, as a unified diff without context.

        Raises:
            Failure: there is no repository, or no such revision.
        """

    def head(self) -> str:
        """The commit that the project is at; raises `Failure` without one."""
