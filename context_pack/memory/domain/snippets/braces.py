"""Functions and classes of languages with braces, from the words before each block.

The masked text is walked once, brace by brace. A block's head is what stands between the end of the statement
before it and its opening brace; the head says whether the block is a class (whose members are looked at), a
function (whose inside is not), or nothing with a name (looked into, but for blocks inside parentheses: those
are callbacks, and belong to whoever calls). Time is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from attrs import define

from context_pack.memory.domain.snippets.masks import MASKS
from context_pack.memory.domain.snippets.model import Part, Snippet, prefix_inside

MOST_HEAD_CHARS = 1500
MOST_ABOVE = 40
"""How many lines of comment above a declaration belong to it."""

FUNCTION_FIRST = frozenset({"c", "cpp", "objectivec"})
"""Languages in which `struct x *f() {` is a function."""
WITH_DIRECTIVES = FUNCTION_FIRST | {"csharp"}
NO_NAMES = frozenset(
    {
        "if", "for", "while", "switch", "catch", "return", "do", "else", "try", "synchronized", "using",
        "lock", "foreach", "match", "unless", "when", "guard", "defer", "go", "select", "with", "function",
        "fixed", "checked", "unchecked", "await", "new", "throw", "finally", "super", "this", "assert",
        "until", "elif", "case", "in", "of", "typeof", "sizeof", "static_assert",
    }
)  # fmt: skip
_MARK = re.compile(r"[(){}\[\];]")
_GENERIC = re.compile(r"<[^<>(){};]*>")
_CONTAINER = re.compile(
    r"\b(?P<kind>enum\s+class|enum\s+struct|class|interface|struct|enum|trait|union|record|object|protocol|"
    r"extension|actor|namespace|module|mod|mixin|contract|library|service|message)\s+(?P<name>[\w$.]+(?:::[\w$]+)*)"
    r"|\btype\s+(?P<go>\w+)\s+(?:struct|interface)\b"
    r"|\bimpl\b\s*(?:[\w:&'\s]+?\bfor\s+)?&?(?P<impl>[\w:]+)"
)
_SILENT = frozenset({"namespace", "module", "mod"})
_WORDED = re.compile(
    r"\bfunc\s*\([^)]*\)\s*(?P<method>\w+)"
    r"|\b(?:fn|fun|func|function\s*\*?|def|sub|proc|macro_rules!)\s+&?(?:[\w.?]+\.)?(?P<name>[\w$`]+)"
)
_ASSIGNED = re.compile(r"(?:\b(?:const|let|var|val)\s+)?(?<![\w$.])(?P<name>[\w$.]++)\s*+(?=[=:])")
_SIGN = re.compile(r"[=:]")
_VALUE = re.compile(r"\s*+(?:async\b\s*)?(?:(?P<word>function\b)|(?P<open>\()|(?P<one>[\w$]++))")
# What may stand between the parameters of an arrow and the arrow: nothing, or the type of what comes back.
_RETURNED = re.compile(r"\s*+(?::[^=]*+)?+\Z")
_CALLED = re.compile(
    r"(?P<name>~?(?<![\w$#])[\w$#]++(?:::~?[\w$]++)*+|operator\s*[^\s\w(]{1,3})\s*+\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\)"
    r"(?:\s*+(?:const|noexcept|override|final|async\*?|mutable|throws\s++[\w.,\s]++|->[^{}]*+|:[^{}=]*+|"
    r"where\b[^{}]*+))*+\s*+\Z"
)
_MODIFIERS = re.compile(r"\s*+(?:pub\([\w\s]*+\))?+[\w\s@:\"\0]*+")
_DECORATION = re.compile(r"\s*(?:@|#\[|\[|template\b|(?:[\w$&*:]++(?:<[^<>]*+>)?+[ \t]*+)++$)")


@define
class _Block:
    """An open brace: where it stands, and what it declares."""

    start: int
    brace: int
    boundary: int
    part: Part | None
    name: str
    prefix: str
    silent: bool
    first: int = -1
    """The line where the first declaration in it, or it itself once it is closed, begins; -1: none does."""

    def begins_by(self, line: int) -> None:
        """Take the line of a declaration into account."""
        if line >= 0 and (self.first < 0 or line < self.first):
            self.first = line


def declared(text: str, language: str) -> list[Snippet]:
    """Every function, method and class head, in order."""
    masked = MASKS[language].mask(text)
    lines = _Lines(text, masked, language in WITH_DIRECTIVES)
    found: list[Snippet] = []
    blocks: list[_Block] = []
    parens: list[int] = [0]
    boundary = 0
    inside = 0  # how many open blocks are functions or callbacks, whose inside does not count
    for mark in _MARK.finditer(masked):
        char, at = mark[0], mark.start()
        if char in "([":
            parens[-1] += 1
        elif char in ")]":
            parens[-1] = max(0, parens[-1] - 1)
        elif char == ";":
            if not parens[-1]:
                boundary = at + 1
        elif char == "{":
            block = _opened(masked, boundary, at, language, blocks) if not inside and not parens[-1] else None
            if block is None or block.part is Part.FUNCTION:
                inside += 1
            blocks.append(block or _Block(at, at, boundary, Part.FUNCTION, "", "", silent=True))
            parens.append(0)
            boundary = at + 1
        elif blocks:
            block = blocks.pop()
            parens.pop()
            if block.part is Part.FUNCTION:
                inside -= 1
            # Braces between parentheses are part of a statement that goes on.
            boundary = block.boundary if parens[-1] else at + 1
            if block.name and not block.silent:
                found.append(_closed(block, lines, at))
            if blocks:
                blocks[-1].begins_by(block.first)
    return sorted(found, key=lambda snippet: snippet.start)


def _opened(masked: str, boundary: int, brace: int, language: str, blocks: list[_Block]) -> _Block:
    """The block that opens at a brace, judged by its head."""
    start = max(boundary, brace - MOST_HEAD_CHARS)
    head = masked[start:brace]
    prefix = blocks[-1].prefix if blocks else ""
    judges = (_function, _container) if language in FUNCTION_FIRST else (_container, _function)
    for judge in judges:
        if (judged := judge(head)) is not None:
            part, name, at, silent = judged
            inner = prefix if silent or part is Part.FUNCTION else prefix_inside(prefix, name)
            return _Block(start + at, brace, boundary, part, prefix + name, inner, silent)
    return _Block(start, brace, boundary, None, "", prefix, silent=True)


def _plain(head: str) -> str:
    """A head without type parameters, in the same places."""
    for _ in range(3):
        slim = _GENERIC.sub(lambda found: " " * len(found[0]), head)
        if slim == head:
            break
        head = slim
    return head


def _container(head: str) -> tuple[Part, str, int, bool] | None:
    matches = list(_CONTAINER.finditer(_plain(head)))
    if not matches:
        return None
    found = matches[-1]
    name = found["name"] or found["go"] or found["impl"] or ""
    return Part.CLASS, name.rpartition(":")[2].strip("."), found.start(), found["kind"] in _SILENT


def _function(head: str) -> tuple[Part, str, int, bool] | None:
    plain = _plain(head)
    worded = _last_worded(plain)
    if worded is not None:
        return Part.FUNCTION, (worded["method"] or worded["name"]).strip("`"), worded.start(), False
    line = plain.rfind("\n", 0, len(plain.rstrip())) + 1
    if "function" in plain or plain.rstrip().endswith("=>"):
        assigned = _last_assigned(plain, line)
        if assigned is not None:
            return Part.FUNCTION, assigned["name"].rpartition(".")[2], assigned.start(), False
    called = _CALLED.search(plain)
    if called is None or called["name"] in NO_NAMES or "=" in plain[line : called.start()]:
        return None
    return Part.FUNCTION, called["name"], called.start("name"), False


def _last_assigned(plain: str, line: int) -> re.Match[str] | None:
    """The name that a function or an arrow at the end is given, best one on the last line.

    A type may stand between the name and the sign, and hold signs itself: so it is asked once of each sign
    whether a function follows, and not again for every name before it.
    """
    end = len(plain.rstrip()) - 2
    arrow = end if plain.startswith("=>", max(end, 0)) else -1
    signs = [at for at in map(re.Match.start, _SIGN.finditer(plain)) if _is_function(plain, at + 1, arrow)]
    for begin in (line, 0):
        for found in _ASSIGNED.finditer(plain, begin):
            at = bisect_left(signs, found.end())
            if at == len(signs):
                break
            typed = plain[found.end()] == ":" and "=" not in plain[found.end() : signs[at]]
            if signs[at] == found.end() or typed:
                return found
    return None


def _is_function(plain: str, at: int, arrow: int) -> bool:
    """Whether a function stands at a place, or the parameters of the arrow."""
    value = _VALUE.match(plain, at)
    if value is None or value["word"]:
        return value is not None
    if value["one"]:
        return value.end() <= arrow and _RETURNED.match(plain, value.end(), arrow) is not None
    close = plain.rfind(")", value.end(), max(arrow, 0))
    while close >= 0 and _RETURNED.match(plain, close + 1, arrow) is None:
        close = plain.rfind(")", max(value.end(), plain.rfind("=", 0, close) + 1), close)
    return close >= 0


def _last_worded(plain: str) -> re.Match[str] | None:
    """The last declaration by a word that begins its line, but for modifiers; types inside heads do not."""
    last = None
    for found in _WORDED.finditer(plain):
        line = plain[plain.rfind("\n", 0, found.start()) + 1 : found.start()]
        if _MODIFIERS.fullmatch(line) and plain.count("(", 0, found.start()) == plain.count(
            ")", 0, found.start()
        ):
            last = found
    return last


def _closed(block: _Block, lines: _Lines, end: int) -> Snippet:
    """The snippet of a block that ends here; a class is its head, up to its first member."""
    first, last = lines.above(lines.of(block.start)), lines.of(end)
    if block.part is Part.CLASS and block.first > 0:
        last = max(lines.of(block.brace), min(last, block.first - 1))
    block.begins_by(first)
    return Snippet(block.part or Part.FILE, block.name, first, max(first, last))


class _Lines:
    """Which line a place is on, and where a declaration with its comments begins."""

    def __init__(self, text: str, masked: str, directives: bool) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._text, self._masked = text.split("\n"), masked.split("\n")
        self._directives = directives

    def of(self, place: int) -> int:
        """The line, from 1, of a character."""
        return bisect_right(self._starts, place)

    def above(self, line: int) -> int:
        """The first line of the comments and decorations that stand right above a line."""
        first = line
        while first > 1 and line - first < MOST_ABOVE and self._belongs(first - 1):
            first -= 1
        return first

    def _belongs(self, line: int) -> bool:
        text, masked = self._text[line - 1], self._masked[line - 1]
        if not text.strip() or (self._directives and self._is_directive(line)):
            return False
        return not masked.strip() or _DECORATION.match(masked) is not None

    def _is_directive(self, line: int) -> bool:
        """Whether a line belongs to the preprocessor; a backslash at the end goes on with the next."""
        above = self._text[line - 2] if line > 1 else ""
        return self._text[line - 1].lstrip().startswith("#") or above.rstrip("\r").endswith("\\")
