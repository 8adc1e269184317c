"""The tool `grep_codebase`: everything that names a JSON field of its answer.

An answer stays within its budget. Should the found lines weigh more, the lines around them are shortened
first, then left out, and only then are matches left out from the end; the answer says so. Where no lines
around them are wanted, matches come by file, one short text each.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from context_pack.code.domain.search import CONTEXT_LINES, SHOWN_CHARS, LineHit, shown
from context_pack.code.family import FAMILY
from context_pack.code.usecases.grep import CodeSearcher, GrepCodebase, Searched
from context_pack.toolkit.call import Call
from context_pack.toolkit.rows import weight
from context_pack.toolkit.shapes import shape
from context_pack.toolkit.spec import READS, Answer, Tool, json_answer, tool
from context_pack.toolkit.tokens import fitting

GREP_ABOUT = """\
Search the project's text files for a regular expression, line by line; respects .gitignore. Matches come \
with line, column and two lines of context; context 0 is far shorter."""
ENVELOPE_BYTES = 400
"""Room for everything beside the matches and the pattern."""
SHORT_CONTEXT_CHARS = 120
_NARROW = "narrow the pattern or filePattern"

GREP_SCHEMA = shape(
    matches="rows", totalMatches="whole", filesSearched="whole", pattern="text", searchTime="whole",
    truncated="flag", message="text", error="text",
)  # fmt: skip


def grep_tool(searcher: CodeSearcher) -> Tool:
    """`grep_codebase` over a search engine."""

    def run(command: GrepCodebase, call: Call) -> Answer:
        searched = searcher.search(command, call)
        return fitting(command.max_tokens, lambda room: json_answer(_record(command, searched, room)))

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
        budget="max_tokens",
    )


def _record(command: GrepCodebase, searched: Searched, most: int) -> dict[str, Any]:
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
    room = most - ENVELOPE_BYTES - weight(command.pattern)
    matches: list[dict[str, Any]]
    if command.context:
        matches = fitted(found.hits, room, command.context)
        shown = len(matches)
    else:
        matches, shown = by_file(found.hits, room)
    record: dict[str, Any] = {
        "matches": matches,
        "pattern": command.pattern,
        "totalMatches": found.total,
        "filesSearched": found.files,
        "searchTime": searched.milliseconds,
    }
    if shown < found.total or over:
        record["truncated"] = True
    words = [f"These are not all matches: {over}"] if over else []
    if shown < len(found.hits):
        words.append(
            f"Only {shown} of {len(found.hits)} matches fit into {command.max_tokens} tokens; "
            f"{'ask with context 0, or ' if command.context else ''}{_NARROW} to see the others"
        )
    return {"message": ". ".join(words), **record} if words else record


def by_file(hits: Sequence[LineHit], most: int) -> tuple[list[dict[str, Any]], int]:
    """The matching lines of each file as `line: text`, in at most `most` bytes, and how many they are."""
    files: dict[str, list[str]] = {}
    count = 0
    for hit in hits:
        line = f"{hit.line}: {hit.text}"
        most -= weight(line) + 1 + (0 if hit.path in files else weight({"file": hit.path, "lines": []}))
        if most < 0:
            break
        files.setdefault(hit.path, []).append(line)
        count += 1
    return [{"file": path, "lines": lines} for path, lines in files.items()], count


def fitted(hits: Sequence[LineHit], most: int, around: int = CONTEXT_LINES) -> list[dict[str, Any]]:
    """The hits as JSON in at most `most` bytes: less around them where needed, then fewer of them."""
    matches: list[dict[str, Any]] = []
    for chars in (SHOWN_CHARS, SHORT_CONTEXT_CHARS, 0):
        matches = [_match(hit, chars, around) for hit in hits]
        if sum(map(weight, matches)) + len(matches) <= most:
            return matches
    return matches[: sum(total <= most for total in accumulate(weight(match) + 1 for match in matches))]


def _match(hit: LineHit, chars: int, most: int) -> dict[str, Any]:
    """The hit with so many characters of each of `most` lines around it, or none of them."""

    def around(lines: Sequence[str]) -> list[str]:
        return [shown(line, most=chars) for line in lines] if chars else []

    return {
        "file": hit.path,
        "line": hit.line,
        "column": hit.column,
        "text": hit.text,
        "context": {"before": around(hit.before[-most:]), "after": around(hit.after[:most])},
    }
