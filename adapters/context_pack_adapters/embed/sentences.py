"""A sentence encoder as an embedder: loaded once, with the first text of any thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import isfinite
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from context_pack.retrieval.ports import EmbedderFailed, Kind

if TYPE_CHECKING:
    from context_pack_adapters.embed.encoder import Encoder

LONGEST: Mapping[str, int] = {"query": 512, "passage": 512, "document": 512}
"""In tokens. A passage has up to about 560 by estimate: with fewer here its end would never be found."""

MOST_WORDS, LONGEST_KEPT = 50_000, 64
"""How many words are kept, and how long; then all are dropped: those of one text come again soon."""


class Tokenizer:
    """Texts into ids, word by word; words repeat, so their ids are kept."""

    def __init__(self, begin: int, end: int) -> None:
        self._begin, self._end = begin, end
        self._kept: dict[str, tuple[int, ...]] = {}

    def ids(self, text: str, longest: int) -> list[int]:
        """At most `longest` ids, the marks of begin and end among them."""
        ids = [self._begin]
        for word in self._words(text, longest):
            known = self._kept.get(word)
            ids += self._learn(word) if known is None else known
            if len(ids) >= longest:
                break
        del ids[longest - 1 :]
        ids.append(self._end)
        return ids

    def _words(self, text: str, longest: int) -> Iterator[str]:
        """The words of a text, as far as so many ids need them."""
        raise NotImplementedError

    def _pieces(self, word: str) -> Sequence[int]:
        """The ids of a word."""
        raise NotImplementedError

    def _learn(self, word: str) -> Sequence[int]:
        """The ids of a word, kept for the next time unless it is too long to come again."""
        ids = self._pieces(word)
        if len(word) <= LONGEST_KEPT:
            if len(self._kept) >= MOST_WORDS:
                self._kept = {}
            self._kept[word] = tuple(ids)
        return ids


class Model(NamedTuple):
    """A loaded model: its tokenizer and encoder."""

    tokenizer: Tokenizer
    encoder: Encoder


class SentenceEmbedder:
    """Vectors of a sentence encoder; `load` may take a second and is called with the first text."""

    def __init__(self, name: str, dimension: int, weight: float, load: Callable[[], Model]) -> None:
        self.id, self.dimension, self.weight = name, dimension, weight
        self._load, self._lock = load, Lock()
        self._model: Model | None = None
        self._loading: Thread | None = None

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

    def ready(self) -> bool:
        """Whether it is loaded, or cannot be; if it is not, loading begins in a thread."""
        if self._loading is None:
            self._loading = Thread(target=self._try_to_load, daemon=True, name="model")
            self._loading.start()
        return self._model is not None or not self._loading.is_alive()

    def _try_to_load(self) -> None:
        with suppress(EmbedderFailed):  # whoever embeds is told
            self.model()

    def model(self) -> Model:
        """The loaded model."""
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model
