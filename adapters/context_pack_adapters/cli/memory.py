"""The commands about memory: add, list, show, accept, forget, import, and the searches.

`search` asks everything, `memory search` only discoveries.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import one_line
from context_pack.kernel.times import format_instant
from context_pack.knowledge.model import HOLDING
from context_pack.memory.discovery import CodeState, Discovery, DiscoveryType, place_shown
from context_pack.memory.entries import DISCOVERY as DISCOVERIES
from context_pack.memory.notes import Note, notes_in
from context_pack.memory.record import ContextRecord
from context_pack.memory.search import ContextSearch
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.cli.arguments import DISCOVERY, MODULE, tool_command
from context_pack_adapters.files.folder import read_named

SHOWN_CHARS = 100
SUFFIXES = (".md", ".markdown", ".mdx")
MOST_BYTES = 4 * 1024 * 1024
SHORT_ID = 8
"""So much of an id is listed; what is not enough of it to tell two apart is refused with words."""
TYPE = click.option(
    "--type", "kind", type=click.Choice([each.value for each in DiscoveryType]), help="Only of this type."
)
IDS = click.argument("ids", nargs=-1, required=True, type=DISCOVERY, metavar="ID...")


@tool_command(
    "memory add", ContextRecord, "type", "content", named={"id": DISCOVERY, "supersedes": DISCOVERY}
)
def add(app: App, **arguments: Any) -> None:
    """Record a discovery about the project; the same words again are merged with what is there.

    With --path, and --lines or --symbol, it says when the code that it is about has changed.

    Examples:
      context-pack memory add rule "Never log tokens" --module auth
      context-pack memory add decision "Sessions are kept in Redis because they must survive a restart"
      context-pack memory add rule "Only here is a token made" --path src/auth.py --symbol make_token
    """
    recorded = app.workspace.memory.record(**arguments)
    done = "corrected" if "id" in arguments else "merged with" if recorded.merged else "recorded"
    body = {**_as_json(recorded.discovery), "merged": recorded.merged}
    app.tell(body, f"{done} {recorded.discovery.id[:SHORT_ID]}")


@command("memory list")
@TYPE
@click.option("--module", type=MODULE, metavar="NAME", help="Only about this module.")
def list_discoveries(app: App, kind: str | None, module: str | None) -> int:
    """List the discoveries, the newest first.

    Examples:
      context-pack memory list --type rule --module auth
      context-pack memory list --json | jq -r '.discoveries[].content'
    """
    chosen = [
        each
        for each in reversed(app.workspace.memory.discoveries())
        if kind in (None, each.type.value) and module in (None, each.module)
    ]
    bodies = _bodies(app, chosen)
    rows = []
    for body in bodies:
        words = " ".join(filter(None, (_marks(body), one_line(body["content"], SHOWN_CHARS))))
        rows.append((body["id"][:SHORT_ID], body["type"], body["date"][:10], words))
    notes = []
    if any(len(body["content"]) > SHOWN_CHARS or "code" in body for body in bodies):
        notes = ["All that one says, and its code: context-pack memory show ID"]
    elif not bodies and kind is module is None:
        notes = ["Record one: context-pack memory add TYPE TEXT"]
    whole, heads = {"count": len(bodies), "discoveries": bodies}, ("ID", "TYPE", "DATE", "CONTENT")
    return app.table(whole, rows, heads, "No discoveries found.", notes)


def _marks(body: Mapping[str, Any]) -> str:
    """A mark in brackets if a discovery is superseded or its code changed, and what part it is about."""
    state = body.get("code", {}).get("state")
    marks = ["superseded"] * ("supersededBy" in body)
    marks += [] if state is None or state in HOLDING else [f"code {state}"]
    module = f"({body.get('module')})" if "module" in body else ""
    return " ".join(filter(None, (f"[{', '.join(marks)}]" if marks else "", module)))


@command("memory show")
@IDS
def show(app: App, ids: tuple[str, ...]) -> int:
    """Print discoveries whole, each with the code that it is about, how that stands and what changed.

    Example:
      context-pack memory show 5f1c0a52
    """

    def body(beginning: str) -> dict[str, Any]:
        ours = [each for each in app.workspace.memory.discoveries() if each.id.startswith(beginning.lower())]
        if len(ours) != 1:
            words = "several discoveries begin so; write more of it" if ours else "no discovery has that id"
            raise Failure(Code.NOT_FOUND, words)
        return _bodies(app, ours, diff=True)[0]

    done = app.each("id", ids, body)
    lines = [line for each in done.results for line in _whole(each)]
    changed = [each["id"][:SHORT_ID] for each in done.results if "diff" in each.get("code", ())]
    notes = [f"If it still holds: context-pack memory accept {name}" for name in changed]
    return app.tell_each(done, "discoveries", *lines, notes=notes)


def _whole(body: Mapping[str, Any]) -> list[output.Line]:
    facts = [body["type"], body["id"], body["date"][:10], body.get("module"), body.get("author")]
    lines: list[output.Line] = [[("bold", "  ".join(filter(None, facts)))]]
    lines += [f"    {line}" for line in str(body["content"]).split("\n")]
    if (code := body.get("code")) is not None:
        now = code.get("now") or code
        symbol = f" {code['symbol']}" if "symbol" in code else ""
        lines.append(f"    about {now['path']}:{now['lines']}{symbol} ({code['state']})")
        lines += output.difference(code["diff"].split("\n") if "diff" in code else ())
    if "supersededBy" in body:
        lines.append(f"    superseded by {body['supersededBy']}")
    return lines


@command("memory accept")
@IDS
def accept(app: App, ids: tuple[str, ...]) -> int:
    """Say that discoveries were read again and still hold: they are anchored to their code as it is now.

    Example:
      context-pack memory accept 5f1c0a52
    """
    done = app.each("id", ids, lambda one: _as_json(app.workspace.memory.accept(one)))
    return app.tell_each(done, "accepted", *(f"accepted {each['id']}" for each in done.results))


@command("memory forget")
@IDS
def forget(app: App, ids: tuple[str, ...]) -> int:
    """Forget discoveries for good; a malformed file of one is removed too.

    Example:
      context-pack memory forget 5f1c0a52
    """

    def forget_one(one: str) -> dict[str, Any]:
        gone = app.workspace.memory.forget(one)
        return {"id": one, "malformed": True} if gone is None else _as_json(gone)

    done = app.each("id", ids, forget_one)
    return app.tell_each(done, "forgotten", *(f"forgot {each['id']}" for each in done.results))


@tool_command("search", ContextSearch, "query", walks=True)
def search(app: App, **arguments: Any) -> int:
    """Search code, discoveries, past sessions and packs, by meaning and by name.

    Examples:
      context-pack search "where is the session renewed"
      context-pack search renew_token --limit 10 --sources code
    """
    body = app.answer("context_search", **arguments)
    results: list[dict[str, Any]] = body["results"]
    lines: list[output.Line] = []
    for each in results:
        lines.append([("bold", _where(each)), ("dim", f"  {each['score']:.2f}")])
        lines += [f"    {line}" for line in str(each["content"]).split("\n")]
    notes = [*output.notes_in_words(body)]
    if not results:
        module = arguments.get("module")
        where = f" in the module {module!r}; leave --module out to search all" if module else ""
        notes = [f"Nothing found{where}.", *notes]
    return app.tell(body, *lines, notes=notes, code=0 if results else 1)


@tool_command("memory search", ContextSearch, "query", fixed=("sources",), walks=True)
def search_discoveries(app: App, **arguments: Any) -> int:
    """Search the discoveries.

    Example:
      context-pack memory search "how do we keep sessions" --type decision
    """
    return search(app, **arguments, sources=[DISCOVERIES])


def _where(row: Mapping[str, Any]) -> str:
    """Where a result is from, in one line."""
    if row["source"] == "code":
        symbol = f" {row['symbol']}" if "symbol" in row else ""
        return f"{row['path']}:{row['startLine']}-{row['endLine']}{symbol}"
    return f"{row['type']} {row['id']} {_marks(row)}".rstrip()


def _bodies(app: App, discoveries: Sequence[Discovery], *, diff: bool = False) -> list[dict[str, Any]]:
    """Discoveries as JSON, each with how its code stands now, and perhaps what changed in it."""
    places = [each.code for each in discoveries if each.code is not None]
    states = iter(app.cases.places.states(places))
    bodies = []
    for each in discoveries:
        state = None if each.code is None else next(states)
        bodies.append(_as_json(each, state))
        if diff and state is not None and state.diff is not None:
            bodies[-1]["code"]["diff"] = state.diff
    return bodies


def _as_json(discovery: Discovery, state: CodeState | None = None) -> dict[str, Any]:
    """A discovery as JSON, with how its code stands, if that was asked."""
    about: dict[str, Any] = {} if discovery.module is None else {"module": discovery.module}
    if discovery.superseded_by is not None:
        about["supersededBy"] = discovery.superseded_by
    if discovery.author is not None:
        about["author"] = discovery.author
    if discovery.code is not None:
        about["code"] = place_shown(discovery.code, state)
    return {
        "id": discovery.id,
        "type": discovery.type.value,
        "content": discovery.content,
        **about,
        "session": discovery.session,
        "date": format_instant(discovery.date, True),
    }


@command("memory import")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--type",
    "kind",
    type=click.Choice([each.value for each in DiscoveryType]),
    help="The type of notes that tell none.",
)
@click.option("--module", type=MODULE, metavar="NAME", help="The part of the project they are about.")
def import_notes(app: App, paths: tuple[str, ...], kind: str | None, module: str | None) -> int:
    """Record what Markdown notes and decision records say.

    A note is a list item or a paragraph under a heading that names its type (Rules, Decisions, Patterns,
    Issues), or after such a word (`Rule: …`). A decision record, a file with the headings Context or Status
    and Decision, is one decision. What was recorded before is merged. Of folders all Markdown files are read.

    Examples:
      context-pack memory import docs/adr
      context-pack memory import NOTES.md --type pattern --module billing
    """
    rows: list[dict[str, Any]] = []
    of_type = None if kind is None else DiscoveryType(kind)
    for file in [file for path in paths for file in _markdown(path)]:
        try:
            text = read_named(file, MOST_BYTES).decode("utf-8-sig")
            for note in notes_in(text, os.path.basename(file), of_type):
                rows.append({"file": file, "line": note.line, **_imported(app, note, module)})
        except (OSError, UnicodeDecodeError, Failure) as error:
            rows.append({"file": file, "line": 0, "outcome": "failed", "reason": _reason(error)})
    counts = Counter(row["outcome"] for row in rows)
    lines = [
        f"{row['file']}:{row['line']}: {row['outcome']}: {row.get('reason') or _content(row)}" for row in rows
    ]
    tally = ", ".join(f"{count} {what}" for what, count in counts.items()) or "0 notes"
    body = {"counts": counts, "notes": rows}
    return app.tell(body, *lines, notes=[tally], code=1 if counts["failed"] else 0)


def _content(row: Mapping[str, Any]) -> str:
    return f"{row['type']}: {row['content']}"


def _imported(app: App, note: Note, module: str | None) -> dict[str, Any]:
    """What becomes of a note."""
    recorder = app.cases.recorder
    done = recorder.record(recorder.of_note(note, module))
    outcome = "merged" if done.merged else "recorded"
    return {"type": note.type.value, "content": note.content, "outcome": outcome, "id": done.discovery.id}


def _markdown(path: str) -> Iterator[str]:
    """The Markdown files that a path means; of a folder no links, and nothing in hidden folders."""
    if not os.path.isdir(path):
        if not os.path.exists(path):
            raise click.UsageError(f"{path}: there is no such file or folder")
        yield path
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files = (os.path.join(folder, name) for name in sorted(names) if name.endswith(SUFFIXES))
        yield from (file for file in files if os.path.isfile(file) and not os.path.islink(file))


def _reason(error: Exception) -> str:
    if isinstance(error, Failure):
        return error.message
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(getattr(error, "strerror", error))
