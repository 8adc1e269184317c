"""The one closed table of failures: kind, code, typed details.

A `Failure` is what a use case or an adapter raises; adapters translate foreign exceptions into one at the
seam, and `toolkit.registry` alone turns one into a tool error. Nothing anywhere matches on message text.
A message says what is wrong and what to do next; it holds no traceback, no source text and no absolute path.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """The seven kinds a client may branch on."""

    VALIDATION = "validation"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    INVALID_STATE = "invalid_state"
    STALE_REF = "stale_ref"
    IO_ERROR = "io_error"
    MIGRATION_REQUIRED = "migration_required"


class Code(StrEnum):
    """What exactly failed; each code belongs to one kind."""

    INVALID_DATA = "invalid_data"
    TTL_REQUIRED = "ttl_required"
    NOT_FOUND = "not_found"
    REVISION_CONFLICT = "revision_conflict"
    NAME_CONFLICT = "name_conflict"
    LOCK_TIMEOUT = "lock_timeout"
    RATE_LIMITED = "rate_limited"
    INVALID_STATE = "invalid_state"
    STALE_REF = "stale_ref"
    IO_ERROR = "io_error"
    MALFORMED_PACK = "malformed_pack"
    INTERNAL = "internal"
    MIGRATION_REQUIRED = "migration_required"
    UNAVAILABLE = "unavailable"
    # reading files (contract of the code family)
    ABSOLUTE_PATH = "absolute_path"
    PATH_TRAVERSAL = "path_traversal"
    PERMISSION_DENIED = "permission_denied"
    NOT_TEXT = "not_text"
    TOO_LARGE = "too_large"
    TIMED_OUT = "timed_out"
    # memory
    MALFORMED_DISCOVERY = "malformed_discovery"
    NOTHING_INDEXED = "nothing_indexed"
    EMBEDDER_FAILED = "embedder_failed"


_CODES: Mapping[Kind, str] = {
    Kind.VALIDATION: "invalid_data ttl_required absolute_path path_traversal permission_denied not_text"
    " too_large",
    Kind.NOT_FOUND: "not_found nothing_indexed",
    Kind.CONFLICT: "revision_conflict name_conflict lock_timeout rate_limited",
    Kind.INVALID_STATE: "invalid_state",
    Kind.STALE_REF: "stale_ref",
    Kind.IO_ERROR: "io_error internal unavailable timed_out embedder_failed malformed_pack"
    " malformed_discovery",
    Kind.MIGRATION_REQUIRED: "migration_required",
}
KIND_OF = {Code(word): kind for kind, words in _CODES.items() for word in words.split()}


class Failure(Exception):
    """A refusal or a fault with a kind, a code, a message for people and details for programs."""

    def __init__(self, code: Code, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(code, message, details)
        self.code = code
        self.message = message
        self.details: Mapping[str, Any] = dict(details or {})

    @property
    def kind(self) -> Kind:
        """The kind this failure's code belongs to."""
        return KIND_OF[self.code]

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def invalid(message: str, field: str | None = None, **details: Any) -> Failure:
    """Bad input: `invalid_data`, with the offending field in the details."""
    return Failure(Code.INVALID_DATA, message, {**({} if field is None else {"field": field}), **details})


def clip(name: str) -> str:
    """A caller's own word, safe to repeat: one printable line of at most 80 characters."""
    clean = "".join(char if char.isprintable() else "?" for char in name[:81])
    return clean if len(clean) <= 80 else clean[:79] + "…"
