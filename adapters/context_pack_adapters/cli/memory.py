"""The commands about memory: add, list, show, search, forget; `memory_import` records what notes say.

`search` asks everything, `memory search` only discoveries.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Any

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import one_line
from context_pack.kernel.times import format_instant
from context_pack.memory.discovery import CodeState, Discovery, place_shown
from context_pack.memory.record import ContextRecord
from context_pack.memory.search import NOTHING
from context_pack_adapters.cli.arguments import argument, command, flag
from context_pack_adapters.cli.places import in_project
from context_pack_adapters.cli.shell import Shell, notes_in_words

TYPES = ("pattern", "rule", "decision", "issue")
SHOWN_CHARS = 100
HOLDING = ("exact", "moved")
"""States of code that a discovery still holds for."""
LIMIT = argument("--limit", metavar="N", type=int, default=5, help="most results (5)")


@command(
    argument("type", choices=TYPES, metavar="TYPE", help=f"one of {', '.join(TYPES)}"),
    argument("content", metavar="TEXT", help="what was found out, 10 to 1000 characters"),
    argument("--module", metavar="NAME", help="the part of the project it is about"),
    argument("--id", metavar="ID", help="correct this discovery"),
    argument("--supersedes", metavar="ID", help="the discovery that no longer holds"),
    argument("--path", metavar="FILE", help="the file it is about; it says when its code has changed"),
    argument("--lines", metavar="A-B", help="the lines of that file it is about"),
    argument("--symbol", metavar="NAME", help="the definition it is about"),
    flag("--json", "print the discovery as JSON"),
)
def add(options: Namespace, shell: Shell) -> None:
    """Record a discovery about the project; the same words again are merged with what is there.

    Examples:
      context-pack memory add rule "Never log tokens" --module auth
      context-pack memory add decision "Sessions are kept in Redis because they must survive a restart"
    """
    path = options.path and in_project(options.path, shell.settings.source_root)
    labels = (options.module, options.id, options.supersedes, path, options.lines, options.symbol)
    asked = ContextRecord(options.type, options.content, *labels)
    recorded = shell.cases().recorder.record(asked)
    done = "corrected" if options.id else "merged with" if recorded.merged else "recorded"
    body = {**_as_json(recorded.discovery), "merged": recorded.merged}
    shell.tell(options, body, f"{done} {recorded.discovery.id}")


@command(
    argument("--type", choices=TYPES, help="only of this type"),
    argument("--module", metavar="NAME", help="only about this module"),
    flag("--json", "print them as JSON"),
)
def list_discoveries(options: Namespace, shell: Shell) -> None:
    """List the discoveries, the newest first.

    Examples:
      context-pack memory list
      context-pack memory list --type rule --module auth
      context-pack memory list --json | jq -r '.discoveries[].content'
    """
    cases = shell.cases()
    found = [
        each
        for each in reversed(shell.ports().discoveries.all())
        if options.type in (None, each.type.value) and options.module in (None, each.module)
    ]
    about = [each for each in found if each.code is not None]
    states = cases.places.states([each.code for each in about if each.code is not None])
    known = {each.id: state for each, state in zip(about, states, strict=True)}
    shown = [_as_json(each, known.get(each.id)) for each in found]
    rows = [
        [each.id, each.type.value, each.date.date().isoformat(), each.module or "-", _short(each, known)]
        for each in found
    ]
    body, heads = {"count": len(found), "discoveries": shown}, ("ID", "TYPE", "DATE", "MODULE", "CONTENT")
    shell.tell_table(options, body, rows, heads, "No discoveries found.")
    if options.json:
        return
    if any(len(each.content) > SHOWN_CHARS or each.code is not None for each in found):
        shell.terminal.note("All that one says, and its code: context-pack memory show ID")
    if not found and options.type is options.module is None:
        shell.terminal.note("Record one: context-pack memory add TYPE TEXT")


@command(
    argument("ids", nargs="+", metavar="ID", help="what 'memory list' shows, or how one begins"),
    flag("--json", "print them as JSON"),
)
def show(options: Namespace, shell: Shell) -> int:
    """Print discoveries whole, each with the code that it is about and how that stands.

    Example:
      context-pack memory show 5f1c0a52
    """
    cases = shell.cases()
    every = shell.ports().discoveries.all()
    found: list[tuple[Discovery, CodeState | None]] = []
    failures: dict[str, Failure] = {}
    for one in options.ids:
        meant = [each for each in every if each.id.startswith(one.lower())]
        if len(meant) == 1:
            code = meant[0].code
            found.append((meant[0], None if code is None else cases.places.states([code])[0]))
        else:
            words = "several discoveries begin so; write more of it" if meant else "no discovery has that id"
            failures[one] = Failure(Code.NOT_FOUND, words)
    shell.complain_of(failures)
    if options.json:
        shell.terminal.json({"discoveries": [_as_json(*each) for each in found]})
    else:
        for each, state in found:
            _tell_whole(_as_json(each, state), shell)
    return 1 if failures else 0


def _tell_whole(told: Mapping[str, Any], shell: Shell) -> None:
    facts = [told["type"], told["id"], told["date"][:10], told.get("module"), told.get("author")]
    shell.terminal.styled_line(("bold", "  ".join(fact for fact in facts if fact)))
    for line in str(told["content"]).split("\n"):
        shell.terminal.line(f"    {line}")
    if (code := told.get("code")) is not None:
        now = code.get("now") or code
        symbol = f" {code['symbol']}" if "symbol" in code else ""
        shell.terminal.line(f"    about {now['path']}:{now['lines']}{symbol} ({code['state']})")
    if "supersededBy" in told:
        shell.terminal.line(f"    superseded by {told['supersededBy']}")


def _short(discovery: Discovery, known: Mapping[str, CodeState]) -> str:
    """A discovery on one line, after a mark if it is superseded or its code changed."""
    state = known.get(discovery.id)
    marks = against(discovery.superseded_by is not None, None if state is None else state.state)
    line = one_line(discovery.content, SHOWN_CHARS)
    return f"{marks} {line}" if marks else line


def against(superseded: bool, state: str | None) -> str:
    """A mark in brackets if a discovery is superseded or its code changed."""
    marks = ["superseded"] if superseded else []
    if state is not None and state not in HOLDING:
        marks.append(f"code {state}")
    return f"[{', '.join(marks)}]" if marks else ""


@command(
    argument("ids", nargs="+", metavar="ID", help="what 'memory list' shows"),
    flag("--json", "print what was forgotten as JSON"),
)
def forget(options: Namespace, shell: Shell) -> int:
    """Forget discoveries for good; a malformed file of one is removed too.

    Examples:
      context-pack memory forget 5f1c0a52-7d3b-8c11-9a44-0c9a5f2d7e10
    """
    recorder = shell.cases().recorder
    gone, failures = {}, {}
    for one in options.ids:
        try:
            gone[one] = recorder.forget(one)
        except Failure as failure:
            failures[one] = failure
    shell.complain_of(failures)
    failed = [{"id": one, "code": why.code, "message": why.message} for one, why in failures.items()]
    forgotten = [
        {"id": one, "malformed": True} if each is None else _as_json(each) for one, each in gone.items()
    ]
    words = [
        f"removed the malformed {one}" if each is None else f"forgot {one}" for one, each in gone.items()
    ]
    shell.tell(options, {"forgotten": forgotten, "failed": failed}, *words)
    return 1 if failures else 0


@command(
    argument("question", metavar="QUESTION", help="what to find, by meaning and by name"),
    argument("--module", metavar="NAME", help="only this module"),
    LIMIT,
    flag("--json", "print what context_search answers"),
)
def search(options: Namespace, shell: Shell) -> int:
    """Search code, discoveries, past sessions and packs, as context_search does.

    Examples:
      context-pack search "where is the session renewed"
      context-pack search renew_token --limit 10
    """
    return _show(options, shell, _ask(options, shell, "all"))


@command(
    argument("question", metavar="QUESTION", help="what to find, by meaning and by name"),
    argument("--type", choices=TYPES, help="only of this type"),
    argument("--module", metavar="NAME", help="only about this module"),
    LIMIT,
    flag("--json", "print what context_search answers"),
)
def search_memory(options: Namespace, shell: Shell) -> int:
    """Search the discoveries.

    Example:
      context-pack memory search "how do we keep sessions" --type decision
    """
    kinds = [options.type] if options.type else TYPES
    return _show(options, shell, _together([_ask(options, shell, each) for each in kinds], options.limit))


def _together(answers: Sequence[Mapping[str, Any]], limit: int) -> dict[str, Any]:
    """Merge the results of several answers, each in its own order, with their warnings."""
    together = {key: value for answer in answers for key, value in answer.items()}
    best = merge(*(answer["results"] for answer in answers), key=lambda found: -found["score"])
    sums = {key: sum(answer[key] for answer in answers) for key in ("totalFound", "searchTime")}
    return {**together, **sums, "results": list(islice(best, limit))}


def _ask(options: Namespace, shell: Shell, kind: str) -> dict[str, Any]:
    """The answer of context_search for a type of discoveries, or for everything."""
    asked = {"query": options.question, "module": options.module, "limit": options.limit}
    answer = shell.call("context_search", **asked, type=kind)
    found: dict[str, Any] = json.loads(answer.text)
    if answer.is_error and found["error"] == NOTHING:
        raise Failure(Code.NOT_FOUND, "there is nothing to search in this folder: no code, notes or packs")
    if answer.is_error:
        details = found.get("details") or [{}]
        said = details[0].get("message") if isinstance(details, list) else details
        inside = found.get("message")  # of a search that failed for another reason than what was asked
        code, said = (Code.IO_ERROR, inside) if inside else (Code.INVALID_DATA, said)
        raise Failure(code, f"{found['error']}{f': {said}' if said else ''}")
    return found


def _show(options: Namespace, shell: Shell, found: Mapping[str, Any]) -> int:
    """Print what was found; the exit code is 1 if that is nothing."""
    code = 0 if found["results"] else 1
    if options.json:
        shell.terminal.json(found)
        return code
    for each in found["results"]:
        shell.terminal.styled_line(("bold", _where(each)), ("dim", f"  {each['score']:.2f}"))
        for line in str(each["content"]).split("\n"):
            shell.terminal.line(f"    {line}")
    if not found["results"]:
        where = (
            f" in the module {options.module!r}; leave --module out to search all" if options.module else ""
        )
        shell.terminal.note(f"Nothing found{where}.")
    for note in notes_in_words(found):
        shell.terminal.note(note)
    return code


def _where(found: Mapping[str, Any]) -> str:
    """Where a result is from, in one line."""
    if found["source"] == "code":
        symbol = f" {found['symbol']}" if "symbol" in found else ""
        return f"{found['path']}:{found['startLine']}-{found['endLine']}{symbol}"
    marks = against("supersededBy" in found, found.get("code", {}).get("state"))
    return f"{found['type']} {found['id']}{f' {marks}' if marks else ''}"


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
