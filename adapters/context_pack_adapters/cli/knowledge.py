"""What is known of a place, and the one gate over all that is written down: about, verify, affected."""

from __future__ import annotations

from typing import Any

import click

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import counted, one_line
from context_pack.knowledge.about import ContextFor
from context_pack.knowledge.gate import Report
from context_pack.knowledge.model import COSMETIC, Known, Verdict
from context_pack.knowledge.tools import report_record
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.packs_verify import UNDECIDED, annotation
from context_pack_adapters.cli.places import place_of

CODES = {Verdict.HOLDS: 0, Verdict.FAILS: 1, Verdict.UNKNOWN: UNDECIDED}
COLOURS = {Verdict.HOLDS: "green", Verdict.FAILS: "red", Verdict.UNKNOWN: "yellow"}
SETTLED = "What is cosmetic holds: 'packs repair' settles it in packs, 'memory accept ID' in discoveries."
GITHUB = flag("--github", "Print what does not hold as annotations of GitHub Actions.")
SENTENCE_CHARS = 120
DIFF = flag("--diff", "Print what changed in the code, too.")


@command("about")
@click.argument("place", metavar="FILE[:LINES|#SYMBOL]")
def about(app: App, place: str) -> int:
    """Say what is known of a file, lines or a definition: rules, decisions, claims, and how they stand.

    What is written in discoveries, packs and the contexts of folders about this place, the most binding
    first, each with its state: ask before you change code. The exit code is 1 where nothing is known.

    Examples:
      context-pack about src/login.py
      context-pack about src/login.py:10-40
      context-pack about src/login.py#Session.renew
    """
    meant = place_of(place, app.settings.source_root)
    lines = None if meant.start is None else f"{meant.start}-{meant.end}"
    asked = ContextFor(path=meant.path, lines=lines, symbol=meant.symbol)
    known = app.cases.knowledge.about(asked).known
    app.tell({"known": [_record(each) for each in known]}, *(each.sentence for each in known))
    if not known:
        output.note(f"Nothing is written down about {meant}; 'context-pack memory add' records something.")
    return 0 if known else 1


def _record(known: Known) -> dict[str, Any]:
    row = {"kind": known.kind, "text": known.text, "state": known.state, "holds": known.holds}
    return {**row, "reason": known.reason, "at": known.where, "from": known.source}


@command("verify")
@GITHUB
@DIFF
def verify(app: App, github: bool, diff: bool) -> int:
    """Check all that is written down: packs, discoveries, directory contexts and bundles.

    One line for each sentence whose code changed, also where only comments, layout or names of locals did
    (cosmetic, which holds), and one count. Exit code 0 when everything holds, 1 when
    something does not, 3 when nothing is wrong but something could not be looked at.

    Examples:
      context-pack verify
      context-pack verify --diff                   with what changed
      context-pack verify --github                 annotations at the lines, in a workflow
    """
    return _tell(app, app.cases.gate.verify(), github, diff)


@command("affected")
@click.argument("base", default="HEAD")
@GITHUB
@DIFF
def affected(app: App, base: str, github: bool, diff: bool) -> int:
    """Say what rests on the code that was changed since BASE, a revision: for a review, before a merge.

    Packs, claims, discoveries and contexts, whether they still hold or not; the exit code is that of 'verify'
    over these, and 2 where git knows no such revision.

    Examples:
      context-pack affected                        what is not committed yet
      context-pack affected origin/main
    """
    try:
        report = app.cases.gate.affected(base)
    except Failure as failure:
        if failure.code is Code.NOT_FOUND:  # 1 would say that something does not hold
            raise click.UsageError(failure.message) from None
        raise
    return _tell(app, report, github, diff)


def _tell(app: App, report: Report, github: bool, diff: bool) -> int:
    """Print a report; its exit code."""
    if app.json:
        output.value(report_record(report))
        return CODES[report.verdict]
    for row in report.told:
        output.line((COLOURS[row.verdict], row.state.ljust(10)), f"  {_words(row)}")
        for line in row.diff if diff else ():
            output.line("    ", ({"-": "red", "+": "green"}.get(line[:1], ""), line))
    for row in report.told if github else ():
        if not row.holds:
            level = "error" if row.verdict is Verdict.FAILS else "warning"
            lines = None if row.lines is None else {"start": row.lines.start, "end": row.lines.end}
            output.line(annotation(level, row.path, lines, f"{row.sentence}"))
    counts = [
        f"{count.checked} of {family}"
        + (f" ({count.failing} {'does' if count.failing == 1 else 'do'} not hold)" if count.failing else "")
        for family, count in report.counts.items()
        if count.checked
    ]
    checked = "touched" if report.is_of_a_change else "checked"
    output.line(
        f"{counted(len(report.rows), 'statement')} {checked}: {', '.join(counts) or 'none'}; ",
        (COLOURS[report.verdict], report.verdict.value if report.rows else "nothing to check"),
    )
    if any(row.state == COSMETIC for row in report.told):
        output.note(SETTLED)
    return CODES[report.verdict]


def _words(row: Known) -> str:
    """Where a sentence is about and written, what it says, and what changed."""
    reason = f" ({row.reason})" if row.reason else ""
    return f"{row.where}  {row.kind}: {one_line(row.text, SENTENCE_CHARS)} — {row.source}{reason}"
