"""The hashes of tokens for the fast embedder: of each whole token, and of its n-grams, its borders marked.

They are CRC-32, so that every process and platform agrees. Many tokens are hashed by numpy: n-grams that
begin at one byte share what they begin with, so all of them take five steps over the bytes of all tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any
from zlib import crc32

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NGRAMS = (3, 4, 5)
WORD_BUCKETS = 4
"""The whole token has several hashes: one collision is not everything."""
SEEDS = range(1, WORD_BUCKETS + 1)
MANY_TOKENS = 64
"""So many tokens are hashed by numpy in less time than one by one."""
_ONES = 0xFFFFFFFF


def token_hashes(token: str) -> list[int]:
    """The hashes of a token, `WORD_BUCKETS` of them, and of its n-grams, shorter ones first."""
    raw = token.encode("utf-8", "surrogatepass")
    hashes = [crc32(raw, seed) for seed in SEEDS]
    if token.isascii():
        bordered = b"<%b>" % raw
        for size in NGRAMS:
            hashes += [crc32(bordered[at : at + size]) for at in range(len(bordered) - size + 1)]
        return hashes
    signs = f"<{token}>"
    grams = [signs[at : at + size] for size in NGRAMS for at in range(len(signs) - size + 1)]
    return hashes + [crc32(gram.encode("utf-8", "surrogatepass")) for gram in grams]


def hash_counts(tokens: Sequence[str]) -> NDArray[np.int64]:
    """How many hashes each token has."""
    import numpy as np

    sizes = _bordered(tokens)
    counts = np.full_like(sizes, WORD_BUCKETS)
    for size in NGRAMS:
        counts += _grams(sizes, size)
    return counts


def _bordered(tokens: Sequence[str]) -> NDArray[np.int64]:
    """How long each token is with its borders."""
    import numpy as np

    return np.array([len(token) + 2 for token in tokens], np.int64)


def _grams(sizes: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """How many n-grams of this size are in texts of these sizes."""
    return (sizes - (size - 1)).clip(0)


def all_hashes(tokens: Sequence[str]) -> NDArray[np.uint64]:
    """The hashes of these tokens, one token after the other."""
    import numpy as np

    if len(tokens) < MANY_TOKENS or not all(map(str.isascii, tokens)):
        return np.fromiter(chain.from_iterable(map(token_hashes, tokens)), np.uint64)
    data = np.frombuffer("".join([f"<{token}>" for token in tokens]).encode(), np.uint8)
    sizes = _bordered(tokens)
    left = np.repeat(np.cumsum(sizes), sizes) - np.arange(len(data))  # bytes from here to the token's end
    counts = hash_counts(tokens)
    hashes = np.empty(int(counts.sum()), np.uint64)
    at = np.cumsum(counts) - counts
    whole = [crc32(token.encode(), seed) for token in tokens for seed in SEEDS]
    hashes[ragged(at, np.full_like(at, WORD_BUCKETS))] = whole
    at += WORD_BUCKETS
    table = _crc_table()
    states = np.full(len(data), _ONES, np.uint32)
    padded = np.concatenate([data, np.zeros(NGRAMS[-1], np.uint8)])
    for size in range(1, NGRAMS[-1] + 1):
        states = table[(states ^ padded[size - 1 : size - 1 + len(data)]) & 0xFF] ^ states >> 8
        if size in NGRAMS:
            grams = _grams(sizes, size)
            hashes[ragged(at, grams)] = states[left >= size] ^ _ONES
            at += grams
    return hashes


def _crc_table() -> NDArray[np.uint32]:
    """What CRC-32 makes of each value of a byte."""
    import numpy as np

    return np.array([crc32(bytes([byte ^ 0xFF])) ^ 0xFF000000 for byte in range(256)], np.uint32)


def ragged(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """The numbers from each start on, as many as its length says, all in one array."""
    import numpy as np

    return np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
