"""A BERT or RoBERTa encoder in plain numpy: token ids in, unit vectors out.

Post-norm transformer layers over word, position and type embeddings; the first token's state or the mean of
all is the vector. The tokens of a batch of texts stand below each other in one matrix, without padding; only
attention knows where a text begins. A batch has about 1 500 tokens: larger ones leave the processor's cache
and are slower. GELU is its tanh form, which differs from the exact one by less than the int8 weights do. An
encoder never changes once it is made, so threads can share it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

BATCH_TOKENS = 1536
BLOCK = 256
"""Tokens whose inner states (four times as wide) are computed at a time, for the same reason."""


class Rows(Protocol):
    """A table of embeddings that gives rows."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """These rows as float32."""


class Affine(NamedTuple):
    """x·weight + bias, the weight stored as (in, out)."""

    weight: Floats
    bias: Floats

    @classmethod
    def transposed(cls, weight: Floats, bias: Floats) -> Affine:
        """From a weight that is stored as (out, in), as torch does."""
        import numpy as np

        return cls(np.ascontiguousarray(weight.T), bias)


class Norm(NamedTuple):
    """Scale and shift of a layer normalisation."""

    scale: Floats
    shift: Floats


class Layer(NamedTuple):
    """One transformer layer; query, key and value are one matrix."""

    attention: Affine
    output: Affine
    attention_norm: Norm
    up: Affine
    down: Affine
    norm: Norm


class Weights(NamedTuple):
    """All learned parameters of the encoder."""

    words: Rows
    positions: Floats
    """Position embeddings from the first position on, the (only) type's embedding added."""
    norm: Norm
    layers: tuple[Layer, ...]


class Shape(NamedTuple):
    """Hyperparameters that the weights do not determine."""

    heads: int
    epsilon: float
    pooling: Literal["cls", "mean"]
    activation: Literal["gelu", "relu"] = "gelu"


class Run(NamedTuple):
    """Neighbouring texts of equal length in a batch."""

    start: int
    """The first token of the first text."""
    texts: int
    length: int


class Encoder:
    """Runs the network; ids must be in the vocabulary and texts no longer than `longest`."""

    def __init__(self, weights: Weights, shape: Shape) -> None:
        self._weights, self._shape = weights, shape
        self.longest, self.dimension = weights.positions.shape

    def encode(self, texts: Sequence[Sequence[int]]) -> Floats:
        """One unit vector per text, given as its token ids (at least one each)."""
        import numpy as np

        vectors = np.empty((len(texts), self.dimension), np.float32)
        for batch in batches([len(text) for text in texts]):
            some = [texts[index] for index in batch]
            vectors[batch] = self._encode_batch([*some, *filler(sum(map(len, some)))])[: len(batch)]
        return vectors

    def _encode_batch(self, texts: Sequence[Sequence[int]]) -> Floats:
        """The vectors of texts; those of equal length should be neighbours."""
        import numpy as np

        lengths = [len(text) for text in texts]
        state = self._weights.words.take(np.concatenate([np.asarray(text, np.int64) for text in texts]))
        state += np.concatenate([self._weights.positions[:length] for length in lengths])
        state = normalised(state, self._weights.norm, self._shape.epsilon)
        runs = list(runs_of_equal(lengths))
        for layer in self._weights.layers[:-1]:
            state = self._layer(state, layer, self._attention(state, layer, runs))
        last = self._weights.layers[-1]
        starts = np.cumsum([0, *lengths[:-1]])
        if self._shape.pooling == "cls":
            return unit(self._layer(state[starts], last, self._first_attention(state, last, runs)))
        state = self._layer(state, last, self._attention(state, last, runs))
        return unit(np.add.reduceat(state, starts))

    def _layer(self, state: Floats, layer: Layer, seen: Floats) -> Floats:
        """The next state of tokens, given what their attention has seen."""
        made = applied(seen, layer.output)
        made += state
        made = normalised(made, layer.attention_norm, self._shape.epsilon)
        for start in range(0, len(made), BLOCK):
            rows = made[start : start + BLOCK]
            inner = applied(rows, layer.up)
            activate(inner, self._shape.activation)
            rows += applied(inner, layer.down)
        return normalised(made, layer.norm, self._shape.epsilon)

    def _attention(self, state: Floats, layer: Layer, runs: Sequence[Run]) -> Floats:
        """What each token sees of its text, all heads beside each other."""
        import numpy as np

        parts = applied(state, layer.attention)
        seen = np.empty_like(state)
        for start, count, length in runs:
            # Run by run: the scores of a few texts stay in the cache.
            rows = slice(start, start + count * length)
            query, key, value = (
                parts[rows].reshape(count, length, 3, self._shape.heads, -1).transpose(2, 0, 3, 1, 4)
            )
            taken = weighed(query @ key.swapaxes(-1, -2), value)
            seen[rows] = taken.swapaxes(1, 2).reshape(count * length, -1)
        return seen

    def _first_attention(self, state: Floats, layer: Layer, runs: Sequence[Run]) -> Floats:
        """What the first token of each text sees.

        Its queries go through the keys' matrix and its answer through the values', so that no key and no
        value of the others is computed. The keys' bias moves all scores of a query alike, so it is left out.
        """
        import numpy as np

        size, heads = self.dimension, self._shape.heads
        queries, keys, values = layer.attention.weight.reshape(size, 3, heads, -1).transpose(1, 2, 0, 3)
        bias = layer.attention.bias.reshape(3, heads, 1, -1)
        seen = []
        for start, count, length in runs:
            rows = state[start : start + count * length].reshape(count, length, size)
            asked = (rows[:, 0] @ queries + bias[0]) @ keys.swapaxes(-1, -2)
            taken = weighed(asked.swapaxes(0, 1) @ rows.swapaxes(-1, -2), rows)
            answer = taken.swapaxes(0, 1) @ values + bias[2]
            seen.append(answer.swapaxes(0, 1).reshape(count, size))
        return np.concatenate(seen)


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The texts' indexes by length, in batches of bounded size."""
    batch: list[int] = []
    tokens = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and tokens + lengths[index] > BATCH_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(index)
        tokens += lengths[index]
    if batch:
        yield batch


def filler(tokens: int) -> list[list[int]]:
    """Texts of one token that make the tokens of a batch a multiple of 4.

    Products of matrices with such a number of rows are quicker: 16 take three quarters of the time of 15.
    """
    return [[0]] * (-tokens % 4)


def runs_of_equal(lengths: Sequence[int]) -> Iterator[Run]:
    """Neighbours of equal length together."""
    start = 0
    for length, group in groupby(lengths):
        count = len(list(group))
        yield Run(start, count, length)
        start += count * length


def weighed(scores: Floats, values: Floats) -> Floats:
    """The values' mean by the softmax of the scores, which are overwritten."""
    import numpy as np

    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    taken: Floats = scores @ values
    # A product with ones adds up short rows in a fifth of the time that `sum` takes.
    taken /= scores @ np.ones((scores.shape[-1], 1), np.float32)
    return taken


def scaled_queries(attention: Affine, heads: int) -> Affine:
    """An attention with its queries divided by √(size of a head), once and for all."""
    import numpy as np

    size = attention.weight.shape[0]
    scale = np.ones(3 * size, np.float32)
    scale[:size] = (size / heads) ** -0.5
    return Affine(attention.weight * scale, attention.bias * scale)


def applied(rows: Floats, affine: Affine) -> Floats:
    """rows·weight + bias."""
    made: Floats = rows @ affine.weight
    made += affine.bias
    return made


def normalised(rows: Floats, norm: Norm, epsilon: float) -> Floats:
    """Each row with mean 0 and variance 1, then scaled and shifted."""
    import numpy as np

    centred: Floats = rows - rows.mean(-1, keepdims=True)
    variance = np.einsum("...i,...i->...", centred, centred)[..., None] / rows.shape[-1]
    centred /= np.sqrt(variance + np.float32(epsilon))
    centred *= norm.scale
    centred += norm.shift
    return centred


def activate(rows: Floats, kind: str) -> None:
    """GELU in its tanh form, or ReLU, in place."""
    import numpy as np

    if kind == "relu":
        np.maximum(rows, 0, out=rows)
        return
    # x·(1 + tanh u)/2 is x/(1 + exp(-2u)), and exp is the cheaper of the two.
    power = rows * rows
    power *= np.float32(-2 * 0.7978845608028654 * 0.044715)
    power += np.float32(-2 * 0.7978845608028654)
    power *= rows
    with np.errstate(over="ignore"):
        np.exp(power, out=power)
    power += 1
    rows /= power


def unit(rows: Floats) -> Floats:
    """Each row with length 1."""
    import numpy as np

    made: Floats = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return made
