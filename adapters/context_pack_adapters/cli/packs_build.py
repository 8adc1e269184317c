"""The commands that build packs by hand: create one, add code to it, finish it and keep it alive."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from shlex import quote

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.languages import language_of
from context_pack.kernel.ports import Reason, Unreadable
from context_pack.kernel.text import counted, split_lines
from context_pack.kernel.times import format_instant
from context_pack.packs import values
from context_pack.packs.model import Pack, Ref, Section
from context_pack.packs.states import WORDS
from context_pack_adapters.cli.arguments import argument, command, flag
from context_pack_adapters.cli.pack_calls import ask
from context_pack_adapters.cli.packs_life import TTL, minutes
from context_pack_adapters.cli.places import WrittenPlace, place_of
from context_pack_adapters.cli.shell import Shell, WrongUsage, notes_in_words
from context_pack_adapters.library import Workspace

DEFAULT_SECTION = "main"
KEY_CHARS = 64
PACK = argument("pack", metavar="PACK", help="name or id")
JSON = flag("--json", "print id and revision as JSON")


@command(
    argument("name", metavar="NAME", help="a unique name, 3 to 120 characters"),
    argument("--title", metavar="TEXT", help="a title; else the name is shown"),
    argument("--brief", metavar="TEXT", help="what the pack is for, in one line"),
    TTL,
    JSON,
)
def create(options: Namespace, shell: Shell) -> None:
    """Make an empty pack; 'packs add' puts code into it.

    Example:
      context-pack packs create auth --title "How login works" --ttl 30d
    """
    with shell.workspace() as workspace:
        pack = workspace.packs.create(
            ttl_minutes=minutes(options.ttl), name=options.name, title=options.title, brief=options.brief
        )
    _tell(
        pack,
        f"created {pack.id}; add code with: context-pack packs add {quote(options.name)} FILE:10-40",
        options,
        shell,
    )


@command(
    PACK,
    argument("place", metavar="PLACE", help="FILE:10-40, FILE:10, FILE#Class.method or Class.method"),
    argument("--why", metavar="TEXT", help="why these lines matter"),
    argument("--title", metavar="TEXT", help="a heading for them"),
    argument("--section", metavar="KEY", default=DEFAULT_SECTION, help="the section; made if it is missing"),
    argument("--key", metavar="KEY", help="the key of the ref; else made from the place"),
    JSON,
)
def add(options: Namespace, shell: Shell) -> None:
    """Add lines of a file, or a definition, to a pack; its revision is found by itself.

    The same place again changes its ref, another place gets a key of its own; what --key names is replaced.

    Examples:
      context-pack packs add auth src/login.py:10-40 --why "Where the token is checked"
      context-pack packs add auth src/login.py#Session.renew
      context-pack packs add auth Session.renew                 where only one file defines it
    """
    place = place_of(options.place, shell.settings.source_root)
    if place.start is None and place.symbol is None:
        file = re.split("[:#]", place.path)[0]
        if os.path.lexists(os.path.join(shell.settings.source_root, file)):
            whole = f"{quote(file)}:10-40 or {quote(file)}#Symbol"
            raise WrongUsage(f"{options.place!r} does not say which part of the file; write {whole}")
        if "/" not in file:
            place = WrittenPlace("", symbol=place.path)
    with shell.workspace() as workspace:
        pack = workspace.packs.get(options.pack)
        if place.path:
            _check_readable(workspace, place)
        section = pack.section(options.section)
        key = options.key or _free_key(ref_key(str(place)), section, place)
        done = "added" if section is None or section.ref(key) is None else "replaced"
        if section is None:
            title = options.section.replace("-", " ").capitalize()
            pack = workspace.packs.upsert_section(pack, section_key=options.section, section_title=title)
        try:
            written = ask(
                workspace,
                action="upsert_ref",
                id=pack.id,
                expected_revision=pack.revision,
                section_key=options.section,
                ref_key=key,
                path=place.path or None,
                line_start=place.start,
                line_end=place.end,
                symbol=place.symbol,
                ref_title=options.title,
                ref_why=options.why,
            )
        except Failure:
            if language_of(options.place) and not place.path:  # a file that is not there, and no symbol
                _check_readable(workspace, WrittenPlace(options.place))
            raise
    to = "to" if done == "added" else "in"
    words = f"{done} {options.section}/{key} {to} {pack.name or pack.id}, revision {written['revision']}"
    shell.tell(options, {key: written[key] for key in ("id", "name", "revision")}, words)
    for note in notes_in_words(written["changed"]):
        shell.terminal.note(note)


@command(PACK, JSON)
def finalize(options: Namespace, shell: Shell) -> None:
    """Finalize a pack: it is done, and every ref in it must find its code.

    Example:
      context-pack packs finalize auth
    """
    _set_status("finalized", "finalized {}", options, shell)


@command(PACK, JSON)
def reopen(options: Namespace, shell: Shell) -> None:
    """Make a finalized pack a draft again, so that it can be changed.

    Example:
      context-pack packs reopen auth
    """
    _set_status("draft", "{} is a draft again", options, shell)


def _set_status(status: str, words: str, options: Namespace, shell: Shell) -> None:
    """Give the pack that status, and say so with its name in these words."""
    with shell.workspace() as workspace:
        pack = workspace.packs.set_status(workspace.packs.get(options.pack), status)
        faults = workspace.packs.diagram_faults(pack) if status == "finalized" else []
    _tell(pack, f"{words.format(pack.name or pack.id)}, revision {pack.revision}", options, shell)
    for each in faults:
        shell.terminal.note(f"the diagram {each.section}/{each.diagram} cannot be drawn: {each.fault}")


@command(
    PACK,
    argument("refs", metavar="SECTION/REF", nargs="*", help="the changed refs to accept; else all of them"),
    JSON,
)
def accept(options: Namespace, shell: Shell) -> int:
    """Take changed code as it is now: anchor changed refs anew where they are found.

    The exit code is 1 where none of them has changed.

    Examples:
      context-pack packs accept auth
      context-pack packs accept auth main/src-login-py-10-40
    """
    with shell.workspace() as workspace:
        accepted = workspace.packs.accept(workspace.packs.get(options.pack), *options.refs)
    pack = accepted.pack
    if not accepted.refs:
        which = f"{', '.join(options.refs)} of " if options.refs else "no ref of "
        verb = "has not changed" if options.refs else "has changed"
        shell.terminal.complain(f"nothing to accept: {which}{pack.name or pack.id} {verb}")
        return 1
    words = (
        f"accepted {counted(len(accepted.refs), 'ref')} of {pack.name or pack.id}, revision {pack.revision}"
    )
    _tell(pack, words, options, shell)
    for each in () if options.json else accepted.refs:
        was, now = f"{each.ref.path}:{each.ref.lines}", each.resolution.found
        if now is not None and was != f"{now.path}:{now.lines}":
            shell.terminal.line(f"  {each.section.key}/{each.ref.key}  {was} → {now.path}:{now.lines}")
    return 0


@command(
    PACK,
    argument("--ttl", required=True, metavar="TIME", help="how much longer: 90 (minutes), 12h, 7d"),
    JSON,
)
def extend(options: Namespace, shell: Shell) -> None:
    """Let a pack live longer: the time is added to what is left.

    Example:
      context-pack packs extend auth --ttl 7d
    """
    with shell.workspace() as workspace:
        pack = workspace.packs.touch_ttl(
            workspace.packs.get(options.pack), extend_minutes=minutes(options.ttl)
        )
    _tell(pack, f"{pack.name or pack.id} lives until {format_instant(pack.expires_at)}", options, shell)


def ref_key(place: str) -> str:
    """A key made from a place: its letters and digits, the end of it where that is long."""
    words = re.sub(r"[^a-z0-9]+", "-", place.lower()).strip("-")
    return words[-KEY_CHARS:].strip("-") if len(words) > 1 else f"ref-{words}".strip("-")


def _check_readable(workspace: Workspace, place: WrittenPlace) -> None:
    """Refuse what can never be shown, and lines that are not there; of a missing file, say what is near.

    Raises:
        Failure: `not_found` or `invalid_data`.
    """
    path = values.path(place.path)
    file = workspace.cases.ports.source.read(path, workspace.cases.packs.reader.max_source_bytes)
    if isinstance(file, Unreadable):
        if file.reason is Reason.MISSING:
            workspace.code.read(place.path)  # fails, and names files that are near
        raise invalid(f"{place.path} cannot be shown: {WORDS[file.reason]}", "path")
    count = len(split_lines(file.text))
    if place.end is not None and place.end > count:
        raise invalid(f"there is no line {place.end}: {place.path} has {counted(count, 'line')}", "line_end")


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


def _tell(pack: Pack, words: str, options: Namespace, shell: Shell) -> None:
    shell.tell(options, {"id": pack.id, "name": pack.name, "revision": pack.revision}, words)
