"""Anchored texts that a test holds itself, and refs resolved with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from inmemory import MemorySourceTree

from context_pack.packs.anchors import SourceText, digest_of
from context_pack.packs.following import where_it_was
from context_pack.packs.model import Ref
from context_pack.packs.ports import NoExcerptStore
from context_pack.packs.resolving import Resolver
from context_pack.packs.states import Resolution

MOST_BYTES = 2 * 1024 * 1024


class KeptTexts(NoExcerptStore):
    """Anchored texts in a dictionary."""

    def __init__(self, kept: Mapping[str, str]) -> None:
        self.kept = kept

    def texts(self, digests: Collection[str]) -> Mapping[str, str]:
        """Those that are kept."""
        return {digest: self.kept[digest] for digest in digests if digest in self.kept}


def resolve(ref: Ref, source: SourceText, *kept: str) -> Resolution:
    """What became of a ref, as far as its own file says."""
    found = where_it_was(ref, source)
    if found is not None:
        return found
    texts = KeptTexts({digest_of(text): text for text in kept})
    return Resolver(MemorySourceTree({ref.path.value: source.text}), MOST_BYTES, excerpts=texts)(ref)
