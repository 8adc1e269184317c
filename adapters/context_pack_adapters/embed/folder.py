"""The model of a folder that the user brings, run by the libraries made for it.

`tokenizer.json` and `model.onnx` (or `onnx/model.onnx`) are run by `tokenizers` and `onnxruntime`, a static
model by `model2vec`. Nothing is ever fetched. Prompts and pooling are those that sentence-transformers
writes beside a model; the cosine of unrelated texts is measured when the model is loaded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from context_pack.retrieval.ports import EmbedderFailed, Kind, TextRefused
from context_pack_adapters.about import install_command

Floats = NDArray[np.float32]
Run = Callable[[list[str]], Floats]
LONGEST = 512
"""In tokens."""
BATCH = 16
SAMPLE_BYTES = 1024 * 1024
"""Of a file of weights its length, beginning and end tell it from another."""
MODEL = "the model of CONTEXT_PACK_MODEL"
NO_MODEL = (
    "the folder of CONTEXT_PACK_MODEL has no model that can be run: it needs tokenizer.json and model.onnx, "
    "or a static model of model2vec (tokenizer.json, model.safetensors and its config.json); a "
    "model.safetensors of another kind has to be exported to ONNX first"
)
UNRELATED = (
    "The bakery on the corner opens at six in the morning.",
    "def parse(line): return line.split(',')",
    "Glaciers carve valleys as they move downhill.",
    "The connection pool refuses new clients when it is full.",
    "Minor chords are often heard as sad.",
    "SELECT name FROM users WHERE age > 30",
)


class FolderEmbedder:
    """Vectors of the model in a folder, which is loaded with the first text of any thread."""

    def __init__(self, folder: str) -> None:
        """Look at the folder; nothing is loaded.

        Raises:
            EmbedderFailed: there is no model in it, or what runs it is not installed.
        """
        self._folder, self._lock = Path(folder), Lock()
        self._run: Run | None = None
        onnx = [path for name in ("model.onnx", "onnx/model.onnx") if (path := self._folder / name).is_file()]
        self._weights = onnx[0] if onnx else self._folder / "model.safetensors"
        self._is_onnx = bool(onnx)
        if not (self._folder / "tokenizer.json").is_file() or not (onnx or self._is_static()):
            raise EmbedderFailed(NO_MODEL)
        needed, extra = (("onnxruntime", "tokenizers"), "onnx") if onnx else (("model2vec",), "model2vec")
        if missing := [name for name in needed if find_spec(name) is None]:
            raise EmbedderFailed(f"{MODEL} needs {' and '.join(missing)}: {install_command(extra)}")
        self.dimension = 0
        self.weight = 0.7 if onnx else 0.3
        self.unrelated: float | None = None
        prompts = self._json("config_sentence_transformers.json").get("prompts") or {}
        document = prompts.get("document", prompts.get("passage", ""))
        self._prompts = {"query": str(prompts.get("query", "")), "document": str(document)}
        try:
            self.id = self._name()
        except OSError as error:
            raise EmbedderFailed(f"{MODEL} cannot be read: {error.strerror}") from None

    def _name(self) -> str:
        """A name that follows the content of the folder, not its place."""
        digest = sha256()
        for name in ("tokenizer.json", "config_sentence_transformers.json", "1_Pooling/config.json"):
            if (self._folder / name).is_file():
                digest.update((self._folder / name).read_bytes())
        with self._weights.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            digest.update(f"{size}".encode() + file.read(SAMPLE_BYTES))
            file.seek(max(0, size - SAMPLE_BYTES))
            digest.update(file.read())
        return f"{'onnx' if self._is_onnx else 'static'}-{digest.hexdigest()[:16]}"

    def embed(self, texts: Sequence[str], kind: Kind) -> Any:
        """One unit vector per text, as the rows of one array; of a long one its beginning.

        Raises:
            EmbedderFailed: the model cannot be loaded, or makes nothing of one of the texts.
        """
        run = self._loaded()
        prompt = self._prompts["query" if kind == "query" else "document"]
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        try:
            for start in range(0, len(order), BATCH):
                some = order[start : start + BATCH]
                vectors[some] = _unit(run([prompt + texts[at] for at in some]))
        except Exception as error:  # of whatever kind a library raises
            raise TextRefused(f"{MODEL} failed: {self._words(error)}") from None
        if not np.isfinite(vectors).all():
            raise TextRefused(f"{MODEL} makes vectors that are no numbers")
        return vectors

    def _loaded(self) -> Run:
        with self._lock:
            if self._run is None:
                try:
                    run = self._load_onnx() if self._is_onnx else self._load_static()
                    probes = _unit(run(list(UNRELATED)))
                except Exception as error:
                    raise EmbedderFailed(f"{MODEL} cannot be loaded: {self._words(error)}") from None
                self.dimension = probes.shape[1]
                pairs = (probes @ probes.T)[np.triu_indices(len(UNRELATED), 1)]
                # Never 0, which is for vectors of the words themselves.
                self.unrelated = float(np.clip(pairs.mean(), 0.01, 0.95))
                self._run = run
            return self._run

    def _load_static(self) -> Run:
        from model2vec import StaticModel

        model = StaticModel.from_pretrained(self._folder)
        return lambda texts: model.encode(texts, max_length=LONGEST, use_multiprocessing=False)

    def _load_onnx(self) -> Run:
        from onnxruntime import InferenceSession
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        tokenizer.enable_truncation(LONGEST)
        tokenizer.enable_padding()  # what it is filled with is masked
        tokenizer.encode_special_tokens = True  # what looks like one in a text is only text
        session = InferenceSession(str(self._weights), providers=["CPUExecutionProvider"])
        inputs = {each.name for each in session.get_inputs()}
        first_token = bool(self._json("1_Pooling/config.json").get("pooling_mode_cls_token"))
        outputs = [each.name for each in session.get_outputs()]
        chosen = "sentence_embedding" if "sentence_embedding" in outputs else outputs[0]

        def run(texts: list[str]) -> Floats:
            encoded = tokenizer.encode_batch(texts)
            mask = np.array([each.attention_mask for each in encoded], np.int64)
            ids = np.array([each.ids for each in encoded], np.int64)
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(mask)}
            (states,) = session.run([chosen], {name: given[name] for name in inputs})
            if states.ndim == 3 and first_token:
                states = states[:, 0]
            elif states.ndim == 3:
                weights = mask[:, :, None].astype(np.float32)
                states = (states * weights).sum(1) / np.maximum(weights.sum(1), 1)
            return np.asarray(states, np.float32)

        return run

    def _is_static(self) -> bool:
        """Whether model2vec, or sentence-transformers for it, wrote the folder."""
        modules = self._folder / "modules.json"
        is_ours = self._json("config.json").get("model_type") == "model2vec"
        is_theirs = modules.is_file() and b"StaticEmbedding" in modules.read_bytes()
        return self._weights.is_file() and (is_ours or is_theirs)

    def _words(self, error: Exception) -> str:
        """What a library said, in one line and without the place of the folder."""
        words = f"{type(error).__name__} {error}".replace(f"{self._folder}{os.sep}", "")
        return " ".join(words.split())[:200]

    def _json(self, name: str) -> dict[str, Any]:
        """A JSON object in a file of the folder; an empty one if there is none."""
        try:
            value = json.loads((self._folder / name).read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


def _unit(vectors: Floats) -> Floats:
    """Unit vectors; one of zeros stays as it is."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms == 0, 1, norms), np.float32)
