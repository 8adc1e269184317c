"""What the last look at a folder of packs found, kept so that the next one changes only what changed.

Finding a name costs the same whatever the number of packs. Values only: nothing here reads a file or knows
the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from context_pack.kernel.errors import Code
from context_pack.packs.domain.model import Pack


@frozen
class Broken:
    """A file named like a pack that holds none, and the failure that says why."""

    code: Code
    message: str
    details: Mapping[str, object]

    @property
    def reason(self) -> str:
        """Why, in words."""
        return str(self.details.get("reason", self.message))


@frozen
class Shelf:
    """Packs, expired or not, and files that hold none, by id."""

    packs: Sequence[Pack]
    broken: Mapping[str, Broken]


class Catalog:
    """Every file named like a pack, by id and by name; not for use by two threads at once."""

    def __init__(self) -> None:
        self._packs: dict[str, Pack] = {}
        self._broken: dict[str, Broken] = {}
        self._by_name: dict[str, set[str]] = {}
        self._whole: Shelf | None = None

    def put(self, pack_id: str, value: Pack | Broken | None) -> None:
        """What a file holds now; None if it is gone."""
        before = self._packs.get(pack_id)
        if value is before and value is not None:
            return
        self._whole = None
        self._broken.pop(pack_id, None)
        if before is not None:
            del self._packs[pack_id]
            if before.name is not None:
                self._by_name[before.name].discard(pack_id)
        if isinstance(value, Broken):
            self._broken[pack_id] = value
        elif value is not None:
            self._packs[pack_id] = value
            if value.name is not None:
                self._by_name.setdefault(value.name, set()).add(pack_id)

    def keep(self, ids: set[str]) -> None:
        """Drop every file but these."""
        for pack_id in (self._packs.keys() | self._broken.keys()) - ids:
            self.put(pack_id, None)

    def whole(self) -> Shelf:
        """Everything."""
        if self._whole is None:
            self._whole = Shelf(tuple(self._packs.values()), dict(self._broken))
        return self._whole

    def named(self, name: str) -> Shelf:
        """The packs of one name, and every file that holds none."""
        packs = [self._packs[pack_id] for pack_id in sorted(self._by_name.get(name, ()))]
        return Shelf(packs, dict(self._broken))
