"""`grep_codebase`: what a call may ask, and the search itself with its time."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from context_pack.code.ports import CodeSearch
from context_pack.code.search import (
    CONTEXT_LINES,
    DEFAULT_HITS,
    MAX_HITS,
    MAX_PATTERN_CHARS,
    FoundLines,
    LineQuery,
)
from context_pack.toolkit.arguments import arg, boolean, integer, text
from context_pack.toolkit.call import Call
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS, LEAST_TOKENS, MOST_TOKENS

MAX_GLOB_CHARS = 1000


@frozen
class GrepCodebase:
    """The arguments of `grep_codebase`."""

    pattern: str = arg(text(1, MAX_PATTERN_CHARS), "Regular expression, matched line by line")
    file_pattern: str | None = arg(
        text(0, MAX_GLOB_CHARS),
        'Glob of the files to search (e.g. "**/*.ts"); without "/" it is compared with the name',
        name="filePattern",
        default=None,
    )
    case_sensitive: bool = arg(boolean(), "Whether case matters", name="caseSensitive", default=False)
    limit: int = arg(integer(1, MAX_HITS), "Most matches to return", default=DEFAULT_HITS)
    context: int = arg(
        integer(0, CONTEXT_LINES), "Lines around a match; 0: only lines, by file", default=CONTEXT_LINES
    )
    max_tokens: int = arg(
        integer(LEAST_TOKENS, MOST_TOKENS),
        "Most tokens",
        name="maxTokens",
        default=DEFAULT_MAX_TOKENS,
    )


@frozen
class Searched:
    """What was found, and how long it took."""

    found: FoundLines
    milliseconds: int


@frozen
class CodeSearcher:
    """Searches the tree; `monotonic` gives seconds."""

    search_engine: CodeSearch
    monotonic: Callable[[], float]

    def search(self, command: GrepCodebase, call: Call) -> Searched:
        """The lines that match; to a client those that were found in time.

        Raises:
            Failure: `invalid_data` for a pattern or glob that means nothing, `timed_out` before any file.
            Cancelled: the caller has withdrawn the call.
        """
        start = self.monotonic()
        in_time = call.request_id is not None  # commands and the library have all the time
        query = LineQuery(
            command.pattern, command.file_pattern, command.case_sensitive, command.limit, in_time
        )
        found = self.search_engine.search(query, call)
        return Searched(found, round((self.monotonic() - start) * 1000))
