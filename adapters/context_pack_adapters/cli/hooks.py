"""`context-pack hook`: what a client runs at the start of a session, before compaction, and at its end.

At the start a short text goes to the model: which packs there are, what must be read again, what the last
session changed. Before compaction and at the end a draft pack is made of what the session read and changed,
by the transcript that its client keeps. Clients discard what a hook prints before compaction, so what was
kept then is told at the next start, which clients also announce after compaction. A session that was killed
has no end: the next start finds that it has none, and makes its pack then.

Clients write transcripts as JSON (one object, or one a line) in forms of their own that change. What they
share is a call of a tool with its arguments, somewhere inside: a name, and a path among the arguments. Only
these paths are taken, and of our own tools the names of packs; what was said is never looked at.

A hook never fails its agent: whatever happens, it ends with 0, and it says nothing where there is nothing.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any

import click
from attrs import asdict, evolve, frozen

from context_pack.bridges import KnownByDiscoveries, KnownByPacks
from context_pack.kernel.errors import Code, Failure, clip
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.times import format_instant, parse_instant
from context_pack.knowledge.model import Known, ranked
from context_pack.packs.commands import ListPacks
from context_pack.toolkit.budget import cut_text
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.private_places import open_places
from context_pack_adapters.settings import no_project, read_settings

START, COMPACT, END = "start", "compact", "end"
MOST_INPUT, MOST_RECORD = 1 << 20, 1 << 16
MOST_TEXT = 2_000
"""Bytes of the text at the start."""
MOST_PACKS, MOST_ROWS, MOST_FILES = 5, 6, 40
CHECK_SECONDS = 1.0
"""How long a start may look at packs and discoveries; what it has not seen then, it does not speak of."""
DRAFT_MINUTES = 14 * 24 * 60
FOLDER, DRAFTS = "client-sessions", "session-"
KEPT_RECORDS = 20

MOST_BYTES = 64 << 20
CUT = f"Its transcript has more than {MOST_BYTES >> 20} MiB: files that only its beginning names are missing."
_PATH_KEYS = ("file_path", "absolute_path", "filePath", "notebook_path", "path")
_ARGUMENT_KEYS = ("input", "args", "arguments", "parameters")
_OURS = re.compile(r"context[-_]pack\w*_(input|output)$")
"""Our tools of packs, behind the name that a client gives the server."""
_PACK_KEYS = ("name", "id")
_CHANGING = re.compile(r"edit|write|replace|patch|create", re.IGNORECASE)
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add) File: (.+)$", re.MULTILINE)
"""How a patch of Codex names its files."""


@frozen(kw_only=True)
class ClientSession:
    """One session of a client: its transcript, the commit it began at, and what was made of it."""

    id: str
    started: str
    transcript: str = ""
    base: str | None = None
    pack: str | None = None
    """The name of its draft pack."""
    ended: bool = False
    lines: Sequence[str] = ()
    """What it did, and what its draft lacks."""

    @property
    def file(self) -> str:
        """The name of its record; a client's id may be anything."""
        return f"{sha256(self.id.encode()).hexdigest()[:16]}.json"


@command("hook", anywhere=True)
@click.argument("event", type=click.Choice([START, COMPACT, END]))
def hook(app: App, event: str) -> None:
    """Tell a client's session what is known here, or keep what it did: `setup --hooks` writes who calls this.

    Reads the client's JSON on stdin (`session_id`, `transcript_path`, `cwd`).
    """
    with suppress(Exception):  # an agent must never fail because of its notes
        words = json.loads(sys.stdin.buffer.read(MOST_INPUT) or b"{}")
        if isinstance(words.get("cwd"), str) and not (app.source_root or app.root):
            app.settings = read_settings(os.environ, words["cwd"])
        if not no_project(app.settings):
            answer(app, event, words)


def answer(app: App, event: str, words: Mapping[str, Any]) -> None:
    """Do what an event asks for; at the start, print what the model is to know."""
    folder = open_places(app.settings).state.below(FOLDER)
    name, transcript = str(words.get("session_id") or "unnamed"), str(words.get("transcript_path") or "")
    started = format_instant(app.ports.clock.now())
    session = _read(folder, ClientSession(id=name, started="").file)
    session = session or ClientSession(id=name, started=started, base=_head(app))
    session = evolve(session, transcript=transcript)
    if event != START:
        _keep(folder, evolve(drafted(app, session), ended=event == END))
        return
    _keep(folder, evolve(session, ended=False))
    others = [record for record in _records(folder) if record.id != session.id]
    for index, other in enumerate(others[:3]):
        if not other.ended and other.pack is None:
            others[index] = drafted(app, other)
            _keep(folder, others[index])
    last = next((record for record in (session, *others) if record.pack or record.lines), None)
    text = briefing(app, last)
    if text:
        event_name = str(words.get("hook_event_name") or "SessionStart")
        body = {"hookSpecificOutput": {"hookEventName": event_name, "additionalContext": text}}
        sys.stdout.write(json.dumps(body, ensure_ascii=False) + "\n")


def _records(folder: PrivateFolder) -> list[ClientSession]:
    """The records of sessions in the user's private state folder, the last begun first."""
    names = [name for name in folder.names() if name.endswith(".json")]
    records = [record for name in names if (record := _read(folder, name)) is not None]
    return sorted(records, key=lambda record: record.started, reverse=True)


def _read(folder: PrivateFolder, name: str) -> ClientSession | None:
    try:
        return ClientSession(**json.loads(folder.read(name, MOST_RECORD)[0]))
    except (OSError, ValueError, TypeError):
        return None


def _keep(folder: PrivateFolder, session: ClientSession) -> None:
    """Write a record, and remove those that are too old to be told of."""
    folder.write(session.file, json.dumps(asdict(session)).encode())
    for old in _records(folder)[KEPT_RECORDS:]:
        folder.remove(old.file)


def _head(app: App) -> str | None:
    """The commit that the project is at."""
    with suppress(Failure):
        return None if app.ports.changes is None else app.ports.changes.head()
    return None


def drafted(app: App, session: ClientSession) -> ClientSession:
    """The session with a draft pack of the files that it read and changed, if it did either."""
    try:
        transcript, trouble = _transcript(session.transcript)
    except (OSError, ValueError):
        return session
    deeds = what_was_done(app, session, transcript)
    lines = [cut_text(f"{heading.lower()}: {', '.join(rows)}", 400) for heading, rows in deeds.items()]
    session = evolve(session, lines=[*lines, *filter(None, [trouble])])
    if not deeds.keys() - {"Packs"}:
        return session
    text = [f"# Session of {session.started[:16].replace('T', ' ')}", "", trouble]
    for heading, rows in deeds.items():
        text += ["", f"## {heading}", "", *(f"- {row}" for row in rows[:MOST_FILES])]
        if len(rows) > MOST_FILES:
            text.append(f"- and {len(rows) - MOST_FILES} more")
    minute = session.started[:16].replace(":", "").lower()
    name, revision = session.pack or f"{DRAFTS}{minute}-{session.file[:4]}", None
    with suppress(Failure):
        revision = app.workspace.packs.get(name).revision
    order = {"action": "write", "name": name, "text": "\n".join(text), "expected_revision": revision}
    written = app.call("input", **order, ttl_minutes=None if revision else DRAFT_MINUTES)
    return session if written.is_error else evolve(session, pack=name)


def what_was_done(app: App, session: ClientSession, transcript: str) -> dict[str, Sequence[str]]:
    """What a session changed, read, touched and recorded, each in the order in which it first did."""
    changed: dict[str, None] = {}
    read: dict[str, None] = {}
    packs: dict[str, None] = {}
    for name, named in _calls(transcript):
        if _OURS.search(name):
            packs[clip(named)] = None
        elif (inside := _inside(named, app.settings.source_root)) is not None:
            (changed if _CHANGING.search(name) else read)[inside] = None
    places = list(_changed_places(app, session.base, list(changed)))
    placed = {place.partition("#")[0] for place in places}
    kinds: dict[str, Sequence[str]] = {
        "Changed": [f"`{place}`" for place in places] + [path for path in changed if path not in placed],
        "Read": [path for path in read if path not in changed],
        "Packs": list(packs),
        "Recorded": list(_recorded_since(app, session.started)),
    }
    return {heading: rows for heading, rows in kinds.items() if rows}


def _transcript(path: str) -> tuple[str, str]:
    """The text of a transcript, of a very large one its end; and what is missing then, in words."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is no file")
    with open(path, "rb") as file:
        file.seek(max(0, status.st_size - MOST_BYTES))
        text = file.read(MOST_BYTES).decode("utf-8", "replace")
    return text, CUT if status.st_size > MOST_BYTES else ""


def _calls(transcript: str) -> Iterator[tuple[str, str]]:
    """The tools that were called, each with the paths, or of ours the packs, that its arguments name."""
    whole = _json(transcript)
    for entry in [whole] if whole is not None else map(_json, transcript.splitlines()):
        for call in _objects(entry):
            name = call.get("name") or call.get("tool")
            arguments = next((call[key] for key in _ARGUMENT_KEYS if key in call), None)
            if not isinstance(name, str):
                continue
            texts = [arguments] if isinstance(arguments, str) else []
            if isinstance(arguments, str):
                arguments = _json(arguments)
            if isinstance(arguments, Mapping):
                texts += [value for value in arguments.values() if isinstance(value, str)]
                values = map(arguments.get, _PACK_KEYS if _OURS.search(name) else _PATH_KEYS)
                yield from ((name, value) for value in values if isinstance(value, str))
            for text in texts:
                yield from ((name, path) for path in _PATCHED.findall(text.replace("\\n", "\n")))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every object inside a value, in its order, however deep."""
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, Mapping):
            yield item
            item = list(item.values())
        if isinstance(item, list):
            todo += reversed(item)


def _inside(path: str, project: str) -> str | None:
    """The path from the project on; None for one that is elsewhere, is refused or is no file."""
    relative = os.path.relpath(os.path.join(project, path), project).replace(os.sep, "/")
    try:
        name = RelativePath(relative).value
    except Failure:
        return None
    return name if os.path.isfile(os.path.join(project, name)) else None


def _changed_places(app: App, base: str | None, changed: Sequence[str]) -> Iterator[str]:
    """The definitions of changed files that differ from the commit that the session began at."""
    if base is None or not changed:
        return
    knowledge, seen = app.cases.knowledge, set()
    with suppress(Failure):
        for file in knowledge.files_of(base):
            for hunk in file.hunks if file.new in changed else ():
                around = knowledge.definitions.around(RelativePath(str(file.new)), max(1, hunk.new_start))
                place = f"{file.new}#{around[0]}" if around is not None else ""
                if place and place not in seen:
                    seen.add(place)
                    yield place


def _recorded_since(app: App, started: str) -> Iterator[str]:
    """The discoveries that were made in this worktree since a moment."""
    begin = parse_instant(started)
    with suppress(Failure):
        for discovery in app.ports.discoveries.all():
            if discovery.date >= begin and discovery.worktree is None:
                content = " ".join(discovery.content.split())
                yield f"{discovery.type.value}: {cut_text(content, 200)}"


def briefing(app: App, last: ClientSession | None) -> str:
    """What a session is to know when it begins, in at most 2 KB; empty where there is nothing to say."""
    parts: list[str] = []
    with suppress(Failure):
        live = app.cases.packs.lister.list(ListPacks())
        packs = [pack for pack in live if last is None or pack.name != last.pack]
        if packs:
            parts.append("Context packs (read one with `output`):")
        for pack in packs[:MOST_PACKS]:
            title = pack.title or pack.brief or ""
            parts.append("- " + cut_text(f"`{pack.name or pack.id}` {title} ({pack.status})", 160))
        more = live.total - (len(live) - len(packs)) - MOST_PACKS
        if more > 0:
            parts.append(f"- and {more} more: `input` with action list")
    rows = _failing(app)
    if rows:
        parts.append(
            f"Written down about code that changed since; read it again before you rely on it ({len(rows)}):"
        )
        parts += [f"- {row.sentence}" for row in rows[:MOST_ROWS]]
    if last is not None:
        when = f"The session of {last.started[:16].replace('T', ' ')}"
        parts.append(f"{when} left the draft pack `{last.pack}`:" if last.pack else f"{when}:")
        parts += [f"- {line}" for line in last.lines]
    if not parts:
        return ""
    return cut_text("\n".join(["context-pack knows about this project:", *parts]), MOST_TEXT)


def _failing(app: App) -> Sequence[Known]:
    """What is written in packs and discoveries about code that is not as it was."""
    end = time.monotonic() + CHECK_SECONDS

    def check() -> None:
        if time.monotonic() > end:
            raise Failure(Code.TIMED_OUT, "a start does not wait")

    cases = app.cases  # not the gate, which also loads what checks contexts and bundles
    packs = KnownByPacks(cases.packs.reader, drafted=True)
    sources = (packs, KnownByDiscoveries(app.ports.discoveries, cases.places))
    try:
        rows = ranked((row for source in sources for row in source.known(None, check)), ())
        return [row for row in rows if not row.holds and not row.source.startswith(f"pack {DRAFTS}")]
    except Failure:
        return ()
