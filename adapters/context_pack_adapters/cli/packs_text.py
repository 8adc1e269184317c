"""Packs as Markdown: made of a file, edited, looked over; and their parts renamed and removed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import counted
from context_pack.packs.model import Status
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.cli.names import PART
from context_pack_adapters.cli.pack_calls import ask, change
from context_pack_adapters.cli.packs import ONE, TTL, file_stem
from context_pack_adapters.files.folder import read_named, write_named

MOST_BYTES = 4 * 1024 * 1024
REMARKS: Mapping[str, str] = {
    "without_code": "no code stands behind it",
    "line_number": "a line number that nobody follows",
    "huge": "a place that is huge",
}


def text_of(written: str) -> str:
    """A text of an option; `-` is what stands on stdin, and `@FILE` what is in a file."""
    if written == "-":
        return sys.stdin.read()
    return file_text(written[1:]) if written.startswith("@") else written


def file_text(path: str) -> str:
    """The text of a file that was named.

    Raises:
        OSError: it cannot be read; names the file.
    """
    try:
        return read_named(path, MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{path} is not UTF-8 text") from None


@command("packs import")
@click.argument("file", metavar="FILE.md|-")
@click.option("--name", help="The pack's name; without it, the name of the file.")
@TTL
def import_text(app: App, file: str, name: str | None, ttl: int) -> int:
    """Make a pack of a Markdown file that names code; of a draft of that name, replace what it says.

    Headings become sections, `src/login.py:10-40`, `src/login.py#Session.renew` and `Session.renew` become
    refs, and mermaid fences diagrams. A place whose code is as it was keeps its anchor. The exit code is 1
    where a place was not found.

    Examples:
      context-pack packs import HANDOVER.md
      context-pack packs import notes.md --name auth --ttl 30d
      git show main:HANDOVER.md | context-pack packs import - --name auth
    """
    if name is None:
        if file == "-":
            raise click.UsageError("--name says how a pack that comes from stdin is called")
        name = os.path.splitext(os.path.basename(file))[0]
    text = sys.stdin.read() if file == "-" else file_text(file)
    try:
        old = ask(app, "get", id=name)
    except Failure as failure:
        if failure.code is not Code.NOT_FOUND:
            raise
        return _tell_written(app, ask(app, "write", text=text, name=name, ttl_minutes=ttl))
    return _tell_written(app, ask(app, "write", text=text, id=old["id"], expected_revision=old["revision"]))


def _tell_written(app: App, body: Mapping[str, Any]) -> int:
    """Print what became of the places of a text; 1 where one was not found."""
    parts = [
        counted(body["sections"], "section"),
        counted(sum(len(each.split(", ")) for each in body["found"].values()), "ref"),
        counted(body["diagrams"], "diagram"),
        f"{counted(body['without_code'], 'statement')} without code",
    ]
    lines = [f"wrote {body['name'] or body['id']}, revision {body['revision']}: {', '.join(parts)}"]
    lines += [f"  {path}  {refs}" for path, refs in body["found"].items()]
    app.tell(body, *lines)
    for place, reason in body.get("not_found", {}).items():
        output.complain(f"{place}: {reason}")
    return 1 if body.get("not_found") else 0


@command("packs edit")
@ONE
def edit(app: App, pack: str) -> int:
    """Edit a pack as Markdown in $EDITOR, and write back what changed.

    Refs whose place did not change keep their anchor. If somebody else changed the pack meanwhile, or the
    text cannot be written, it is kept in a file here.

    Examples:
      context-pack packs edit auth
      EDITOR="code --wait" context-pack packs edit auth
    """
    packs = app.workspace.packs
    known = packs.get(pack)
    if known.status is Status.FINALIZED:
        words = "a finalized pack is not edited; 'context-pack packs reopen' makes it a draft"
        raise Failure(Code.INVALID_STATE, words)
    before = packs.markdown(known)
    try:
        after = click.edit(before, extension=".md")
    except click.ClickException as failed:
        raise click.UsageError(f"{failed.format_message()}; $EDITOR names the editor") from None
    if after is None or after.strip() == before.strip():
        app.tell({"id": known.id, "revision": known.revision, "changed": False}, "nothing was changed")
        return 0
    try:
        body = ask(app, "write", text=after, id=known.id, expected_revision=known.revision)
    except Failure:
        path = _keep(f"{file_stem(known)}.edited", after)
        output.complain(f"what you wrote is kept in {path}; 'packs import {path} --name …' writes it")
        raise
    return _tell_written(app, body)


def _keep(stem: str, text: str) -> str:
    """Keep a text in a new file of this folder; returns its name."""
    number, path = 1, f"{stem}.md"
    while not write_named(path, text.encode("utf-8", "backslashreplace"), False):
        number += 1
        path = f"{stem}-{number}.md"
    return path


@command("packs lint")
@ONE
def lint(app: App, pack: str) -> int:
    """Name what its writer should look at again: sentences without code, line numbers, huge places.

    The exit code is 1 where there is any.

    Example:
      context-pack packs lint auth
    """
    remarks = app.workspace.packs.lint(pack)
    body = {"remarks": [{"what": each.what, "section": each.section, "text": each.text} for each in remarks]}
    lines = [f"{each.section}  {REMARKS.get(each.what, each.what)}: {each.text}" for each in remarks]
    app.tell(body, *(lines or ["nothing to remark"]))
    return 1 if remarks else 0


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
    home, _, ref = part.partition("/")
    renamed = app.workspace.packs.rename(
        app.workspace.packs.get(pack), section_key=home, ref_key=ref or None, new_key=key
    )
    body = {"id": renamed.id, "name": renamed.name, "revision": renamed.revision}
    now = f"{home}/{key}" if ref else key
    app.tell(body, f"renamed {part} to {now} in {renamed.name or renamed.id}, revision {renamed.revision}")


@command("packs remove")
@ONE
@click.argument("part", type=PART, metavar="SECTION[/KEY]")
def remove(app: App, pack: str, part: str) -> None:
    """Take a section, a ref or a diagram out of a pack.

    Examples:
      context-pack packs remove auth main/src-login-py-10-40
      context-pack packs remove auth overview
    """
    home, slash, key = part.partition("/")
    found = app.workspace.packs.get(pack).section(home)
    if found is None:
        raise Failure(
            Code.NOT_FOUND, f"there is no section {home!r}; 'packs show --compact' lists what is there"
        )
    if not slash:
        body = change(app, pack, "delete_section", section_key=home)
    elif found.ref(key) is None and any(each.key == key for each in found.diagrams):
        body = change(app, pack, "delete_diagram", section_key=home, diagram_key=key)
    else:
        body = change(app, pack, "delete_ref", section_key=home, ref_key=key)
    app.tell(
        {key: body[key] for key in ("id", "name", "revision")},
        f"removed {part} from {body['name'] or body['id']}, revision {body['revision']}",
    )
