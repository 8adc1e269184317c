"""The fast embedder: hashed words and character n-grams, without weights, files or network.

Each token of `retrieval.words` becomes a few signed buckets: itself and its n-grams of 3 to 5 characters,
scaled so that a long word counts as much as a short one and a common one less. A text is the sum of its
tokens, each by count^0.75; what stands first (a title, a heading, a signature) counts threefold; large
buckets are damped. Hashing is CRC-32 with a mixing step, so that every process and platform agrees. The
tokens of a language repeat, so their buckets are kept, and a text costs one gather and one `bincount`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any
from zlib import crc32

from context_pack.retrieval.ports import Kind
from context_pack_adapters.embed import common_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSION = 512
NGRAMS = (3, 4, 5)
WORD_BUCKETS, WORD_SHARE = 4, 0.5
"""The whole token has several buckets: one collision is not everything. The n-grams together weigh 1."""
SEEDS = range(1, WORD_BUCKETS + 1)
FIRST, FIRST_AGAIN = 16, 2
"""How many tokens are what a text begins with, and how often they count besides."""
COUNT_POWER, BUCKET_POWER = 0.75, 0.7
MOST_TOKENS = 60_000
"""The size of the token cache; when it is full, it is cleared."""
BATCH = 64
"""Texts per step: a query waits for at most one step of a running batch of documents."""
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
        """One unit vector per text, as the rows of one array; all kinds are embedded alike."""
        from context_pack.retrieval.words import tokens

        return self.embed_tokens(tokens(text) for text in texts)

    def embed_tokens(self, texts: Iterable[Sequence[str]]) -> NDArray[np.float32]:
        """One unit vector per text, given as its tokens: for those who have them already."""
        import numpy as np

        waiting, batches = iter(texts), []
        while counts := [_counted(found) for found in islice(waiting, BATCH)]:
            with self._lock:
                if self._kept is None:
                    self._kept = _KeptTokens()
                sums = self._kept.sums(counts)
            batches.append(_damped(sums).astype(np.float32))
        return np.concatenate(batches) if batches else np.empty((0, DIMENSION), np.float32)


class _KeptTokens:
    """A cache of the buckets of recent tokens: ragged rows in two flat arrays."""

    def __init__(self) -> None:
        import numpy as np

        self._damping: NDArray[np.float64] = np.arange(1, 1025, dtype=np.float64) ** COUNT_POWER
        self._forget()

    def _forget(self) -> None:
        import numpy as np

        self._rows: dict[str, int] = {}
        self._starts: NDArray[np.int64] = np.zeros(1, np.int64)
        self._buckets: NDArray[np.int16] = np.zeros(0, np.int16)
        self._shares: NDArray[np.float32] = np.zeros(0, np.float32)

    def sums(self, texts: Sequence[Mapping[str, int]]) -> NDArray[np.float64]:
        """For each text (its tokens with their counts) the weighted sum of its tokens' buckets."""
        import numpy as np

        self._learn(texts)
        known = self._rows
        rows = np.array([known[token] for counts in texts for token in counts], np.int64)
        counted = np.array([count for counts in texts for count in counts.values()], np.int64)
        weights = self._damping[np.minimum(counted, len(self._damping)) - 1]
        bases = np.repeat(np.arange(len(texts)) * DIMENSION, [len(counts) for counts in texts])

        starts = self._starts[rows]
        lengths = self._starts[rows + 1] - starts
        places = _ranges(starts, lengths)
        targets = np.repeat(bases, lengths)
        targets += self._buckets[places]
        shares = np.repeat(weights, lengths)
        shares *= self._shares[places]
        sums: NDArray[np.float64] = np.bincount(targets, shares, len(texts) * DIMENSION).astype(np.float64)
        return sums.reshape(len(texts), DIMENSION)

    def _learn(self, texts: Sequence[Mapping[str, int]]) -> None:
        """Make the rows of tokens that are not kept yet."""
        import numpy as np

        new = {token: None for counts in texts for token in counts if token not in self._rows}
        if not new:
            return
        if len(self._rows) + len(new) > MOST_TOKENS and self._rows:
            self._forget()
            self._learn(texts)
            return
        buckets, shares, lengths = _rows_of(list(new))
        self._rows.update(zip(new, range(len(self._rows), len(self._rows) + len(new)), strict=True))
        _extend(self._starts, np.cumsum(lengths) + self._starts[-1])
        _extend(self._buckets, buckets)
        _extend(self._shares, shares)


def _extend(kept: NDArray[Any], more: NDArray[Any]) -> None:
    """Add to an array in its place: copying all of it for each batch would cost more than the batch."""
    kept.resize(len(kept) + len(more), refcheck=False)
    kept[-len(more) :] = more


def _counted(found: Sequence[str]) -> Mapping[str, int]:
    """The tokens of a text with their counts."""
    counts = Counter(found)
    counts.update([*found[:FIRST]] * FIRST_AGAIN)
    return counts or NO_WORDS


def _damped(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row as a unit vector, with damped values, since many tokens may share a bucket."""
    import numpy as np

    damped: NDArray[np.float64] = np.copysign(np.abs(sums) ** BUCKET_POWER, sums)
    norms = np.sqrt(np.einsum("ij,ij->i", damped, damped))
    damped[norms == 0, 0] = norms[norms == 0] = 1  # buckets that cancel out leave no direction
    damped /= norms[:, None]
    return damped


def _rows_of(
    tokens: Sequence[str],
) -> tuple[NDArray[np.int16], NDArray[np.float32], NDArray[np.int64]]:
    """The buckets of these tokens, one token after the other, their signed shares, and how many each has."""
    import numpy as np

    spelled = [token.encode("utf-8", "surrogatepass") for token in tokens]
    own = np.array([crc32(raw, seed) for raw in spelled for seed in SEEDS], np.uint32)
    hashes, grams = _gram_hashes(tokens)
    lengths = grams + WORD_BUCKETS
    starts = np.cumsum(lengths) - lengths
    mixed = np.empty(len(own) + len(hashes), np.uint32)
    mixed[_ranges(starts, np.full_like(starts, WORD_BUCKETS))] = own
    mixed[_ranges(starts + WORD_BUCKETS, grams)] = hashes
    mixed *= np.uint32(0x9E3779B1)
    mixed = (mixed ^ mixed >> np.uint32(15)) * np.uint32(0x85EBCA77)
    mixed ^= mixed >> np.uint32(13)
    common = common_words.shares()
    sizes = np.array([common.get(token, 1) for token in tokens]) / np.sqrt(WORD_SHARE**2 + (grams > 0))
    shares = np.repeat(sizes * np.maximum(grams, 1) ** -0.5, lengths)
    for place in range(WORD_BUCKETS):
        shares[starts + place] = sizes * (WORD_SHARE * WORD_BUCKETS**-0.5)
    signed = np.where(mixed >> np.uint32(31), shares, -shares).astype(np.float32)
    return (mixed % DIMENSION).astype(np.int16), signed, lengths


def _gram_hashes(tokens: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The hashes of the n-grams of these tokens with their borders marked, and how many each token has.

    CRC-32 is linear: that of some bytes is the exclusive or of what each of them adds in its place, so that
    all windows of a size are hashed at once. A character outside ASCII has a size of its own: its token is
    hashed by itself.
    """
    import numpy as np

    ascii_only = [b"<%b>" % token.encode() if token.isascii() else b"" for token in tokens]
    data = np.frombuffer(b"".join(ascii_only) + bytes(max(NGRAMS)), np.uint8)
    windows = len(data) - max(NGRAMS)
    sizes = np.array([len(each) for each in ascii_only], np.int64)[:, None]
    counts = np.maximum(sizes + 1 - np.array(NGRAMS), 0)
    begins = np.cumsum(sizes)[:, None] - sizes + np.arange(len(NGRAMS)) * windows
    hashes = [
        np.bitwise_xor.reduce([adds[data[at:][:windows]] for at, adds in enumerate(_crc_tables()[size])])
        for size in NGRAMS
    ]
    at = windows * len(NGRAMS)
    for number, token in enumerate(tokens):
        if not token.isascii():
            more = _foreign_hashes(token)
            begins[number, 0], counts[number, 0] = at, len(more)
            at += len(more)
            hashes.append(np.array(more, np.uint32))
    return np.concatenate(hashes)[_ranges(begins.ravel(), counts.ravel())], counts.sum(1)


def _foreign_hashes(token: str) -> list[int]:
    """The hashes of the n-grams of a token with characters outside ASCII."""
    bordered = f"<{token}>"
    return [
        crc32(bordered[start : start + size].encode("utf-8", "surrogatepass"))
        for size in NGRAMS
        for start in range(len(bordered) - size + 1)
    ]


@cache
def _crc_tables() -> dict[int, list[NDArray[np.uint32]]]:
    """For each size of n-grams and each place in one: what every byte there adds to the CRC-32."""
    import numpy as np

    tables = {}
    for size in NGRAMS:
        zero = crc32(bytes(size))
        tables[size] = [
            np.array(
                [crc32(bytes([0] * at + [byte] + [0] * (size - at - 1))) ^ zero for byte in range(256)],
                np.uint32,
            )
            for at in range(size)
        ]
        tables[size][0] ^= np.uint32(zero)
    return tables


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of ranges one after the other, each from its start on and of its length."""
    import numpy as np

    numbers: NDArray[np.int64] = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    numbers += np.arange(len(numbers))
    return numbers
