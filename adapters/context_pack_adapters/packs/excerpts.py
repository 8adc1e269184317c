"""What refs were anchored to, in a folder beside the packs: `{root}/excerpts/{sha-256}.txt`.

A file is believed only if its text has the digest in its name. All that a change needs are on the disk before
the pack that names them; losing one costs a comparison and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

from context_pack.kernel.ports import Clock
from context_pack.kernel.text import sha256_hex
from context_pack.packs.ports import EXCERPT_BYTES, IDLE_SECONDS
from context_pack_adapters.files.faults import translated
from context_pack_adapters.files.folder import Folder
from context_pack_adapters.files.opening import AnyPlace

FOLDER, SUFFIX = "excerpts", ".txt"
_DIGEST = re.compile("[0-9a-f]{64}")


class FileExcerptStore:
    """An `ExcerptStore` on disk; safe to share between threads and processes."""

    def __init__(self, root: AnyPlace, clock: Clock) -> None:
        self._folder = Folder(root).below(FOLDER)
        self._clock = clock

    def texts(self, digests: Collection[str]) -> Mapping[str, str]:
        """The texts with these digests, but for those that are not there, or not what they are called."""
        names = [digest + SUFFIX for digest in digests if _DIGEST.fullmatch(digest)]
        found: dict[str, str] = {}
        for name, data in self._folder.read_all(names, EXCERPT_BYTES).items() if names else ():
            digest = name.removesuffix(SUFFIX)
            with suppress(UnicodeDecodeError):
                text = data.decode("utf-8")
                if sha256_hex(text) == digest:
                    found[digest] = text
        return found

    def put(self, texts: Mapping[str, str]) -> None:
        """Keep texts by their digests, but for those that are too long."""
        files = {digest: text.encode("utf-8", "surrogatepass") for digest, text in texts.items()}
        known = self.texts(files.keys())
        new = {
            digest + SUFFIX: data
            for digest, data in files.items()
            if len(data) <= EXCERPT_BYTES and digest not in known
        }
        if new:
            with translated(FOLDER):
                self._folder.write_all(new)

    def remove(self, digests: Iterable[str]) -> None:
        """Remove texts; what is not there, or cannot be removed now, is no error."""
        for digest in filter(_DIGEST.fullmatch, digests):
            with suppress(OSError):
                self._folder.remove(digest + SUFFIX)

    def idle(self) -> Collection[str]:
        """The digests of texts that were written more than an hour ago."""
        before = self._clock.now().timestamp() - IDLE_SECONDS
        with suppress(OSError):
            names = (name for name in self._folder.written_before(before) if name.endswith(SUFFIX))
            return [name for name in (each.removesuffix(SUFFIX) for each in names) if _DIGEST.fullmatch(name)]
        return ()
