"""Declarations on lines that a grammar could not read: found by the words that they begin with.

A grammar that does not know one construct may take half a file for an error, and what is declared there
would be in no outline and no search. A line that begins like a declaration is taken for one, and ends where
a line is indented no deeper. Declarations of C and its family begin with no word: there is none of this.
What Kotlin's grammar takes for an expression at the top of a file, as `@A actual class B { … }`, is a
declaration, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from attrs import evolve
from tree_sitter import Node

from context_pack.kernel.syntax import Definition, DefinitionKind
from context_pack.kernel.text import one_line
from context_pack_adapters.syntax.definitions import comment_text
from context_pack_adapters.syntax.trees import Lines

MOST_RECOVERED = 500
LONGEST_LINE = 1_000
MOST_ABOVE = 200
MOST_DOC_CHARS = 2_000

_WORDS = {
    "class": DefinitionKind.CLASS,
    "object": DefinitionKind.CLASS,
    "interface": DefinitionKind.INTERFACE,
    "protocol": DefinitionKind.INTERFACE,
    "struct": DefinitionKind.STRUCT,
    "enum": DefinitionKind.ENUM,
    "trait": DefinitionKind.TRAIT,
    "type": DefinitionKind.TYPE,
    "typealias": DefinitionKind.TYPE,
    **dict.fromkeys(("def", "fun", "func", "fn", "function"), DefinitionKind.FUNCTION),
    **dict.fromkeys(("val", "var", "let", "const", "static"), DefinitionKind.CONSTANT),
}
_MODIFIERS = (
    "public|private|protected|internal|export|default|declare|abstract|final|open|sealed|static|async|data|"
    r"inline|value|enum|annotation|expect|actual|override|suspend|operator|infix|tailrec|external|partial|"
    r"readonly|pub(?:\([\w: ]+\))?|unsafe|const|static|lateinit|implicit|case|fileprivate|mutating|"
    r"companion|fun"
)
_DECLARATION = re.compile(
    rf"(?P<indent>[ \t]*)(?:(?:@[\w.]+|context\b)(?:\([^()\n]{{0,200}}\))?[ \t]+)*(?:(?:{_MODIFIERS})[ \t]+)*"
    rf"(?P<word>{'|'.join(_WORDS)})[ \t]+(?:<[^>\n]{{0,200}}>[ \t]*)?(?:[\w<>?, *&]{{1,200}}\.)?"
    r"(?P<name>`[^`\n]{1,200}`|[A-Za-z_$][\w$]*)(?![\w$]|[ \t]*(?:,|\.|=[=>]|$(?<=[,.])))"
)
_NAME = re.compile(r"`[^`]*`|[\w$]+")
_NO_WORDS = frozenset({"c", "cpp", "objectivec", "bash", "php"})
_ABOVE = re.compile(r"[ \t]*(?:@[\w.:]+|///?|/\*|\*)")
"""How a line begins that belongs to the declaration below it: an annotation, or part of a comment."""
_CLOSING = re.compile(r"[ \t]*(?:[})\]]|end\b)")


def misread(root: Node) -> list[Node]:
    """The expressions at the top of a file of Kotlin, where only declarations can be."""
    kinds = (
        (each, each.children[0].type if each.type == "assignment" else each.type) for each in root.children
    )
    return [each for each, kind in kinds if kind.endswith("_expression")]


def with_recovered(
    name: str, data: bytes, unread: Iterable[Lines], definitions: Sequence[Definition]
) -> list[Definition]:
    """The definitions with those on unread lines, in order; what lies in a recovered type belongs to it."""
    lines = [] if name in _NO_WORDS else data.decode("utf-8", "replace").split("\n")
    numbers = (number for first, last in unread for number in range(first, min(last, len(lines)) + 1))
    more = list(islice(_recovered(lines, numbers, definitions), MOST_RECOVERED))
    types = [each for each in more if each.kind.holds_members]

    def placed(each: Definition) -> Definition:
        around = [outer for outer in types if outer.start <= each.start and each.end <= outer.end]
        if not around:
            return each
        owner = max(around, key=lambda outer: outer.start)
        is_function = each.kind is DefinitionKind.FUNCTION and not each.depth
        return evolve(
            each,
            kind=DefinitionKind.METHOD if is_function else each.kind,
            qualified=f"{owner.qualified}.{each.qualified}",
            depth=owner.depth + 1 + each.depth,
        )

    return sorted([*more, *map(placed, definitions)], key=lambda each: (each.start, -each.end))


def _recovered(
    lines: Sequence[str], numbers: Iterable[int], definitions: Sequence[Definition]
) -> Iterator[Definition]:
    """The declarations on unread lines that are no definitions yet; not those inside of functions."""
    known = list(definitions)
    named = {(each.line, each.name) for each in definitions}
    inside = 0
    for number in numbers:
        line = lines[number - 1]
        begin = _DECLARATION.match(line) if number > inside and len(line) <= LONGEST_LINE else None
        if begin is None or any((number, word) in named for word in _NAME.findall(begin[0])):
            continue  # none, or one that the grammar could read
        around = [each for each in known if each.start <= number <= each.end and each.line != number]
        kind, end = _WORDS[begin["word"]], _end(lines, number, len(begin["indent"].expandtabs()))
        is_constant = kind is DefinitionKind.CONSTANT
        is_local = not all(each.kind.holds_members for each in around)
        if is_local or (is_constant and (around or begin["indent"])):
            continue
        if kind is DefinitionKind.FUNCTION:
            kind = DefinitionKind.METHOD if around else kind
            inside = end
        owner = max(around, key=lambda each: each.start).qualified if around else ""
        start, doc = _above(lines, number)
        head = line.partition(" = ")[0] if is_constant else line
        definition = Definition(
            kind,
            begin["name"],
            f"{owner}.{begin['name']}".lstrip("."),
            start,
            end,
            number,
            re.sub(r"[\s{=:]+\Z", "", one_line(head, 400)),
            doc,
            depth=len(around),
        )
        known.append(definition)
        yield definition


def _above(lines: Sequence[str], number: int) -> tuple[int, str]:
    """The first line of the comments and annotations right above a line, and what the comments say."""
    start = number
    while start > max(1, number - MOST_ABOVE) and _ABOVE.match(lines[start - 2]):
        start -= 1
    written = [line.strip() for line in lines[start - 1 : number - 1]]
    comments = [line for line in written if not line.startswith("@")]
    return start, comment_text("\n".join(comments))[:MOST_DOC_CHARS] if comments else ""


def _end(lines: Sequence[str], number: int, indent: int) -> int:
    """The last line of what begins on a line: up to the next that is indented no deeper."""
    end = number
    for at in range(number + 1, len(lines) + 1):
        line = lines[at - 1]
        if not line.strip():
            continue
        deep = len(line.expandtabs()) - len(line.expandtabs().lstrip())
        if deep <= indent:
            return at if _CLOSING.match(line) and deep == indent else end
        end = at
    return end
