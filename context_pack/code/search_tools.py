"""The tool `grep_codebase`: everything that names a JSON field of its answer.

An answer has the matches that fit its budget and says how to see the others. Where no lines around them are
wanted, matches come by file, one short text each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from context_pack.code.domain.search import LineHit
from context_pack.code.family import FAMILY
from context_pack.code.usecases.grep import CodeSearcher, GrepCodebase, Searched
from context_pack.toolkit.budget import MORE, fit, room_of
from context_pack.toolkit.call import Call
from context_pack.toolkit.shapes import shape
from context_pack.toolkit.spec import READS, Answer, Tool, json_answer, tool

GREP_ABOUT = """\
Search the project's text files for a regular expression, line by line; respects .gitignore. Matches come \
with line, column and two lines of context; context 0 is far shorter."""
_NARROW = "narrow the pattern or filePattern"

GREP_SCHEMA = shape(
    matches="rows", totalMatches="whole", filesSearched="whole", pattern="text", searchTime="whole",
    truncated="flag", more="text", message="text", error="text",
)  # fmt: skip


def grep_tool(searcher: CodeSearcher) -> Tool:
    """`grep_codebase` over a search engine."""

    def run(command: GrepCodebase, call: Call) -> Answer:
        return json_answer(_record(command, searcher.search(command, call)))

    return tool(
        "grep_codebase",
        "Search the code",
        GREP_ABOUT,
        FAMILY,
        GrepCodebase,
        run,
        READS,
        output_schema=GREP_SCHEMA,
        long_answers=True,
        slow=True,
        budget="maxTokens",
        search_hint="grep the codebase: search code for text or a regular expression",
    )


def _record(command: GrepCodebase, searched: Searched) -> dict[str, Any]:
    found = searched.found
    over = ""
    if found.unsearched:
        over = f"the time was over after {found.files} of {found.files + found.unsearched} files; {_NARROW}"
    if not found.total:
        none = f"No matches found for pattern '{command.pattern}'"
        return {
            "matches": [],
            "totalMatches": 0,
            "filesSearched": found.files,
            "message": f"{none} so far: {over}" if over else none,
            **({"truncated": True} if over else {}),
        }
    rows = [_match(hit, command.context) for hit in found.hits] if command.context else by_file(found.hits)
    body: dict[str, Any] = {
        "matches": rows,
        "pattern": command.pattern,
        "totalMatches": found.total,
        "filesSearched": found.files,
        "searchTime": searched.milliseconds,
    }
    how = f"{'ask with context 0, or ' if command.context else ''}{_NARROW} to see the others"
    body = fit(body, "matches", room_of(command.max_tokens), lambda _: how, cut_last=not command.context)
    count = sum(len(row.get("lines", [row])) for row in body["matches"])
    if MORE in body:  # a row may be a file with many matches
        body[MORE] = f"{count} of {len(found.hits)} matches are here; {how}"
    if over:
        body = {"message": f"These are not all matches: {over}", **body}
    return {**body, "truncated": True} if count < found.total or over else body


def by_file(hits: Sequence[LineHit]) -> list[dict[str, Any]]:
    """The matching lines of each file as `line: text`."""
    files: dict[str, list[str]] = {}
    for hit in hits:
        files.setdefault(hit.path, []).append(f"{hit.line}: {hit.text}")
    return [{"file": path, "lines": lines} for path, lines in files.items()]


def _match(hit: LineHit, most: int) -> dict[str, Any]:
    """The hit with so many lines around it."""
    around = {"before": list(hit.before[-most:]), "after": list(hit.after[:most])}
    return {"file": hit.path, "line": hit.line, "column": hit.column, "text": hit.text, "context": around}
