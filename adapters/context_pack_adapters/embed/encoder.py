"""A BERT or RoBERTa encoder in plain numpy: token ids in, unit vectors out.

Post-norm transformer layers over word, position and type embeddings; the first token's state or the mean of
all is the vector. Texts are sorted by length and computed in batches of about 1 500 tokens: larger ones
leave the processor's cache and are slower. GELU is its tanh form, which differs from the exact one by less
than the int8 weights do. An encoder never changes once it is made, so threads can share it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
            vectors[batch] = self._encode_batch([texts[index] for index in batch])
        return vectors

    def _encode_batch(self, texts: Sequence[Sequence[int]]) -> Floats:
        """The vectors of texts of about the same length."""
        import numpy as np

        lengths = np.array([len(text) for text in texts])
        ids = np.zeros((len(texts), int(lengths.max())), np.int64)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = text
        present = np.arange(ids.shape[1]) < lengths[:, None]
        state = self._weights.words.take(ids.ravel()).reshape(*ids.shape, self.dimension)
        state += self._weights.positions[: ids.shape[1]]
        state = normalised(state, self._weights.norm, self._shape.epsilon)
        for layer in self._weights.layers[:-1]:
            state = self._layer(state, layer, present)
        if self._shape.pooling == "cls":
            # Only the first token's state is asked for: the last layer has nobody else to compute.
            return unit(self._layer(state, self._weights.layers[-1], present, first_only=True)[:, 0])
        state = self._layer(state, self._weights.layers[-1], present)
        return unit((state * present[:, :, None]).sum(1))

    def _layer(
        self, state: Floats, layer: Layer, present: NDArray[np.bool_], first_only: bool = False
    ) -> Floats:
        """One layer over states of (text, token, dimension); `first_only` answers for each first token."""
        asking = state[:, :1] if first_only else state
        seen = self._attention(state, layer, present, 1 if first_only else None)
        seen += asking
        rows = normalised(seen, layer.attention_norm, self._shape.epsilon).reshape(-1, self.dimension)
        made = rows.copy()
        for start in range(0, len(rows), BLOCK):
            inner = applied(rows[start : start + BLOCK], layer.up)
            activate(inner, self._shape.activation)
            made[start : start + BLOCK] += applied(inner, layer.down)
        return normalised(made, layer.norm, self._shape.epsilon).reshape(seen.shape)

    def _attention(
        self, state: Floats, layer: Layer, present: NDArray[np.bool_], asking: int | None
    ) -> Floats:
        """Self-attention output of the first `asking` tokens (None: all), projected."""
        import numpy as np

        count, length, size = state.shape
        parts = applied(state.reshape(-1, size), layer.attention).reshape(
            count, length, 3, self._shape.heads, -1
        )
        seen = np.empty((count, length if asking is None else asking, size), np.float32)
        for row in range(count):
            # Text by text: the scores of one stay in the cache, and its padding is left out.
            used = int(present[row].sum())
            query, key, value = parts[row, :used].transpose(1, 2, 0, 3)
            scores = query[:, :asking] @ key.transpose(0, 2, 1)
            scores -= scores.max(-1, keepdims=True)
            np.exp(scores, out=scores)
            taken = scores @ value
            taken /= scores.sum(-1, keepdims=True)
            seen[row, : taken.shape[1]] = taken.transpose(1, 0, 2).reshape(-1, size)
            seen[row, taken.shape[1] :] = 0
        return applied(seen.reshape(-1, size), layer.output).reshape(seen.shape)


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The texts' indexes by length, in batches of bounded size with their padding."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[index] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


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
