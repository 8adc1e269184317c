"""Whether a field that nobody remembers generating still looks generated, and so may be made again.

`derived_fields` says what was generated, but not whether somebody has changed it since; our own memory does,
where there is one. Without it a field is made again only if each of its parts is of the kind that tools
write: names, signatures, versions, stock phrases, or words that stand in the source itself. One sentence of a
person is enough to leave the whole field to that person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from context_pack.contexts.domain.generate import Subject
from context_pack.contexts.domain.outline.model import first_sentence
from context_pack.contexts.domain.purposes import is_stock

_VERSION = r"(?:[\^~<>=!]{0,3} ?v?[\d*][\w.*+-]*|latest|workspace:\S+)"
_DEPENDENCY = re.compile(rf"[\w@./:~\\+-]+(?: {_VERSION}(?:(?:, ?| \|\| | ){_VERSION})*)?(?: \(dev\))?")
_WORDS = (
    *(
        "pub",
        "export",
        "default",
        "public",
        "open",
        "abstract",
        "final",
        "static",
        "async",
        "unsafe",
        "const",
    ),
    *("declare", "data", "sealed", "suspend", "readonly"),
)
_KINDS = (
    *(
        "def",
        "class",
        r"function\*?",
        "interface",
        "type",
        "enum",
        "const",
        "let",
        "var",
        "func",
        "fn",
        "struct",
    ),
    *(
        "trait",
        "mod",
        "static",
        "union",
        "record",
        "object",
        "protocol",
        "fun",
        "namespace",
        "message",
        "service",
    ),
)
_SIGNATURE = re.compile(
    rf"[\w$.]+|[\w$]+: \S+|(?:(?:{'|'.join(_WORDS)}) )*(?:{'|'.join(_KINDS)}) (?:\([^)]*\) )?[\w$.]+"
    r"(?:\s*[(<\[].*|: \S+| (?:extends|implements) .*)?",
    re.DOTALL,
)
_STOCK_FOLDER = re.compile(
    r"Source directory\.|Contains \d+ source files?|\d+ source files?|Holds folders|Stylesheets\.|"
    r"Database layer\.|Test suite\.|Documentation\."
)
_TEST_LINE = re.compile(
    r"Run: (?:npm test \(.*\)|pytest|cargo test|go test \./\.\.\.)|[\w@-]+\.[\w.@-]+(?: tests [\w.@-]+)?"
)
_EXPORTED = re.compile(r"Exported from [\w@-]+\.[\w.@-]+")


def looks_generated(name: str, value: Any, subject: Subject) -> bool:
    """Whether every part of a field's value could come from a generator."""
    judge = _JUDGES.get(name)
    return value is None or (judge is not None and judge(value, subject))


def _lines(pattern: re.Pattern[str]) -> Callable[[Any, Subject], bool]:
    def judge(value: Any, _: Subject) -> bool:
        return isinstance(value, list) and all(
            isinstance(line, str) and pattern.fullmatch(line) for line in value
        )

    return judge


def _entries(value: Any) -> Sequence[Mapping[str, Any]]:
    return value if isinstance(value, list) and all(isinstance(item, dict) for item in value) else [{}]


def _files(value: Any, subject: Subject) -> bool:
    texts = {each.name: _flat(each.text or "") for each in subject.sources}
    return all(
        is_stock(str(entry.get("purpose", "")))
        or _quotes(texts.get(str(entry.get("name")), ""), entry.get("purpose"))
        for entry in _entries(value)
    )


def _quotes(text: str, words: Any) -> bool:
    """Whether words stand in a text, however it breaks its lines; what was cut, as far as it goes."""
    flat = _flat(str(words or "")).removesuffix("…").strip("* ")
    return bool(flat) and flat in text


def _flat(text: str) -> str:
    return " ".join(re.sub(r"^[ \t]*(?:\*|#|//+!?|--)+", " ", text, flags=re.MULTILINE).split())


def _interfaces(value: Any, subject: Subject) -> bool:
    whole = " ".join(_flat(each.text or "") for each in subject.sources)
    return all(
        _EXPORTED.fullmatch(str(entry.get("description", ""))) or _quotes(whole, entry.get("description"))
        for entry in _entries(value)
    )


def _folders(value: Any, subject: Subject) -> bool:
    told = {child.name: first_sentence(child.summary or "") for child in subject.children}
    return all(_is_told(entry, told) for entry in _entries(value))


def _is_told(entry: Mapping[str, Any], told: Mapping[str, str]) -> bool:
    name = str(entry.get("name", entry.get("path", ""))).rstrip("/")
    summary = str(entry.get("summary", ""))
    return _STOCK_FOLDER.fullmatch(summary) is not None or (
        bool(summary) and first_sentence(summary) == told.get(name)
    )


def _project(value: Any, subject: Subject) -> bool:
    manifest = subject.manifest
    if manifest is None or not isinstance(value, dict):
        return False
    return value.get("name") == manifest.name and value.get("description") == manifest.description


_JUDGES: Mapping[str, Callable[[Any, Subject], bool]] = {
    "files": _files,
    "interfaces": _interfaces,
    "exports": _lines(_SIGNATURE),
    "dependencies.external": _lines(_DEPENDENCY),
    "dependencies.internal": _lines(_DEPENDENCY),
    "testing": _lines(_TEST_LINE),
    "subdirectories": _folders,
    "structure": _folders,
    "project": _project,
}
