"""Failures, refusals and remarks of the tools, in the words of the command line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.spec import Answer

MOST_LINES = 20
SPELLINGS: Mapping[str, str] = {
    "filePattern": "-g",
    "caseSensitive": "-s",
    "includeDeps": "--deps",
    "startLine": "--lines",
    "endLine": "--lines",
    "maxTokens": "--max-tokens",
    "max_tokens": "--max-tokens",
    "section_key": "--section",
    "ref_key": "--key",
    "ref_title": "--title",
    "ref_why": "--why",
    "ttl_minutes": "--ttl",
    "extend_minutes": "--ttl",
    "expected_revision": "--revision",
    "set_status to draft": "'context-pack packs reopen' makes it a draft",
    "list_contexts": "'context-pack contexts status'",
    "check_freshness": "'context-pack contexts status'",
}
"""What the tools call an argument or another tool, and what it is on the command line."""
_SPELLED = re.compile(rf"'?\b({'|'.join(SPELLINGS)})\b'?")
PACKS, DISCOVERIES = "packs", os.path.join("memory", "discoveries")
PACK_ADVICE = (
    PACKS,
    "mend it or move it away; until then the other packs answer by id, and 'packs verify' checks them",
)
ADVICE: Mapping[Code, tuple[str, str]] = {
    Code.MALFORMED_PACK: PACK_ADVICE,
    Code.MIGRATION_REQUIRED: PACK_ADVICE,
    Code.MALFORMED_DISCOVERY: (DISCOVERIES, "mend it, or remove it with 'memory forget' and its id"),
}
"""Where in the storage root the files of a failure are, and what to do about them."""
_KINDS = {Code.MALFORMED_PACK: "pack", Code.MALFORMED_DISCOVERY: "discovery"}


def body_of(answer: Answer) -> Mapping[str, Any]:
    """An answer of a tool as the JSON object that a client gets."""
    found: Mapping[str, Any] = json.loads(
        answer.text if answer.structured is None else json.dumps(answer.structured)
    )
    return found


def refusal_in_words(refusal: Mapping[str, Any]) -> str:
    """An error of a tool that words its errors, in one line."""
    details = refusal.get("details")
    if isinstance(details, list):
        details = "; ".join(fault["message"] for fault in details)
    places = (
        f"{each['symbol']} ({each['startLine']}-{each['endLine']})" for each in refusal.get("candidates", ())
    )
    parts = [refusal["error"], refusal.get("path"), details, ", ".join(places), refusal.get("hint")]
    return command_words(": ".join(str(part) for part in parts if part))


def notes_in_words(answer: Mapping[str, Any]) -> Iterator[str]:
    """What an answer says beside its results, a line each: warnings, and what was not searched yet."""
    if answer.get("warning"):
        yield str(answer["warning"])
    for name, done, does in (
        ("indexing", "files are indexed", "indexes"),
        ("semantic", "notes are embedded", "embeds"),
    ):
        if (progress := answer.get(name)) is not None:
            rest = f"'context-pack index' {does} the rest"
            yield f"{progress['done']} of {progress['total']} {done} so far; {rest}"
    if answer.get("stale"):
        yield "documents have changed since they were indexed; context-pack docs sync indexes them"


def command_words(text: str) -> str:
    """The words of a tool as the command line has them."""
    return _SPELLED.sub(lambda match: SPELLINGS[match[1]], text)


def words_for(failure: Failure, root: str = "") -> list[str]:
    """The lines that tell a person what failed and where; with the storage root, also what to do about it."""
    below, advice = ADVICE.get(failure.code, (PACKS, "")) if root else ("", "")
    details = _details(failure.details, os.path.join(root, below))
    lines = [_message(failure), *(f"  {line}" for line in details)]
    lines = list(map(command_words, lines))
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"  and {len(lines) - MOST_LINES} more"]
    return [*lines, f"  {advice}"] if advice else lines


def _message(failure: Failure) -> str:
    """The message, with its path; for malformed files only their number, since each has a line of its own."""
    files = failure.details.get("files", ())
    if failure.code not in _KINDS or not files:
        path = str(failure.details.get("path") or "")
        return failure.message if path in failure.message else f"{failure.message}: {path}"
    count, kind = failure.details.get("count", len(files)), _KINDS[failure.code]
    return f"a {kind} file is malformed" if count == 1 else f"{count} {kind} files are malformed"


def way_of(ref: Mapping[str, Any]) -> str:
    """Where a ref points, and where its code was found if that is elsewhere."""
    before, now = place_text(ref), place_text(ref["found"] or ref)
    return before if now == before else f"{before} → {now}"


def place_text(ref: Mapping[str, Any]) -> str:
    """A path with its lines."""
    return f"{ref['path']}:{ref['lines']['start']}-{ref['lines']['end']}"


def _details(details: Mapping[str, Any], folder: str) -> Iterator[str]:
    """The details that a person can act on."""
    for file in details.get("files", ()):
        yield f"{os.path.join(folder, str(file.get('file')))}: {file.get('reason')}"
    for ref in details.get("refs", ()):
        yield f"{ref['section']}/{ref['ref']}  {ref['state']}  {way_of(ref)} ({ref['reason']})"
    for problem in details.get("problems", ())[1:]:
        yield str(problem.get("message"))
    if "hint" in details:
        yield str(details["hint"])


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint that names the known word closest to `word`, or nothing."""
    close = get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""
