"""The commands that build packs by hand: create one, add code to it, finish it and keep it alive."""

from __future__ import annotations

import re
from argparse import Namespace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.instants import format_instant
from context_pack_adapters.commands.arguments import argument, command, flag
from context_pack_adapters.commands.packs import minutes
from context_pack_adapters.commands.shell import Shell, WrongUsage

if TYPE_CHECKING:
    from context_pack import Pack
    from context_pack_adapters.workspace import Workspace

DEFAULT_TTL = "7d"
DEFAULT_SECTION = "main"
PLACE = re.compile(r"(?P<path>.+?)(?::(?P<start>\d+)(?:-(?P<end>\d+))?|#(?P<symbol>.+))")
KEY_CHARS = 64
PACK = argument("pack", metavar="PACK", help="name or id")
JSON = flag("--json", "print id and revision as JSON")


@command(
    argument("name", metavar="NAME", help="a unique name, 3 to 120 characters"),
    argument("--title", metavar="TEXT", help="a title; else the name is shown"),
    argument("--brief", metavar="TEXT", help="what the pack is for, in one line"),
    argument("--ttl", metavar="TIME", default=DEFAULT_TTL, help="how long it lives: 90 (minutes), 12h, 7d"),
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
        f"created {pack.id}; add code with: context-pack packs add {options.name} FILE:10-40",
        options,
        shell,
    )


@command(
    PACK,
    argument("place", metavar="PLACE", help="FILE:10-40, FILE:10 or FILE#Class.method"),
    argument("--why", metavar="TEXT", help="why these lines matter"),
    argument("--title", metavar="TEXT", help="a heading for them"),
    argument("--section", metavar="KEY", default=DEFAULT_SECTION, help="the section; made if it is missing"),
    argument("--key", metavar="KEY", help="the key of the ref; else made from the place"),
    JSON,
)
def add(options: Namespace, shell: Shell) -> None:
    """Add lines of a file, or a definition, to a pack; its revision is found by itself.

    Examples:
      context-pack packs add auth src/login.py:10-40 --why "Where the token is checked"
      context-pack packs add auth src/login.py#Session.renew
    """
    found = PLACE.fullmatch(options.place)
    if found is None:
        raise WrongUsage(f"{options.place!r} is no place; write FILE:10-40 or FILE#Symbol")
    start = None if found["start"] is None else int(found["start"])
    key = options.key or ref_key(options.place)
    with shell.workspace() as workspace:
        pack = _found(workspace, options.pack)
        _check_is_there(workspace, found["path"])
        if pack.section(options.section) is None:
            title = options.section.replace("-", " ").capitalize()
            pack = workspace.packs.upsert_section(pack, section_key=options.section, section_title=title)
        pack = workspace.packs.upsert_ref(
            pack,
            section_key=options.section,
            ref_key=key,
            path=found["path"],
            line_start=start,
            line_end=start if found["end"] is None else int(found["end"]),
            symbol=found["symbol"],
            ref_title=options.title,
            ref_why=options.why,
        )
    _tell(
        pack,
        f"added {options.section}/{key} to {pack.name or pack.id}, revision {pack.revision}",
        options,
        shell,
    )


@command(PACK, JSON)
def finalize(options: Namespace, shell: Shell) -> None:
    """Finalize a pack: it is done, and every ref in it must find its code.

    Example:
      context-pack packs finalize auth
    """
    with shell.workspace() as workspace:
        pack = workspace.packs.set_status(_found(workspace, options.pack), "finalized")
    _tell(pack, f"finalized {pack.name or pack.id}, revision {pack.revision}", options, shell)


@command(
    PACK,
    argument("refs", metavar="SECTION/REF", nargs="*", help="the changed refs to accept; else all of them"),
    JSON,
)
def accept(options: Namespace, shell: Shell) -> None:
    """Take changed code as it is now: anchor changed refs anew where they are found.

    Examples:
      context-pack packs accept auth
      context-pack packs accept auth main/src-login-py-10-40
    """
    with shell.workspace() as workspace:
        accepted = workspace.packs.accept(_found(workspace, options.pack), *options.refs)
    pack = accepted.pack
    counted = f"{len(accepted.refs)} ref{'' if len(accepted.refs) == 1 else 's'}"
    _tell(pack, f"accepted {counted} of {pack.name or pack.id}, revision {pack.revision}", options, shell)


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
        pack = workspace.packs.touch_ttl(_found(workspace, options.pack), extend_minutes=minutes(options.ttl))
    _tell(pack, f"{pack.name or pack.id} lives until {format_instant(pack.expires_at)}", options, shell)


def ref_key(place: str) -> str:
    """A key made from a place: its letters and digits, the end of it where that is long."""
    words = re.sub(r"[^a-z0-9]+", "-", place.lower()).strip("-")
    return (words[-KEY_CHARS:].strip("-") if len(words) > KEY_CHARS else words) or "ref"


def _check_is_there(workspace: Workspace, path: str) -> None:
    """Refuse a file that is not there, with the names that are near; other refusals do not matter."""
    try:
        workspace.code.read(path, end_line=1)
    except Failure as failure:
        if failure.code is Code.NOT_FOUND:
            raise


def _found(workspace: Workspace, handle: str) -> Pack:
    """The pack of that name or id; a name that is nearly one is told."""
    try:
        return workspace.packs.get(handle)
    except Failure as failure:
        if failure.code is not Code.NOT_FOUND:
            raise
        names = [pack.name for pack in workspace.packs.list().items if pack.name]
        near = get_close_matches(handle, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "; 'context-pack packs list' shows them"
        raise Failure(Code.NOT_FOUND, f"there is no pack {handle!r}{hint}") from None


def _tell(pack: Pack, words: str, options: Namespace, shell: Shell) -> None:
    if options.json:
        shell.terminal.json({"id": pack.id, "name": pack.name, "revision": pack.revision})
    else:
        shell.terminal.line(words)
