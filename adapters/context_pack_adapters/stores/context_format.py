"""The YAML of `.context.yaml` files: read as YAML 1.2 core, written new, or changed field by field.

A change replaces the lines of a field and nothing else; the result is read back, and given out only if it is
the old record with exactly the asked changes. Fingerprints and dates are always quoted: bare, some of them
are numbers to other readers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from context_pack.contexts.domain.model import MalformedContext
from context_pack.contexts.domain.schema import FIELDS
from context_pack.kernel.yaml_text import yaml_text
from context_pack_adapters.stores import yaml_core

QUOTED = ("last_updated", "fingerprint", "scope")
_FIELD_START = re.compile(r"^(?=([A-Za-z_]\w*):(?:\s|$))", re.MULTILINE)
_AFTER_FIELD = re.compile(r"(?:^[ \t]*(?:#[^\n]*)?\r?\n)+\Z|\Z", re.MULTILINE)
"""Blank lines and comments behind a field: they belong to what follows."""
_ONE_LINE = re.compile(r"""(\w+:[ \t]*)("[^"\\]*"|'[^']*'|[^\s#&!|>"'\[{][^\n#]*?)([ \t]+#[^\n]*)?(\r?\n?)""")
_QUOTED_TEXT = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'""")
_COMMENT = re.compile(r"(?:^|\s)#")
# A version may be infinite: that is a later one, not a broken file.
_RULES = yaml_core.Rules(finite=False)


class YamlContextFormat:
    """The `ContextFormat` of real files."""

    def parse(self, data: bytes) -> Any | MalformedContext:
        """The plain value that a file spells; None for one with nothing but comments."""
        try:
            if all(not line or line.startswith(b"#") for line in map(bytes.strip, data.splitlines())):
                return None
            return yaml_core.load(data, _RULES)
        except yaml_core.Malformed as fault:
            return MalformedContext(str(fault))

    def compose(self, record: Mapping[str, Any]) -> bytes:
        """A new file with these fields in this order."""
        return "".join(_lines(name, value) for name, value in record.items()).encode()

    def commented(self, data: bytes) -> frozenset[str]:
        """The fields with a comment among their lines."""
        fields = _fields(data.decode())[1]
        return frozenset(
            name for name, text in fields.items() if _COMMENT.search(_QUOTED_TEXT.sub('""', _body(text)))
        )

    def revise(self, data: bytes, changes: Mapping[str, Any]) -> bytes | None:
        """The file with these fields set, or removed where the value is None; None if that cannot be done."""
        text = data.decode()
        newline = "\r\n" if "\r\n" in text else "\n"
        head, fields = _fields(text if text.endswith("\n") else text + newline)
        for name, value in changes.items():
            old = fields.get(name, "")
            tail = old[len(_body(old)) :]
            if value is None:
                fields[name] = tail
            elif old and (line := _ONE_LINE.fullmatch(_body(old))) and isinstance(value, str):
                fields[name] = (
                    f"{line[1]}{json.dumps(value, ensure_ascii=False)}{line[3] or ''}{line[4]}{tail}"
                )
            else:
                new = _lines(name, value).replace("\n", newline)
                fields = {**fields, name: new + tail} if old else _inserted(fields, name, new)
        after = (head + "".join(fields.values())).encode()
        before, wanted = self.parse(data), {**changes}
        expected = {**before, **wanted} if isinstance(before, dict) else {}
        same = self.parse(after) == {name: value for name, value in expected.items() if value is not None}
        return after if same else None


def _fields(text: str) -> tuple[str, dict[str, str]]:
    """What stands before the first field, and the text of each field with what follows it."""
    starts = [(found.start(), found[1]) for found in _FIELD_START.finditer(text)]
    ends = [at for at, _ in starts[1:]] + [len(text)]
    named = {name: text[at:end] for (at, name), end in zip(starts, ends, strict=True)}
    return text[: starts[0][0]] if starts else text, named


def _body(field: str) -> str:
    """The lines of a field without what follows it."""
    found = _AFTER_FIELD.search(field, field.find("\n") + 1)
    return field if found is None else field[: found.start()]


def _inserted(fields: dict[str, str], name: str, text: str) -> dict[str, str]:
    """The fields with a new one, behind the last of those that the schema has before it."""
    before = FIELDS[: FIELDS.index(name)]
    place = max((at + 1 for at, each in enumerate(fields) if each in before), default=len(fields))
    items = list(fields.items())
    return dict([*items[:place], (name, text), *items[place:]])


def _lines(name: str, value: Any) -> str:
    if name in QUOTED:
        return f"{name}: {json.dumps(value, ensure_ascii=False)}\n"
    return yaml_text({name: value}, lists="")
