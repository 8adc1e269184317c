"""The commands that show, draft, export and delete packs; `packs_write` makes and changes them."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import click

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.times import format_instant
from context_pack.packs.model import Pack
from context_pack.packs.ports import last_expired
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.generated import Minutes
from context_pack_adapters.cli.names import EXPIRED, PACK
from context_pack_adapters.cli.pack_calls import (
    ask,
    change,
    each_pack,
)
from context_pack_adapters.cli.words import notes_in_words
from context_pack_adapters.files.folder import write_named

DEFAULT_TTL = "90d"
"""Long enough that no build turns red because a pack that it checks has expired."""
TTL = click.option(
    "--ttl",
    "ttl",
    type=Minutes(),
    default=DEFAULT_TTL,
    metavar="TIME",
    help=f"How long it lives: 90 (minutes), 12h, 7d. [default: {DEFAULT_TTL}]",
)
ONE = click.argument("pack", type=PACK, metavar="PACK")
SEVERAL = click.argument("packs", nargs=-1, type=PACK, metavar="[PACK]...")


@command("packs show")
@ONE
@click.option("--compact", "mode", flag_value="compact", help="Leave out the code.")
@click.option("--diff", "mode", flag_value="diff", help="Only what changed since it was anchored.")
def show(app: App, pack: str, mode: str | None) -> None:
    """Print a pack with its code of today, whole; --json prints the stored pack.

    Examples:
      context-pack packs show auth
      context-pack packs show pk_f2ireb33 --compact
      context-pack packs show auth --diff             what must be read again, with what changed
    """
    if app.json:
        output.value(ask(app, "get", id=pack))
    else:
        output.markdown(app.workspace.packs.document(pack, mode=mode or "full"))


@command("packs diff")
@ONE
@click.argument("revisions", nargs=-1, type=int, metavar="[REVISION]...")
def diff(app: App, pack: str, revisions: tuple[int, ...]) -> None:
    """Say what changed between two revisions of a pack.

    Without revisions it compares the last two, with one that revision and the present. The last 20 revisions
    that this user wrote are kept.

    Examples:
      context-pack packs diff auth
      context-pack packs diff auth 3 7
    """
    if len(revisions) > 2:
        raise click.UsageError("give at most two revisions")
    old, new = (*revisions, None, None)[:2]
    compared = ask(app, "diff", id=pack, from_revision=old, to_revision=new)
    steps = [
        f"  {step['what']}: {step['part']} {step['name']}".rstrip()
        + (f" ({step['details']})" if step["details"] else "")
        for step in compared["changes"]
    ]
    head = f"{compared['id']}: revision {compared['from']} to {compared['to']}"
    app.tell(compared, head, *(steps or ["  nothing but its revision or time to live"]))


@command("packs draft", walks=True)
@click.argument("question", required=False)
@click.option(
    "--diff", metavar="BASE", is_flag=False, flag_value="HEAD", help="What changed since a revision."
)
@click.option("--trace", metavar="FILE|-", help="The functions that a stack trace goes through.")
@click.option("--max-tokens", type=int, metavar="N", help="Most tokens of the pack. [default: 8000]")
@click.option("--name", help="A unique name for the pack.")
@TTL
def draft(
    app: App,
    question: str | None,
    diff: str | None,
    trace: str | None,
    max_tokens: int | None,
    name: str | None,
    ttl: int,
) -> None:
    """Make a draft pack: of a question, of the changes since a revision, or of a stack trace.

    Each passage is an anchored ref that says why it is there; together they fill the budget of tokens and
    never pass it. Edit the pack like any other.

    Examples:
      context-pack packs draft "how are passwords checked"
      context-pack packs draft "where invoices come from" --max-tokens 4000 --name invoices --ttl 12h
      context-pack packs draft --diff origin/main --name review
      pytest 2>&1 | context-pack packs draft --trace -
    """
    if sum(each is not None for each in (question, diff, trace)) != 1:
        raise click.UsageError("give one of a QUESTION, --diff BASE and --trace FILE")
    trace = trace if trace is None else sys.stdin.read() if trace == "-" else Path(trace).read_text("utf-8")
    pack = ask(
        app,
        "draft",
        query=question,
        diff=diff,
        trace=trace,
        ttl_minutes=ttl,
        name=name,
        max_tokens=max_tokens,
    )
    if app.json:
        output.value(pack)
        return
    output.markdown(app.workspace.packs.document(pack["id"]))
    for each in notes_in_words(pack):
        output.note(each)
    for each in pack.get("left_out", ()):
        output.note(f"left out, or not whole: {each}")
    output.note(f"\n{pack['id']}: {pack['tokens']} tokens")


@command("packs export")
@ONE
@click.option("-o", "--output", "target", metavar="FILE|DIR", help="The file, its folder, or - for stdout.")
@flag("--html", "Write a self-contained HTML page.")
@flag("--compact", "Leave out the code.")
@flag("--force", "Replace an existing file.")
def export(app: App, pack: str, target: str | None, html: bool, compact: bool, force: bool) -> None:
    """Write a rendered pack to a file.

    The file is Markdown, whole, with the code as it is now; with --html it is one page that needs no network,
    with the code in colours, the diagrams drawn and the state of every ref. A file named *.html is
    such a page too. An existing file is left alone, unless --force says otherwise.

    Examples:
      context-pack packs export auth                  writes auth.md
      context-pack packs export auth --html           writes auth.html
      context-pack packs export auth -o docs/login.md      or docs/login.html
      context-pack packs export auth -o docs          writes docs/auth.md, if docs is a folder
      context-pack packs export auth -o -             writes to stdout
    """
    page = html or ((target or "").lower().endswith((".html", ".htm")) and not os.path.isdir(target or ""))
    if page and compact:
        raise click.UsageError("--compact goes with Markdown; name a file that ends with .md")
    api = app.workspace.packs
    exported = api.get(pack)
    if page:
        text = api.export_html(exported)
    else:
        text = api.document(exported, mode="compact" if compact else "full") + "\n"
    if target == "-":
        output.raw(text)
        return
    path = _destination(target or "", f"{file_stem(exported)}{'.html' if page else '.md'}")
    write(path, text.encode("utf-8", "backslashreplace"), replace=force)
    app.tell({"file": path}, path)


def file_stem(pack: Pack) -> str:
    """A file name for the pack that is safe everywhere: from its name, else its id."""
    words = re.sub(r"[^A-Za-z0-9._-]+", "-", pack.name or "").strip(".-_")
    return words or pack.id


def _destination(target: str, name: str) -> str:
    """The file to write: `target`, or `name` in the folder that it is, or here."""
    if not target or os.path.isdir(target):
        return os.path.join(target, name)
    if not os.path.basename(target):
        raise click.UsageError(f"there is no folder {target}; make it first, or name a file")
    return target


def write(path: str, data: bytes, *, replace: bool) -> None:
    """Write a file whole; an existing one only if it may be replaced, and then in one step.

    Raises:
        click.UsageError: the file is there and may not be replaced.
        OSError: it cannot be written; names `path`, and leaves what was there.
    """
    try:
        written = write_named(path, data, replace)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    if not written:
        raise click.UsageError(f"{path} exists; --force replaces it")


@command("packs restore")
@click.argument("pack", type=EXPIRED, metavar="PACK")
@TTL
def restore(app: App, pack: str, ttl: int) -> None:
    """Bring back a pack whose time is over, or that was deleted.

    It is in a trash of yours for 30 days.

    Examples:
      context-pack packs list --expired
      context-pack packs restore auth
      context-pack packs restore auth --ttl 7d
    """
    restored = app.workspace.packs.restore(pack, ttl_minutes=ttl)
    words = f"restored {restored.id}, until {format_instant(restored.expires_at, whole_seconds=True)}"
    app.tell({"id": restored.id, "name": restored.name, "revision": restored.revision}, words)


@command("packs delete")
@click.argument("packs", nargs=-1, required=True, type=PACK, metavar="PACK...")
@click.option("--revision", type=int, metavar="N", help="Only if the one pack is at this revision.")
def delete(app: App, packs: tuple[str, ...], revision: int | None) -> int:
    """Delete packs; for 30 days 'packs restore' brings them back. One in the trash is deleted for good.

    What is deleted in a team's database is gone at once.

    Examples:
      context-pack packs delete pk_f2ireb33
      context-pack packs delete auth billing
      context-pack packs delete auth --revision 7     only if it is still at this revision
    """
    if revision is not None and len(packs) > 1:
        raise click.UsageError("--revision goes with one pack")

    def remove(handle: str) -> dict[str, Any]:
        if revision is not None:
            return ask(app, "delete_pack", id=handle, expected_revision=revision)
        try:
            return change(app, handle, "delete_pack")
        except Failure as failure:
            expired = last_expired(app.workspace.packs.expired(), handle)
            if failure.code is not Code.NOT_FOUND or expired is None:
                raise
            return {"id": app.workspace.packs.discard(expired.id).id}

    done = each_pack(packs, remove)
    deleted = [gone["id"] for gone in done.payloads]
    trash = {pack.id for pack in app.workspace.packs.expired()} if deleted and not app.json else set()
    app.complain(done.failures)
    body = {"ok": not done.failures, "deleted": deleted, "failed": done.failed}
    app.tell(body, *(f"deleted {pack_id}" for pack_id in deleted))
    if kept := [pack_id for pack_id in deleted if pack_id in trash]:
        output.note(f"For 30 days this brings it back: context-pack packs restore {kept[0]}")
    return 1 if done.failures else 0
