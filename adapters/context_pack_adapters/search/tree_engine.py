"""One search of a tree on disk: `regex` decides which lines match, and every shown line is read by us.

Ripgrep counts the lines of a file where pattern and file mean the same to it as to us. It opens files by
path, so counts are taken only if every folder, and every file with a count, is afterwards what it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path

from context_pack.code.domain.search import FoundLines, LineQuery
from context_pack.code.domain.search_pattern import Pattern, compiled
from context_pack.kernel.paths import EXCLUDED_FOLDERS, PathPolicy
from context_pack_adapters.disk.walking import ways_to
from context_pack_adapters.search.deadline import Deadline
from context_pack_adapters.search.globs import Wanted, wanted_by
from context_pack_adapters.search.listing import ListedFiles, Listing
from context_pack_adapters.search.matching import Collector
from context_pack_adapters.search.texts import KnownText, Texts


class TreeEngine:
    """Searches the files under `root`, an absolute path; safe to share between threads.

    `binary` gives the `rg` to use, or None; `room` is how many bytes of texts are kept; folders that are our
    `own` are not searched.
    """

    def __init__(
        self,
        root: str,
        policy: PathPolicy,
        binary: Callable[[], str | None],
        room: int,
        own: Collection[Path] = (),
    ) -> None:
        self._root = root
        self._binary = binary
        self._listing = Listing(root, policy, EXCLUDED_FOLDERS, ways_to(root, own))
        self._texts = Texts(root, room)

    def asked(self, query: LineQuery) -> Callable[[Deadline], FoundLines]:
        """Prepare the search for a query; the result runs it.

        Raises:
            Failure: `invalid_data` for a pattern or glob that means nothing.
        """
        pattern, wanted = compiled(query.pattern, query.case_sensitive), wanted_by(query.glob)
        return partial(self._found, query, pattern, wanted)

    def _found(self, query: LineQuery, pattern: Pattern, wanted: Wanted, deadline: Deadline) -> FoundLines:
        snapshot = self._listing.now(deadline)
        self._texts.tidy(snapshot.paths)
        paths = snapshot.paths if query.glob is None else tuple(filter(wanted, snapshot.paths))
        collector = Collector(pattern, query.limit, deadline)
        counts: dict[str, int] = {}
        if pattern.ripgrep is not None and (binary := self._binary()) is not None:
            known, counts = self._counted(binary, pattern, snapshot, paths, deadline)
        else:
            known = self._texts.current(paths, deadline)
        with self._texts.reading(deadline) as read:
            for path, file in zip(paths, known, strict=True):
                count = None if file is None else counts.get(path)
                if count is not None and (not count or collector.is_full):
                    collector.count(count)
                    continue
                if file is None or (file.is_text and file.text is None):
                    file = read(path)
                if file.text is not None:
                    collector.search(path, file.text)
        return collector.found()

    def _counted(
        self, binary: str, pattern: Pattern, snapshot: ListedFiles, paths: Sequence[str], deadline: Deadline
    ) -> tuple[list[KnownText | None], dict[str, int]]:
        """The cached texts of the files, and the match counts of those that ripgrep has counted."""
        from context_pack_adapters.search.ripgrep import counting

        plain = self._texts.plain(paths)
        if 2 * len(plain) < len(paths):
            self._texts.learn(paths, deadline)
            plain = self._texts.plain(paths)
        with counting(binary, pattern.ripgrep or "", pattern.fold, self._root, plain, deadline) as told:
            known = self._texts.current(paths, deadline)
            counts = told()
        if not snapshot.holds(deadline):
            return known, {}
        matching = [path for path, count in counts.items() if count]
        for path, still in zip(matching, self._texts.current(matching, deadline), strict=True):
            if still is None:
                del counts[path]
        return known, counts
