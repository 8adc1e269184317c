"""The summary of a pack file that is written exactly as `pack_format` writes it, at a tenth of a full read.

One pattern describes the whole front matter: fields in their order, values in their bounds. What it matches,
the full reader takes for a pack with this summary; whatever else a file holds (hand-written YAML, rare
characters, fields of a newer version, mistakes) is left to the full reader, which alone says what is wrong.
Worth it by `benches/side_by_side/pack_store_floors.py`: the first list of 10 000 packs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime

from context_pack.kernel.ids import is_pack_id
from context_pack.kernel.lines import MAX_LINES
from context_pack.packs.domain.anchors import NAME_CHARS, SIGNATURE_CHARS
from context_pack.packs.domain.likeness import MOST_PAIRS, PAIR_DIGITS
from context_pack.packs.domain.model import PackSummary, Status
from context_pack.packs.domain.source import CHECKSUM_DIGITS
from context_pack.packs.domain.values import LAST_LINE, NAME_HIGH, NAME_LOW

_OPENING, _CLOSING = b"---\n", b"\n---\n"

_NO_TEXT = r"(?!(?i:null|true|false)\n)"
_PLAIN = _NO_TEXT + r"[A-Za-z][A-Za-z0-9_./+-]*+(?: [A-Za-z0-9_./(][A-Za-z0-9_./()+,;-]*+)*+"
_QUOTED = r'"(?:[^ "\\\n]|\\["\\])(?:[^"\\\n]|\\["\\])*+"'
_LINE = rf"(?:{_PLAIN}|{_QUOTED})"
_MAYBE_LINE = rf"(?:null(?=\n)|{_LINE})"
_ESCAPE = r'\\(?:["\\ntr]|x[0-9a-f]{2}|u(?!d[89a-f])[0-9a-f]{4})'


def _text(indent: str) -> str:
    """A text of any number of lines: plain, quoted, or a block with this indent."""
    block = rf"\|-?\n{indent}[^ \n].*+(?:\n{indent}.*+|\n(?=\n))*+(?=\n)"
    return rf'(?:{_PLAIN}|" *+[^ "\\\n](?:[^"\\\n]|{_ESCAPE})*+"|{block})'


def _hex(digits: str, begin: str = "") -> str:
    """Hexadecimal digits; those that begin with a figure could be a number and are quoted."""
    return rf'(?:"{begin}{digits}"|(?=[a-f]){begin}{digits})'


def _listed(indent: str, item: str, most: str = "+") -> str:
    """A list of such items, perhaps empty."""
    return rf"(?: \[\]\n|\n(?:{indent}- {item}\n){most}+)"


_KEY = _NO_TEXT + r'(?:[a-z][a-z0-9_-]{1,63}+|"[a-z0-9][a-z0-9_-]{1,63}+")'
# No part of a path is empty, `.` or `..`.
_PATH = r'(?=.{1,1000}\n)(?!"?(?:[^"\n]*/)?\.{0,2}(?:/|"?\n))'
_PATH += rf'(?:{_PLAIN}|"[A-Za-z0-9_./+@()\[\],~ -]++")'
_NUMBER = "[1-9][0-9]{0,9}"
_PRINT = _hex("-[0-9a-f]{8}", "[0-9a-f]{1,8}")
_PRINTS = _listed("      ", _PRINT, "{1,3}")
_SYMBOL = (
    rf"      symbol:\n        kind: (?=.{{1,40}}\n){_LINE}\n        name: (?=.{{1,{NAME_CHARS}}}\n){_LINE}\n"
    rf'        signature: (?=.{{1,{SIGNATURE_CHARS}}}\n)(?:{_LINE}|"")\n'
    r'        part: (?:all|bare|"[1-9][0-9]{0,9}-[1-9][0-9]{0,9}")\n'
)
_ANCHOR = (
    rf"\n      digest: {_hex('[0-9a-f]{64}')}\n      lines: {_NUMBER}\n"
    rf"      before:{_PRINTS}      after:{_PRINTS}"
    rf"      first: {_PRINT}\n      last: {_PRINT}\n"
    rf"      rolling: (?:null|{_hex(f'[0-9a-f]{{{CHECKSUM_DIGITS}}}')})\n"
    rf"(?:      sketch: {_hex(f'(?:[0-9a-f]{{{PAIR_DIGITS}}}){{0,{MOST_PAIRS}}}')}\n)?(?:{_SYMBOL})?"
)
_REF = (
    rf"key: {_KEY}\n    path: {_PATH}\n    lines:\n      start: {_NUMBER}\n      end: {_NUMBER}\n"
    rf"    title: {_MAYBE_LINE}\n    why: {_MAYBE_LINE}\n    group: {_MAYBE_LINE}\n"
    rf"    anchor:(?: null\n|{_ANCHOR})"
)
_DIAGRAM = rf"key: {_KEY}\n    title: {_LINE}\n    mermaid: {_text(' ' * 6)}\n    why: {_MAYBE_LINE}\n"
_SECTION = (
    rf"key: {_KEY}\n  title: {_LINE}\n  description: (?:null(?=\n)|{_text(' ' * 4)})\n"
    rf"  refs:(?: \[\]\n|\n(?:  - {_REF})++)  diagrams:(?: \[\]\n|\n(?:  - {_DIAGRAM})++)"
    rf'(?:  scope: (?:"\."|{_PATH})\n)?'
)
_MOMENT = r'"(\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\d(?:\.(?!0{6})\d{6})?Z)"'
_FRONT = re.compile(
    rf"schema_version: 2\nid: (pk_[a-z2-7]{{8}})\nname: ({_MAYBE_LINE})\ntitle: ({_MAYBE_LINE})\n"
    rf"brief: ({_MAYBE_LINE})\nstatus: (draft|finalized)\ntags:({_listed('', _LINE)})"
    rf"sections:(?: \[\]\n|\n((?:- {_SECTION})++))revision: ([1-9][0-9]{{0,17}})\n"
    rf"created_at: {_MOMENT}\nupdated_at: {_MOMENT}\nexpires_at: {_MOMENT}",
    re.ASCII,
)
# Each finds at least what the fields say; if a text spells the same, the full reader may have to look.
_RANGES = re.compile(r"      start: (\d+)\n      end: (\d+)\n")
_SPANS = re.compile(r"      lines: (\d+)\n")
_KEYS = re.compile(r'- key: "?([^"\n]+)')


def summary_of(data: bytes, pack_id: str) -> PackSummary | None:
    """What a list shows of the pack in a file of that id; None if the full reader has to look at it."""
    end = data.find(_CLOSING)
    if end < 0 or not data.startswith(_OPENING):
        return None
    try:
        front = data[len(_OPENING) : end].decode()
        found = _FRONT.fullmatch(front)
        # Characters that some reader trims, folds or refuses are none that is printed.
        if found is None or not front.replace("\n", "").isprintable():
            return None
        key, name, title, brief, status, tags, sections, revision, *moments = found.groups()
        created, updated, expires = map(datetime.fromisoformat, moments)
    except ValueError:
        return None
    called = _value(name)
    if key != pack_id or not (called is None or _is_name(called)) or not _holds(sections or ""):
        return None
    labels = dict.fromkeys(_values(tags.split("\n- ")[1:]))
    return PackSummary(
        key, called, _value(title), _value(brief), Status(status), tuple(labels), int(revision),
        created, updated, expires,
    )  # fmt: skip


def _holds(sections: str) -> bool:
    """What a pattern cannot say: keys that differ from each other, and lines in their order and bounds."""
    return (
        (_differ(_KEYS.findall(sections)) or all(map(_differ, _keys_by_place(sections))))
        and all(_is_range(int(start), int(end)) for start, end in _RANGES.findall(sections))
        and all(int(span) <= MAX_LINES for span in _SPANS.findall(sections))
    )


def _is_range(start: int, end: int) -> bool:
    return 0 <= end - start < MAX_LINES and end <= LAST_LINE


def _keys_by_place(sections: str) -> Iterable[list[str]]:
    """The keys that have to differ: of all sections, then of the refs and of the diagrams of each."""
    parts = f"\n{sections}".split("\n- ")[1:]
    yield [part.partition("\n")[0].replace('"', "") for part in parts]
    for part in parts:
        for items in part.split("\n  diagrams:"):
            yield _KEYS.findall(items)


def _differ(keys: list[str]) -> bool:
    return len(set(keys)) == len(keys)


def _is_name(text: str) -> bool:
    return NAME_LOW <= len(text) <= NAME_HIGH and not is_pack_id(text)


def _value(written: str) -> str | None:
    """The text that a line spells, without blanks at its end."""
    if written[0] != '"':
        return None if written == "null" else written
    inner = written[1:-1] if "\\" not in written else str(json.loads(written))
    return inner.rstrip()


def _values(lines: Iterable[str]) -> Iterable[str]:
    return (_value(line.rstrip("\n")) or "" for line in lines)
