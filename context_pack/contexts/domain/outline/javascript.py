"""JavaScript and TypeScript in short: what is exported, with signatures, and what is imported."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_pack.contexts.domain.outline.model import Export, Outline
from context_pack.kernel.comments import head_comment
from context_pack.kernel.sentences import one_line

MOST_SIGNATURE = 400
_OPENING = {"(": ")", "[": "]", "{": "}", "<": ">"}

_DECLARED = re.compile(
    r"^export\s+(?:default\s+)?(?:declare\s+)?(?P<kind>(?:async\s+)?function\*?|(?:abstract\s+)?class|interface|"
    r"type|(?:const\s+)?enum|const|let|var|namespace)\s+(?P<name>[\w$]+)",
    re.MULTILINE,
)
_LISTED = re.compile(r"^export\s+(?:type\s+)?\{(?P<names>[^}]{0,5000})\}", re.MULTILINE)
_COMMON = re.compile(r"^module\.exports\s*=\s*\{(?P<names>[^}]{0,5000})\}", re.MULTILINE)
_ASSIGNED = re.compile(r"^(?:module\.)?exports\.(?P<name>[\w$]+)\s*=", re.MULTILINE)
_IMPORTED = re.compile(
    r"""^[ \t]*(?:import|export)\b[^;'"`\n]*?(?:\n[^;'"`]{0,500}?)?\bfrom\s*['"](?P<a>[^'"\n]+)['"]"""
    r"""|^[ \t]*import[ \t]*['"](?P<b>[^'"\n]+)['"]"""
    r"""|\b(?:require|import)\(\s*['"](?P<c>[^'"\n]+)['"]\s*\)""",
    re.MULTILINE,
)
_NAME = re.compile(r"(?:[\w$]+\s+as\s+)?(?P<name>[\w$]+)\s*$")
_TYPE = re.compile(r"\s*:\s*(?P<type>[^=;\n]+?)\s*(?:=|;|$)", re.MULTILINE)
_RETURNED = re.compile(r"\s*:\s*(?P<type>[^{;=\n]+)")
_DOC = re.compile(r"/\*\*(?P<body>(?:(?!\*/).)*)\*/\s*\Z", re.DOTALL)


def outline(text: str, extension: str = "js") -> Outline:
    """A module in short."""
    exports = {export.name: export for export in reversed([*_declared(text), *_named(text)])}
    imports = (found["a"] or found["b"] or found["c"] for found in _IMPORTED.finditer(text))
    ordered = tuple(reversed(exports.values()))
    return Outline(head_comment(text, extension), ordered, tuple(dict.fromkeys(imports)))


def _declared(text: str) -> Iterator[Export]:
    for found in _DECLARED.finditer(text):
        kind, name = " ".join(found["kind"].split()), found["name"]
        yield Export(
            name, one_line(f"{kind} {name}{_rest(text, found.end(), kind)}"), _doc(text, found.start())
        )


def _rest(text: str, at: int, kind: str) -> str:
    """What of a declaration belongs to its signature: parameters and types, never a body."""
    if "function" in kind:
        generic = _balanced(text, at) if text.startswith("<", at) else ""
        parameters = _balanced(text, at + len(generic))
        returned = _RETURNED.match(text, at + len(generic) + len(parameters))
        return f"{generic}{parameters}{': ' + returned['type'].strip() if returned and parameters else ''}"
    if kind in ("const", "let", "var"):
        typed = _TYPE.match(text, at)
        return f": {typed['type']}" if typed else ""
    return ""


def _balanced(text: str, at: int) -> str:
    """From an opening bracket to its closing one; nothing if that does not come soon."""
    waiting: list[str] = []
    for index in range(at, min(len(text), at + MOST_SIGNATURE)):
        char = text[index]
        if char in _OPENING and (char != "<" or index == at):
            waiting.append(_OPENING[char])
        elif waiting and char == waiting[-1] and text[index - 1 : index + 1] != "=>":
            waiting.pop()
            if not waiting:
                return text[at : index + 1]
        elif not waiting:
            return ""
    return ""


def _named(text: str) -> Iterator[Export]:
    """Names that are exported by lists and assignments."""
    for found in (*_LISTED.finditer(text), *_COMMON.finditer(text)):
        for item in found["names"].split(","):
            name = _NAME.search(item.partition(":")[0].strip())
            if name:
                yield Export(name["name"], name["name"])
    for found in _ASSIGNED.finditer(text):
        yield Export(found["name"], found["name"])


def _doc(text: str, at: int) -> str:
    """The first sentence of the documentation right above a declaration."""
    found = _DOC.search(text, max(0, at - 2000), at)
    return head_comment(found[0].rstrip(), "js") if found else ""
