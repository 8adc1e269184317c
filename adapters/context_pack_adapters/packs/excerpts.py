"""What refs were anchored to, in a folder beside the packs: `{root}/excerpts/{digest}.txt`.

A file is believed only if its text has the digest in its name; older files are named after all 64 digits. All
that a change needs are on the disk before the pack that names them; losing one costs a comparison only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

from context_pack.kernel.ports import Clock
from context_pack.kernel.text import sha256_hex
from context_pack.packs.anchors import DIGEST_CHARS
from context_pack.packs.ports import EXCERPT_BYTES, IDLE_SECONDS
from context_pack_adapters.files.faults import translated
from context_pack_adapters.files.folder import Folder
from context_pack_adapters.files.opening import AnyPlace

FOLDER, SUFFIX = "excerpts", ".txt"
_DIGEST = re.compile("[0-9a-f]{16}")
_NAME = re.compile(r"([0-9a-f]{16})(?:[0-9a-f]{48})?\.txt")


def _stem(name: str) -> str | None:
    """The digest of the text in a file of that name; None for another file."""
    match = _NAME.fullmatch(name)
    return None if match is None else match[1]


class FileExcerptStore:
    """An `ExcerptStore` on disk; safe to share between threads and processes."""

    def __init__(self, root: AnyPlace, clock: Clock) -> None:
        self._folder = Folder(root).below(FOLDER)
        self._clock = clock

    def texts(self, digests: Collection[str]) -> Mapping[str, str]:
        """The texts with these digests, but for those that are not there, or not what they are called."""
        wanted = set(filter(_DIGEST.fullmatch, digests))
        texts = self._read(digest + SUFFIX for digest in wanted)
        if older := wanted - texts.keys():
            texts |= self._read(self._names(older))
        return texts

    def _read(self, names: Iterable[str]) -> dict[str, str]:
        texts: dict[str, str] = {}
        for name, data in self._folder.read_all(names, EXCERPT_BYTES).items():
            with suppress(UnicodeDecodeError):
                text = data.decode("utf-8")
                if sha256_hex(text).startswith(name.removesuffix(SUFFIX)):
                    texts[name[:DIGEST_CHARS]] = text
        return texts

    def _names(self, digests: Collection[str]) -> list[str]:
        """The files of these texts, also those that are named after all of the digest."""
        with suppress(OSError):
            return [name for name in self._folder.names() if _stem(name) in digests]
        return []

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
        for name in self._names(set(digests)):
            with suppress(OSError):
                self._folder.remove(name)

    def idle(self) -> Collection[str]:
        """The digests of texts that were written more than an hour ago."""
        before = self._clock.now().timestamp() - IDLE_SECONDS
        with suppress(OSError):
            return list(filter(None, map(_stem, self._folder.written_before(before))))
        return ()
