"""`CodeSearch` over files in a dictionary: the same matching without a disk."""

from __future__ import annotations

from collections.abc import Mapping

from context_pack.code.domain.search import MAX_FILE_BYTES, SECONDS, FoundLines, LineQuery
from context_pack.code.domain.search_pattern import compiled
from context_pack.kernel.paths import EXCLUDED_FOLDERS, PathPolicy, RelativePath
from context_pack.toolkit.call import Call
from context_pack_adapters.search.deadline import Deadline, in_time
from context_pack_adapters.search.globs import wanted_by
from context_pack_adapters.search.matching import Collector
from context_pack_adapters.search.texts import described


class MemorySearch:
    """Searches path and content; there are no ignore files.

    The mapping is looked at on every call, so that a caller may edit the tree by changing it.
    """

    def __init__(self, files: Mapping[str, str | bytes], policy: PathPolicy | None = None) -> None:
        self._files = files
        self._policy = policy or PathPolicy()

    def search(self, query: LineQuery, call: Call) -> FoundLines:
        """The lines that match."""
        pattern, wanted = compiled(query.pattern, query.case_sensitive), wanted_by(query.glob)

        def work(deadline: Deadline) -> FoundLines:
            collector = Collector(pattern, query.limit, deadline)
            for path in filter(self._counts, filter(wanted, sorted(self._files))):
                content = self._files[path]
                data = content.encode("utf-8") if isinstance(content, str) else content
                known = described(data)
                if known.text is not None and len(data) <= MAX_FILE_BYTES:
                    collector.search(path, known.text)
            return collector.found()

        return in_time(work, query.pattern, SECONDS, call)

    def _counts(self, path: str) -> bool:
        return EXCLUDED_FOLDERS.isdisjoint(path.split("/")[:-1]) and not self._policy.denies(
            RelativePath(path)
        )
