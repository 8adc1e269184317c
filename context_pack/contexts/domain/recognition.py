"""Whether a field without a stored digest looks generated, and so may be generated again.

`derived_fields` says what was generated, but not whether somebody has changed it since; our own memory does,
where there is one. Without it a field is made again only if each of its parts is of the kind that tools
write: names, signatures, versions, stock phrases, or words that stand in the source itself. One sentence of a
person is enough to leave the whole field to that person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from context_pack.contexts.domain.generate import Subject
from context_pack.contexts.domain.purposes import is_stock
from context_pack.kernel.sentences import first_sentence

# No text can be taken for these in two ways: one that fits none of them in the end would be tried in all.
_VERSION = r"(?:(?:[\^~<>=!]{1,3} ?)?v?[\d*][\w.*+-]*|latest|workspace:[^\s,]+)"
_VERSIONED = re.compile(rf"[\w@./:~\\+-]+ {_VERSION}(?:(?:, ?| \|\| | ){_VERSION})*(?: \(dev\))?")
_PATH = re.compile(r"(?=[\w~+-]*+[./:\\@])[\w@./:~\\+-]++")
_NAME = re.compile(r"(?P<name>[\w$-]+)(?:: \S+)?")
_FILE = re.compile(r"[\w@-]*\.[\w.@-]+")
_WORDS = (
    "pub|export|default|public|open|abstract|final|static|async|unsafe|const|declare|data|sealed|suspend"
    "|readonly"
)
_KINDS = (
    r"def|class|function\*?|interface|type|enum|const|let|var|func|fn|struct|trait|mod|static|union|record"
    "|object|protocol|fun|namespace|message|service"
)
_SIGNATURE = re.compile(
    rf"(?:(?:{_WORDS}) )*(?:{_KINDS}) (?:\([^)]*\) )?([\w$.]+)"
    r"(?:\s*[(<\[].*|: \S+| (?:extends|implements) .*)?",
    re.DOTALL,
)
# Words that stand beside others in a type; any two others side by side are prose.
_IN_TYPES = frozenset({
    "extends", "implements", "where", "is", "as", "in", "asserts", "keyof", "typeof", "readonly", "unique",
    "unsigned", "signed", "long", "short", "int", "char", "double", "const", "volatile", "struct", "enum",
    "impl", "dyn", "mut", "for", "chan", "func", "fn", "map", "throws", "async", "some", "any", "out",
})  # fmt: skip
_SIDE_BY_SIDE = re.compile(r"(?=\b(\w+) (\w+)\b)")
_STOCK_FOLDER = re.compile(
    r"Source directory\.|Contains \d+ source files?|\d+ source files?|Holds folders|Stylesheets\.|"
    r"Database layer\.|Test suite\.|Documentation\."
)
_TEST_LINE = re.compile(
    r"Run: (?:npm test \(.*\)|pytest|cargo test|go test \./\.\.\.)|[\w@-]+\.[\w.@-]+(?: tests [\w.@-]+)?"
)
_EXPORTED = re.compile(r"Exported from [\w@-]+\.[\w.@-]+")


_COUNTED = re.compile(
    r"\d+ [\w#+]+(?: Buffers)? files?: [\w@.-]+(?:, [\w@.-]+)*(?: and \d+ more)?(?:; holds [^;()]+)?\.|"
    r"Holds [\w@.-]+(?:, [\w@.-]+)*(?: and \d+ more)?\."
)
"""What earlier versions wrote for a folder that says nothing of itself."""


def was_counted(name: str, value: Any) -> bool:
    """Whether a field is a summary that only counts files, as earlier versions made them unlisted."""
    return name == "summary" and isinstance(value, str) and _COUNTED.fullmatch(value) is not None


def looks_generated(name: str, value: Any, known: KnownFolder) -> bool:
    """Whether every part of a field's value could come from a generator."""
    recognise = _RECOGNISERS.get(name)
    return value is None or (recognise is not None and recognise(value, known))


class KnownFolder:
    """Facts of a folder that a field's value is compared with."""

    def __init__(self, subject: Subject) -> None:
        self.manifest = subject.manifest
        self.names = subject.names
        self.languages = subject.around.languages
        self.texts = {each.name: _flat(each.text or "") for each in subject.sources}
        self.whole = "\n".join(self.texts.values())
        self.child_summaries = {child.name: child.summary or "" for child in subject.children}

    def has_word(self, word: str) -> bool:
        """Whether a bare name stands in one of the sources."""
        return re.search(rf"(?<![\w$]){re.escape(word)}(?![\w$])", self.whole) is not None

    def is_file(self, name: Any) -> bool:
        """Whether something is the name of a file, here or once."""
        return isinstance(name, str) and (name in self.names or _FILE.fullmatch(name) is not None)


def _lines(*patterns: re.Pattern[str]) -> Callable[[Any, KnownFolder], bool]:
    """A recogniser of lists of texts: each fits a pattern, or is a bare name that the sources have."""

    def fits(line: Any, known: KnownFolder) -> bool:
        if not isinstance(line, str):
            return False
        if any(pattern.fullmatch(line) for pattern in patterns):
            return True
        bare = _NAME.fullmatch(line)
        return bare is not None and known.has_word(bare["name"])

    def recognise(value: Any, known: KnownFolder) -> bool:
        return isinstance(value, list) and all(fits(line, known) for line in value)

    return recognise


def _exports(value: Any, known: KnownFolder) -> bool:
    """Signatures, or bare names that the sources have; nothing that reads like a remark behind them."""
    return _lines(_SIGNATURE)(value, known) and not any(_has_remark(line) for line in value)


def _has_remark(line: str) -> bool:
    """Whether words stand side by side behind the parameters, or behind the name, that no type has."""
    found = _SIGNATURE.fullmatch(line)
    if found is None:
        return False
    tail = line[max(found.end(1), line.rfind(")") + 1) :]
    return any(not _IN_TYPES & {one, other} for one, other in _SIDE_BY_SIDE.findall(tail))


def _entries(fits: Callable[[Mapping[str, Any], KnownFolder], bool]) -> Callable[[Any, KnownFolder], bool]:
    """A recogniser of lists of objects, each of which fits."""

    def recognise(value: Any, known: KnownFolder) -> bool:
        return isinstance(value, list) and all(isinstance(one, dict) and fits(one, known) for one in value)

    return recognise


def _is_file_entry(entry: Mapping[str, Any], known: KnownFolder) -> bool:
    name, purpose = entry.get("name"), str(entry.get("purpose", ""))
    if not known.is_file(name) or not known.is_file(entry.get("test_file", name)):
        return False
    return is_stock(purpose) or _quotes(known.texts.get(str(name), ""), purpose)


def _quotes(text: str, words: Any) -> bool:
    """Whether words stand in a text, however it breaks its lines; what was cut, as far as it goes."""
    flat = _flat(str(words or "")).removesuffix("…").strip("* ")
    return bool(flat) and flat in text


def _flat(text: str) -> str:
    return " ".join(re.sub(r"^[ \t]*(?:\*|#|//+!?|--)+", " ", text, flags=re.MULTILINE).split())


def _is_interface(entry: Mapping[str, Any], known: KnownFolder) -> bool:
    about = entry.get("description")
    quoted = _EXPORTED.fullmatch(str(about or "")) is not None or _quotes(known.whole, about)
    return quoted and known.has_word(str(entry.get("name", "")))


def _is_folder(entry: Mapping[str, Any], known: KnownFolder) -> bool:
    name = str(entry.get("name", entry.get("path", ""))).rstrip("/")
    summary = str(entry.get("summary", ""))
    if name not in known.child_summaries or not summary:
        return False
    current = known.child_summaries[name]
    return _STOCK_FOLDER.fullmatch(summary) is not None or summary in (current, first_sentence(current))


def _project(value: Any, known: KnownFolder) -> bool:
    manifest = known.manifest
    if manifest is None or not isinstance(value, dict):
        return False
    if value.get("name") != manifest.name or value.get("description") != manifest.description:
        return False
    spoken = {manifest.kind, "typescript", *known.languages}
    tools = {"framework": manifest.framework, "package_manager": manifest.package_manager}
    return str(value.get("language")).lower() in spoken and all(
        str(value.get(name) or "").lower() in ("", quoted.lower()) for name, quoted in tools.items()
    )


_RECOGNISERS: Mapping[str, Callable[[Any, KnownFolder], bool]] = {
    "files": _entries(_is_file_entry),
    "interfaces": _entries(_is_interface),
    "exports": _exports,
    "dependencies.external": _lines(_VERSIONED, _PATH),
    "dependencies.internal": _lines(_PATH),
    "testing": _lines(_TEST_LINE),
    "subdirectories": _entries(_is_folder),
    "structure": _entries(_is_folder),
    "project": _project,
}
