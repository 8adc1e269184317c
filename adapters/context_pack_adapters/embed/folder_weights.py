"""The tensors of a saved BERT or RoBERTa as the encoder wants them: found by name, checked by shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.embed.encoder import Affine, Layer, Norm, Weights, scaled_queries

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from context_pack_adapters.embed.folder import ModelConfig

    Floats = NDArray[np.float32]

WORDS = "embeddings.word_embeddings.weight"


class FloatRows(NamedTuple):
    """A table of embeddings in float32."""

    table: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.table.shape

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """These rows."""
        return self.table[rows]


def weights_of(tensors: dict[str, Floats], config: ModelConfig) -> Weights:
    """The weights among a file's tensors.

    Raises:
        EmbedderFailed: one is missing or has another shape.
    """
    return _Tensors(tensors, config).weights()


class _Tensors:
    """Tensors by their usual names, which may stand behind the name of the model."""

    def __init__(self, tensors: dict[str, Floats], config: ModelConfig) -> None:
        self._tensors, self._config = tensors, config
        self._prefix = next((name[: -len(WORDS)] for name in tensors if name.endswith(WORDS)), "")

    def weights(self) -> Weights:
        """Everything the encoder needs."""
        size, config = self._config.dimension, self._config
        words = self._tensor(WORDS, None, size)
        positions = self._tensor("embeddings.position_embeddings.weight", None, size)[config.first_position :]
        if len(positions) < 2:
            raise EmbedderFailed("model.safetensors has no positions")
        types = f"{self._prefix}embeddings.token_type_embeddings.weight"
        if types in self._tensors:
            positions = positions + self._tensor(types[len(self._prefix) :], None, size)[:1]
        layers = tuple(self._layer(f"encoder.layer.{number}.") for number in range(config.layers))
        return Weights(FloatRows(words), positions, self._norm("embeddings.LayerNorm"), layers)

    def _layer(self, prefix: str) -> Layer:
        import numpy as np

        size = self._config.dimension
        parts = [
            self._affine(f"{prefix}attention.self.{name}", size, size) for name in ("query", "key", "value")
        ]
        attention = Affine(
            np.concatenate([part.weight for part in parts], axis=1),
            np.concatenate([part.bias for part in parts]),
        )
        up = self._affine(f"{prefix}intermediate.dense", size, None)
        return Layer(
            scaled_queries(attention, self._config.heads),
            self._affine(f"{prefix}attention.output.dense", size, size),
            self._norm(f"{prefix}attention.output.LayerNorm"),
            up,
            self._affine(f"{prefix}output.dense", len(up.bias), size),
            self._norm(f"{prefix}output.LayerNorm"),
        )

    def _affine(self, name: str, size: int, out: int | None) -> Affine:
        weight = self._tensor(f"{name}.weight", out, size)
        return Affine.transposed(weight, self._tensor(f"{name}.bias", len(weight)))

    def _norm(self, name: str) -> Norm:
        size = self._config.dimension
        # Names of the first BERT files, which are still about.
        older = f"{self._prefix}{name}.gamma" in self._tensors
        scale, shift = ("gamma", "beta") if older else ("weight", "bias")
        return Norm(self._tensor(f"{name}.{scale}", size), self._tensor(f"{name}.{shift}", size))

    def _tensor(self, name: str, *shape: int | None) -> Floats:
        """The tensor of that name; None in a shape is any size."""
        found = self._tensors.get(self._prefix + name)
        if found is None:
            raise EmbedderFailed(f"model.safetensors has no tensor {name}")
        fits = found.ndim == len(shape) and all(
            want is None or want == have for want, have in zip(shape, found.shape, strict=True)
        )
        if not fits:
            raise EmbedderFailed(
                f"model.safetensors has a tensor {name} of another shape than config.json says"
            )
        return found
