"""What is told about checked refs: the state of each, as a value and as plain data."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from context_pack.packs.domain.model import Ref, Section
from context_pack.packs.domain.record import lines_record
from context_pack.packs.domain.states import Resolution


@frozen
class Checked:
    """A ref, the section it is in, and what became of its code."""

    section: Section
    ref: Ref
    resolution: Resolution


def state_record(checked: Checked) -> dict[str, Any]:
    """A ref's state with where it points, where its code is and why not."""
    found = checked.resolution.found
    return {
        **_place(checked),
        "state": checked.resolution.state.value,
        "found": None if found is None else {"path": str(found.path), "lines": lines_record(found.lines)},
        "reason": checked.resolution.reason,
    }


def problem_record(checked: Checked) -> dict[str, Any]:
    """A ref that cannot be relied on, and why."""
    state = checked.resolution.state.value
    return {**_place(checked), "state": state, "reason": checked.resolution.reason}


def repair_record(checked: Checked) -> dict[str, Any]:
    """A ref that was pointed at its code again: where it points now, and where it pointed before."""
    found = checked.resolution.found
    before = {"path": str(checked.ref.path), "lines": lines_record(checked.ref.lines)}
    after = before if found is None else {"path": str(found.path), "lines": lines_record(found.lines)}
    return {"section": checked.section.key, "ref": checked.ref.key, **after, "from": before}


def _place(checked: Checked) -> dict[str, Any]:
    return {
        "section": checked.section.key,
        "ref": checked.ref.key,
        "path": str(checked.ref.path),
        "lines": lines_record(checked.ref.lines),
    }
