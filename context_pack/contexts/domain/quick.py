"""Fast path: reads the summary of a context in its usual layout by one pattern, without YAML.

A list of thousands of folders needs three lines of each file and the certainty that the rest is valid. Files
that tools write have one plain form (block style, one line per text, known fields in known order), and for
that form one regular expression decides. `gist_of` answers only when it is sure that the YAML reader and the
schema would say the same; anything else, down to a comment, is None and takes the long way. Quantifiers are
possessive, so no text makes the search go back. Worth it by `benches/side_by_side/contexts.py`: without it a
first list costs seven times as much.
"""

from __future__ import annotations

import re
from functools import cache

from context_pack.contexts.domain.model import ContextSummary
from context_pack.contexts.domain.schema import FIELDS, PROPERTIES, Schema

# What is left of a file without these bytes is nothing, or something that two readers may take differently:
# control characters, marks, characters beyond the first 65 536. Line ends beyond ASCII are looked for apart.
_SURE_BYTES = bytes([0x0A, *range(0x20, 0x7F), *range(0x80, 0xC2), *range(0xC3, 0xEF)])

# Surely a string in block style, to the end of its line: no number, null or truth, no indicator first.
_PLAIN = (
    r"(?!(?:[Nn]ull|NULL|[Tt]rue|TRUE|[Ff]alse|FALSE|\.(?:inf|Inf|INF|nan|NaN|NAN))\n)"
    r"(?:[A-Za-z_/(]|\.[./A-Za-z_])(?:[^\n:#]++|:(?=[^\n ])|(?<! )#)*+(?<! )"
)
_QUOTED = r'"[^"\\\n]*+"|\'[^\'\n]*+\''
_TEXT = f"(?:{_QUOTED}|{_PLAIN})"
_MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d++)?Z"
# Digits that no reader takes for a number, because a letter follows that no number has there.
_HEX = r"\d++(?:[a-df]|e\d*+[a-f])[0-9a-f]*+"
_BLOCK = r"\|-?\n(?P<indent> {2,8}+)[^ \n][^\n]*+\n(?:(?P=indent)[^\n]*+\n|\n)*+"
_HEAD = (
    rf"version: 1\nlast_updated: ({_MOMENT}|{_TEXT})\nfingerprint: ({_HEX}|{_TEXT})\n"
    rf"scope: (?:\.|{_TEXT})\nsummary: ({_TEXT})\n"
)


def _lists(indent: str) -> str:
    """A list of texts below a key that is indented so far."""
    return rf"(?:(?:{indent}- {_TEXT}\n)++|(?:{indent}  - {_TEXT}\n)++)"


def _record(schema: Schema, indent: str, first: str) -> str:
    """An object's texts in schema order, one per line; `first` stands before the first of them."""
    parts: list[str] = []
    for name in schema["properties"]:
        line = f"{indent if parts else first}{name}: {_TEXT}\\n"
        parts.append(line if name in schema["required"] else f"(?:{line})?+")
    return "".join(parts)


def _field(name: str, schema: Schema) -> str | None:
    """The pattern of one field with its key; None for fields that need the full reader."""
    kind = schema["type"]
    if kind == "string":
        return f"{name}: (?:{_BLOCK}|{_TEXT}\\n)"
    if kind == "array" and schema["items"]["type"] == "string":
        return rf"{name}:(?: \[\]\n|\n{_lists('')})"
    if kind == "array":
        inner = schema["items"]
        items = rf"(?:(?:{_record(inner, '  ', '- ')})++|(?:{_record(inner, '    ', '  - ')})++)"
        return rf"{name}:(?: \[\]\n|\n{items})"
    if schema["required"]:
        return None if "additionalProperties" in schema else rf"{name}:\n{_record(schema, '  ', '  ')}"
    inner = [rf"  {key}:\n{_lists('  ')}" for key in schema["properties"]]
    if len(inner) != 2:
        return None
    one, other = inner
    return rf"{name}:\n(?:{one}(?:{other})?+|{other}(?:{one})?+)"


_IN_HEAD = ("version", "last_updated", "fingerprint", "scope", "summary")
_NAMES = re.compile(r"\n([a-z_]++):")
"""Every key but the first, which is `version`."""


@cache
def _file() -> re.Pattern[str]:
    """The pattern of a whole file; compiled when the first is met, because that takes a while."""
    rest = [_field(name, PROPERTIES[name]) for name in FIELDS if name not in _IN_HEAD]
    return re.compile(rf"{_HEAD}(?:(?:{'|'.join(filter(None, rest))})\n*+)*+")


def gist_of(data: bytes) -> ContextSummary | None:
    """The gist of a file that is surely a valid context of version 1; None means that this cannot tell."""
    if data.translate(None, _SURE_BYTES) or not data.endswith(b"\n"):
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    found = _file().fullmatch(text)
    if found is None or "\u2028" in text or "\u2029" in text:
        return None
    names = _NAMES.findall(text)
    if "maintenance" not in names or len(set(names)) != len(names) or "version" in names:
        return None
    moment, stored, summary, _ = found.groups()
    return ContextSummary(_unquoted(stored), _unquoted(moment), _unquoted(summary))


def _unquoted(line: str) -> str:
    return line[1:-1] if line[0] in "\"'" else line
