"""A RoBERTa encoder in plain numpy: token ids in, unit vectors of the first token out.

The tokens of a batch of texts stand below each other in one matrix, without padding; only attention knows
where a text begins. A batch has about 1 500 tokens: larger ones leave the processor's cache and are slower.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

BATCH_TOKENS = 1536
BLOCK = 256
"""Tokens whose inner states (four times as wide) are computed at a time, for the same reason."""


class Encoder:
    """Runs the network; it never changes, so threads can share it."""

    def __init__(self, tensors: dict[str, Any], layers: int, heads: int, epsilon: float, first: int) -> None:
        import numpy as np

        # A weight is stored as (out, in), and multiplied faster as (in, out).
        turned = {name: np.ascontiguousarray(each.T) for name, each in tensors.items() if name[0] == "l"}
        self._tensors, self._layers, self._heads, self._epsilon = tensors | turned, layers, heads, epsilon
        self._positions: Floats = tensors["pos_emb"][first:] + tensors["type_emb"][0]

    def encode(self, texts: Sequence[Sequence[int]]) -> Floats:
        """One unit vector per text, given as its token ids (at least one each)."""
        import numpy as np

        vectors = np.empty((len(texts), self._positions.shape[1]), np.float32)
        for batch in batches([len(text) for text in texts]):
            vectors[batch] = self._encode_batch([texts[at] for at in batch])
        return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)

    def _encode_batch(self, texts: Sequence[Sequence[int]]) -> Floats:
        """The states of the first tokens of texts; those of equal length should be neighbours."""
        import numpy as np

        lengths = [len(text) for text in texts]
        state = self._tensors["word_emb"][np.concatenate([np.asarray(text, np.int64) for text in texts])]
        state = state + np.concatenate([self._positions[:length] for length in lengths])
        state = self._normalised(state, "emb_ln")
        for layer in (f"l{number}." for number in range(self._layers)):
            seen = self._attention(state, layer, lengths)
            if layer == f"l{self._layers - 1}.":  # nobody asks for the other tokens
                starts = np.cumsum([0, *lengths[:-1]])
                state, seen = state[starts], seen[starts]
            state = self._normalised(state + self._applied(seen, layer + "ao"), layer + "aln")
            for start in range(0, len(state), BLOCK):
                rows = state[start : start + BLOCK]
                rows += self._applied(gelu(self._applied(rows, layer + "f1")), layer + "f2")
            state = self._normalised(state, layer + "fln")
        return state

    def _attention(self, state: Floats, layer: str, lengths: Sequence[int]) -> Floats:
        """What each token sees of its text, all heads beside each other."""
        import numpy as np

        parts = self._applied(state, layer + "qkv")
        seen = np.empty_like(state)
        start = 0
        for length, group in groupby(lengths):
            # Run by run: the scores of a few texts stay in the cache.
            count = len(list(group))
            rows = slice(start, start := start + count * length)
            split = parts[rows].reshape(count, length, 3, self._heads, -1).transpose(2, 0, 3, 1, 4)
            query, key, value = split
            scores = query @ key.swapaxes(-1, -2)
            scores *= np.float32(query.shape[-1] ** -0.5)
            scores -= scores.max(-1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(-1, keepdims=True)
            seen[rows] = (scores @ value).swapaxes(1, 2).reshape(count * length, -1)
        return seen

    def _applied(self, rows: Floats, name: str) -> Floats:
        """rows·weight + bias."""
        made: Floats = rows @ self._tensors[name + ".w"]
        made += self._tensors[name + ".b"]
        return made

    def _normalised(self, rows: Floats, name: str) -> Floats:
        """Each row with mean 0 and variance 1, then scaled and shifted."""
        import numpy as np

        centred: Floats = rows - rows.mean(-1, keepdims=True)
        variance = np.einsum("ij,ij->i", centred, centred)[:, None] / rows.shape[-1]
        centred /= np.sqrt(variance + np.float32(self._epsilon))
        centred *= self._tensors[name + ".w"]
        centred += self._tensors[name + ".b"]
        return centred


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The texts' indexes by length, in batches of bounded size."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and sum(lengths[one] for one in batch) + lengths[index] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def gelu(rows: Floats) -> Floats:
    """GELU in its tanh form, in place: x·(1 + tanh u)/2 is x/(1 + exp(-2u))."""
    import numpy as np

    power = rows * rows
    power *= np.float32(-2 * 0.7978845608028654 * 0.044715)
    power += np.float32(-2 * 0.7978845608028654)
    power *= rows
    with np.errstate(over="ignore"):
        np.exp(power, out=power)
    power += 1
    rows /= power
    return rows
