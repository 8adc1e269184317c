"""The commands about memory: add, list, show, forget, and the searches; `memory_import` reads notes.

`search` asks everything, `memory search` only discoveries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import one_line
from context_pack.kernel.times import format_instant
from context_pack.knowledge.model import HOLDING
from context_pack.memory.discovery import CodeState, Discovery, DiscoveryType, place_shown
from context_pack.memory.entries import DISCOVERY as DISCOVERIES
from context_pack.memory.record import ContextRecord
from context_pack.memory.search import ContextSearch
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.cli.generated import generate, parameters
from context_pack_adapters.cli.names import DISCOVERY, MODULE, in_project

SHOWN_CHARS = 100
SHORT_ID = 8
"""So much of an id is listed; what is not enough of it to tell two apart is refused with words."""
TYPE = click.option(
    "--type", "kind", type=click.Choice([each.value for each in DiscoveryType]), help="Only of this type."
)
IDS = click.argument("ids", nargs=-1, required=True, type=DISCOVERY, metavar="ID...")


def _record(app: App, asked: dict[str, Any]) -> None:
    if asked.get("path"):
        asked["path"] = in_project(asked["path"], app.settings.source_root)
    for name in ("id", "supersedes"):
        if name in asked:
            asked[name] = _meant(app, asked[name]).id
    recorded = app.cases.recorder.record(ContextRecord(**asked))
    done = "corrected" if "id" in asked else "merged with" if recorded.merged else "recorded"
    body = {**_as_json(recorded.discovery), "merged": recorded.merged}
    app.tell(body, f"{done} {recorded.discovery.id[:SHORT_ID]}")


generate(
    "memory add",
    """Record a discovery about the project; the same words again are merged with what is there.

    With --path, and --lines or --symbol, it says when the code that it is about has changed.

    Examples:
      context-pack memory add rule "Never log tokens" --module auth
      context-pack memory add decision "Sessions are kept in Redis because they must survive a restart"
      context-pack memory add rule "Only here is a token made" --path src/auth.py --symbol make_token
    """,
    parameters(ContextRecord, ("type", "content"), named={"id": DISCOVERY, "supersedes": DISCOVERY}),
    _record,
)


@command("memory list")
@TYPE
@click.option("--module", type=MODULE, metavar="NAME", help="Only about this module.")
def list_discoveries(app: App, kind: str | None, module: str | None) -> None:
    """List the discoveries, the newest first.

    Examples:
      context-pack memory list
      context-pack memory list --type rule --module auth
      context-pack memory list --json | jq -r '.discoveries[].content'
    """
    asked = [
        each
        for each in reversed(app.ports.discoveries.all())
        if kind in (None, each.type.value) and module in (None, each.module)
    ]
    bodies = _bodies(app, asked)
    rows = [
        (
            each["id"][:SHORT_ID],
            each["type"],
            each["date"][:10],
            " ".join(filter(None, (_marks(each), one_line(each["content"], SHOWN_CHARS)))),
        )
        for each in bodies
    ]
    body, heads = {"count": len(bodies), "discoveries": bodies}, ("ID", "TYPE", "DATE", "CONTENT")
    app.table(body, rows, heads, "No discoveries found.")
    if any(len(each["content"]) > SHOWN_CHARS or "code" in each for each in bodies):
        app.note("All that one says, and its code: context-pack memory show ID")
    if not bodies and kind is module is None:
        app.note("Record one: context-pack memory add TYPE TEXT")


def _marks(body: Mapping[str, Any]) -> str:
    """A mark in brackets if a discovery is superseded or its code changed, and what part it is about."""
    state = body.get("code", {}).get("state")
    changed = [] if state is None or state in HOLDING else [f"code {state}"]
    marks = ", ".join(["superseded"] * ("supersededBy" in body) + changed)
    return " ".join([f"[{marks}]"] * bool(marks) + [f"({body.get('module')})"] * ("module" in body))


def _meant(app: App, written: str) -> Discovery:
    """The one discovery whose id begins so.

    Raises:
        Failure: `not_found`, if there is none, or several.
    """
    meant = [each for each in app.ports.discoveries.all() if each.id.startswith(written.lower())]
    if len(meant) != 1:
        words = "several discoveries begin so; write more of it" if meant else "no discovery has that id"
        raise Failure(Code.NOT_FOUND, words)
    return meant[0]


@command("memory show")
@IDS
def show(app: App, ids: tuple[str, ...]) -> int:
    """Print discoveries whole, each with the code that it is about, how that stands and what changed.

    Example:
      context-pack memory show 5f1c0a52
    """

    done = app.each(ids, lambda one: _bodies(app, [_meant(app, one)], diff=True)[0])
    app.complain(done.failures)
    if app.json:
        output.value({"discoveries": done.results})
    else:
        for body in done.results:
            _print_whole(body)
    return 1 if done.failures else 0


def _print_whole(body: Mapping[str, Any]) -> None:
    facts = [body["type"], body["id"], body["date"][:10], body.get("module"), body.get("author")]
    output.line(("bold", "  ".join(fact for fact in facts if fact)))
    for line in str(body["content"]).split("\n"):
        output.line(f"    {line}")
    if (code := body.get("code")) is not None:
        now = code.get("now") or code
        symbol = f" {code['symbol']}" if "symbol" in code else ""
        output.line(f"    about {now['path']}:{now['lines']}{symbol} ({code['state']})")
        if "diff" in code:
            output.difference(code["diff"].split("\n"))
            output.note(f"If it still holds: context-pack memory accept {body['id'][:SHORT_ID]}")
    if "supersededBy" in body:
        output.line(f"    superseded by {body['supersededBy']}")


@command("memory accept")
@IDS
def accept(app: App, ids: tuple[str, ...]) -> int:
    """Say that discoveries were read again and still hold: they are anchored to their code as it is now.

    Example:
      context-pack memory accept 5f1c0a52
    """
    return _told(app, ids, lambda one: _as_json(app.cases.recorder.accept(one)), "accepted", "accepted")


@command("memory forget")
@IDS
def forget(app: App, ids: tuple[str, ...]) -> int:
    """Forget discoveries for good; a malformed file of one is removed too.

    Examples:
      context-pack memory forget 5f1c0a52
      context-pack memory forget 5f1c0a52-7d3b-8c11-9a44-0c9a5f2d7e10
    """

    def forget_one(one: str) -> dict[str, Any]:
        gone = app.cases.recorder.forget(one)
        return {"id": one, "malformed": True} if gone is None else _as_json(gone)

    return _told(app, ids, forget_one, "forgot", "forgotten")


def _told(app: App, ids: Sequence[str], work: Callable[[str], dict[str, Any]], done: str, key: str) -> int:
    """Do something with discoveries, and say with which."""
    outcomes = app.each(ids, work)
    app.complain(outcomes.failures)
    body = {key: outcomes.results, "failed": outcomes.failed("id")}
    app.tell(body, *(f"{done} {each['id']}" for each in outcomes.results))
    return 1 if outcomes.failures else 0


def _search(app: App, asked: dict[str, Any]) -> int:
    """Print what `context_search` finds; the exit code is 1 if that is nothing."""
    answer = app.call("context_search", **asked)
    body = output.body_of(answer)
    if answer.is_error:
        raise Failure(Code.INVALID_DATA, output.refusal_in_words(body))
    if app.json:
        output.value(body)
        return 0 if body["results"] else 1
    for each in body["results"]:
        output.line(("bold", _where(each)), ("dim", f"  {each['score']:.2f}"))
        for line in str(each["content"]).split("\n"):
            output.line(f"    {line}")
    if not body["results"]:
        module = asked.get("module")
        where = f" in the module {module!r}; leave --module out to search all" if module else ""
        output.note(f"Nothing found{where}.")
    for each in output.notes_in_words(body):
        output.note(each)
    return 0 if body["results"] else 1


def _where(row: Mapping[str, Any]) -> str:
    """Where a result is from, in one line."""
    if row["source"] == "code":
        symbol = f" {row['symbol']}" if "symbol" in row else ""
        return f"{row['path']}:{row['startLine']}-{row['endLine']}{symbol}"
    return f"{row['type']} {row['id']} {_marks(row)}".rstrip()


generate(
    "search",
    """Search code, discoveries, past sessions and packs, by meaning and by name.

    Examples:
      context-pack search "where is the session renewed"
      context-pack search renew_token --limit 10 --sources code
    """,
    parameters(ContextSearch, ("query",)),
    _search,
    walks=True,
)
generate(
    "memory search",
    """Search the discoveries.

    Example:
      context-pack memory search "how do we keep sessions" --type decision
    """,
    parameters(ContextSearch, ("query",), fixed=("sources",)),
    lambda app, asked: _search(app, {**asked, "sources": [DISCOVERIES]}),
    walks=True,
)


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
