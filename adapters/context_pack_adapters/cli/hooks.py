"""`context-pack hook`: what a client runs at the start of a session, before compaction, and at its end.

At the start a short text goes to the model: which packs there are, what must be read again, what the last
session changed. Before compaction and at the end a draft pack is made of what the session read and changed.
Clients discard what a hook prints before compaction, so what was kept then is told at the next start, which
clients also announce after compaction. A session that was killed has no end: the next start finds that it has
none, and makes its pack then.

A hook never fails its agent: whatever happens, it ends with 0, and it says nothing where there is nothing.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any

import click
from attrs import asdict, evolve, frozen

from context_pack.kernel.errors import Code, Failure, clip
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.times import format_instant, parse_instant
from context_pack.knowledge.model import Known, ranked
from context_pack.knowledge.ports import KnownSource
from context_pack.knowledge_sources import KnownByDiscoveries, KnownByPacks
from context_pack.packs.commands import ListPacks
from context_pack.packs.model import Pack
from context_pack.toolkit.budget import cut_text
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.cli.transcripts import FilesOfSession, files_in, read_end
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.private_places import open_places

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
    trouble: str = ""
    """What the draft lacks, and why."""

    @property
    def file(self) -> str:
        """The name of its record; a client's id may be anything."""
        return f"{sha256(self.id.encode()).hexdigest()[:16]}.json"

    @property
    def draft_name(self) -> str:
        """What its draft pack is called."""
        return f"{DRAFTS}{self.started[:16].replace(':', '')}-{self.file[:4]}".lower()


@command("hook", anywhere=True)
@click.argument("event", type=click.Choice([START, COMPACT, END]))
def hook(app: App, event: str) -> None:
    """Tell a client's session what is known here, or keep what it did: `setup --hooks` writes who calls this.

    Reads the client's JSON on stdin (`session_id`, `transcript_path`, `cwd`).
    """
    with suppress(Exception):  # an agent must never fail because of its notes
        words = _stdin()
        if isinstance(words.get("cwd"), str) and not (
            app.source_root or "CONTEXT_PACK_SOURCE_ROOT" in os.environ
        ):
            app.source_root = words["cwd"]
        answer(app, event, words)


def _stdin() -> Mapping[str, Any]:
    body = json.loads(sys.stdin.buffer.read(MOST_INPUT) or b"{}")
    return body if isinstance(body, Mapping) else {}


def answer(app: App, event: str, words: Mapping[str, Any]) -> None:
    """Do what an event asks for; at the start, print what the model is to know."""
    records = SessionRecords(open_places(app.settings).state.below(FOLDER))
    now = app.ports.clock.now()
    name, transcript = str(words.get("session_id") or "unnamed"), str(words.get("transcript_path") or "")
    session = records.of(name) or ClientSession(id=name, started=format_instant(now), base=_head(app))
    session = evolve(session, transcript=transcript)
    if event != START:
        session = drafted(app, session)
        records.keep(evolve(session, ended=event == END))
        return
    records.keep(evolve(session, ended=False))
    others = [each for each in records.all() if each.id != session.id]
    for index, other in enumerate(others[:3]):
        if not other.ended and other.pack is None:
            others[index] = drafted(app, other)
            records.keep(others[index])
    last = next((each for each in (session, *others) if each.pack or each.trouble), None)
    text = briefing(app, last)
    if text:
        event_name = str(words.get("hook_event_name") or "SessionStart")
        body = {"hookSpecificOutput": {"hookEventName": event_name, "additionalContext": text}}
        sys.stdout.write(json.dumps(body, ensure_ascii=False) + "\n")


@frozen
class SessionRecords:
    """The records of sessions, one file each, in the user's private state folder."""

    folder: PrivateFolder

    def of(self, session: str) -> ClientSession | None:
        """The record of a session."""
        return self._read(ClientSession(id=session, started="").file)

    def all(self) -> list[ClientSession]:
        """Every record, the last begun first."""
        try:
            names = [name for name in self.folder.names() if name.endswith(".json")]
        except OSError:
            return []
        records = [record for name in names if (record := self._read(name)) is not None]
        return sorted(records, key=lambda record: record.started, reverse=True)

    def keep(self, session: ClientSession) -> None:
        """Write a record, and remove those that are too old to be told of."""
        self.folder.write(session.file, json.dumps(asdict(session)).encode())
        for old in self.all()[KEPT_RECORDS:]:
            with suppress(OSError):
                self.folder.remove(old.file)

    def _read(self, name: str) -> ClientSession | None:
        try:
            return ClientSession(**json.loads(self.folder.read(name, MOST_RECORD)[0]))
        except (OSError, ValueError, TypeError):
            return None


def _head(app: App) -> str | None:
    """The commit that the project is at."""
    with suppress(Failure):
        return None if app.ports.changes is None else app.ports.changes.head()
    return None


def drafted(app: App, session: ClientSession) -> ClientSession:
    """The session with a draft pack of the files that it read and changed, if it did either."""
    try:
        transcript, trouble = read_end(session.transcript)
    except (OSError, ValueError):
        return session
    session = evolve(session, trouble=trouble)
    text = session_text(app, session, files_in(transcript, app.settings.source_root))
    if text is None:
        return session
    name = session.pack or session.draft_name
    revision = None
    with suppress(Failure):
        revision = app.workspace.packs.get(name).revision
    order = {"action": "write", "name": name, "text": text, "expected_revision": revision}
    done = app.call("input", **order, ttl_minutes=None if revision else DRAFT_MINUTES)
    return session if done.is_error else evolve(session, pack=name)


def session_text(app: App, session: ClientSession, files: FilesOfSession) -> str | None:
    """What a session did, as the Markdown of a pack; None if it read and changed nothing here."""
    recorded = _recorded_since(app, session.started)
    if not (files.changed or files.read or recorded):
        return None
    places = list(_changed_places(app, session.base, files.changed))
    named = {place.partition("#")[0] for place in places}
    changed = [f"`{place}`" for place in places] + [path for path in files.changed if path not in named]
    lines = [f"# Session of {session.started[:16].replace('T', ' ')}", "", session.trouble]
    packs = list(map(clip, files.packs))
    kinds = {"Changed": changed, "Read": files.read, "Packs": packs, "Recorded": recorded}
    for heading, rows in kinds.items():
        if rows:
            lines += ["", f"## {heading}", "", *(f"- {row}" for row in rows[:MOST_FILES])]
        if len(rows) > MOST_FILES:
            lines.append(f"- and {len(rows) - MOST_FILES} more")
    return "\n".join(lines)


def _changed_places(app: App, base: str | None, changed: Sequence[str]) -> Iterator[str]:
    """The definitions of changed files that differ from the commit that the session began at."""
    if base is None or not changed:
        return
    knowledge = app.cases.knowledge
    files = []
    with suppress(Failure):
        files = [file for file in knowledge.files_of(base) if file.new in set(changed)]
    seen: set[str] = set()
    for file in files:
        for hunk in file.hunks:
            around = None
            with suppress(Failure):
                around = knowledge.definitions.around(RelativePath(str(file.new)), max(1, hunk.new_start))
            place = f"{file.new}#{around[0]}" if around is not None else ""
            if place and place not in seen:
                seen.add(place)
                yield place


def _recorded_since(app: App, started: str) -> list[str]:
    """The discoveries that were made since a moment."""
    begin, made = parse_instant(started), []
    with suppress(Failure):
        made = [] if app.ports.discoveries is None else list(app.ports.discoveries.all())
    return [
        f"{each.type.value}: {cut_text(' '.join(each.content.split()), 200)}"
        for each in made
        if each.date >= begin and each.worktree is None
    ]


def briefing(app: App, last: ClientSession | None) -> str:
    """What a session is to know when it begins, in at most 2 KB; empty where there is nothing to say."""
    parts: list[str] = []
    with suppress(Failure):
        live = app.cases.lister.list(ListPacks())
        packs = [pack for pack in live if last is None or pack.name != last.pack]
        if packs:
            parts.append("Context packs (read one with `output`):")
            parts += [f"- {_pack_line(pack)}" for pack in packs[:MOST_PACKS]]
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
        parts += [f"- {line}" for line in (*_last_lines(app, last), last.trouble) if line]
    if not parts:
        return ""
    return cut_text("\n".join(["context-pack knows about this project:", *parts]), MOST_TEXT)


def _pack_line(pack: Pack) -> str:
    title = pack.title or pack.brief or ""
    return cut_text(f"`{pack.name or pack.id}` {title} ({pack.status})", 160)


def _failing(app: App) -> Sequence[Known]:
    """What is written in packs and discoveries about code that is not as it was."""
    end = time.monotonic() + CHECK_SECONDS

    def check() -> None:
        if time.monotonic() > end:
            raise Failure(Code.TIMED_OUT, "a start does not wait")

    cases, discoveries = app.cases, app.ports.discoveries
    sources: list[KnownSource] = [KnownByPacks(cases.packs.reader, drafted=True)]
    if discoveries is not None:
        sources.append(KnownByDiscoveries(discoveries, cases.places))
    try:
        rows = ranked((row for source in sources for row in source.known(None, check)), ())
        return [row for row in rows if not row.holds and not row.source.startswith(f"pack {DRAFTS}")]
    except Failure:
        return ()


def _last_lines(app: App, session: ClientSession) -> list[str]:
    """What a session changed and read, by its draft pack."""
    lines = []
    with suppress(Failure):
        for section in app.workspace.packs.get(session.pack or "").sections if session.pack else ():
            text = " ".join((section.description or "").replace("\n- ", ", ").split())
            lines.append(cut_text(f"{section.key}: {text.removeprefix('- ')}", 400))
    return lines
