"""What the context file of a folder says, and whether that is still true."""

from __future__ import annotations

from context_pack.contexts.domain.fingerprint import Freshness, Method, compared
from context_pack.contexts.domain.model import (
    Context,
    ContextSummary,
    Corrupt,
    Unsupported,
    Verdict,
    validated,
)
from context_pack.contexts.ports import Check, ContextFormat, ProjectFolder
from context_pack.kernel.ports import Reason

OUTSIDE = Corrupt("it links out of the root")
UNUSABLE = {
    **dict.fromkeys((Reason.IO, Reason.NOT_A_FILE), Corrupt("it cannot be read")),
    Reason.TOO_LARGE: Corrupt("it is larger than 1 MiB"),
}
"""The verdict for a file that exists but cannot be read."""


def context_of(folder: ProjectFolder, form: ContextFormat) -> Verdict | Reason:
    """The whole context; a reason when there is no file, or when it leads out of the root."""
    data = folder.context()
    return UNUSABLE.get(data, data) if isinstance(data, Reason) else validated(form.parse(data))


def gist_of(folder: ProjectFolder, form: ContextFormat) -> ContextSummary | Unsupported | Corrupt | Reason:
    """The few lines that a list needs."""
    verdict = context_of(folder, form)
    return verdict.gist if isinstance(verdict, Context) else verdict


def freshness_of(folder: ProjectFolder, gist: ContextSummary, check: Check) -> Freshness:
    """The freshness of the context compared with its folder now."""
    stat = folder.stat_fingerprint()
    return compared(gist.fingerprint, stat, lambda: folder.content_fingerprint(check))


def fingerprint_of(folder: ProjectFolder, method: Method, check: Check) -> str | None:
    """The fingerprint of the folder as it is now; None when a file cannot be read for it."""
    return folder.stat_fingerprint() if method is Method.STAT else folder.content_fingerprint(check)
