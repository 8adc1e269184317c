"""Embedders: hashed n-grams, sentence encoders in plain numpy, an HTTP endpoint; and their choice.

Every embedder here implements the port `Embedder`, is safe to share between threads, and loads numpy and
weights at first use: making one reads no file. Whatever goes wrong is `EmbedderFailed`, in words. There is
always the fast one, and a semantic one where it is installed or named: what was asked for and is not there
leaves a warning that says how to get it, and searches go on with the fast one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from context_pack.retrieval.ports import Embedder
from context_pack_adapters.embed.hashed import HashedEmbedder as HashedEmbedder


class Embedders(NamedTuple):
    """The embedders of searches; `semantic` is None where there is only the fast one."""

    fast: HashedEmbedder
    semantic: Embedder | None = None
    warning: str | None = None


def choose(setting: str, environ: Mapping[str, str]) -> Embedders:
    """The embedders for `auto`, `fast`, `semantic` or the URL of an endpoint; any other word is `auto`.

    The key and the model's name for a URL come from the environment.
    """
    fast = HashedEmbedder()
    name = setting.strip()
    if name.lower() == "fast":
        return Embedders(fast)
    if is_url(name):
        from context_pack_adapters.embed.http import HttpEmbedder
        from context_pack_adapters.settings import embedder_key, embedder_model

        return Embedders(fast, HttpEmbedder(name, embedder_key(environ, name), embedder_model(environ)))
    from context_pack_adapters.embed import granite

    if granite.installed():
        return Embedders(fast, granite.load())
    if name.lower() == "semantic":
        return Embedders(fast, None, f"{granite.MISSING}; searching without it")
    return Embedders(fast)


def is_url(text: str) -> bool:
    """Whether a setting names an endpoint."""
    return text.lower().startswith(("http://", "https://"))
