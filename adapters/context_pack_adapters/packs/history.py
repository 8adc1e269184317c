"""The last revisions of packs in a private folder: `history/{id}.{revision}.md`, in the format of packs.

Losing one costs a comparison: nothing here fails a write. The oldest go first, and all after 90 days.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from context_pack.kernel.errors import Failure
from context_pack.packs.model import Pack
from context_pack.packs.ports import KEPT_REVISIONS
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.packs import pack_format

SUFFIX = ".md"
KEPT_SECONDS = 90 * 86_400.0


class FilePackHistory:
    """A `PackHistory` on disk; safe to share between threads and processes."""

    def __init__(self, folder: PrivateFolder) -> None:
        self._folder = folder
        self._is_swept = False

    def keep(self, pack_id: str, files: Mapping[int, bytes]) -> None:
        """Keep files of a pack by their revisions, and only the last of them."""
        named = {_name(pack_id, revision): data for revision, data in files.items()}
        with suppress(OSError, Failure):
            if not self._is_swept:
                self._sweep()
            self._folder.write_all(named, durably=False)
            if max(files) > KEPT_REVISIONS:  # else there are not as many
                for revision in self.revisions(pack_id)[:-KEPT_REVISIONS]:
                    self._folder.remove(_name(pack_id, revision))

    def get(self, pack_id: str, revision: int) -> Pack | None:
        """A kept revision."""
        with suppress(OSError, Failure):
            data, _ = self._folder.read(_name(pack_id, revision), pack_format.MAX_FILE_BYTES)
            return pack_format.decode(data, pack_id)
        return None

    def revisions(self, pack_id: str) -> Sequence[int]:
        """The kept revisions of a pack, the oldest first."""
        with suppress(OSError):
            start = f"{pack_id}."
            numbers = (
                name.removeprefix(start).removesuffix(SUFFIX)
                for name in self._folder.names()
                if name.startswith(start) and name.endswith(SUFFIX)
            )
            return sorted(int(number) for number in numbers if number.isascii() and number.isdigit())
        return []

    def forget(self, pack_id: str) -> None:
        """Drop every revision of a pack."""
        for revision in self.revisions(pack_id):
            with suppress(OSError):
                self._folder.remove(_name(pack_id, revision))

    def _sweep(self) -> None:
        """Make or mend the folder, and drop what is older than any pack that is still worked on."""
        self._folder.make()
        self._is_swept = True
        before = time.time() - KEPT_SECONDS
        for name in self._folder.written_before(before):
            if name.endswith(SUFFIX):
                with suppress(OSError):
                    self._folder.remove(name)


def _name(pack_id: str, revision: int) -> str:
    return f"{pack_id}.{revision}{SUFFIX}"
