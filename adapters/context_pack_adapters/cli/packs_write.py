"""The commands that make and change packs by hand.

What only asks for an action of the tool `input` is a row of `ACTIONS`, whose arguments come from the tool's
schema; what does more is a function. A change is made at the revision that the pack has now.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from shlex import quote
from typing import Any, NamedTuple

import click

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.languages import language_of
from context_pack.kernel.ports import Reason, SourceFile, Unreadable
from context_pack.kernel.text import counted, split_lines
from context_pack.packs import values
from context_pack.packs.model import Pack, Ref, Section
from context_pack.packs.states import WORDS
from context_pack.packs.tools import COMMANDS
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.cli.generated import generate, parameters
from context_pack_adapters.cli.names import PART, SECTION
from context_pack_adapters.cli.pack_calls import ask, change
from context_pack_adapters.cli.packs import DEFAULT_TTL, ONE
from context_pack_adapters.cli.packs_text import file_text, text_of
from context_pack_adapters.cli.places import WrittenPlace, place_of
from context_pack_adapters.cli.words import notes_in_words, place_text

DEFAULT_SECTION = "main"
KEY_CHARS = 64
HEAD_LINES, TAIL_LINES = 6, 2
"""How many lines of what was taken are printed."""


class Action(NamedTuple):
    """A command that asks for an action: how it is told, its words without options, and what is fixed."""

    action: str
    about: str
    line: str
    words: Sequence[str] = ()
    fixed: Mapping[str, Any] = {}
    defaults: Mapping[str, Any] = {}
    spelled: Mapping[str, str] = {}
    without: Sequence[str] = ()
    after: Callable[[App, dict[str, Any]], int | None] = lambda *_: None

    def run(self, app: App, given: dict[str, Any]) -> int | None:
        """Ask, and tell the answer."""
        handle = given.pop("id", None)
        asked = {**given, **self.fixed}
        body = ask(app, self.action, **asked) if handle is None else change(app, handle, self.action, **asked)
        name, refs = body.get("name") or body["id"], counted(len(body.get("accepted", ())), "ref")
        facts = {**body, "called": name, "quoted": quote(name), "count": refs}
        app.tell(body, self.line.format(**facts))
        return self.after(app, body)


def _told_accepted(app: App, body: dict[str, Any]) -> int | None:
    """Which refs were accepted and are found elsewhere by now; 1 where there was nothing to accept."""
    for ref in () if app.json else body["accepted"]:
        was, now = place_text(ref["from"]), place_text(ref)
        output.line(f"  {ref['section']}/{ref['ref']}  {was if was == now else f'{was} → {now}'}")
    if not body["accepted"]:
        output.complain("nothing to accept: none of its refs, or of those named, has changed")
    return None if body["accepted"] else 1


def _told_diagrams(_: App, body: dict[str, Any]) -> None:
    for each in body.get("diagrams", ()):
        name = f"{each['section']}/{each['diagram']}"
        output.note(f"the diagram {name} cannot be drawn: {each['fault']}")


ACTIONS: Mapping[str, Action] = {
    "create": Action(
        "create",
        """Make an empty pack; 'packs add', 'section' and 'diagram' fill it, or 'packs edit'.

        Example:
          context-pack packs create auth --title "How login works" --ttl 30d
        """,
        "created {id}; add code with: context-pack packs add {quoted} FILE:10-40",
        ("name",),
        defaults={"ttl_minutes": DEFAULT_TTL},
    ),
    "describe": Action(
        "set_meta",
        """Change title, brief or tags; an empty text clears one, --tags may stand several times.

        Example:
          context-pack packs describe auth --brief "Sessions, tokens and who renews them" --tags security
        """,
        "{called}, revision {revision}",
    ),
    "finalize": Action(
        "set_status",
        """Say that a pack is done; every ref in it must find its code.

        Example:
          context-pack packs finalize auth
        """,
        "finalized {called}, revision {revision}",
        fixed={"status": "finalized"},
        after=_told_diagrams,
    ),
    "reopen": Action(
        "set_status",
        """Make a finalized pack a draft again, so that it can be changed.

        Example:
          context-pack packs reopen auth
        """,
        "{called} is a draft again, revision {revision}",
        fixed={"status": "draft"},
    ),
    "extend": Action(
        "touch_ttl",
        """Let a pack live longer: the time is added to what is left.

        Example:
          context-pack packs extend auth --ttl 7d
        """,
        "{called} lives until {expires_at}",
        spelled={"extend_minutes": "--ttl"},
        without=("ttl_minutes",),
    ),
    "accept": Action(
        "accept",
        """Take changed code as it is now: anchor changed refs anew, those named (SECTION/REF) or all.

        The exit code is 1 where none of them has changed.

        Examples:
          context-pack packs accept auth
          context-pack packs accept auth main/src-login-py-10-40
        """,
        "accepted {count} of {called}, revision {revision}",
        ("refs",),
        after=_told_accepted,
    ),
}
for _name, _row in ACTIONS.items():
    generate(
        f"packs {_name}",
        _row.about,
        parameters(
            COMMANDS[_row.action], _row.words, (*_row.fixed, *_row.without), _row.defaults, _row.spelled
        ),
        _row.run,
    )


def _brief(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: body[key] for key in ("id", "name", "revision")}


def _heading(key: str) -> str:
    return key.replace("-", " ").capitalize()


@command("packs section")
@ONE
@click.argument("key", type=SECTION, metavar="SECTION")
@click.option("--title", help="The heading; without it the one that it has, or its key.")
@click.option("--text", metavar="TEXT|@FILE|-", help="Markdown under the heading; '' clears it.")
@click.option("--order", type=int, metavar="N", help="Place among the sections, from 0.")
def section(app: App, pack: str, key: str, title: str | None, text: str | None, order: int | None) -> None:
    """Add a section, or change its title, text or place.

    Examples:
      context-pack packs section auth overview --text "Sessions are renewed by the **client**."
      context-pack packs section auth overview --text @notes.md --order 0
    """
    old = app.workspace.packs.get(pack).section(key)
    body = change(
        app,
        pack,
        "upsert_section",
        section_key=key,
        section_title=title or (_heading(key) if old is None else old.title),
        section_description=None if text is None else text_of(text),
        section_order=order,
    )
    done = "added" if old is None else "changed"
    app.tell(
        _brief(body), f"{done} section {key} of {body['name'] or body['id']}, revision {body['revision']}"
    )


@command("packs diagram")
@ONE
@click.argument("key", type=PART, metavar="SECTION/KEY")
@click.argument("source", metavar="FILE|-")
@click.option("--title", help="The heading; without it the one that it has, or its key.")
@click.option("--why", metavar="TEXT", help="Why the diagram matters.")
def diagram(app: App, pack: str, key: str, source: str, title: str | None, why: str | None) -> None:
    """Put a Mermaid diagram into a section, which is made if it is missing.

    Examples:
      context-pack packs diagram auth overview/flow flow.mmd --title "From login to token"
      echo 'graph LR; login --> token' | context-pack packs diagram auth overview/flow -
    """
    home, slash, name = key.partition("/")
    if not slash:
        home, name = DEFAULT_SECTION, key
    text = sys.stdin.read() if source == "-" else file_text(source)
    known = _with_section(app, app.workspace.packs.get(pack), home)
    old = next((each for each in known.section(home).diagrams if each.key == name), None)  # type: ignore[union-attr]
    body = change(
        app,
        known.id,
        "upsert_diagram",
        section_key=home,
        diagram_key=name,
        title=title or (_heading(name) if old is None else old.title),
        mermaid=text,
        diagram_why=why,
    )
    app.tell(_brief(body), f"drew {home}/{name} in {body['name'] or body['id']}, revision {body['revision']}")
    for each in notes_in_words(body["changed"]):
        output.note(each)


def _with_section(app: App, pack: Pack, key: str) -> Pack:
    """The pack, with a section of that key."""
    if pack.section(key) is not None:
        return pack
    return app.workspace.packs.upsert_section(pack, section_key=key, section_title=_heading(key))


@command("packs add")
@ONE
@click.argument("place", metavar="PLACE")
@click.option("--why", metavar="TEXT", help="Why these lines matter.")
@click.option("--title", metavar="TEXT", help="A heading for them.")
@click.option(
    "--section",
    "home",
    type=SECTION,
    default=DEFAULT_SECTION,
    help="The section; made if missing. [default: main]",
)
@click.option("--key", help="The key of the ref; else made from the place.")
def add(
    app: App, pack: str, place: str, why: str | None, title: str | None, home: str, key: str | None
) -> None:
    """Add lines of a file, or a definition, to a pack, and print the lines that were taken.

    PLACE is FILE:10-40, FILE:10, FILE#Class.method or Class.method. The same place again changes its ref,
    another place gets a key of its own; what --key names is replaced.

    Examples:
      context-pack packs add auth src/login.py:10-40 --why "Where the token is checked"
      context-pack packs add auth src/login.py#Session.renew
      context-pack packs add auth Session.renew                 where only one file defines it
    """
    known = app.workspace.packs.get(pack)
    meant = _meant(app, place)
    if meant.path:
        _check_readable(app, meant)
    if meant.symbol:
        _check_defined(app, meant, place)
    before = known.section(home)
    key = key or _free_key(ref_key(str(meant)), before, meant)
    done = "added" if before is None or before.ref(key) is None else "replaced"
    known = _with_section(app, known, home)
    body = change(
        app,
        known.id,
        "upsert_ref",
        section_key=home,
        ref_key=key,
        path=meant.path or None,
        line_start=meant.start,
        line_end=meant.end,
        symbol=meant.symbol,
        ref_title=title,
        ref_why=why,
    )
    ref = body["changed"]
    to = "to" if done == "added" else "in"
    words = f"{done} {home}/{key} {to} {body['name'] or body['id']}, revision {body['revision']}"
    app.tell({**_brief(body), "ref": ref}, f"{words}: {place_text(ref)}")
    if not app.json:
        _print_lines(app, ref)
    for each in notes_in_words(ref):
        output.note(each)


def _meant(app: App, place: str) -> WrittenPlace:
    """The place that was written; a word that is no file is a definition."""
    root = app.settings.source_root
    meant = place_of(place, root)
    if meant.start is not None or meant.symbol is not None:
        return meant
    file = re.split("[:#]", meant.path)[0]
    if os.path.lexists(os.path.join(root, file)):
        whole = f"{quote(file)}:10-40 or {quote(file)}#Symbol"
        raise click.UsageError(f"{place!r} does not say which part of the file; write {whole}")
    return meant if "/" in file else WrittenPlace("", symbol=meant.path)


def _print_lines(app: App, ref: Mapping[str, Any]) -> None:
    """The first lines of what a ref points at, and the last."""
    file = app.ports.source.read(values.path(ref["path"]), app.settings.max_source_bytes)
    if not isinstance(file, SourceFile):
        return
    start, end = ref["lines"]["start"], ref["lines"]["end"]
    lines = split_lines(file.text)[start - 1 : end]
    left_out = len(lines) - HEAD_LINES - TAIL_LINES
    if left_out < 2:
        output.numbered(lines, start)
    else:
        output.numbered(lines[:HEAD_LINES], start)
        output.line(("dim", f"   … {left_out} more lines"))
        output.numbered(lines[-TAIL_LINES:], end - TAIL_LINES + 1)


def ref_key(place: str) -> str:
    """A key made from a place: its letters and digits, the end of it where that is long."""
    words = re.sub(r"[^a-z0-9]+", "-", place.lower()).strip("-")
    return words[-KEY_CHARS:].strip("-") if len(words) > 1 else f"ref-{words}".strip("-")


def _check_readable(app: App, place: WrittenPlace) -> None:
    """Refuse what can never be shown, and lines that are not there; of a missing file, say what is near.

    Raises:
        Failure: `not_found` or `invalid_data`.
    """
    file = app.ports.source.read(values.path(place.path), app.settings.max_source_bytes)
    if isinstance(file, Unreadable):
        if file.reason is Reason.MISSING:
            app.workspace.code.read(place.path)  # fails, and names files that are near
        raise invalid(f"{place.path} cannot be shown: {WORDS[file.reason]}", "path")
    count = len(split_lines(file.text))
    if place.end is not None and place.end > count:
        raise invalid(f"there is no line {place.end}: {place.path} has {counted(count, 'line')}", "line_end")


def _check_defined(app: App, meant: WrittenPlace, place: str) -> None:
    """Refuse a name that nothing has, before a section is made for it.

    Raises:
        Failure: with names that are near; of a word that looks like a file, with files that are near.
    """
    try:
        inside = values.path(meant.path) if meant.path else None
        app.cases.knowledge.definitions.located(str(meant.symbol), inside)
    except Failure:
        if language_of(place) and not meant.path:
            _check_readable(app, WrittenPlace(place))
        raise


def _free_key(key: str, section: Section | None, place: WrittenPlace) -> str:
    """The key; where another place has it, the first of `key-2`, `key-3`, … that no other place has."""
    tried, number = key, 1
    while section is not None and (ref := section.ref(tried)) is not None and not _is_at(ref, place):
        number += 1
        tried = f"{key[: KEY_CHARS - len(str(number)) - 1]}-{number}"
    return tried


def _is_at(ref: Ref, place: WrittenPlace) -> bool:
    """Whether a ref points at that place."""
    if place.path and ref.path.value != place.path:
        return False
    if place.symbol is None:
        return (ref.lines.start, ref.lines.end) == (place.start, place.end)
    symbol = None if ref.anchor is None else ref.anchor.symbol
    return symbol is not None and f".{symbol.name}".endswith(f".{place.symbol}")
