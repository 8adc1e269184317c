"""What changed from the anchored code to the code that is there now: how much, of which kind, as a diff.

Cosmetic kinds cannot change behaviour. Python is compared by its syntax tree, other languages by their
tokens: without comments, each string one token, no comma before a closing bracket. A local name counts as
renamed only if the text declares it and the whole text is the same after one consistent renaming. What
cannot be compared like this is never cosmetic.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import pairwise

from attrs import evolve, frozen

from context_pack.kernel.syntax import Spans

SpansOf = Callable[[str], Spans | None]
"""Where comments and strings of a text are; None where its language has no grammar."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
_LIFETIME = re.compile(r"'[a-z_]\w*\b(?!')")
_LIFETIMES = re.compile(r"'\nlifetime\n(?:,\n)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_DECLARING = frozenset({"let", "mut", "var", "const", "for", "auto", "ref"})
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (ast.Module, ast.ClassDef, *_FUNCTION)
_INDENTED = frozenset({"yaml", "make", "makefile", "markdown", "text", ""})


class ChangeKind(StrEnum):
    """What of the code changed."""

    WHITE_SPACE = "only white space"
    COMMENTS = "only comments"
    NAMES = "only names of locals"
    HINTS = "only types or lifetimes"
    SIGNATURE = "signature"
    BODY = "body"
    BOTH = "signature and body"


COSMETIC = frozenset({ChangeKind.WHITE_SPACE, ChangeKind.COMMENTS, ChangeKind.NAMES, ChangeKind.HINTS})


def cosmetic_kind(old: str, new: str, language: str, spans_of: SpansOf) -> ChangeKind | None:
    """Which cosmetic kind of change it is from one text to the other; None if behaviour may have changed."""
    if language in _INDENTED:
        return None
    if language == "python":
        return _python_kind(old, new)
    before, after = spans_of(old), spans_of(new)
    if before is None or after is None:
        return None
    one, two = _tokens(old, before, language), _tokens(new, after, language)
    if one == two:
        same = _comments(old, before) == _comments(new, after)
        return ChangeKind.WHITE_SPACE if same else ChangeKind.COMMENTS
    one, two = _without_types(one), _without_types(two)
    if one == two:
        return ChangeKind.HINTS
    return ChangeKind.NAMES if _renamed(one, two) else None


def _comments(text: str, spans: Spans) -> str:
    return "".join("".join(text[start:end] for start, end in spans.comments).split())


def _tokens(text: str, spans: Spans, language: str) -> list[str]:
    """The tokens of a text without comments, each string one of them, without commas before a bracket."""
    tokens: list[str] = []
    seen = 0
    strings = set(spans.strings)
    for start, end in sorted((*spans.comments, *spans.strings, (len(text), len(text)))):
        if start >= seen:
            code = text[seen:start]
            tokens += _TOKEN.findall(_LIFETIME.sub(" 'lifetime ", code) if language == "rust" else code)
            tokens += [f'"{text[start:end]}'] if (start, end) in strings else []
            seen = end
    pairs = pairwise([*tokens, ""])
    return [token for token, after in pairs if token != "," or after not in (")", "]", "}", ">")]


def _without_types(tokens: Sequence[str]) -> list[str]:
    """The tokens without lifetimes, and with one name for Go's empty interface."""
    text = _LIFETIMES.sub("", "\n".join(tokens))
    return text.replace("<\n>\n", "").replace("interface\n{\n}", "any").split("\n")


def _renamed(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether the tokens are the same but for names that both texts declare as locals."""
    if len(old) != len(new):
        return False
    names = {one: two for one, two in zip(old, new, strict=True) if one != two}
    renames = set(names.values())
    if not names or len(renames) < len(names):
        return False
    if any(names.get(one, one) != two for one, two in zip(old, new, strict=True)):
        return False
    return names.keys() <= _locals(old) and renames <= _locals(new) - set(old)


def _locals(tokens: Sequence[str]) -> set[str]:
    """The names that these tokens declare, and that are nowhere a member, a field or something called."""
    declared, others = set[str](), set[str]()
    for before, token, after, next_but_one in zip(
        ["", *tokens], tokens, [*tokens[1:], ""], [*tokens[2:], "", ""], strict=False
    ):
        declares = before in _DECLARING or (after, next_but_one) == (":", "=")
        if before in (".", ":", ">") or after in ("(", "!") or (after == ":" and not declares):
            others.add(token)
        elif declares and _WORD.fullmatch(token):
            declared.add(token)
    return declared - others


def _nesting(text: str) -> float:
    """How deep a Python text stands: in a loop or a class it means something else than outside of it."""
    depths = [len(line) - len(line.lstrip()) for line in text.expandtabs().split("\n") if line.strip()]
    base = depths[0] if depths else 0
    return base / min((depth - base for depth in depths if depth > base), default=1)


def _python_kind(old: str, new: str) -> ChangeKind | None:
    if _nesting(old) != _nesting(new):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, options in (
            (ChangeKind.WHITE_SPACE, (True, True, True)),
            (ChangeKind.COMMENTS, (False, True, True)),
            (ChangeKind.HINTS, (False, False, True)),
            (ChangeKind.NAMES, (False, False, False)),
        ):
            one, two = _dump(old, *options), _dump(new, *options)
            if one is None or two is None:
                return None
            if one == two:
                commented = kind is ChangeKind.WHITE_SPACE and ("#" in old or "#" in new)
                squeezed = "".join(old.split()) == "".join(new.split())
                return ChangeKind.COMMENTS if commented and not squeezed else kind
    return None


def _dump(text: str, docs: bool, hints: bool, names: bool) -> str | None:
    """The syntax tree of a Python text, with or without docstrings, type hints and the names of locals."""
    try:
        tree = ast.parse(textwrap.dedent(text))
        for node in list(ast.walk(tree)):
            if not docs and isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
            if not hints and isinstance(node, _FUNCTION):
                _drop_hints(node)
            if not names and isinstance(node, _FUNCTION):
                _drop_names(node)
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _drop_hints(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Remove the annotations of a function; those of classes inside it are fields, and stay."""
    function.returns = None
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            node.annotation = ast.Constant(None)


def _drop_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Number the names that a function assigns, in the order in which they come."""
    outer = {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    }
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    local = {node.id for node in nodes if isinstance(node.ctx, ast.Store)} - outer
    local -= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    numbers: dict[str, str] = {}
    for node in nodes:
        if node.id in local:
            node.id = numbers.setdefault(node.id, f"local {len(numbers)}")


CONTEXT = 3
MANY_LINES = 300
"""Above so many lines difflib leaves out those that stand everywhere, or comparing would take seconds."""

STATEMENT_CHARS = 80
COMMENTED = ("//", "#", "/*", "* ", '"""')


@frozen
class Difference:
    """How many lines changed, of how many, what of the code, and the lines of a unified diff."""

    changed: int
    lines: int
    kind: ChangeKind
    diff: tuple[str, ...]
    cosmetic: bool = False
    """Whether behaviour cannot have changed."""

    def __str__(self) -> str:
        return f"{self.changed} of {self.lines} line{'' if self.lines == 1 else 's'}, {self.kind}"

    @property
    def statement(self) -> str:
        """The first line of code that is new, else that is gone; no comment, if there is another."""
        lines = [line for line in self.diff[2:] if len(line[1:].strip(" \t(){}[];,")) > 1]
        lines = [line for line in lines if not line[1:].lstrip().startswith(COMMENTED)] or lines
        changed = [line for line in lines if line[0] == "+"] + [line for line in lines if line[0] == "-"]
        return f"{changed[0][0]} {changed[0][1:].strip()[:STATEMENT_CHARS]}" if changed else ""


@frozen
class ComparedText:
    """One side of a comparison: the text, where it begins, and the head of its definition, if it has one."""

    text: str
    path: str
    start: int
    signature: str | None = None


def difference(
    old: ComparedText, new: ComparedText, language: str, spans_of: SpansOf, *, part: bool = False
) -> Difference:
    """What changed from one side to the other; what is new around a `part` of a definition is no change."""
    before, after = old.text.split("\n"), new.text.split("\n")
    matcher = SequenceMatcher(None, before, after, autojunk=len(before) > MANY_LINES)
    steps = matcher.get_opcodes()
    if part and len(steps) > 1 and "insert" in (steps[0][0], steps[-1][0]):
        low = steps[0][4] if steps[0][0] == "insert" else 0
        high = steps[-1][3] if steps[-1][0] == "insert" else len(after)
        inner = evolve(new, text="\n".join(after[low:high]), start=new.start + low)
        return difference(old, inner, language, spans_of)
    changed = sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in steps if tag != "equal")
    kind = cosmetic_kind(old.text, new.text, language, spans_of)
    lines = max(len(before), len(after))
    hunks = [f"--- {old.path}", f"+++ {new.path}"]
    for group in matcher.get_grouped_opcodes(CONTEXT):
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        hunks.append(f"@@ -{old.start + i1},{i2 - i1} +{new.start + j1},{j2 - j1} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                hunks += [f" {line}" for line in before[i1:i2]]
            else:
                hunks += [*(f"-{line}" for line in before[i1:i2]), *(f"+{line}" for line in after[j1:j2])]
    return Difference(min(changed, lines), lines, kind or _kind(old, new), tuple(hunks), kind in COSMETIC)


def _kind(old: ComparedText, new: ComparedText) -> ChangeKind:
    """What changed where behaviour may have, by the text without white space."""
    one, two = _squeezed(old.text), _squeezed(new.text)
    if one == two:
        return ChangeKind.WHITE_SPACE
    head, other = _squeezed(old.signature or ""), _squeezed(new.signature or "")
    if not head or not other or head == other:
        return ChangeKind.BODY
    same = one.replace(head, "", 1) == two.replace(other, "", 1)
    return ChangeKind.SIGNATURE if same else ChangeKind.BOTH


def _squeezed(text: str) -> str:
    return "".join(text.split())
