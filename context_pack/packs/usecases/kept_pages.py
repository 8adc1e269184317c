"""Pages that were rendered, given again while all that they were made of is the same.

Worth it by `benches/side_by_side/render.py`: "again" takes less time than reading the files, else 3 times
that. A page is kept only if the own files of its refs prove all of their states, and given again only
after a look, in the same call, at whether those files are unchanged.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Stamp
from context_pack.packs.domain.bookmarks import Mode, Position
from context_pack.packs.domain.budget import Line
from context_pack.packs.domain.model import Pack
from context_pack.packs.domain.render import Rendered

MOST_PAGES, MOST_CHARS = 16, 1024 * 1024
"""How many pages are kept, and how long each may be."""

Request = tuple[str, Mode, int, Position | None]
"""The pack's id, and what of it is shown within how many tokens from where on."""


class KeptPage(NamedTuple):
    """A page, and all that it was made of: the pack, what its legend says of it, the files of its refs."""

    pack: Pack
    legend: list[Line]
    stamps: Mapping[RelativePath, Stamp]
    page: Rendered


class KeptPages:
    """The pages of the last requests; safe to share between threads: at worst one is made once more."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Request, KeptPage] = OrderedDict()

    def of(self, request: Request, pack: Pack, legend: list[Line]) -> KeptPage | None:
        """The page that was made of this pack with this legend; its files may have changed since."""
        kept = self._kept.get(request)
        # Stores hand out the same pack while its file is the same.
        return kept if kept is not None and kept.pack is pack and kept.legend == legend else None

    def keep(self, request: Request, made: KeptPage) -> None:
        """Keep a page, unless it is very long."""
        if len(made.page.text) > MOST_CHARS:
            return
        self._kept.pop(request, None)
        self._kept[request] = made
        if len(self._kept) > MOST_PAGES:
            self._kept.popitem(last=False)
