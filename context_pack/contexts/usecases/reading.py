"""What the context file of a folder says, found out once for as long as the folder stays as it is."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from context_pack.contexts.domain.fingerprint import Method
from context_pack.contexts.domain.freshness import Freshness, compared
from context_pack.contexts.domain.model import Context, Corrupt, Gist, Unsupported, Verdict, judged
from context_pack.contexts.domain.quick import gist_of
from context_pack.contexts.ports import Check, ContextFormat, Folder, Malformed, Refusal

OUTSIDE = Corrupt("it links out of the root")
UNUSABLE = {
    Refusal.UNREADABLE: Corrupt("it cannot be read"),
    Refusal.TOO_LARGE: Corrupt("it is larger than 1 MiB"),
}
"""What a file is that is there and cannot be had."""


@frozen
class ContextReader:
    """Reads and judges context files."""

    format: ContextFormat

    def judge(self, data: bytes) -> Verdict:
        """What a file of these bytes is."""
        return self.judge_parsed(self.format.parse(data))

    def judge_parsed(self, parsed: Any) -> Verdict:
        """What a file that was parsed to this is."""
        return Corrupt(parsed.reason) if isinstance(parsed, Malformed) else judged(parsed)

    def read(self, folder: Folder) -> Verdict | Refusal | None:
        """The whole context; None when there is no file, a refusal when it leads out of the root."""
        data = folder.context()
        if isinstance(data, Refusal):
            return UNUSABLE.get(data, data)
        return None if data is None else self.judge(data)

    def gist(self, folder: Folder) -> Gist | Unsupported | Corrupt | Refusal | None:
        """The few lines that a list needs; most files are not even parsed for it."""
        if "gist" not in folder.memo:
            folder.memo["gist"] = self._gist(folder)
        found: Gist | Unsupported | Corrupt | Refusal | None = folder.memo["gist"]
        return found

    def _gist(self, folder: Folder) -> Gist | Unsupported | Corrupt | Refusal | None:
        data = folder.context()
        quick = gist_of(data) if isinstance(data, bytes) else None
        if quick is not None:
            return quick
        verdict = self.read(folder)
        return verdict.gist if isinstance(verdict, Context) else verdict


def freshness_of(folder: Folder, gist: Gist, check: Check) -> Freshness:
    """How the context stands to its folder as it is now."""
    known: Freshness | None = folder.memo.get("freshness")
    if known is None or known.stored != gist.fingerprint:
        stat = folder.stat_fingerprint()
        known = compared(gist.fingerprint, stat, lambda: folder.content_fingerprint(check))
        folder.memo["freshness"] = known
    return known


def fingerprint_of(folder: Folder, method: Method, check: Check) -> str | None:
    """The fingerprint of the folder as it is now; None when a file cannot be read for it."""
    return folder.stat_fingerprint() if method is Method.STAT else folder.content_fingerprint(check)
