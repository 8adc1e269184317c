"""What the code use cases ask of the world besides the kernel's ports: a search, and a memory of reads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from context_pack.code.access import ContextItem
from context_pack.code.search import FoundLines, LineQuery
from context_pack.kernel.paths import RelativePath
from context_pack.toolkit.call import Call


class CodeSearch(Protocol):
    """Searches the text files under the source root, behind the path policy and the ignore files.

    The project's files come first, then our own: contexts, and what is in the storage folder.
    """

    def search(self, query: LineQuery, call: Call) -> FoundLines:
        """The lines that match, or those that were found in time.

        Raises:
            Failure: `invalid_data` for a pattern or glob that means nothing, `timed_out` before any file.
            Cancelled: the caller has withdrawn the call.
        """


class AccessLog(Protocol):
    """Remembers which files were read; recording never waits for a disk and never fails."""

    def record(self, path: RelativePath, at: datetime) -> None:
        """Count one more read of the file."""

    def items(self) -> Sequence[ContextItem]:
        """Every file that was ever read, the best score first."""
