"""The commands that make and change packs by hand, piece by piece.

What only asks for an action of the tool `input` is a row of `ACTIONS`; what does more is a function. The
arguments of both come from the tool's schema. A change is made at the revision that the pack has now.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from inspect import cleandoc
from shlex import quote
from typing import Any, NamedTuple

import click

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.languages import language_of
from context_pack.kernel.text import LineRange, counted
from context_pack.packs.anchors import SourceText
from context_pack.packs.definitions import Place, find_definition, warning_of
from context_pack.packs.handover import Keys, markdown_of
from context_pack.packs.model import Pack, Ref
from context_pack.packs.operations import UpsertDiagram, UpsertRef, UpsertSection
from context_pack.packs.resolving import Resolver
from context_pack.packs.tools import COMMANDS
from context_pack.packs.values import path as path_of
from context_pack.toolkit.call import never_cancelled
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.cli.arguments import PART, WrittenPlace, place, tool_command
from context_pack_adapters.cli.packs import DEFAULT_TTL, ONE, ask, at_revision, change, lost_advice
from context_pack_adapters.cli.packs_text import given_text, tell_written

DEFAULT_SECTION = "main"
HEAD_LINES = 8
"""How many lines of what was taken are printed."""


class Action(NamedTuple):
    """A command that asks for an action: its help, how it is told, its words, and what is fixed."""

    action: str
    about: str
    example: str
    line: str
    words: Sequence[str] = ()
    fixed: Mapping[str, Any] = {}
    defaults: Mapping[str, Any] = {}
    spelled: Mapping[str, str] = {}
    without: Sequence[str] = ()
    none: str = ""
    """What is said where no ref was accepted; then the exit code is 1."""

    def run(self, app: App, pack: str | None = None, **given: Any) -> int:
        """Ask, and tell the answer."""
        asked = {**given, **self.fixed}
        body = ask(app, self.action, **asked) if pack is None else change(app, pack, self.action, **asked)
        accepted, name = body.get("accepted", ()), body.get("name") or body["id"]
        lost = ", ".join(body.get("lost", ()))
        notes = [f"{lost}: {lost_advice(name)}"] if lost else []
        if self.none and not accepted:
            return app.tell(body, notes=[self.none, *notes], code=1)
        count = counted(len(accepted), "ref")
        lines = [self.line.format(**{**body, "called": name, "quoted": quote(name), "count": count})]
        lines += [f"  {ref['section']}/{ref['ref']}  {output.way(ref['from'], ref)}" for ref in accepted]
        undrawn = "the diagram {section}/{diagram} cannot be drawn: {fault}"
        notes += [undrawn.format(**each) for each in body.get("diagrams", ())]
        return app.tell(body, *lines, notes=notes)


ACTIONS: Mapping[str, Action] = {
    "create": Action(
        "create",
        "Make an empty pack; 'packs add', 'section' and 'diagram' fill it, or 'packs edit'.",
        'auth --title "How login works" --ttl 30d',
        "created {id}; add code with: context-pack packs add {quoted} FILE:10-40",
        words=("name",),
        defaults={"ttl_minutes": DEFAULT_TTL},
    ),
    "describe": Action(
        "set_meta",
        "Change title, brief or tags; an empty text clears one, --tags may stand several times.",
        'auth --brief "Sessions, tokens and who renews them" --tags security',
        "{called}, revision {revision}",
    ),
    "finalize": Action(
        "set_status",
        "Say that a pack is done; every ref in it must find its code.",
        "auth",
        "finalized {called}, revision {revision}",
        fixed={"status": "finalized"},
    ),
    "reopen": Action(
        "set_status",
        "Make a finalized pack a draft again, so that it can be changed.",
        "auth",
        "{called} is a draft again, revision {revision}",
        fixed={"status": "draft"},
    ),
    "extend": Action(
        "touch_ttl",
        "Let a pack live longer: the time is added to what is left.",
        "auth --ttl 7d",
        "{called} lives until {expires_at}",
        spelled={"extend_minutes": "--ttl"},
        without=("ttl_minutes",),
    ),
    "accept": Action(
        "accept",
        """Take changed code as it is now: anchor changed refs anew, those named (SECTION/REF) or all.

        What is not found stays, and is named. The exit code is 1 where none of them has changed.""",
        "auth main/src-login-py-10-40",
        "accepted {count} of {called}, revision {revision}",
        words=("refs",),
        none="nothing to accept: none of its refs, or of those named, has changed",
    ),
}
for _name, _row in ACTIONS.items():
    tool_command(
        f"packs {_name}",
        COMMANDS[_row.action],
        *_row.words,
        fixed=(*_row.fixed, *_row.without),
        defaults=_row.defaults,
        spelled=_row.spelled,
        about=f"{cleandoc(_row.about)}\n\nExample:\n  context-pack packs {_name} {_row.example}",
    )(_row.run)


# -- piece by piece


def _tell(
    app: App, done: str, pack: Pack, *lines: output.Line, place: str = "", notes: Sequence[str] = ()
) -> None:
    """Print what was done, and what the pack is now."""
    head = f"{done} {pack.name or pack.id}, revision {pack.revision}{place and f': {place}'}"
    app.tell({"id": pack.id, "name": pack.name, "revision": pack.revision}, head, *lines, notes=notes)


def _heading(key: str) -> str:
    return key.replace("-", " ").capitalize()


def _missing_section(pack: Pack, key: str) -> list[UpsertSection]:
    """What makes the section, if it is not there."""
    return [] if pack.section(key) else [UpsertSection(section_key=key, section_title=_heading(key))]


@tool_command(
    "packs section",
    COMMANDS["upsert_section"],
    "section_key",
    defaults={"section_title": None},
    spelled={"section_title": "--title", "section_description": "--text", "section_order": "--order"},
)
def section(app: App, pack: str, section_key: str, section_title: str = "", **given: Any) -> int:
    """Add a section, or change its title, text or place; places that the text names become refs.

    SECTION is its key, or a title of which a key is made. --text takes the text itself, @FILE, or - for
    stdin. The exit code is 1 where a place was not found.

    Examples:
      context-pack packs section auth Overview --text "Sessions are renewed by `Session.renew`."
      context-pack packs section auth overview --text @notes.md --order 0
    """
    text = given.get("section_description", "")
    if text == "-" or text.startswith("@"):
        given["section_description"] = given_text(text.removeprefix("@"))
    before = app.workspace.packs.markdown(pack)
    key = Keys().free(section_key)
    old = app.workspace.packs.get(pack).section(key)
    title = section_title or (old.title if old else _heading(key) if key == section_key else section_key)
    operation = UpsertSection(section_key=key, section_title=title, **given)

    def write(old: Pack) -> dict[str, Any]:
        after = markdown_of(operation.applied(old))
        return ask(app, "write", text=after, id=old.id, expected_revision=old.revision)

    body = at_revision(app, pack, write)
    why = f" ({section_key!r} is too short for a key)" if len(section_key) == 1 else ""
    done = f"{'added' if old is None else 'changed'} section {key}{why} of {body['name'] or body['id']}"
    return tell_written(app, body, before, f"{done}, revision {body['revision']}")


@tool_command(
    "packs diagram",
    COMMANDS["upsert_diagram"],
    fixed=("section_key", "diagram_key", "mermaid"),
    defaults={"title": None},
    spelled={"diagram_why": "--why"},
)
@click.argument("key", type=PART, metavar="SECTION/KEY")
@click.argument("source", metavar="FILE|-")
def diagram(app: App, pack: str, key: str, source: str, title: str = "", **why: Any) -> None:
    """Put a Mermaid diagram into a section, which is made if it is missing.

    Examples:
      context-pack packs diagram auth overview/flow flow.mmd --title "From login to token"
      echo 'graph LR; login --> token' | context-pack packs diagram auth overview/flow -
    """
    home, slash, name = key.partition("/")
    home, name = (home, name) if slash else (DEFAULT_SECTION, key)
    mermaid = given_text(source)

    def draw(old: Pack) -> Pack:
        drawn = (there := old.section(home)) and there.diagram(name)
        heading = title or (drawn.title if drawn else _heading(name))
        operation = UpsertDiagram(section_key=home, diagram_key=name, title=heading, mermaid=mermaid, **why)
        return app.workspace.packs.apply(old, *_missing_section(old, home), operation)

    changed = at_revision(app, pack, draw)
    faults = app.cases.packs.writer.diagram_faults(changed)
    mine = [each.fault for each in faults if (each.section, each.diagram) == (home, name)]
    _tell(app, f"drew {home}/{name} in", changed, notes=[f"it cannot be drawn: {each}" for each in mine])


@tool_command(
    "packs add",
    COMMANDS["upsert_ref"],
    fixed=("path", "line_start", "line_end", "symbol", "group"),
    defaults={"section_key": DEFAULT_SECTION, "ref_key": None},
    spelled={"section_key": "--section", "ref_key": "--key", "ref_title": "--title", "ref_why": "--why"},
)
@click.argument("place", type=place, metavar="PLACE")
def add(app: App, pack: str, place: WrittenPlace, section_key: str, ref_key: str = "", **words: str) -> None:
    """Add lines of a file, or a definition, to a pack, and print the lines that were taken.

    PLACE is FILE:10-40, FILE:10, FILE#Class.method or Class.method. The section is made if it is missing. The
    same place again changes its ref, another place gets a key of its own; what --key names is replaced.

    Examples:
      context-pack packs add auth src/login.py:10-40 --why "Where the token is checked"
      context-pack packs add auth src/login.py#Session.renew
      context-pack packs add auth Session.renew                 where only one file defines it
    """
    app.workspace.packs.get(pack)  # before the project is looked through
    meant, resolver = _meant(app, place), Resolver.over(app.cases.packs.writer, never_cancelled)
    path, lines = _located(meant, resolver)
    source = resolver.file(path)
    assert isinstance(source, SourceText)  # `_located` has looked
    taken = source.lines[lines.start - 1 : lines.end]

    def put(old: Pack) -> tuple[str, Pack]:
        home = old.section(section_key)
        refs = () if home is None else home.refs
        same = next((ref.key for ref in refs if _is_at(ref, path.value, lines, meant.symbol)), None)
        key = ref_key or same or Keys(ref.key for ref in refs).free(str(meant))
        operation = UpsertRef(
            section_key=section_key,
            ref_key=key,
            path=path.value,
            line_start=lines.start,
            line_end=lines.end,
            **words,
        )
        changed = app.workspace.packs.apply(old, *_missing_section(old, section_key), operation)
        is_new = all(ref.key != key for ref in refs)
        return f"added {section_key}/{key} to" if is_new else f"replaced {section_key}/{key} in", changed

    done, changed = at_revision(app, pack, put)
    shown = output.numbered(taken[:HEAD_LINES], lines.start)
    if len(taken) > HEAD_LINES:
        shown.append([("dim", f"   … {counted(len(taken) - HEAD_LINES, 'more line')}")])
    _tell(app, done, changed, *shown, place=f"{path}:{lines}")


def _meant(app: App, place: WrittenPlace) -> WrittenPlace:
    """The place that was written; a word that is no file is a definition."""
    if place.start is not None or place.symbol is not None:
        return place
    file = re.split("[:#]", place.path)[0]
    if os.path.lexists(os.path.join(app.settings.source_root, file)):
        whole = f"{quote(file)}:10-40 or {quote(file)}#Symbol"
        raise click.UsageError(f"'{place}' does not say which part of the file; write {whole}")
    return place if "/" in file else WrittenPlace("", symbol=place.path)


def _located(meant: WrittenPlace, resolver: Resolver) -> Place:
    """The file and the lines that are meant.

    Raises:
        Failure: nothing is there, or it can never be shown; with what is near.
    """
    path = path_of(meant.path) if meant.path else None
    if meant.symbol is None and path is not None:
        first = 1 if meant.start is None else meant.start
        place = path, LineRange(first, first if meant.end is None else meant.end)
    else:
        try:
            place = find_definition(meant.symbol or "", path, resolver)
        except Failure:
            if path is not None or not language_of(meant.symbol or ""):
                raise
            place = path_of(meant.symbol or ""), LineRange(1, 1)  # it looks like a file, and is none
    if fault := warning_of(Ref("place", *place), resolver):
        raise invalid(fault, "path")
    return place


def _is_at(ref: Ref, path: str, lines: LineRange, symbol: str | None) -> bool:
    """Whether a ref points at that place, or at the definition of that name wherever it stands now."""
    if ref.path.value != path or symbol is None:
        return ref.path.value == path and ref.lines == lines
    anchored = None if ref.anchor is None else ref.anchor.symbol
    return anchored is not None and f".{anchored.name}".endswith(f".{symbol}")


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
    renamed = at_revision(
        app, pack, lambda old: packs.rename(old, section_key=home, ref_key=ref or None, new_key=key)
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

    def take_out(old: Pack) -> Pack:
        section = old.section(home)
        if section and not slash:
            return packs.delete_section(old, section_key=home)
        if section and section.ref(key):
            return packs.delete_ref(old, section_key=home, ref_key=key)
        if section and section.diagram(key):
            return packs.delete_diagram(old, section_key=home, diagram_key=key)
        words = f"there is no {part!r} in it; 'packs show {pack} --compact' lists what is there"
        raise Failure(Code.NOT_FOUND, words)

    _tell(app, f"removed {part} from", at_revision(app, pack, take_out))
