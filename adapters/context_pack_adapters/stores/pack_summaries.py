"""The summary of a pack file that is written exactly as `pack_format` writes it, at a tenth of a full read.

One pattern describes the whole front matter: fields in their order, values in their bounds. What it matches,
the full reader takes for a pack with this summary; whatever else a file holds (hand-written YAML, rare
characters, large numbers, fields of a newer version, mistakes) is left to the full reader, which alone says
what is wrong. Worth it by `benches/side_by_side/pack_store_floors.py`: the first list of 10 000 packs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime

from context_pack.kernel.lines import MAX_LINES
from context_pack.packs.domain.anchors import NAME_CHARS, SIGNATURE_CHARS
from context_pack.packs.domain.model import PackSummary, Status
from context_pack.packs.domain.values import NAME_HIGH, NAME_LOW

# No character is a control character; those beyond ASCII that are not printed are found by `_is_printable`.
_CHAR, _INNER = r"[^\0-\x1f\x7f]", r'[^\0-\x1f\x7f"\\]'
_ESCAPE = r'\\(?:["\\ntr]|x[0-9a-f]{2}|u(?!d[89a-f])[0-9a-f]{4})'
_NO_TEXT = r"(?!(?i:null|true|false)\n)"
_PLAIN = _NO_TEXT + r"[A-Za-z][A-Za-z0-9_./+(),; -]*+(?<! )"
_QUOTED = rf'"(?! )(?:{_INNER}++|\\["\\])++"'
_LINE = rf"(?:{_PLAIN}|{_QUOTED})"
_MAYBE_LINE = rf"(?:null(?=\n)|{_LINE})"
_KEPT_LINE = rf"(?:null(?=\n)|({_PLAIN})|({_QUOTED}))"
_KEY = _NO_TEXT + r'(?:[a-z][a-z0-9_-]{1,63}+|"[a-z0-9][a-z0-9_-]{1,63}+")'
# No part of a path is empty, `.` or `..`.
_PATH = r'(?=.{1,1000}\n)(?!"?(?:[^"\n]*/)?\.{0,2}(?:/|"?\n))'
_PATH += rf'(?:{_PLAIN}|"[A-Za-z0-9_./+@()\[\],~ -]++")'
_NUMBER, _SMALL_NUMBER = "[1-9][0-9]{0,8}", f"[1-9][0-9]{{0,{len(str(MAX_LINES)) - 2}}}"
_MOMENT = r'"(\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\d(?:\.(?!0{6})\d{6})?Z)"'


def _text(indent: int) -> str:
    """A text of any number of lines: plain, quoted, or a block with this indent."""
    start = rf"\n{' ' * indent}"
    block = rf"\|-?{start}(?! ){_CHAR}++(?:{start}{_CHAR}*+|\n(?=\n))*+(?=\n)"
    return rf'(?:{_PLAIN}|" *+(?!\\)(?:{_INNER}++|{_ESCAPE})++"|{block})'


def _hex(digits: str) -> str:
    """Hexadecimal digits; those that begin with a figure could be a number and are quoted."""
    return rf'(?:"{digits}"|(?=[a-f]){digits})'


def _short(value: str, most: int) -> str:
    return rf"(?=.{{1,{most}}}\n){value}"


def _fields(indent: int, **values: str) -> str:
    """Lines with a field and its value each."""
    return "".join(rf"\n{' ' * indent}{name}: {value}" for name, value in values.items())


def _items(indent: int, item: str) -> str:
    """A list of such items, perhaps empty."""
    return rf"(?: \[\]|(?:\n{' ' * indent}- {item})++)"


def _parts(indent: int, fields: str) -> str:
    """A list of such groups of fields, perhaps empty; a dash stands before the first field of each."""
    return _items(indent, fields.removeprefix(rf"\n{' ' * indent}  "))


_SYMBOL = r"\n      symbol:" + _fields(
    8,
    kind=_short(_LINE, 40),
    name=_short(_LINE, NAME_CHARS),
    signature=_short(f'(?:{_LINE}|"")', SIGNATURE_CHARS),
    part=r'(?:all|bare|"[1-9][0-9]{0,9}-[1-9][0-9]{0,9}")',
)
_ANCHOR = _fields(6, digest=_hex("[0-9a-f]{64}"), lines=_SMALL_NUMBER) + f"(?:{_SYMBOL})?"
_REF = (
    _fields(4, key=_KEY, path=_PATH)
    + r"\n    lines:"
    + _fields(6, start=_NUMBER, end=_NUMBER)
    + _fields(4, title=_MAYBE_LINE, why=_MAYBE_LINE, group=_MAYBE_LINE)
    + rf"\n    anchor:(?: null|{_ANCHOR})"
)
_DIAGRAM = _fields(4, key=_KEY, title=_LINE, mermaid=_text(6), why=_MAYBE_LINE)
_SECTION = (
    _fields(2, key=_KEY, title=_LINE, description=rf"(?:null(?=\n)|{_text(4)})")
    + rf"\n  refs:{_parts(2, _REF)}\n  diagrams:{_parts(2, _DIAGRAM)}"
    + rf'(?:\n  scope: (?:"\."|{_PATH}))?'
)
_FILE = re.compile(
    "---"
    + _fields(0, schema_version="2", id="(pk_[a-z2-7]{8})")
    + _fields(0, name=_KEPT_LINE, title=_KEPT_LINE, brief=_KEPT_LINE)
    + _fields(0, status="(draft|finalized)")
    + rf"\ntags:({_items(0, _LINE)})\nsections:({_parts(0, _SECTION)})"
    + _fields(0, revision="([1-9][0-9]{0,17})", created_at=_MOMENT, updated_at=_MOMENT, expires_at=_MOMENT)
    + r"\n---\n",
    re.ASCII,
)
# Each finds at least what the fields say; if a text spells the same, the full reader may have to look.
_RANGES = re.compile(r"start: (\d+)\n      end: (\d+)\n")
_KEYS = re.compile(r'- key: "?([^"\n]+)')
_moment = datetime.fromisoformat
_STATUSES = {status.value: status for status in Status}


def summary_of(data: bytes, pack_id: str) -> PackSummary | None:
    """What a list shows of the pack in a file of that id; None if the full reader has to look at it."""
    try:
        text = data.decode()
        found = _FILE.match(text)
        if found is None or not (text.isascii() or _is_printable(found[0])):
            return None
        key, *lines, status, tags, sections, revision, made, changed, ends = found.groups()
        name, quoted_name, title, quoted_title, brief, quoted_brief = lines
        summary = PackSummary(
            key,
            name or _unquoted(quoted_name),
            title or _unquoted(quoted_title),
            brief or _unquoted(quoted_brief),
            _STATUSES[status],
            _tags(tags),
            int(revision),
            _moment(made),
            _moment(changed),
            _moment(ends),
        )
    except ValueError:
        return None
    return summary if key == pack_id and _is_name(summary.name) and _holds(sections) else None


def _is_printable(lines: str) -> bool:
    """Whether no character is one that some reader trims, folds or refuses."""
    return lines.replace("\n", "").isprintable()


def _holds(sections: str) -> bool:
    """Checks beyond the pattern: unique keys, and line ranges in order and within bounds."""
    for start, end in _RANGES.findall(sections):
        if not 0 <= int(end) - int(start) < MAX_LINES:
            return False
    keys = _KEYS.findall(sections)
    return len(set(keys)) == len(keys) or all(
        len(set(keys)) == len(keys) for keys in _keys_by_place(sections)
    )


def _keys_by_place(sections: str) -> Iterable[list[str]]:
    """The groups of keys that must be unique: sections, then refs and diagrams of each."""
    parts = sections.split("\n- ")[1:]
    yield [part.partition("\n")[0].replace('"', "") for part in parts]
    for part in parts:
        for items in part.split("\n  diagrams:"):
            yield _KEYS.findall(items)


def _is_name(text: str | None) -> bool:
    """Whether a pack may have this name, which cannot be taken for an id, or none."""
    return text is None or (NAME_LOW <= len(text) <= NAME_HIGH and not text.startswith("pk_"))


def _tags(written: str) -> tuple[str, ...]:
    """Each tag of a written list once."""
    if written == " []":
        return ()
    lines: Iterable[str] = written.removeprefix("\n- ").split("\n- ")
    if '"' in written:
        lines = [_unquoted(line) or line if line[0] == '"' else line for line in lines]
    return tuple(dict.fromkeys(lines))


def _unquoted(written: str | None) -> str | None:
    """The text between quotes, without blanks at its end."""
    if written is None:
        return None
    inner = written[1:-1] if "\\" not in written else str(json.loads(written))
    return inner.rstrip()
