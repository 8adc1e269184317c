"""Field names as people read them: `ownerActorId` is `Owner Actor ID`, `apiURLs` is `API URLs`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Acronyms stay together (`HTTPPort` is two words), `URLs` is one, digits belong to the word before them.
_WORD = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])[0-9]*|[A-Z]?[^\W_A-Z]+|[^\W_]+")
_SPECIAL = {
    "id": "ID", "ids": "IDs", "api": "API", "apis": "APIs",
    "uri": "URI", "uris": "URIs", "url": "URL", "urls": "URLs",
}  # fmt: skip


def words_of(field: str) -> str:
    """A field name split into words, each with a capital."""
    leaf = field.rpartition(".")[2]
    words = [_SPECIAL.get(word.lower(), word[:1].upper() + word[1:]) for word in _WORD.findall(leaf)]
    return " ".join(words) or leaf


def title_of(schema: Any) -> str | None:
    """The title that a schema gives to its property; None if it has none that says something."""
    title = schema.get("title") if isinstance(schema, Mapping) else None
    return title if isinstance(title, str) and title.strip() else None
