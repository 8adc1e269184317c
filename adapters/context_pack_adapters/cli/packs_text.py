"""Packs as Markdown and as pages: drafted, written from a file, edited, looked over and exported."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from tempfile import mkstemp
from typing import Any

import click

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import counted
from context_pack.packs.commands import Draft
from context_pack.packs.model import Pack, Status
from context_pack.packs.values import new_name
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.arguments import tool_command
from context_pack_adapters.cli.packs import DEFAULT_TTL, ONE, TTL, ask
from context_pack_adapters.files.folder import read_named, write_named

MOST_BYTES = 4 * 1024 * 1024
REMARKS: Mapping[str, str] = {
    "without_code": "no code stands behind it",
    "renamed": "its code has another name or file",
    "line_number": "a line number that nobody follows",
    "huge": "a place that is huge",
}


def given_text(written: str) -> str:
    """The text of a file that was named, or what stands on stdin (`-`).

    Raises:
        OSError: it cannot be read; names the file.
        click.UsageError: it is no text, or an empty one.
    """
    try:
        text = sys.stdin.read() if written == "-" else read_named(written, MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise OSError(error.errno, error.strerror, written) from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{written} is not UTF-8 text") from None
    if not text.strip():
        raise click.UsageError(f"{'stdin' if written == '-' else written} holds no text")
    return text


def tell_written(app: App, body: Mapping[str, Any], before: str, *lines: str) -> int:
    """Print what became of a text; 1 where a place was not found that the text `before` does not name.

    A path that is no file is only a note: prose may speak of what was.
    """
    missing = {
        place: Failure(Code.NOT_FOUND, reason)
        for place, reason in body.get("not_found", {}).items()
        if not all(part in before for part in re.split("[:# ]", place))
    }
    anew = [f"  re-anchored, its code had changed: {each}" for each in body.get("reanchored", ())]
    notes = [words for path, words in body.get("warnings", {}).items() if path not in before]
    return app.tell(body, *lines, *anew, notes=notes, failures=missing)


def _tell_pack(app: App, body: Mapping[str, Any], before: str = "") -> int:
    """Print what a written text holds, and what became of its places."""
    refs = sum(len(each.split(", ")) for each in body["found"].values())
    parts = [(body["sections"], "section"), (refs, "ref"), (body["diagrams"], "diagram")]
    words = ", ".join(counted(number, noun) for number, noun in parts)
    bare = f"{counted(body['without_code'], 'statement')} without code"
    head = f"wrote {body['name'] or body['id']}, revision {body['revision']}: {words}, {bare}"
    return tell_written(
        app, body, before, head, *(f"  {path}  {refs}" for path, refs in body["found"].items())
    )


@command("packs import")
@click.argument("file", metavar="FILE.md|-")
@click.option("--name", help="The pack's name; without it, the name of the file.")
@TTL
def import_text(app: App, file: str, name: str | None, ttl: int) -> int:
    """Make a pack of a Markdown file that names code; of a draft of that name, replace what it says.

    Headings become sections, `src/login.py:10-40`, `src/login.py#Session.renew` and `Session.renew` become
    refs, and mermaid fences diagrams. A ref keeps its anchor unless its code changed and all sentences that
    name it were reworded; then it is told that it got a new one. The exit code is 1 where a place was not
    found.

    Examples:
      context-pack packs import HANDOVER.md
      context-pack packs import notes.md --name auth --ttl 30d
      git show main:HANDOVER.md | context-pack packs import - --name auth
    """
    if name is None and file == "-":
        raise click.UsageError("--name says how a pack that comes from stdin is called")
    text = given_text(file)
    if name is None:
        name = os.path.splitext(os.path.basename(file))[0]
        try:
            new_name(name)
        except Failure as failure:
            words = output.command_words(failure.message)
            raise click.UsageError(f"{file} gives the pack no name: {words}; --name gives one") from None
    try:
        old = app.workspace.packs.get(name)
    except Failure as failure:
        if failure.code is not Code.NOT_FOUND:
            raise
        return _tell_pack(app, ask(app, "write", text=text, name=name, ttl_minutes=ttl))
    return _tell_pack(app, ask(app, "write", text=text, id=old.id, expected_revision=old.revision))


@command("packs edit")
@ONE
def edit(app: App, pack: str) -> int:
    """Edit a pack as Markdown in $EDITOR, and write back what changed.

    A ref keeps its anchor unless its code changed and all sentences that name it were reworded; then it is
    told that it got a new one. If somebody else changed the pack meanwhile, or the text cannot be written, it
    is kept in a file here. The exit code is 1 where a place that is new in the text was not found.

    Examples:
      context-pack packs edit auth
      EDITOR="code --wait" context-pack packs edit auth
    """
    packs = app.workspace.packs
    old = packs.get(pack)
    if old.status is Status.FINALIZED:
        words = f"a finalized pack is not edited; 'context-pack packs reopen {pack}' makes it a draft"
        raise Failure(Code.INVALID_STATE, words)
    before = packs.markdown(old)
    try:
        after = click.edit(before, extension=".md")
    except click.ClickException as failed:
        raise click.UsageError(f"{failed.format_message()}; $EDITOR names the editor") from None
    if after is None or after.strip() == before.strip():
        return app.tell({"id": old.id, "revision": old.revision, "changed": False}, "nothing was changed")
    try:
        body = ask(app, "write", text=after, id=old.id, expected_revision=old.revision)
    except Failure:
        handle, path = mkstemp(prefix=f"{file_stem(old)}.edited-", suffix=".md", dir=".")
        with open(handle, "wb") as file:
            file.write(after.encode("utf-8", "backslashreplace"))
        path = os.path.basename(path)
        output.complain(f"what you wrote is kept in {path}; 'packs import {path} --name …' writes it")
        raise
    return _tell_pack(app, body, before)


@command("packs lint")
@ONE
def lint(app: App, pack: str) -> int:
    """Name what its writer should look at again: sentences without code, names that are gone, line
    numbers, huge places.

    The exit code is 1 where there is any.

    Example:
      context-pack packs lint auth
    """
    remarks = app.workspace.packs.lint(pack)
    body = {"remarks": [{"what": each.what, "section": each.section, "text": each.text} for each in remarks]}
    lines = [f"{each.section}  {REMARKS.get(each.what, each.what)}: {each.text}" for each in remarks]
    return app.tell(body, *(lines or ["nothing to remark"]), code=1 if remarks else 0)


@tool_command("packs draft", Draft, "query", defaults={"ttl_minutes": DEFAULT_TTL}, walks=True)
def draft(app: App, **arguments: Any) -> None:
    """Make a draft pack: of a question, of the changes since a revision, or of a file with a stack trace.

    Each passage is an anchored ref that says why it is there; together they fill the budget of tokens and
    never pass it. Edit the pack like any other.

    Examples:
      context-pack packs draft "how are passwords checked"
      context-pack packs draft "where invoices come from" --max-tokens 4000 --name invoices --ttl 12h
      context-pack packs draft --diff origin/main --name review
      pytest 2>&1 | context-pack packs draft --trace -
    """
    if "trace" in arguments:
        arguments["trace"] = given_text(arguments["trace"])
    pack = ask(app, "draft", **arguments)
    notes = [*output.notes_in_words(pack)]
    notes += [f"left out, or not whole: {each}" for each in pack.get("left_out", ())]
    if not app.json:
        output.markdown(app.workspace.packs.document(pack["id"]))
    app.tell(pack, notes=[*notes, f"\n{pack['id']}: {pack['tokens']} tokens"])


@command("packs export")
@ONE
@click.option("-o", "--output", "target", metavar="FILE|DIR", help="The file, its folder, or - for stdout.")
@flag("--html", "Write a self-contained HTML page.")
@flag("--force", "Replace an existing file.")
def export(app: App, pack: str, target: str | None, html: bool, force: bool) -> None:
    """Write a rendered pack to a file.

    The file is Markdown, whole, with the code as it is now; with --html it is one page that needs no network,
    with the code in colours, the diagrams drawn and the state of every ref. A file named *.html is
    such a page too. An existing file is left alone, unless --force says otherwise.

    Examples:
      context-pack packs export auth                  writes auth.md
      context-pack packs export auth --html           writes auth.html
      context-pack packs export auth -o docs          writes docs/auth.md, if docs is a folder
      context-pack packs export auth -o -             writes to stdout
    """
    packs, target = app.workspace.packs, target or ""
    exported = packs.get(pack)
    page = html or (target.lower().endswith((".html", ".htm")) and not os.path.isdir(target))
    text = packs.export_html(exported) if page else packs.document(exported) + "\n"
    if target == "-":
        output.raw(text)
        return
    if not target or os.path.isdir(target):
        target = os.path.join(target, f"{file_stem(exported)}{'.html' if page else '.md'}")
    elif not os.path.basename(target):
        raise click.UsageError(f"there is no folder {target}; make it first, or name a file")
    try:
        written = write_named(target, text.encode("utf-8", "backslashreplace"), force)
    except OSError as error:
        raise OSError(error.errno, error.strerror, target) from None
    if not written:
        raise click.UsageError(f"{target} exists; --force replaces it")
    app.tell({"file": target}, target)


def file_stem(pack: Pack) -> str:
    """A file name for the pack that is safe everywhere: from its name, else its id."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", pack.name or "").strip(".-_") or pack.id
