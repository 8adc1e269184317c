"""A sentence encoder as an embedder: loaded by the first text, once, by whichever thread comes first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from context_pack.retrieval.ports import EmbedderFailed, Kind

if TYPE_CHECKING:
    from context_pack_adapters.embed.encoder import Encoder

LONGEST: Mapping[str, int] = {"query": 512, "passage": 512, "document": 512}
"""In tokens. A passage has up to about 560 by estimate: with fewer here its end would never be found."""


class Tokenizer(Protocol):
    """Texts into ids."""

    def ids(self, text: str, longest: int) -> list[int]:
        """At most `longest` ids, the marks of begin and end among them."""


class Model(NamedTuple):
    """What is loaded."""

    tokenizer: Tokenizer
    encoder: Encoder


class SentenceEmbedder:
    """Vectors of a sentence encoder; `load` may take a second and is called with the first text."""

    def __init__(self, name: str, dimension: int, weight: float, load: Callable[[], Model]) -> None:
        self.id, self.dimension, self.weight = name, dimension, weight
        self._load, self._lock = load, Lock()
        self._model: Model | None = None

    def embed(self, texts: Sequence[str], kind: Kind) -> Any:
        """One unit vector per text, as the rows of one array; of a long one its beginning.

        Raises:
            EmbedderFailed: the model cannot be loaded.
        """
        tokenizer, encoder = self.model()
        longest = min(LONGEST[kind], encoder.longest)
        vectors = encoder.encode([tokenizer.ids(text, longest) for text in texts])
        if not isfinite(float(vectors.sum())):
            raise EmbedderFailed("the model's weights give vectors that are no numbers")
        return vectors

    def model(self) -> Model:
        """The loaded model."""
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model
