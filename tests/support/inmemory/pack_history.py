"""The last revisions of packs, in a dictionary."""

from __future__ import annotations

from collections.abc import Sequence

from context_pack.packs.model import Pack
from context_pack.packs.ports import KEPT_REVISIONS


class MemoryPackHistory:
    """A `PackHistory` in memory."""

    def __init__(self) -> None:
        self._packs: dict[str, dict[int, Pack]] = {}

    def keep(self, pack: Pack) -> None:
        """Keep a revision, and only the last of the pack."""
        kept = self._packs.setdefault(pack.id, {})
        kept[pack.revision] = pack
        for revision in sorted(kept)[:-KEPT_REVISIONS]:
            del kept[revision]

    def get(self, pack_id: str, revision: int) -> Pack | None:
        """A kept revision."""
        return self._packs.get(pack_id, {}).get(revision)

    def revisions(self, pack_id: str) -> Sequence[int]:
        """The kept revisions of a pack, the oldest first."""
        return sorted(self._packs.get(pack_id, {}))

    def forget(self, pack_id: str) -> None:
        """Drop every revision of a pack."""
        self._packs.pop(pack_id, None)
