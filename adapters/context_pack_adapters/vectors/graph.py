"""Approximate search for very many vectors: an hnswlib graph in a file, made from vectors kept elsewhere.

hnswlib believes whatever it loads and saves without telling of errors, so beside the file stands a card that
says what it is: dimension, embedder, size, how far it goes, and its SHA-256. A file is written under another
name, read back, and only then named; one whose card does not fit is as good as none, and so is one whose
numbers would lead hnswlib out of its memory (`graph_check`). A graph is never added to once it can be
searched: what came later is searched exactly, until a new graph is worth its time.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from context_pack_adapters.vectors.graph_check import is_sound

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from context_pack_adapters.vectors.exact import Floats, Ids

SPACE = "ip"
LINKS, BUILD_EFFORT = 32, 200
"""hnswlib's M and ef_construction."""
EFFORTS = (200, 400, 800, 1600, 3200)
"""hnswlib's ef: the least that finds enough is kept; how much that is depends on the vectors."""
LEAST_RECALL = 0.995
NEIGHBOURS = 10
_ROUNDING = 1e-5
_HASH_BYTES = 1 << 20


class GraphCard(NamedTuple):
    """Metadata of a graph file."""

    origin: int
    """The identity of the index file whose vectors these are."""
    embedder: str
    dimension: int
    space: str
    size: int
    last: int
    """The number of the newest vector in it."""
    effort: int
    """How hard to search; 0 for vectors among which a graph finds too little: then there is no file."""
    sha256: str


class Graph:
    """A graph that is searched and never changed."""

    def __init__(self, index: Any, card: GraphCard) -> None:
        import numpy

        self._index = index
        self.card = card
        self.pieces: Ids = numpy.sort(numpy.array(index.get_ids_list(), dtype=numpy.int64))

    def candidates(self, vector: Floats, count: int) -> Ids:
        """About the nearest pieces, in no order that matters."""
        import numpy

        count = min(count, self.card.size)
        try:
            labels, _ = self._index.knn_query(vector.reshape(1, -1), k=count, num_threads=1)
        except RuntimeError:  # it did not reach so many: equal vectors can leave a graph in parts
            return numpy.empty(0, dtype=numpy.int64)
        found: Ids = labels[0].astype(numpy.int64)
        return found

    def vectors(self, pieces: Ids) -> Floats:
        """The vectors of pieces that are in the graph."""
        found: NDArray[numpy.float32] = self._index.get_items(pieces)
        return found


def card_path(path: str) -> str:
    """Where the card of a graph file is."""
    return path + ".json"


@cache
def is_available() -> bool:
    """Whether hnswlib is installed; without it, vectors are compared exactly at any number."""
    return find_spec("hnswlib") is not None


def build(
    path: str,
    origin: int,
    embedder: str,
    dimension: int,
    count: int,
    rows: Iterable[tuple[Ids, Floats, int]],
    questions: Floats,
    stop: Callable[[], bool],
    least: float = LEAST_RECALL,
) -> bool:
    """Make a graph of at most `count` vectors, given in portions with the number of each portion's last.

    The questions are vectors as they will be asked for: with them it is measured how hard to search to find
    at least such a share of the true neighbours. False when `stop` said so, or nothing came.

    Raises:
        OSError: the file could not be written whole.
    """
    import hnswlib

    index = hnswlib.Index(space=SPACE, dim=dimension)
    index.init_index(max_elements=max(count, 1), M=LINKS, ef_construction=BUILD_EFFORT)
    last, true = 0, _Nearest(questions)
    for pieces, vectors, last in rows:  # noqa: B007 - the last one counts
        if stop():
            return False
        index.add_items(vectors, pieces, num_threads=1)
        true.add(vectors)
    size = index.get_current_count()
    if not size:
        return False
    effort = _effort(index, size, questions, true, least)
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"
    try:
        card = GraphCard(origin, embedder, dimension, SPACE, size, last, effort, "")
        if effort:
            os.close(_created(temporary))  # hnswlib keeps the mode
            index.save_index(temporary)
            card = card._replace(sha256=_flushed_sha256(temporary))
            if _loaded(temporary, card) is None:
                raise OSError(f"{os.path.basename(path)} was not written whole")
            # The card last: without its card a file is not used, and with the old card it does not fit.
            os.replace(temporary, path)
        else:
            remove(path)
        with open(_created(temporary), "w", encoding="utf-8") as file:
            json.dump(card._asdict(), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, card_path(path))
    finally:
        with suppress(OSError):
            os.unlink(temporary)
    return True


class _Nearest:
    """The true neighbours of questions, among vectors that come in portions."""

    def __init__(self, questions: Floats) -> None:
        self._questions = questions
        self._best: Floats = questions[:, :0]

    def add(self, vectors: Floats) -> None:
        """Compare a portion."""
        import numpy

        every = numpy.concatenate([self._best, self._questions @ vectors.T], axis=1)
        self._best = numpy.sort(every, axis=1)[:, -NEIGHBOURS:]

    def recall(self, products: Floats) -> float:
        """Which share of the found is as near as the true ones: equal vectors are as good as each other."""
        as_near: NDArray[numpy.bool_] = products >= self._best[:, :1] - _ROUNDING
        return float(as_near.mean())


def _effort(index: Any, size: int, questions: Floats, true: _Nearest, least: float) -> int:
    """The lowest search effort with enough recall that is cheaper than exact search; 0 if none."""
    if not len(questions):
        return EFFORTS[0]
    for effort in EFFORTS:
        if effort > max(EFFORTS[0], size // 40):
            break
        index.set_ef(effort)
        try:
            _, distances = index.knn_query(questions, k=min(NEIGHBOURS, size), num_threads=1)
        except RuntimeError:  # equal vectors can leave a graph in parts
            continue
        if true.recall(1 - distances) >= least:
            return effort
    return 0


def read_card(path: str) -> GraphCard | None:
    """The card of a graph file; None when there is none that makes sense."""
    try:
        with open(card_path(path), encoding="utf-8") as file:
            card = GraphCard(**json.load(file))
    except (OSError, ValueError, TypeError):
        return None
    whole = (card.dimension, card.size, card.last, card.effort)
    return card if all(isinstance(number, int) for number in whole) and card.size > 0 else None


def load(path: str, origin: int, embedder: str, dimension: int) -> Graph | None:
    """The graph of that embedder's vectors in that file; None when there is none that can be trusted."""
    card = read_card(path)
    if card is None or not card.effort or card[:4] != (origin, embedder, dimension, SPACE):
        return None
    try:
        if _sha256(path) != card.sha256:
            return None
    except OSError:
        return None
    index = _loaded(path, card)
    return None if index is None else Graph(index, card)


def sweep(path: str) -> None:
    """Remove temporary files of killed writers; the caller holds the lock of the file."""
    folder, name = os.path.split(path)
    for other in os.listdir(folder):
        if other.startswith(name + ".") and other.endswith(".tmp"):
            with suppress(OSError):
                os.unlink(os.path.join(folder, other))


def remove(path: str) -> None:
    """Remove a graph file and its card."""
    for name in (card_path(path), path):
        with suppress(OSError):
            os.unlink(name)


def _loaded(path: str, card: GraphCard) -> Any | None:
    import hnswlib

    if not is_sound(path, card.dimension, card.size, LINKS):
        return None
    index = hnswlib.Index(space=SPACE, dim=card.dimension)
    try:
        index.load_index(path, max_elements=card.size)
    except RuntimeError:
        return None
    index.set_ef(card.effort)  # loading resets it
    return index if index.get_current_count() == card.size else None


def _created(path: str) -> int:
    """A new file that only the user can read."""
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)


def _flushed_sha256(path: str) -> str:
    """The digest of a file, once it is on the disk.

    Raises:
        OSError: there is no such file, which is how hnswlib tells that it could not write.
    """
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
    return _sha256(path)


def _sha256(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_HASH_BYTES):
            digest.update(block)
    return digest.hexdigest()
