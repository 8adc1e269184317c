"""Known models, and bringing one of them from its hub into the user's data folder.

A model is pinned by the commit of its repository and by the SHA-256 of each file, so the hub, or a mirror of
it, decides nothing. The digests are those that several unrelated public projects pin for the same commits.
A folder appears under its name only when all of its files are there and are the pinned ones.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from hashlib import file_digest
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.request import urlopen

from context_pack.kernel.errors import Code, Failure

HUB = "https://huggingface.co"
TIMEOUT = 60.0
"""Seconds without a byte."""
LARGEST_FILE = 1024**3
PORTION = 1 << 20


class KnownModel(NamedTuple):
    """A model of a hub: its repository, the commit, and each file that is needed with its SHA-256."""

    repository: str
    revision: str
    extra: str
    """What runs it."""
    files: Mapping[str, str]


KNOWN: Mapping[str, KnownModel] = {
    "all-MiniLM-L6-v2": KnownModel(
        "sentence-transformers/all-MiniLM-L6-v2",
        "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        "onnx",
        {
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "onnx/model.onnx": "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452",
        },
    ),
    "potion-base-8M": KnownModel(
        "minishlab/potion-base-8M",
        "bf8b056651a2c21b8d2565580b8569da283cab23",
        "model2vec",
        {
            "config.json": "2a6ac0e9aaa356a68a5688070db78fc3a464fefe85d2f06a1905ce3718687553",
            "tokenizer.json": "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
            "model.safetensors": "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
        },
    ),
    "potion-retrieval-32M": KnownModel(
        "minishlab/potion-retrieval-32M",
        "6fc8051fab2a1e0ee76689cf08c853792ac285e7",
        "model2vec",
        {
            "config.json": "63c00d90824c832c04ec1d02b6a983fb90489bf049f29fbff15ba481b8a432ee",
            "tokenizer.json": "7d75cbc54318138807c401b0f0c9721117c628b39de8e8e0edb6cb17e0ee7d18",
            "model.safetensors": "07609e5bd33aad37900b3fd62f4ec96f6daec88ca4d46b9d8b928bfababf6ea0",
        },
    ),
}


def fetch_model(
    name: str,
    models: Path,
    *,
    hub: str = HUB,
    known: Mapping[str, KnownModel] = KNOWN,
    report: Callable[[str], None] = lambda _: None,
) -> Path:
    """The folder below `models` of the model of that name, which is fetched unless it is there and whole.

    Raises:
        Failure: `not_found` for a name that is not known, `io_error` if a file cannot be had or is not the
            pinned one. Nothing is left behind then.
    """
    if (model := known.get(name)) is None:
        raise Failure(Code.NOT_FOUND, f'there is no known model "{name}", only {", ".join(known)}')
    folder = models / name
    try:
        if is_fetched(name, models, known):
            return folder
        models.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=models) as staging:
            for file, digest in model.files.items():
                report(file)
                target = Path(staging, "model", file)
                target.parent.mkdir(parents=True, exist_ok=True)
                _fetch(f"{hub.rstrip('/')}/{model.repository}/resolve/{model.revision}/{file}", target)
                if (actual := _digest_of(target)) != digest:
                    words = f"its SHA-256 is {actual}, the pinned one is {digest}"
                    raise Failure(Code.IO_ERROR, f"{file} of {name} is another file: {words}")
            shutil.rmtree(folder, ignore_errors=True)
            os.rename(Path(staging, "model"), folder)
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, HTTPError):
            error.close()
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise Failure(Code.IO_ERROR, f"{name} could not be fetched from {hub}: {reason}") from error
    return folder


def is_fetched(name: str, models: Path, known: Mapping[str, KnownModel] = KNOWN) -> bool:
    """Whether the folder of a model holds all of its files, as they are pinned."""
    return all(_digest_of(models / name / file) == digest for file, digest in known[name].files.items())


def _fetch(url: str, target: Path) -> None:
    with urlopen(url, timeout=TIMEOUT) as answer, target.open("xb") as file:
        while portion := answer.read(PORTION):
            file.write(portion)
            if file.tell() > LARGEST_FILE:
                raise ValueError("a file of more than 1 GiB")


def _digest_of(path: Path) -> str | None:
    """The SHA-256 of a file, or None where there is none."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
