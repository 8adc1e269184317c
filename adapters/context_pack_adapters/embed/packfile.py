"""Reading an `.hmsemb` pack: the int8 weights of a sentence encoder and its tokenizer in one file.

`HMSEMB01`, the length of the header as u64, the header as JSON, the tokenizer's JSON, then the tensors in
the header's order. An `i8` tensor is its values, then one float32 scale for each group of 64 values of the
flattened tensor. The file's SHA-256 is pinned: what is inside is believed because the whole is known.
"""

from __future__ import annotations

import json
from hashlib import sha256
from math import prod
from struct import unpack_from
from typing import TYPE_CHECKING, Any, NamedTuple

from context_pack.retrieval.ports import EmbedderFailed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAGIC = b"HMSEMB01"
_FRONT = len(MAGIC) + 8


class GroupedRows:
    """An int8 table that is made floats row by row: a quarter of the memory of a whole one."""

    def __init__(self, values: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        self._values, self._scales = values, scales

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self._values.shape

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The rows as float32, in that order."""
        import numpy as np

        scales = self._scales[rows]
        groups = self._values[rows].reshape(*scales.shape, -1).astype(np.float32)
        groups *= scales[..., None]
        return groups.reshape(len(rows), -1)


class ModelPack(NamedTuple):
    """What a pack holds; `words` is the large table, `tensors` the rest as float32."""

    meta: dict[str, Any]
    architecture: dict[str, Any]
    tokenizer: dict[str, Any]
    words: GroupedRows
    tensors: dict[str, NDArray[np.float32]]


def read_pack(path: str, digest: str, words: str = "word_emb") -> ModelPack:
    """The pack at `path`, if it is the one with that SHA-256.

    Raises:
        EmbedderFailed: it is another file, or cannot be read.
    """
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise EmbedderFailed(f"the model file cannot be read: {error.strerror}") from None
    if sha256(content).hexdigest() != digest:
        raise EmbedderFailed("the model file is not the pinned one (another SHA-256): install it again")
    return parse_pack(content, words)


def parse_pack(content: bytes, words: str) -> ModelPack:
    """The parts of a pack's bytes."""
    import numpy as np

    if not content.startswith(MAGIC):
        raise EmbedderFailed("the model file is no pack")
    (length,) = unpack_from("<Q", content, len(MAGIC))
    header = json.loads(content[_FRONT : _FRONT + length])
    place = _FRONT + length + header["tokenizer_len"]
    tokenizer = json.loads(content[_FRONT + length : place])
    tensors: dict[str, NDArray[np.float32]] = {}
    rows: GroupedRows | None = None
    for entry in header["tensors"]:
        piece = memoryview(content)[place : place + entry["len"]]
        place += entry["len"]
        if entry["dtype"] == "f32":
            tensors[entry["name"]] = np.frombuffer(piece, "<f4").reshape(entry["shape"]).copy()
            continue
        count = prod(entry["shape"])
        values = np.frombuffer(piece[:count], np.int8)
        scales = np.frombuffer(piece[count:], "<f4")
        if entry["name"] == words:
            # Copies, so that the file's bytes can go.
            rows = GroupedRows(
                values.reshape(entry["shape"]).copy(), scales.reshape(entry["shape"][0], -1).copy()
            )
        else:
            groups = values.reshape(-1, entry["group"]).astype(np.float32)
            groups *= scales[:, None]
            tensors[entry["name"]] = groups.reshape(entry["shape"])
    if rows is None:
        raise EmbedderFailed("the model file has no table of words")
    return ModelPack(header["meta"], header["arch"], tokenizer, rows, tensors)
