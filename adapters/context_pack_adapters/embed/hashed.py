"""The fast embedder: hashed words and character n-grams, without weights, files or network.

Each token of `retrieval.words` becomes a few signed buckets: itself and its n-grams of 3 to 5 characters,
scaled so that a long word counts as much as a short one and a common one less. A text is the sum of its
tokens, each by count^0.75; what stands first (a title, a heading, a signature) counts threefold; large
buckets are damped. The tokens of a language repeat, so their buckets are kept. Many texts are summed by
numpy, one gather and one `bincount` for a batch; a question and a few texts are not worth loading it, which
takes longer than they do.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import filterfalse
from math import hypot
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from context_pack.retrieval.ports import Kind
from context_pack_adapters.embed import common_words
from context_pack_adapters.embed.token_hashes import (
    WORD_BUCKETS,
    all_hashes,
    hash_counts,
    ragged,
    token_hashes,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T", int, "NDArray[np.uint64]")
DIMENSION = 512
WORD_SHARE = 0.5
"""What the whole token weighs; its n-grams together weigh 1."""
FIRST, FIRST_AGAIN = 16, 2
"""How many tokens are what a text begins with, and how often they count besides."""
COUNT_POWER, BUCKET_POWER = 0.75, 0.7
WEIGHTS = tuple(count**COUNT_POWER for count in range(1025))
MOST_TOKENS = 60_000
"""The size of the token cache; when it is full, it is cleared."""
BATCH = 64
"""Texts per step: a query waits for at most one step of a running batch of documents."""
FEW_TOKENS = 4000
"""So many tokens are summed in less time than numpy takes to load."""
NO_WORDS: Mapping[str, int] = {"": 1}


class HashedEmbedder:
    """Vectors of hashed words and character n-grams; texts without a word share one vector of their own."""

    id = "hashed-512/2"
    dimension = DIMENSION
    weight = 0.2
    unrelated = 0.0

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: _KeptTokens | None = None

    def embed(
        self,
        texts: Sequence[str],
        kind: Kind,  # noqa: ARG002 - all alike
    ) -> Any:
        """One unit vector per text; all kinds are embedded alike."""
        from context_pack.retrieval.words import tokens

        return self.embed_tokens(tokens(text) for text in texts)

    def embed_tokens(self, texts: Iterable[Sequence[str]]) -> Any:
        """One unit vector per text, given as its tokens: for those who have them already."""
        counts = [_counted(found) for found in texts]
        if "numpy" not in sys.modules and sum(map(len, counts)) <= FEW_TOKENS:
            return [_vector(each) for each in counts]
        import numpy as np

        batches = [np.empty((0, DIMENSION), np.float32)]
        for start in range(0, len(counts), BATCH):
            with self._lock:
                if self._kept is None:
                    self._kept = _KeptTokens()
                sums = self._kept.sums(counts[start : start + BATCH])
            batches.append(_damped(sums).astype(np.float32))
        return np.concatenate(batches)


def _counted(found: Sequence[str]) -> Mapping[str, int]:
    """The tokens of a text with their counts."""
    counts = Counter(found)
    counts.update([*found[:FIRST]] * FIRST_AGAIN)
    return counts or NO_WORDS


def _places(hashes: T) -> T:
    """The place of a hash, or of an array of them: a bucket, or `DIMENSION` more if it is subtracted from.

    The bits are mixed, because the CRC-32 of a short text is not random enough.
    """
    mixed = hashes * 0x9E3779B1 & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 15) * 0x85EBCA77 & 0xFFFFFFFF
    mixed = mixed ^ mixed >> 13
    return mixed % DIMENSION + (mixed >> 31 ^ 1) * DIMENSION


def _shares(token: str, grams: int) -> tuple[float, float]:
    """What a token adds to each of its own buckets, and to each of those of its n-grams."""
    size = common_words.shares().get(token, 1.0) / (WORD_SHARE**2 + (grams > 0)) ** 0.5
    return size * WORD_SHARE * WORD_BUCKETS**-0.5, size * max(grams, 1) ** -0.5


def _vector(counts: Mapping[str, int]) -> array[float]:
    """The vector of one text."""
    sums = [0.0] * (2 * DIMENSION)
    for token, count in counts.items():
        hashes, weight = token_hashes(token), WEIGHTS[min(count, len(WEIGHTS) - 1)]
        word, gram = _shares(token, len(hashes) - WORD_BUCKETS)
        for number, each in enumerate(hashes):
            sums[_places(each)] += weight * (word if number < WORD_BUCKETS else gram)
    whole = map(float.__sub__, sums[:DIMENSION], sums[DIMENSION:])
    damped = [each**BUCKET_POWER if each >= 0 else -((-each) ** BUCKET_POWER) for each in whole]
    norm = hypot(*damped)
    if not norm:  # buckets that cancel out leave no direction
        damped[0] = norm = 1.0
    return array("f", [each / norm for each in damped])


class _KeptTokens:
    """A cache of the buckets of recent tokens: ragged rows in two flat arrays."""

    def __init__(self) -> None:
        import numpy as np

        self._weights: NDArray[np.float64] = np.array(WEIGHTS)
        self._forget()

    def _forget(self) -> None:
        import numpy as np

        self._rows: dict[str, int] = {}
        self._starts: NDArray[np.int64] = np.zeros(1, np.int64)
        self._places: NDArray[np.int16] = np.zeros(0, np.int16)
        self._shares: NDArray[np.float64] = np.zeros(0, np.float64)

    def sums(self, texts: Sequence[Mapping[str, int]]) -> NDArray[np.float64]:
        """For each text (its tokens with their counts) the weighted sum of its tokens' buckets."""
        import numpy as np

        self._learn(texts)
        known = self._rows
        rows = np.array([known[token] for counts in texts for token in counts], np.int64)
        counted = np.array([count for counts in texts for count in counts.values()], np.int64)
        weights = self._weights[np.minimum(counted, len(WEIGHTS) - 1)]
        bases = np.repeat(np.arange(len(texts)) * 2 * DIMENSION, [len(counts) for counts in texts])

        starts = self._starts[rows]
        lengths = self._starts[rows + 1] - starts
        at = ragged(starts, lengths)
        targets = np.repeat(bases, lengths) + self._places[at]
        shares = np.repeat(weights, lengths) * self._shares[at]
        sums = np.bincount(targets, shares, len(texts) * 2 * DIMENSION).astype(np.float64, copy=False)
        added, subtracted = sums.reshape(len(texts), 2, DIMENSION).swapaxes(0, 1)
        whole: NDArray[np.float64] = added - subtracted
        return whole

    def _learn(self, texts: Sequence[Mapping[str, int]]) -> None:
        """Make the rows of tokens that are not kept yet."""
        new = {token: None for counts in texts for token in counts if token not in self._rows}
        if not new:
            return
        if len(self._rows) + len(new) > MOST_TOKENS and self._rows:
            self._forget()
            self._learn(texts)
            return
        # Apart, because those in ASCII can be hashed together.
        for some in ([*filter(str.isascii, new)], [*filterfalse(str.isascii, new)]):
            if some:
                self._add(some)

    def _add(self, new: Sequence[str]) -> None:
        import numpy as np

        self._rows.update(zip(new, range(len(self._rows), len(self._rows) + len(new)), strict=True))
        lengths = hash_counts(new)
        ends = np.cumsum(lengths)
        words, grams = np.array([*map(_shares, new, (lengths - WORD_BUCKETS).tolist())]).T
        shares = np.repeat(grams, lengths)
        for place in range(WORD_BUCKETS):
            shares[ends - lengths + place] = words
        _extend(self._starts, ends + self._starts[-1])
        _extend(self._places, _places(all_hashes(new)).astype(np.int16))
        _extend(self._shares, shares)


def _extend(kept: NDArray[Any], more: NDArray[Any]) -> None:
    """Add to an array in its place: copying all of it for each batch would cost more than the batch."""
    kept.resize(len(kept) + len(more), refcheck=False)
    kept[-len(more) :] = more


def _damped(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row as a unit vector, with damped values, since many tokens may share a bucket."""
    import numpy as np

    damped: NDArray[np.float64] = np.copysign(np.abs(sums) ** BUCKET_POWER, sums)
    norms = np.sqrt(np.einsum("ij,ij->i", damped, damped))
    damped[norms == 0, 0] = norms[norms == 0] = 1  # buckets that cancel out leave no direction
    damped /= norms[:, None]
    return damped
