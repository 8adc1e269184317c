"""JavaScript, TypeScript and JSX with everything but code masked.

No table of tokens can say where these languages' strings end: templates hold code that holds templates, a
slash is a division or begins a regular expression, and in JSX plain prose stands between tags. So this
scanner goes from mark to mark and remembers what came before. What might be JSX is tried and taken back when
it does not close; a text that makes it try too often is read as if it had none. Nesting is bounded.
"""

from __future__ import annotations

import re

from attrs import define, field

from context_pack.kernel.lexing import Kind, masked

MOST_NESTED = 60
MOST_IN_VAIN = 200
"""How many slashes may turn out to begin no regular expression before none is taken for one."""
SPARE_STEPS = 10_000
"""How many marks may be looked at besides one for every two characters."""

_MARK = re.compile(r"//[^\n]*+|/\*|[\"'`/{}()]")
_MARK_OR_TAG = re.compile(r"//[^\n]*+|/\*|[\"'`/{}()<]")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\(?s:.))*+\"?|'(?:[^'\\\n]|\\(?s:.))*+'?")
_REGEX = re.compile(r"/(?![*/])(?:[^\\/\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n]){0,999}+\]){1,999}+/[A-Za-z]*+")
_IN_TEMPLATE = re.compile(r"\\(?s:.)|`|\$\{")
_TAG = re.compile(r"<(?:>|[A-Za-z_$][\w$.:-]*+(?!\s*+(?:,|extends\b|=>|\()))")
_IN_TAG = re.compile(r"//[^\n]*+|/\*|\"[^\"]*+\"|'[^']*+'|/>|[{}<>();,\"']")
_IN_ELEMENT = re.compile(r"[{<]")
_CLOSING_TAG = re.compile(r"</[\w$.:\s-]*+>")
_WORD = re.compile(r"(?<![\w$.])[A-Za-z]+\Z")
_HASHBANG = re.compile(r"#![^\n]*+")

_VALUE_WORDS = "await case default delete do else extends in instanceof new of return throw typeof void yield"
_BEFORE_A_VALUE = frozenset(_VALUE_WORDS.split())
_BEFORE_A_CONDITION = frozenset({"if", "while", "for", "with"})
_Span = tuple[int, int, Kind]
_VALUE = '"'
"""What stands in `before` for a string, a template, a regular expression or an element."""


def mask(text: str, jsx: bool) -> str:
    """The text with comments, strings, templates, regular expressions and JSX prose masked."""
    try:
        spans = _spans(text, jsx)
    except _TooOften:
        spans = _spans(text, jsx=False)
    pieces: list[str] = []
    at = 0
    for begin, end, kind in spans:
        pieces.append(text[at:begin])
        pieces.append(masked(kind, text[begin:end]))
        at = end
    pieces.append(text[at:])
    return "".join(pieces)


def _spans(text: str, jsx: bool) -> list[_Span]:
    """Everything in the text that is no code, in order."""
    scanner = _Scanner(text, jsx, len(text) // 2 + SPARE_STEPS)
    start = 0
    if (hashbang := _HASHBANG.match(text)) is not None:
        start = hashbang.end()
        scanner.spans.append((0, start, Kind.COMMENT))
    if scanner.code(start, nested=False) < 0:
        # Something never ended: whatever comes after it is anybody's guess, so nothing there counts.
        known = scanner.spans[-1][1] if scanner.spans else start
        scanner.spans.append((known, len(text), Kind.OPAQUE))
    return scanner.spans


class _TooOften(Exception):
    """Too many guesses were wrong."""


@define
class _Scanner:
    """Collects the spans that are no code, in order."""

    text: str
    jsx: bool
    _steps_left: int
    spans: list[_Span] = field(factory=list)
    _depth: int = 0
    _regexes_in_vain: int = 0

    def code(self, at: int, *, nested: bool) -> int:
        """Scan code to the end, or to the brace that closes it; where that is, -1 if it never comes."""
        place = _Place()
        marks = _MARK_OR_TAG if self.jsx else _MARK
        while (mark := marks.search(self.text, at)) is not None:
            place.pass_by(self.text[at : mark.start()])
            if mark[0] == "}" and nested and not place.braces:
                return mark.end()
            at = self._step(mark, place)
            if at < 0:
                return -1
        return -1 if nested else len(self.text)

    def _step(self, mark: re.Match[str], place: _Place) -> int:
        """Go past one mark; -1 at an end that should not be there."""
        self._count()
        start, seen = mark.start(), mark[0]
        if seen.startswith("//"):
            return self._span(start, mark.end(), Kind.COMMENT)
        if seen == "/*":
            return self._comment(start)
        if seen == "`":
            place.before = _VALUE
            return self._template(start)
        if seen in "\"'":
            place.before = _VALUE
            return self._span(start, _end(_STRING, self.text, start), Kind.STRING)
        if seen in "{}()":
            place.bracket(seen)
            return mark.end()
        end = self._guess(start, seen, place)
        place.before = seen if end is None else _VALUE
        return mark.end() if end is None else end

    def _guess(self, start: int, seen: str, place: _Place) -> int | None:
        """The end of a regular expression or an element, if it is one."""
        if not place.wants_value(seen):
            return None
        if seen == "<":
            return self._element(start)
        found = _REGEX.match(self.text, start) if self._regexes_in_vain < MOST_IN_VAIN else None
        if found is None:
            self._regexes_in_vain += 1
            return None
        return self._span(start, found.end(), Kind.OPAQUE)

    def _count(self) -> None:
        """One step more; without JSX every step goes forward, so that only guesses can be too many."""
        self._steps_left -= 1
        if self._steps_left < 0 and self.jsx:
            raise _TooOften

    def _span(self, start: int, end: int, kind: Kind) -> int:
        self.spans.append((start, end, kind))
        return end

    def _comment(self, start: int) -> int:
        end = self.text.find("*/", start + 2)
        return self._span(start, len(self.text) if end < 0 else end + 2, Kind.COMMENT)

    def _template(self, start: int) -> int:
        """Past a template; one without code in it is a string like any other."""
        begin = at = start
        at += 1
        while (mark := _IN_TEMPLATE.search(self.text, at)) is not None:
            at = mark.end()
            if mark[0] == "`":
                return self._span(begin, at, Kind.STRING if begin == start else Kind.OPAQUE)
            if mark[0] == "${":
                self._span(begin, at, Kind.OPAQUE)
                at = self._inner(at)
                if at < 0:
                    return -1
                begin = at
        return self._span(begin, len(self.text), Kind.OPAQUE)

    def _inner(self, at: int) -> int:
        """Code between braces, not too deep."""
        if self._depth >= MOST_NESTED:
            return -1
        self._depth += 1
        try:
            return self.code(at, nested=True)
        finally:
            self._depth -= 1

    def _element(self, start: int) -> int | None:
        """Past a JSX element, or None if it is none: then nothing of it is remembered."""
        if _TAG.match(self.text, start) is None:
            return None
        kept = len(self.spans)
        end = self._whole_element(start)
        if end is None:
            del self.spans[kept:]
        return end

    def _whole_element(self, start: int) -> int | None:
        """An element with everything in it, on a stack of its own: elements nest deeper than calls should."""
        opened, at = 0, start
        while True:
            inside, at = self._tag(at)
            if at < 0:
                return None
            opened += inside
            while opened:
                at, begins = self._children(at)
                if at < 0:
                    return None
                if begins:
                    break
                opened -= 1
            if not opened:
                return at

    def _tag(self, start: int) -> tuple[bool, int]:
        """Past an opening tag: whether it has children, and where it ends (-1: it is none)."""
        self._count()
        tag = _TAG.match(self.text, start)
        if tag is None:
            return False, -1
        at = tag.end()
        if tag[0] == "<>":
            return True, at
        while (mark := _IN_TAG.search(self.text, at)) is not None:
            seen, at = mark[0], mark.end()
            if seen == "/>":
                return False, at
            if seen == ">":
                return True, at
            if seen == "{":
                at = self._inner(at)
                if at < 0:
                    return False, -1
            elif seen == "/*":
                at = self._comment(mark.start())
            elif len(seen) > 1:
                self._span(mark.start(), at, Kind.COMMENT if seen.startswith("//") else Kind.STRING)
            else:
                return False, -1
        return False, -1

    def _children(self, at: int) -> tuple[int, bool]:
        """Past prose and code to the next tag: where it begins if it opens, else where it ends."""
        while (mark := _IN_ELEMENT.search(self.text, at)) is not None:
            self._count()
            self._span(at, mark.start(), Kind.OPAQUE)
            at = mark.start()
            if mark[0] == "{":
                at = self._inner(mark.end())
                if at < 0:
                    return -1, False
                continue
            closing = _CLOSING_TAG.match(self.text, at)
            return (at, True) if closing is None else (closing.end(), False)
        return -1, False


@define
class _Place:
    """What came before, which decides what a slash or an angle bracket means."""

    before: str = ""
    braces: int = 0
    _parens: list[bool] = field(factory=list)
    _condition: bool = False

    def pass_by(self, code: str) -> None:
        """Plain code went by; white space does not count."""
        code = code.rstrip()
        if code:
            self.before = code[-16:]

    def bracket(self, seen: str) -> None:
        """A bracket went by; a parenthesis is remembered by what it belongs to."""
        if seen == "(":
            word = _WORD.search(self.before)
            self._parens.append(word is not None and word[0] in _BEFORE_A_CONDITION)
        elif seen == ")":
            self._condition = self._parens.pop() if self._parens else False
        elif seen == "{":
            self.braces += 1
        else:
            self.braces = max(0, self.braces - 1)
        self.before = seen

    def wants_value(self, seen: str) -> bool:
        """Whether a value may stand here, not an operator."""
        last = self.before[-1:]
        if last == ")":
            return self._condition
        if last == "}":
            return seen == "/"
        if last in (_VALUE, "]") or self.before.endswith(("++", "--")):
            return False
        if last.isalnum() or last in ("_", "$"):
            word = _WORD.search(self.before)
            return word is not None and word[0] in _BEFORE_A_VALUE
        return True


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return start + 1 if found is None else found.end()
