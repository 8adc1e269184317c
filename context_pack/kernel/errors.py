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


KIND_OF: Mapping[Code, Kind] = {
    Code.INVALID_DATA: Kind.VALIDATION,
    Code.TTL_REQUIRED: Kind.VALIDATION,
    Code.NOT_FOUND: Kind.NOT_FOUND,
    Code.REVISION_CONFLICT: Kind.CONFLICT,
    Code.NAME_CONFLICT: Kind.CONFLICT,
    Code.LOCK_TIMEOUT: Kind.CONFLICT,
    Code.RATE_LIMITED: Kind.CONFLICT,
    Code.INVALID_STATE: Kind.INVALID_STATE,
    Code.STALE_REF: Kind.STALE_REF,
    Code.IO_ERROR: Kind.IO_ERROR,
    Code.MALFORMED_PACK: Kind.IO_ERROR,
    Code.INTERNAL: Kind.IO_ERROR,
    Code.MIGRATION_REQUIRED: Kind.MIGRATION_REQUIRED,
    Code.UNAVAILABLE: Kind.IO_ERROR,
    Code.ABSOLUTE_PATH: Kind.VALIDATION,
    Code.PATH_TRAVERSAL: Kind.VALIDATION,
    Code.PERMISSION_DENIED: Kind.VALIDATION,
    Code.NOT_TEXT: Kind.VALIDATION,
    Code.TOO_LARGE: Kind.VALIDATION,
    Code.TIMED_OUT: Kind.IO_ERROR,
    Code.MALFORMED_DISCOVERY: Kind.IO_ERROR,
    Code.NOTHING_INDEXED: Kind.NOT_FOUND,
    Code.EMBEDDER_FAILED: Kind.IO_ERROR,
}


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
