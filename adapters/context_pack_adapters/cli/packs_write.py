"""The commands that make and change packs by hand, as Markdown or piece by piece.

What only asks for an action of the tool `input` is a row of `ACTIONS`, whose arguments come from the tool's
schema; what does more is a function. A change is made at the revision that the pack has now.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from shlex import quote
from typing import Any, NamedTuple

import click

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.languages import language_of
from context_pack.kernel.ports import Reason, Unreadable
from context_pack.kernel.text import LineRange, counted, split_lines
from context_pack.packs.handover import Keys, markdown_of
from context_pack.packs.model import Diagram, Pack, Ref
from context_pack.packs.operations import UpsertDiagram, UpsertRef, UpsertSection
from context_pack.packs.record import to_record
from context_pack.packs.states import WORDS
from context_pack.packs.tools import COMMANDS
from context_pack.packs.values import path as path_of
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.cli.generated import generate, parameters
from context_pack_adapters.cli.names import PART, SECTION, WrittenPlace, place_of
from context_pack_adapters.cli.packs import DEFAULT_TTL, ONE, ask, change, retried
from context_pack_adapters.cli.packs_text import given_text, told_places

DEFAULT_SECTION = "main"
HEAD_LINES = 8
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
        was, now = output.place_text(ref["from"]), output.place_text(ref)
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


# -- piece by piece


def _tell(app: App, done: str, pack: Pack, place: str = "", **more: Any) -> None:
    """Print what was done, and what the pack is now."""
    body = {"id": pack.id, "name": pack.name, "revision": pack.revision, **more}
    app.tell(body, f"{done} {pack.name or pack.id}, revision {pack.revision}{place and f': {place}'}")


def _heading(key: str) -> str:
    return key.replace("-", " ").capitalize()


def _missing_section(pack: Pack, key: str) -> list[UpsertSection]:
    """What makes the section, if it is not there."""
    return [] if pack.section(key) else [UpsertSection(section_key=key, section_title=_heading(key))]


@command("packs section")
@ONE
@click.argument("key", type=SECTION, metavar="SECTION")
@click.option("--title", help="The heading; without it the one that it has, or its key.")
@click.option("--text", metavar="TEXT|@FILE|-", help="Markdown under the heading; '' clears it.")
@click.option("--order", type=int, metavar="N", help="Place among the sections, from 0.")
def section(app: App, pack: str, key: str, title: str | None, text: str | None, order: int | None) -> int:
    """Add a section, or change its title, text or place; places that the text names become refs.

    SECTION is its key, or a title of which a key is made. The exit code is 1 where a place was not found.

    Examples:
      context-pack packs section auth Overview --text "Sessions are renewed by `Session.renew`."
      context-pack packs section auth overview --text @notes.md --order 0
    """
    if text == "-" or (text or "").startswith("@"):
        text = given_text(str(text).removeprefix("@"))
    before = app.workspace.packs.markdown(pack)
    key, words = Keys().free(key), key
    old = app.workspace.packs.get(pack).section(key)
    heading = title or (old.title if old else _heading(key) if words == key else words)
    wanted = UpsertSection(
        section_key=key, section_title=heading, section_description=text, section_order=order
    )

    def write() -> dict[str, Any]:
        known = app.workspace.packs.get(pack)
        after = markdown_of(wanted.applied(known))
        return ask(app, "write", text=after, id=known.id, expected_revision=known.revision)

    body = retried(write)
    done = f"{'added' if old is None else 'changed'} section {key} of {body['name'] or body['id']}"
    return told_places(app, body, before, f"{done}, revision {body['revision']}")


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
    home, name = (home, name) if slash else (DEFAULT_SECTION, key)
    text = given_text(source)

    def draw() -> Pack:
        known = app.workspace.packs.get(pack)
        found = known.section(home)
        old: Diagram | None = None if found is None else found.diagram(name)
        heading = title or (_heading(name) if old is None else old.title)
        drawn = UpsertDiagram(
            section_key=home, diagram_key=name, title=heading, mermaid=text, diagram_why=why
        )
        return app.workspace.packs.apply(known, *_missing_section(known, home), drawn)

    changed = retried(draw)
    _tell(app, f"drew {home}/{name} in", changed)
    for fault in app.cases.packs.writer.diagram_faults(changed):
        if (fault.section, fault.diagram) == (home, name):
            output.note(f"it cannot be drawn: {fault.fault}")


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
    app.workspace.packs.get(pack)  # before the project is looked through
    meant = _meant(app, place)
    path, lines = _located(app, meant)
    shown = _lines_of(app, path, lines)

    def put() -> tuple[str, Pack, Ref]:
        known = app.workspace.packs.get(pack)
        found = known.section(home)
        refs = () if found is None else found.refs
        old = next((ref.key for ref in refs if _is_at(ref, path, lines, meant.symbol)), None)
        name = key or old or Keys(ref.key for ref in refs).free(str(meant))
        taken = UpsertRef(
            section_key=home,
            ref_key=name,
            path=path,
            line_start=lines.start,
            line_end=lines.end,
            ref_title=title,
            ref_why=why,
        )
        done = "replaced" if any(ref.key == name for ref in refs) else "added"
        changed = app.workspace.packs.apply(known, *_missing_section(known, home), taken)
        (ref,) = (ref for at, ref in changed.refs if (at.key, ref.key) == (home, name))
        return f"{done} {home}/{name} {'in' if done == 'replaced' else 'to'}", changed, ref

    done, changed, ref = retried(put)
    _tell(app, done, changed, f"{path}:{lines}", ref=to_record(ref, anchors=False))
    if not app.json:
        output.numbered(shown[:HEAD_LINES], lines.start)
        if len(shown) > HEAD_LINES:
            output.line(("dim", f"   … {counted(len(shown) - HEAD_LINES, 'more line')}"))


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


def _located(app: App, meant: WrittenPlace) -> tuple[str, LineRange]:
    """The file and the lines that are meant.

    Raises:
        Failure: nothing is there, with what is near; of a word that looks like a file, files that are near.
    """
    if meant.symbol is None:
        return meant.path, LineRange(meant.start or 1, meant.end or 1)
    try:
        inside = path_of(meant.path) if meant.path else None
        file, lines = app.cases.knowledge.definitions.located(meant.symbol, inside)
    except Failure:
        if language_of(meant.symbol) and not meant.path:
            app.workspace.code.read(meant.symbol)
        raise
    return file.value, lines


def _lines_of(app: App, path: str, lines: LineRange) -> list[str]:
    """The lines of a file.

    Raises:
        Failure: the file is not there or can never be shown, or it has no such lines.
    """
    file = app.ports.source.read(path_of(path), app.settings.max_source_bytes)
    if isinstance(file, Unreadable):
        if file.reason is Reason.MISSING:
            app.workspace.code.read(path)  # fails, and names files that are near
        raise invalid(f"{path} cannot be shown: {WORDS[file.reason]}", "path")
    text = split_lines(file.text)
    if lines.end > len(text):
        words = f"there is no line {lines.end}: {path} has {counted(len(text), 'line')}"
        raise invalid(words, "line_end")
    return text[lines.start - 1 : lines.end]


def _is_at(ref: Ref, path: str, lines: LineRange, symbol: str | None) -> bool:
    """Whether a ref points at that place, or at the definition of that name wherever it stands now."""
    if ref.path.value != path or symbol is None:
        return ref.path.value == path and ref.lines == lines
    known = None if ref.anchor is None else ref.anchor.symbol
    return known is not None and f".{known.name}".endswith(f".{symbol}")


@command("packs rename")
@ONE
@click.argument("part", type=PART, metavar="SECTION[/REF]")
@click.argument("key", metavar="NEW-KEY")
def rename(app: App, pack: str, part: str, key: str) -> None:
    """Give a section or a ref another key; titles are changed by 'section', 'add' and 'edit'.

    Examples:
      context-pack packs rename auth main overview
      context-pack packs rename auth main/src-login-py-10-40 check
    """
    packs = app.workspace.packs
    home, slash, ref = part.partition("/")
    renamed = retried(
        lambda: packs.rename(packs.get(pack), section_key=home, ref_key=ref or None, new_key=key)
    )
    _tell(app, f"renamed {part} to {home + slash if slash else ''}{key} in", renamed)


@command("packs remove")
@ONE
@click.argument("part", type=PART, metavar="SECTION[/KEY]")
def remove(app: App, pack: str, part: str) -> None:
    """Take a section, a ref or a diagram out of a pack.

    Examples:
      context-pack packs remove auth main/src-login-py-10-40
      context-pack packs remove auth overview
    """
    packs = app.workspace.packs
    home, slash, key = part.partition("/")

    def removed() -> Pack:
        known = packs.get(pack)
        found = known.section(home)
        if found and not slash:
            return packs.delete_section(known, section_key=home)
        if found and found.ref(key):
            return packs.delete_ref(known, section_key=home, ref_key=key)
        if found and found.diagram(key):
            return packs.delete_diagram(known, section_key=home, diagram_key=key)
        words = f"there is no {part!r} in it; 'packs show {pack} --compact' lists what is there"
        raise Failure(Code.NOT_FOUND, words)

    _tell(app, f"removed {part} from", retried(removed))
