"""Names and instants as people read them: `ownerActorId` is `Owner Actor ID`, instants are ISO 8601 in UTC.

An instant has milliseconds and `Z`. Offsets are converted, a date alone is its midnight in UTC, and a time
without an offset is taken as UTC, so that no answer depends on where the server runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from context_pack.kernel.times import file_time

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


def iso_utc(instant: datetime) -> str:
    """An instant in the one spelling; what is finer than a millisecond is cut off."""
    plain = instant.astimezone(UTC).replace(tzinfo=None)
    return plain.isoformat(timespec="milliseconds") + "Z"


def last_modified(stated: Any, modified_ns: int) -> str:
    """What an entity's `lastModifiedDate` says, else the time of its file."""
    try:
        instant = datetime.fromisoformat(stated.strip().upper())
        return iso_utc(instant if instant.tzinfo else instant.replace(tzinfo=UTC))
    except (AttributeError, ValueError, OverflowError):
        return iso_utc(file_time(modified_ns))
