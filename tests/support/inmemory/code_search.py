"""`CodeSearch` over files in a dictionary: the same matching without a disk."""

from __future__ import annotations

import math
from collections.abc import Mapping

from context_pack.code.patterns import compiled, search_texts
from context_pack.code.search import MAX_FILE_BYTES, SECONDS, FoundLines, LineQuery, search_order
from context_pack.kernel.paths import EXCLUDED_FOLDERS, PathPolicy, RelativePath
from context_pack.toolkit.call import Call
from context_pack_adapters.source.globs import wanted_by
from context_pack_adapters.source.grep import answer_of, searched_text, time_limit


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
        paths = sorted(
            (path for path in self._files if wanted(path) and self._counts(path)), key=search_order
        )
        texts = ((path, self._text(path)) for path in paths)
        check = time_limit(SECONDS if query.in_time else math.inf, call)
        return answer_of(search_texts(pattern, texts, len(paths), query.limit, check), query)

    def _text(self, path: str) -> str | None:
        content = self._files[path]
        data = content.encode("utf-8") if isinstance(content, str) else content
        return searched_text(data) if len(data) <= MAX_FILE_BYTES else None

    def _counts(self, path: str) -> bool:
        return EXCLUDED_FOLDERS.isdisjoint(path.split("/")[:-1]) and not self._policy.denies(
            RelativePath(path)
        )
