"""The position in a pack's pages, and the cursor that carries it.

A cursor carries the pack's revision too: pages of two different packs, or of two revisions of one, never mix.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from context_pack.kernel.errors import invalid
from context_pack.kernel.paging import decode_cursor, encode_cursor
from context_pack.packs.domain.model import Pack
from context_pack.packs.domain.pages import Mode as Mode

CURSOR_KIND = "pack"


@frozen
class Position:
    """Where the next page begins: an item, and the line of its body to go on with."""

    item: int = 0
    line: int = 0


@frozen
class Bookmark:
    """What a cursor carries: the pack, its revision, the mode and the position."""

    pack_id: str
    revision: int
    mode: Mode
    position: Position

    def encode(self) -> str:
        """The cursor."""
        at = [self.position.item, self.position.line]
        payload = {"id": self.pack_id, "revision": self.revision, "mode": self.mode.value, "at": at}
        return encode_cursor(CURSOR_KIND, payload)

    @classmethod
    def decode(cls, cursor: str) -> Bookmark:
        """The bookmark of a cursor.

        Raises:
            Failure: `invalid_data`, field `cursor`.
        """
        payload = decode_cursor(CURSOR_KIND, cursor)
        try:
            position = Position(*map(_natural, payload["at"]))
            return cls(str(payload["id"]), _natural(payload["revision"]), Mode(payload["mode"]), position)
        except (KeyError, TypeError, ValueError):
            raise invalid("'cursor' does not lead anywhere; render the pack without it", "cursor") from None

    def check(self, pack: Pack) -> None:
        """Return only if the cursor belongs to this pack as it now is.

        Raises:
            Failure: `invalid_data` for another pack, `revision_conflict` for a changed one.
        """
        if self.pack_id != pack.id:
            raise invalid("'cursor' belongs to another pack; render this one without it", "cursor")
        pack.check_revision(self.revision)


def _natural(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("not a natural number")
    return value
