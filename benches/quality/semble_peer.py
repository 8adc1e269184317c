"""Semble over one folder, run by the Python that has it: questions come as a JSON list on standard input.

    PYTHON benches/quality/semble_peer.py FOLDER [MODEL]

Without a model the words alone answer: its vectors get no weight. Prints one JSON object: the seconds of
indexing and, for each question, its hits (path, first line, last line) and the milliseconds it took.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

LIMIT = 10


class NoModel:
    """Stands where a model would: one number for every text."""

    dim = 1

    def encode(self, texts: list[str], **_: object) -> Any:
        """The same vector for each text."""
        import numpy

        return numpy.ones((len(texts), 1), dtype=numpy.float32)


def main(folder: str, model: str | None = None) -> None:
    """Index, ask, print."""
    semble_index = import_module("semble.index.index")

    if model is None:
        semble_index.__dict__["load_model"] = lambda _=None: (NoModel(), "none")
    start = perf_counter()
    index = semble_index.SembleIndex.from_path(Path(folder), model_path=model)
    seconds = perf_counter() - start
    weight = None if model else 0.0
    asked = []
    for question in json.load(sys.stdin):
        start = perf_counter()
        found = index.search(question, top_k=LIMIT, alpha=weight)
        milliseconds = (perf_counter() - start) * 1000
        hits = [[hit.chunk.file_path, hit.chunk.start_line, hit.chunk.end_line] for hit in found]
        asked.append({"hits": hits, "ms": milliseconds})
    json.dump({"seconds": seconds, "chunks": len(index.chunks), "asked": asked}, sys.stdout)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "XDG_CACHE_HOME": home, "HF_HUB_OFFLINE": "1"}
        main(*sys.argv[1:])
