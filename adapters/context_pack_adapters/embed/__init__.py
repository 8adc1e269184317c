"""Embedders: hashed n-grams, the bundled encoder, a model folder, an HTTP endpoint; and their choice.

Every embedder here implements the port `Embedder`, is safe to share between threads, and loads weights with
the first text. Whatever goes wrong is `EmbedderFailed`, in words. There is always the fast one, and a
semantic one where it is installed or named: what was asked for and is not there leaves a warning that says
how to get it, and searches go on with the fast one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from context_pack.retrieval.ports import Embedder, EmbedderFailed
from context_pack_adapters.embed import granite
from context_pack_adapters.embed.folder import FolderEmbedder
from context_pack_adapters.embed.hashed import HashedEmbedder as HashedEmbedder
from context_pack_adapters.embed.http import HttpEmbedder
from context_pack_adapters.settings import embedder_key, embedder_model


class Embedders(NamedTuple):
    """The embedders of searches; `semantic` is None where there is only the fast one."""

    fast: HashedEmbedder
    semantic: Embedder | None = None
    warning: str | None = None


def choose(setting: str, folder: str | None, environ: Mapping[str, str]) -> Embedders:
    """The embedders for `auto`, `fast`, `semantic` or the URL of an endpoint; any other word is `auto`.

    A model folder takes the place of the installed model; the key and the model's name for a URL come from
    the environment.
    """
    fast, name = HashedEmbedder(), setting.strip()
    if name.lower() == "fast":
        return Embedders(fast)
    if name.lower().startswith(("http://", "https://")):
        return Embedders(fast, HttpEmbedder(name, embedder_key(environ, name), embedder_model(environ)))
    if folder:
        try:
            return Embedders(fast, FolderEmbedder(folder))
        except EmbedderFailed as failed:
            return Embedders(fast, None, f"{failed}; searching without it")
    if granite.installed():
        return Embedders(fast, granite.GraniteEmbedder())
    if name.lower() == "semantic":
        return Embedders(fast, None, f"{granite.MISSING}; searching without it")
    return Embedders(fast)
