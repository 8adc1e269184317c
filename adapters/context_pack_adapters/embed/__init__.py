"""Texts into vectors: hashed n-grams, sentence encoders in plain numpy, an HTTP endpoint.

Every embedder here implements the port `Embedder`, is safe to share between threads, and loads numpy and
weights at first use: making one reads no file. Whatever goes wrong is `EmbedderFailed`, in words.
"""

from context_pack_adapters.embed.choosing import Embedders as Embedders
from context_pack_adapters.embed.choosing import choose as choose
from context_pack_adapters.embed.hashed import HashedEmbedder as HashedEmbedder
