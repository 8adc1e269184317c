"""The commands that check packs against the code of today, and follow what has moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from context_pack.kernel.errors import Code
from context_pack.kernel.text import counted, one_line
from context_pack.packs.ports import last_expired
from context_pack.packs.states import COSMETIC
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.pack_calls import PackOutcomes, ask, change, each_pack, readable_packs
from context_pack_adapters.cli.packs import SEVERAL
from context_pack_adapters.cli.packs_list import called
from context_pack_adapters.cli.words import place_text, way_of

HOLDS = frozenset({"exact", "moved", "unanchored", COSMETIC})
HOLDS_STRICTLY = frozenset({"exact"})
UNDECIDED = 3
"""The exit code where nothing is known not to hold, and something could not be decided."""
COLOURS: Mapping[str, str] = {
    "exact": "green",
    "unanchored": "blue",
    "moved": "blue",
    COSMETIC: "blue",
    "changed": "yellow",
    "ambiguous": "red",
    "stale": "red",
    "unknown": "yellow",
}
MOST_EXPIRED = 5
"""Expired packs that `verify` names."""
SENTENCE_CHARS = 80


@command("packs verify")
@SEVERAL
@flag("--all", "Every pack; the same as naming none.", "every")
@flag("--strict", "Refs hold only where they were, no pack may have expired, and one must be there.")
@flag("--github", "Print what does not hold as annotations of GitHub Actions.")
def verify(app: App, packs: tuple[str, ...], every: bool, strict: bool, github: bool) -> int:
    """Check that every ref still finds its code.

    A ref holds when its code is where it was, has moved as it is, was never anchored but is there, or changed
    only cosmetically (what 'packs repair' settles). Exit code 1 when one does not hold (changed, ambiguous or
    stale) or a pack cannot be read; the other packs are checked all the same. Exit code 3 when nothing is
    wrong, but the state of a ref is unknown: its file, or one that may hold its code, could not be read just
    now. A pack that has expired is named, and with --strict it does not hold until it is restored or deleted.
    What changed is shown by 'packs show --diff'.

    Examples:
      context-pack packs verify                    every pack
      context-pack packs verify auth billing       these packs
      context-pack packs verify --strict           only refs that are exact hold
      context-pack packs verify --github           annotations at the lines, in a workflow
    """
    if every and packs:
        raise click.UsageError("give either packs or --all")
    holding = HOLDS_STRICTLY if strict else HOLDS

    def check(handle: str) -> dict[str, Any]:
        pack = ask(app, "get", id=handle)
        verified = ask(app, "verify", id=pack["id"])
        ok = all(ref["state"] in holding for ref in verified["refs"])
        undecided = not ok and all(ref["state"] in {*holding, "unknown"} for ref in verified["refs"])
        return {**verified, "name": pack["name"], "title": pack["title"], "ok": ok, "undecided": undecided}

    handles, broken = (packs, {}) if packs else readable_packs(app)
    done = each_pack(handles, check, broken)
    over = _expired(app, packs, done)
    sound = not done.failures and all(pack["ok"] for pack in done.payloads)
    nothing = not done.payloads and not done.failures
    undecided = not done.failures and all(pack["ok"] or pack["undecided"] for pack in done.payloads)
    if strict and (nothing or over):
        sound = undecided = False
    app.complain(done.failures)
    if app.json:
        body = {"ok": sound, "packs": done.payloads, "failed": done.failed}
        output.value({**body, "expired": [pack["id"] for pack in over]} if over else body)
    else:
        for pack in done.payloads:
            _print_verified(pack)
            for each in annotated(pack, holding) if github else ():
                output.line(each)
        for pack in over[:MOST_EXPIRED]:
            words = f"  {called(pack)}: expired; packs restore {pack['id']} brings it back"
            output.line(("bold", pack["id"]), words)
        if len(over) > MOST_EXPIRED:
            output.line(f"and {len(over) - MOST_EXPIRED} more have expired: packs list --expired")
        if nothing:
            output.line("No context packs found.")
    return 0 if sound else UNDECIDED if undecided else 1


def _expired(app: App, handles: Sequence[str], done: PackOutcomes) -> list[dict[str, Any]]:
    """The expired packs, or those of them that were asked for; these have not failed."""
    # One that was deleted ended when it was last changed: nobody misses it.
    packs = [pack for pack in app.workspace.packs.expired() if pack.expires_at != pack.updated_at]
    if handles:
        missing = [one for one, why in done.failures.items() if why.code is Code.NOT_FOUND]
        asked = {one: pack for one in missing if (pack := last_expired(packs, one)) is not None}
        for one in asked:
            del done.failures[one]
        packs = list(asked.values())
    return [{"id": pack.id, "name": pack.name, "title": pack.title} for pack in packs]


def _print_verified(pack: Mapping[str, Any]) -> None:
    """A line for the pack, and one for each ref that is not exact and each diagram that cannot be drawn."""
    verdict = ("yellow", "could not be decided") if pack["undecided"] else ("red", "does not hold")
    verdict = ("green", "ok") if pack["ok"] else verdict
    output.line(("bold", pack["id"]), f"  {called(pack)}: {counted(pack['count'], 'ref')}, ", verdict)
    for ref in pack["refs"]:
        kind = ref.get("change")
        much = f": {kind['lines']} of {counted(kind['of'], 'line')}, {kind['kind']}" if kind else ""
        reason = f" ({ref['reason']}{much})" if ref["reason"] else ""
        if ref["state"] == COSMETIC:
            reason += "; packs repair settles it"
        state = (COLOURS[ref["state"]], ref["state"].ljust(10))
        output.line("  ", state, f"  {ref['section']}/{ref['ref']}  {way_of(ref)}{reason}")
        for claim in ref.get("claims", ()) if ref["state"] not in HOLDS else ():
            output.line("  ", ("yellow", "read again"), f"  {one_line(claim, SENTENCE_CHARS)}")
    for each in pack.get("diagrams", ()):
        words = f"  {each['section']}/{each['diagram']}  cannot be drawn: {each['fault']}"
        output.line("  ", ("yellow", "diagram   "), words)


def annotated(pack: Mapping[str, Any], holding: frozenset[str]) -> list[str]:
    """A workflow command of GitHub for each ref that does not hold: it is shown at its lines."""
    lines = []
    for ref in pack["refs"]:
        if ref["state"] not in holding:
            reason = f": {ref['reason']}" if ref["reason"] else ""
            name = f"{ref['section']}/{ref['ref']} of the context pack {pack['name'] or pack['id']}"
            level = "warning" if ref["state"] == "unknown" else "error"
            lines.append(annotation(level, ref["path"], ref["lines"], f"{name} is {ref['state']}{reason}"))
    return lines


def annotation(level: str, path: str, lines: Mapping[str, int] | None, words: str) -> str:
    """One workflow command of GitHub Actions."""

    def data(text: str) -> str:
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    file = data(path).replace(":", "%3A").replace(",", "%2C")
    place = f",line={lines['start']},endLine={lines['end']}" if lines else ""
    return f"::{level} file={file}{place},title=context-pack::{data(words)}"


@command("packs repair")
@SEVERAL
@flag("--all", "Every draft.", "every")
def repair(app: App, packs: tuple[str, ...], every: bool) -> int:
    """Point the refs whose code has moved at it again.

    Refs that moved are followed, and those whose change is only cosmetic (white space, comments, names of
    locals, type hints) are accepted; what else changed, vanished or became ambiguous is for you to decide. A
    finalized pack is never changed: reopen it first.

    Examples:
      context-pack packs repair auth
      context-pack packs repair --all              every draft
    """
    if bool(packs) == every:
        raise click.UsageError("say which packs, or --all")
    handles, broken = readable_packs(app, "draft") if every else (packs, {})
    done = each_pack(handles, lambda handle: change(app, handle, "repair"), broken)
    app.complain(done.failures)
    if app.json:
        output.value({"ok": not done.failures, "packs": done.payloads, "failed": done.failed})
        return 1 if done.failures else 0
    for pack in done.payloads:
        repaired = pack["repaired"]
        count = f"{counted(len(repaired), 'ref')} repaired" if repaired else "nothing to repair"
        output.line(("bold", pack["id"]), f"  {count}, revision {pack['revision']}")
        for ref in repaired:
            way = f"{place_text(ref['from'])} → {place_text(ref)}"
            output.line(f"  {ref['section']}/{ref['ref']}  {way}")
    return 1 if done.failures else 0
