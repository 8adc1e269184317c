"""The fast embedder: hashed words and character n-grams, without weights, files or network.

Each token of `retrieval.words` becomes a few signed buckets: itself and its n-grams of 3 to 5 characters,
scaled so that a long word counts as much as a short one and a common one less. A text is the sum of its
tokens, each by count^0.75; what stands first (a title, a heading, a signature) counts threefold; large
buckets are damped. The tokens of a language repeat, so their buckets are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from context_pack.retrieval.ports import Kind
from context_pack.retrieval.words import tokens

DIMENSION = 512
NGRAMS = (3, 4, 5)
WORD_HASHES = 4
"""The whole token has several hashes: one collision is not everything."""
WORD_SHARE = 0.5
"""What the whole token weighs; its n-grams together weigh 1."""
FIRST, FIRST_AGAIN = 16, 2
"""How many tokens are what a text begins with, and how often they count besides."""
COUNT_POWER, BUCKET_POWER = 0.75, 0.7
# Words that stand on nearly every page of documentation and code say little about a text, so they weigh less.
# Names of languages are among them: a project is full of its own. (With 150 words more cosqa-dev is worse.)
COMMONEST = """
add all any arg argument call class code data def default else error except false file function get golang
import java javascript len line list may module name new none null number object one only option other pass
path python raise read return rust self set string this true try type typescript use value var version
"""
VERY_COMMON = """
after allow also append async attribute await base before break byte case change check close command const
contain copy correct create current dict directory doc document each elif encode end example exist filename
first fix follow format func given https implement include index init instance int isinstance item join key
let license like local make match message method mode more must need note open operation out output parse
print private provide public release remove replace require result run same see should size source specify
start static str support sys test text time tuple under up update user void while without work write
"""
SHARES = {VERY_COMMON: 0.7, COMMONEST: 0.5}


class HashedEmbedder:
    """Vectors of hashed words and character n-grams; texts without a word share one vector of their own."""

    id = "hashed-512/3"
    dimension = DIMENSION
    weight = 0.2
    unrelated = 0.0

    def embed(self, texts: Sequence[str], kind: Kind) -> Any:  # noqa: ARG002 - all alike
        """One unit vector per text."""
        return np.array([_vector(tokens(text)) for text in texts], np.float32).reshape(-1, DIMENSION)


def _vector(words: Sequence[str]) -> NDArray[np.float64]:
    """The vector of one text."""
    counts = Counter(words)
    counts.update([*words[:FIRST]] * FIRST_AGAIN)
    buckets = [_buckets(token) for token in counts or ("",)]
    weights = np.array([*counts.values()] or [1]) ** COUNT_POWER
    places = np.concatenate([places for places, _ in buckets])
    shares = np.concatenate([shares for _, shares in buckets])
    counted = np.repeat(weights, [len(places) for places, _ in buckets])
    sums = np.bincount(places, shares * counted, 2 * DIMENSION)
    whole = sums[:DIMENSION] - sums[DIMENSION:]
    damped = np.copysign(np.abs(whole) ** BUCKET_POWER, whole)
    norm = np.linalg.norm(damped)
    # Buckets that cancel out leave no direction.
    unit: NDArray[np.float64] = damped / norm if norm else np.eye(1, DIMENSION)[0]
    return unit


@cache
def _common_words() -> dict[str, float]:
    """The weight of each common token; all others weigh 1."""
    return {token: share for words, share in SHARES.items() for token in tokens(words)}


@lru_cache(maxsize=60_000)
def _buckets(token: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The buckets of a token (`DIMENSION` more for those it is subtracted from) and what it adds to each."""
    word = token.encode("utf-8", "surrogatepass")
    signs = f"<{token}>"
    grams = [signs[at : at + size] for size in NGRAMS for at in range(len(signs) - size + 1)]
    hashes = [crc32(word, seed) for seed in range(1, WORD_HASHES + 1)]
    hashes += [crc32(gram.encode("utf-8", "surrogatepass")) for gram in grams]
    size = _common_words().get(token, 1.0) / (WORD_SHARE**2 + (len(grams) > 0)) ** 0.5
    word_share = size * WORD_SHARE * WORD_HASHES**-0.5
    gram_share = size * max(len(grams), 1) ** -0.5
    shares = [word_share] * WORD_HASHES + [gram_share] * len(grams)
    return _places(np.array(hashes, np.uint64)), np.array(shares)


def _places(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The places of hashes; their bits are mixed: the CRC-32 of a short text is not random enough."""
    mixed = hashes * 0x9E3779B1 & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 15) * 0x85EBCA77 & 0xFFFFFFFF
    mixed = mixed ^ mixed >> 13
    return (mixed % DIMENSION + (mixed >> 31 ^ 1) * DIMENSION).astype(int)
