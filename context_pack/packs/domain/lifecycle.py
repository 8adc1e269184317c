"""The life of a pack as a table: what may be done to it in each status, and what it becomes.

What is not in the table is refused. A finalized pack keeps its content: others rely on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from context_pack.kernel.errors import Code, Failure
from context_pack.packs.domain.model import Pack, Status


class Deed(StrEnum):
    """What can be done to a pack."""

    EDIT = "edit"
    TOUCH = "touch"
    FINALIZE = "finalize"
    REOPEN = "reopen"
    DELETE = "delete"


DRAFT, FINALIZED = Status.DRAFT, Status.FINALIZED

BECOMES: Mapping[Status, Mapping[Deed, Status | None]] = {
    DRAFT: {
        Deed.EDIT: DRAFT,
        Deed.TOUCH: DRAFT,
        Deed.FINALIZE: FINALIZED,
        Deed.REOPEN: DRAFT,
        Deed.DELETE: None,
    },
    FINALIZED: {
        Deed.TOUCH: FINALIZED,
        Deed.FINALIZE: FINALIZED,
        Deed.REOPEN: DRAFT,
        Deed.DELETE: None,
    },
}

DEED_OF: Mapping[Status, Deed] = {FINALIZED: Deed.FINALIZE, DRAFT: Deed.REOPEN}
"""The deed that `set_status` asks for."""


def check_allowed(pack: Pack, deed: Deed) -> None:
    """Return only if the pack's status allows the deed.

    Raises:
        Failure: `invalid_state`.
    """
    if deed not in BECOMES[pack.status]:
        message = f"the pack is {pack.status}, and its content is fixed; set_status to draft first"
        raise Failure(Code.INVALID_STATE, message, {"status": pack.status.value})


def check_has_content(pack: Pack) -> None:
    """Return only if there is something to hand over: a ref or a diagram.

    Raises:
        Failure: `invalid_state`.
    """
    if not any(section.refs or section.diagrams for section in pack.sections):
        message = "the pack is empty; add a ref or a diagram, then finalize it"
        raise Failure(Code.INVALID_STATE, message, {"status": pack.status.value})


def check_status(pack: Pack, wanted: Status | None) -> None:
    """Return only if the pack has the status that the reader insists on.

    Raises:
        Failure: `invalid_state`, naming both.
    """
    if wanted is not None and pack.status is not wanted:
        message = f"the pack is {pack.status}, not {wanted}; ask for {pack.status} or leave the status out"
        details = {"status": pack.status.value, "required": wanted.value}
        raise Failure(Code.INVALID_STATE, message, details)


def untrustworthy(refs: Sequence[Mapping[str, object]]) -> Failure:
    """The refusal to finalize over refs whose code is not the promised code."""
    count = f"{len(refs)} ref{'' if len(refs) == 1 else 's'}"
    message = f"{count} cannot be relied on; see details.refs, upsert or delete each, then finalize again"
    return Failure(Code.STALE_REF, message, {"refs": list(refs)})
