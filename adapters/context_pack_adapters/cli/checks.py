"""What is known of a place, and whether all that is written down still holds: about, verify, affected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

import click

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import counted, one_line
from context_pack.knowledge.about import ContextFor, Report
from context_pack.knowledge.model import COSMETIC, Known, Verdict
from context_pack.knowledge.tools import report_record
from context_pack.packs.model import Pack
from context_pack.packs.ports import last_expired
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.arguments import WrittenPlace, place
from context_pack_adapters.cli.packs import SEVERAL, ask, called, change, lost_advice

UNDECIDED = 3
"""The exit code where nothing is known not to hold, and something could not be decided."""
HOLDS = frozenset({"exact", "moved", "unanchored", COSMETIC})
LOST = frozenset({"stale", "ambiguous"})
CODES = {Verdict.HOLDS: 0, Verdict.FAILS: 1, Verdict.UNKNOWN: UNDECIDED}
LEVELS = {Verdict.FAILS: "error", Verdict.UNKNOWN: "warning"}
SETTLED = "What is cosmetic holds: 'packs repair' settles it in packs, 'memory accept ID' in discoveries."
EXPIRED = "not checked; packs restore {} brings it back"
GITHUB = flag("--github", "Print what does not hold as annotations of GitHub Actions.")
SENTENCE_CHARS = 100
STATE_CHARS = 10
DIFF = flag("--diff", "Print what changed in the code, too.")


@command("about")
@click.argument("place", type=place, metavar="FILE[:LINES|#SYMBOL]")
def about(app: App, place: WrittenPlace) -> int:
    """Say what is known of a file, lines or a definition: rules, decisions, claims, and how they stand.

    What is written in discoveries, packs and the contexts of folders about this place, the most binding
    first, each with its state: ask before you change code. The exit code is 1 where nothing is known.

    Examples:
      context-pack about src/login.py
      context-pack about src/login.py:10-40
      context-pack about src/login.py#Session.renew
    """
    if place.start == 0:
        raise click.UsageError(f"{place}: lines are counted from 1")
    lines = None if place.start is None else f"{place.start}-{place.end}"
    known = app.cases.knowledge.about(ContextFor(path=place.path, lines=lines, symbol=place.symbol)).known
    nothing = f"Nothing is written down about {place}; 'context-pack memory add' records something."
    notes = [] if known else [nothing]
    body = {"known": [_record(each) for each in known]}
    return app.tell(body, *(each.sentence for each in known), notes=notes, code=0 if known else 1)


def _record(known: Known) -> dict[str, Any]:
    row = {"kind": known.kind, "text": known.text, "state": known.state, "holds": known.holds}
    return {**row, "reason": known.reason, "at": known.where, "from": known.source}


@command("verify")
@GITHUB
@DIFF
@flag("--strict", "Fail also where a pack has expired, or nothing is there to be checked.")
def verify(app: App, github: bool, diff: bool, strict: bool) -> int:
    """Check all that is written down: packs, discoveries, directory contexts and bundles.

    One line for each sentence whose code changed, also where only comments, layout or names of locals did
    (cosmetic, which holds), one for each pack that has expired and was not checked, and one count. Exit code
    0 when everything holds, 1 when something does not, 3 when nothing is wrong but something could not be
    looked at.

    Examples:
      context-pack verify --diff                   with what changed
      context-pack verify --strict                 exit code 1 for an expired pack, too
      context-pack verify --github                 annotations at the lines, in a workflow
    """
    report = app.cases.gate.verify()
    fails = strict and (bool(report.expired) or not report.rows)
    return _tell(app, report, github, diff, fails=fails)


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


def _tell(app: App, report: Report, github: bool, diff: bool, *, fails: bool = False) -> int:
    """Print a report; its exit code, which is 1 where it `fails` for what no row says."""
    lines: list[output.Line] = []
    for row in report.told:
        reason = f" ({row.reason})" if row.reason else ""
        words = f"{row.where}  {row.kind}: {row.short(SENTENCE_CHARS)} — {row.source}{reason}"
        lines.append([(output.COLOURS[row.verdict], row.state.ljust(STATE_CHARS)), f"  {words}"])
        lines += output.difference(row.diff if diff else ())
    for pack in report.expired:
        words = f"  pack {pack.name or pack.id}: {EXPIRED.format(pack.id)}"
        lines.append([("yellow", "expired".ljust(STATE_CHARS)), words])
    if github:
        lines += [_annotation(LEVELS[row.verdict], row) for row in report.told if not row.holds]
        for pack in report.expired:
            words = f"pack {_escaped(pack.name or pack.id)} has expired: {EXPIRED.format(pack.id)}"
            lines.append(f"::warning title=context-pack::{words}")
    counts = []
    for family, count in report.counts.items():
        failing = f" ({count['failing']} {'does' if count['failing'] == 1 else 'do'} not hold)"
        if count["checked"]:
            counts.append(f"{count['checked']} of {family}{failing if count['failing'] else ''}")
    checked = "touched" if report.is_of_a_change else "checked"
    count_line: list[output.Part] = [f"{counted(len(report.rows), 'statement')} {checked}"]
    if report.rows:
        count_line.append(f": {', '.join(counts)}")
    if report.rows and report.verdict is not Verdict.FAILS:  # else the counts have said so
        count_line += ["; ", output.state(report.verdict)]
    lines.append(count_line)
    notes = [] if diff or github else list(_advice(report))
    if any(row.state == COSMETIC for row in report.told):
        notes.append(SETTLED)
    code = 1 if fails else CODES[report.verdict]
    return app.tell(report_record(report), *lines, notes=notes, code=code)


def _advice(report: Report) -> Iterator[str]:
    """What to do about what does not hold; rows of contexts and bundles say it themselves."""
    states = {
        family: {row.state for row in rows if row.verdict is Verdict.FAILS}
        for family, rows in report.families.items()
    }
    ways = {"packs": "'packs accept PACK'", "discoveries": "'memory accept ID'"}
    accept = [way for family, way in ways.items() if "changed" in states.get(family, ())]
    if accept:
        yield f"--diff shows what changed; if the words still hold: {' or '.join(accept)}."
    if LOST & states.get("packs", set()):
        yield f"In packs {lost_advice('PACK')}."
    if LOST & states.get("discoveries", set()):
        yield "Of a discovery whose code is not found 'memory forget ID' lets go."


def _annotation(level: str, row: Known) -> str:
    """One workflow command of GitHub Actions."""
    file = _escaped(row.path).replace(":", "%3A").replace(",", "%2C")
    place = f",line={row.lines.start},endLine={row.lines.end}" if row.lines else ""
    return f"::{level} file={file}{place},title=context-pack::{_escaped(row.sentence)}"


def _escaped(text: str) -> str:
    """A text as the data of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _packs(app: App, named: tuple[str, ...], status: str | None = None) -> tuple[list[str], Failure | None]:
    """The packs that are named, else all that can be read, and a failure that names the files that cannot."""
    if named:
        return list(named), None
    packs, broken = app.ports.packs.readable()
    return [pack.id for pack in packs if status in (None, pack.status)], broken


@command("packs verify")
@SEVERAL
@flag("--strict", "Refs hold only where they were, no pack may have expired, and one must be there.")
def verify_packs(app: App, packs: tuple[str, ...], strict: bool) -> int:
    """Check that every ref of these packs, or of all, still finds its code.

    A ref holds when its code is where it was, has moved as it is, was never anchored but is there, or changed
    only cosmetically (what 'packs repair' settles). Exit code 1 when one does not hold (changed, ambiguous or
    stale) or a pack cannot be read; 3 when nothing is wrong, but a file could not be read just now. A pack
    that has expired is named. 'packs show --diff' shows what changed; 'verify' checks everything else, too.

    Examples:
      context-pack packs verify auth billing       these packs
      context-pack packs verify --strict           only refs that are exact hold
    """
    holding = {"exact"} if strict else HOLDS

    def check(handle: str) -> dict[str, Any]:
        pack = app.workspace.packs.get(handle)
        verified = ask(app, "verify", id=pack.id)
        states = {ref["state"] for ref in verified["refs"]}
        ok, undecided = states <= holding, not states <= holding and states <= {*holding, "unknown"}
        return {**verified, "name": pack.name, "title": pack.title, "ok": ok, "undecided": undecided}

    handles, broken = _packs(app, packs)
    done = app.each("pack", handles, check, broken)
    over = _expired(app, packs, done.failures)
    nothing = not done.results and not done.failures
    sound = not done.failures and all(pack["ok"] for pack in done.results)
    undecided = not done.failures and all(pack["ok"] or pack["undecided"] for pack in done.results)
    code = 0 if sound else UNDECIDED if undecided else 1
    if strict and (nothing or over):
        code = 1
    body = {"ok": code == 0, "packs": done.results, "failed": done.failed}
    body |= {"expired": [pack.id for pack in over]} if over else {}
    lines = [line for pack in done.results for line in _verified_lines(pack)]
    lines += [[("bold", pack.id), f"  {called(pack)}: expired, {EXPIRED.format(pack.id)}"] for pack in over]
    advice = "What changed: context-pack packs show {0} --diff; "
    advice += "if its words still hold: context-pack packs accept {0}"
    notes = []
    for pack in [pack for pack in done.results if not pack["ok"]][:1]:
        name, states = pack["name"] or pack["id"], {ref["state"] for ref in pack["refs"]}
        notes += [advice.format(quote(name))] if "changed" in states else []
        notes += [f"In {name} {lost_advice(name)}."] if states & LOST else []
    none = ["No context packs found."] if nothing and not over else []
    return app.tell(body, *none, *lines, notes=notes, failures=done.failures, code=code)


def _expired(app: App, handles: tuple[str, ...], failures: dict[str, Failure]) -> Sequence[Pack]:
    """The expired packs, or those of them that were asked for; these have not failed."""
    packs = app.cases.packs.lister.unchecked()
    if not handles:
        return packs
    missing = [handle for handle, why in failures.items() if why.code is Code.NOT_FOUND]
    expired = {handle: pack for handle in missing if (pack := last_expired(packs, handle)) is not None}
    for handle in expired:
        del failures[handle]
    return tuple(expired.values())


def _verified_lines(pack: Mapping[str, Any]) -> list[output.Line]:
    """A line for the pack, and one for each ref that is not exact and each diagram that cannot be drawn."""
    verdict = "ok" if pack["ok"] else "could not be decided" if pack["undecided"] else "does not hold"
    head = f"  {called(pack)}: {counted(pack['count'], 'ref')}, "
    lines: list[output.Line] = [[("bold", pack["id"]), head, output.state(verdict)]]
    for ref in pack["refs"]:
        change = ref.get("change")
        much = f": {change['lines']} of {counted(change['of'], 'line')}, {change['kind']}" if change else ""
        reason = f" ({ref['reason']}{much})" if ref["reason"] else ""
        if ref["state"] == COSMETIC:
            reason += "; packs repair settles it"
        words = f"  {ref['section']}/{ref['ref']}  {output.way_of(ref)}{reason}"
        lines.append(["  ", output.state(ref["state"], STATE_CHARS), words])
        for claim in ref.get("claims", ()) if ref["state"] not in HOLDS else ():
            lines.append(["  ", ("yellow", "read again"), f"  {one_line(claim, SENTENCE_CHARS)}"])
    for each in pack.get("diagrams", ()):
        words = f"  {each['section']}/{each['diagram']}  cannot be drawn: {each['fault']}"
        lines.append(["  ", ("yellow", "diagram   "), words])
    return lines


@command("packs repair")
@SEVERAL
def repair(app: App, packs: tuple[str, ...]) -> int:
    """Point the refs whose code has moved at it again, in these packs or in every draft.

    Refs that moved are followed, and those whose change is only cosmetic (white space, comments, names of
    locals, type hints) are accepted; what else changed, vanished or became ambiguous is for you to decide. A
    finalized pack is never changed: reopen it first.

    Example:
      context-pack packs repair auth
    """
    handles, broken = _packs(app, packs, "draft")
    done = app.each("pack", handles, lambda handle: change(app, handle, "repair"), broken)
    lines = []
    for pack in done.results:
        repaired = pack["repaired"]
        count = f"{counted(len(repaired), 'ref')} repaired" if repaired else "nothing to repair"
        lines.append(f"{pack['id']}  {count}, revision {pack['revision']}")
        lines += [f"  {ref['section']}/{ref['ref']}  {output.way(ref['from'], ref)}" for ref in repaired]
    return app.tell_each(done, "packs", *(lines or ["No drafts found."]))
