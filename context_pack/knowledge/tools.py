"""The tool `context_for`: everything that names a JSON field of its answers."""

from __future__ import annotations

from typing import Any

from context_pack.knowledge.about import ContextFor, KnowledgeOfPlaces, KnownHere, Report
from context_pack.knowledge.model import Known, PlaceInCode
from context_pack.toolkit.budget import fit, room_of
from context_pack.toolkit.call import Call
from context_pack.toolkit.spec import READS, Answer, Family, Tool, json_answer, shape, tool

ABOUT = """\
What is known of a file, lines, symbol, diff or stack trace: rules, decisions, claims, each with its state. \
Ask before you change code."""
REST = "ask for fewer places to see the others"
SCHEMA = shape(more="text", known="rows", places="rows", error="text")
MOST_PLACES = 50


def for_tool(here: KnownHere, family: Family) -> Tool:
    """`context_for`."""

    def run(command: ContextFor, call: Call) -> Answer:
        known = here.about(command, call.check)
        return json_answer(fit(_record(known), "known", room_of(call.page_tokens), lambda _: REST))

    return tool(
        "context_for",
        "What is known here",
        ABOUT,
        family,
        ContextFor,
        run,
        READS,
        output_schema=SCHEMA,
        slow=True,
    )


def report_record(report: Report) -> dict[str, Any]:
    """What a gate found, as JSON; rows that hold as they are and no change touches are only counted."""
    body: dict[str, Any] = {
        "verdict": report.verdict.value,
        "counts": report.counts,
        "rows": [_row(each) for each in report.told],
    }
    if report.expired:
        body["expired"] = [{"id": pack.id, "name": pack.name} for pack in report.expired]
    return body


def _row(known: Known) -> dict[str, Any]:
    row = {**_known(known), "holds": known.holds, "path": known.path}
    if known.lines is not None:
        row |= {"start": known.lines.start, "end": known.lines.end}
    if known.diff:
        row["diff"] = "\n".join(known.diff)
    return row


def _record(known: KnowledgeOfPlaces) -> dict[str, Any]:
    rows = [_known(each) for each in known.known]
    body: dict[str, Any] = {"known": rows}
    named = [each for each in known.places if each.symbol is not None]
    if named:  # whoever gave a path knows the place; a trace or a name was resolved
        body["places"] = [_place(each) for each in named[:MOST_PLACES]]
    return body


def _known(known: Known) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": known.kind, "text": known.text, "state": known.state}
    if known.reason is not None:
        row["reason"] = known.reason
    return {**row, "at": known.where, "from": known.source}


def _place(place: PlaceInCode) -> dict[str, Any]:
    row: dict[str, Any] = {"path": place.path}
    if place.lines is not None:
        row["lines"] = str(place.lines)
    if place.symbol is not None:
        row["symbol"] = place.symbol
    return row
