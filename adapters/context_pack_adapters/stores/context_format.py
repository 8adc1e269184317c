"""The YAML of `.context.yaml` files: read, written new, or changed field by field in their own text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from context_pack.contexts.domain.model import MalformedContext
from context_pack.contexts.domain.schema import FIELDS
from context_pack.kernel.yaml_documents import Malformed, commented_fields, dump, load, revise


class YamlContextFormat:
    """The `ContextFormat` of real files; an infinite version is a later one, not a broken file."""

    def parse(self, data: bytes) -> Any | MalformedContext:
        """The plain value that a file spells; None for one with nothing but comments."""
        try:
            if all(not line or line.startswith(b"#") for line in map(bytes.strip, data.splitlines())):
                return None
            return load(data, finite=False)
        except Malformed as fault:
            return MalformedContext(str(fault))

    def compose(self, record: Mapping[str, Any]) -> bytes:
        """A new file with these fields in this order."""
        return dump(dict(record)).encode()

    def commented(self, data: bytes) -> frozenset[str]:
        """The fields with a comment among their lines."""
        return commented_fields(data)

    def revise(self, data: bytes, changes: Mapping[str, Any]) -> bytes | None:
        """The file with these fields set, or removed where the value is None; None if that cannot be done."""
        return revise(data, changes, FIELDS, finite=False)
