"""The YAML of `.context.yaml` files: read as YAML 1.2 core, written new, or changed in place.

A change is made on the text (see `context_text`), read back, and given out only if the result is the old
record with exactly the asked changes. Fingerprints and dates are always quoted: bare, some of them are
numbers to other readers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from context_pack.contexts.domain.model import MalformedContext
from context_pack.contexts.domain.schema import FIELDS
from context_pack_adapters.stores import context_text as text_of
from context_pack_adapters.stores import yaml_core
from context_pack_adapters.stores.context_text import CannotEdit, FieldSpan

QUOTED = ("last_updated", "fingerprint", "scope")
_BOM = "\ufeff"
# A version may be infinite: that is a later one, not a broken file.
_RULES = yaml_core.Rules(finite=False)


class YamlContextFormat:
    """The `ContextFormat` of real files."""

    def parse(self, data: bytes) -> Any | MalformedContext:
        """The plain value that a file spells; None for one with nothing but comments."""
        try:
            return self._load(data)
        except yaml_core.Malformed as fault:
            return MalformedContext(str(fault))

    def compose(self, record: Mapping[str, Any]) -> bytes:
        """A new file with these fields in this order."""
        return "".join(_block(key, value) for key, value in record.items()).encode()

    def commented(self, data: bytes) -> frozenset[str]:
        """The fields, nested ones as `a.b`, with a comment among their lines."""
        text = yaml_core.decoded(data)
        named = text_of.fields_of(text_of.top_of(text))
        return frozenset(name for name, entry in named if text_of.has_comment(text, entry))

    def revise(self, data: bytes, changes: Mapping[str, Any]) -> bytes | None:
        """The file with these fields set or removed; None when that cannot be done safely."""
        try:
            before = self._load(data)
            text = yaml_core.decoded(data)
            mark = _BOM if data.decode("utf-8").startswith(_BOM) else ""
            for name, value in changes.items():
                text = _change(text, name, value)
            after = (mark + text).encode()
            if not isinstance(before, dict) or self._load(after) != text_of.changed(before, changes):
                return None
        except (CannotEdit, yaml_core.Malformed, UnicodeEncodeError):
            return None
        return after

    def _load(self, data: bytes) -> Any:
        if all(not line or line.startswith(b"#") for line in map(bytes.strip, data.splitlines())):
            return None
        return yaml_core.load(data, _RULES)


def _block(key: str, value: Any) -> str:
    if key in QUOTED:
        return f"{key}: {json.dumps(value, ensure_ascii=False)}\n"
    return text_of.block_of(key, value)


def _change(text: str, name: str, value: Any) -> str:
    """The text with one field changed."""
    top = text_of.top_of(text)
    outer, dot, inner = name.partition(".")
    entry = top.child(outer)
    if entry is None:
        if value is None:
            return text
        before = FIELDS[: FIELDS.index(outer)] if outer in FIELDS else ()
        return text_of.add_field(text, top, outer, {inner: value} if dot else value, before)
    return _change_inner(text, entry, inner, value) if dot else text_of.set_value(text, entry, value)


def _change_inner(text: str, outer: FieldSpan, inner: str, value: Any) -> str:
    if not outer.fields:
        raise CannotEdit("a field of something that is no mapping")
    entry = outer.child(inner)
    if entry is None:
        return text if value is None else text_of.add_field(text, outer, inner, value, ())
    if value is None and len(outer.fields) == 1:
        return text_of.set_value(text, outer, None)
    return text_of.set_value(text, entry, value)
