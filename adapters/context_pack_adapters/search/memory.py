"""`CodeSearch` over files in a dictionary: the pure engine's matching without a disk."""

from __future__ import annotations

from collections.abc import Mapping

from context_pack.code.domain.search import (
    MAX_FILE_BYTES,
    SECONDS,
    TIMED_OUT,
    Found,
    Hit,
    Query,
)
from context_pack.code.domain.search_pattern import Pattern, compiled
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import EXCLUDED_FOLDERS, PathPolicy, RelativePath
from context_pack.toolkit.call import Call
from context_pack_adapters.search.deadline import Deadline, TimedOut, in_time
from context_pack_adapters.search.globs import Wanted, wanted_by
from context_pack_adapters.search.shelf import searched_text

_POLICY = PathPolicy()


class MemorySearch:
    """Searches path and content; there are no ignore files.

    The mapping is looked at on every call, so that a caller may edit the tree by changing it.
    """

    engine = "pure"

    def __init__(self, files: Mapping[str, str | bytes], policy: PathPolicy = _POLICY) -> None:
        self._files = files
        self._policy = policy

    def search(self, query: Query, call: Call) -> Found:
        """The lines that match.

        Raises:
            Failure: `invalid_data` for a pattern or glob that means nothing, `timed_out` after three seconds.
            Cancelled: the caller has withdrawn the call.
        """
        pattern = compiled(query.pattern, query.case_sensitive)
        wanted = None if query.glob is None else wanted_by(query.glob)
        try:
            return in_time(lambda deadline: self._found(query, pattern, wanted, deadline), SECONDS, call)
        except TimedOut:
            raise Failure(Code.TIMED_OUT, TIMED_OUT, {"pattern": query.pattern}) from None

    def _found(self, query: Query, pattern: Pattern, wanted: Wanted | None, deadline: Deadline) -> Found:
        from context_pack_adapters.search.matching import Matcher
        from context_pack_adapters.search.regex_walk import hits_in

        matcher = Matcher(pattern, deadline)
        hits: list[Hit] = []
        total = files = 0
        for path in sorted(self._files):
            content = self._files[path]
            data = content.encode("utf-8") if isinstance(content, str) else content
            if not self._counts(path) or (wanted is not None and not wanted(path)):
                continue
            known, text = searched_text(data)
            if len(data) > MAX_FILE_BYTES or not known.is_text:
                continue
            files += 1
            found = matcher.in_text(text, query.limit - len(hits), known.has_long_lines)
            total += found.total
            hits.extend(hits_in(path, text, found.spots))
        return Found(tuple(hits), total, files)

    def _counts(self, path: str) -> bool:
        folders = path.split("/")[:-1]
        return EXCLUDED_FOLDERS.isdisjoint(folders) and not self._policy.denies(RelativePath(path))
