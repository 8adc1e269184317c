"""What refs were anchored to, in a dictionary."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from context_pack.kernel.ports import Clock
from context_pack.packs.ports import EXCERPT_BYTES, IDLE_SECONDS


class MemoryExcerptStore:
    """An `ExcerptStore` in memory."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._texts: dict[str, tuple[str, datetime]] = {}

    def texts(self, digests: Collection[str]) -> Mapping[str, str]:
        """The texts with these digests."""
        return {digest: self._texts[digest][0] for digest in digests if digest in self._texts}

    def put(self, texts: Mapping[str, str]) -> None:
        """Keep texts by their digests, but for those that are too long."""
        for digest, text in texts.items():
            if len(text.encode("utf-8", "surrogatepass")) <= EXCERPT_BYTES:
                self._texts.setdefault(digest, (text, self._clock.now()))

    def remove(self, digests: Iterable[str]) -> None:
        """Remove texts; what is not there is no error."""
        for digest in digests:
            self._texts.pop(digest, None)

    def idle(self) -> Collection[str]:
        """The digests of texts that were written more than an hour ago."""
        now = self._clock.now()
        known = list(self._texts.items())
        return [digest for digest, (_, at) in known if (now - at).total_seconds() > IDLE_SECONDS]
