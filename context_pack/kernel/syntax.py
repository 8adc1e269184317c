"""What a parser knows of a source text, and the port that asks one.

Features never read code by patterns of their own: definitions, imports as they are written, comments and
strings come from here. Lines count from 1, both ends included. What a language means is the adapter's data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Protocol

from attrs import frozen

_JOINTS = re.compile(r":+|\.|(?<=\w)(?<!\br)#")
"""What holds a qualified name together: `A.b`, `A::b`, `A#b`; not the sign of `#secret` or `r#type`."""
_OPERATOR = re.compile(r"\boperator\s+(?=[^\w\s\"])")
"""`operator ==` of C++ is `operator==`."""
LEAST_UNREAD, MOST_UNREAD = 2, 5


class DefinitionKind(StrEnum):
    """What a definition defines."""

    MODULE = "module"
    CLASS = "class"
    INTERFACE = "interface"
    STRUCT = "struct"
    ENUM = "enum"
    TRAIT = "trait"
    TYPE = "type"
    FUNCTION = "function"
    METHOD = "method"
    CONSTANT = "constant"
    MACRO = "macro"

    @property
    def holds_members(self) -> bool:
        """Whether other definitions belong to it by name."""
        return self in _CONTAINERS


_CONTAINERS = frozenset(map(DefinitionKind, ("module", "class", "interface", "struct", "enum", "trait")))


@frozen
class Definition:
    """One definition: where it stands and how it is written.

    `start` includes its decorators, attributes and the documentation right above it; `line` is the line of
    its name. `qualified` is its name with those of the definitions around it (`Class.method`), `depth` how
    many definitions are around it, `signature` its head in one line without decorators and body, and `doc`
    what its doc comment or docstring says, without the comment signs.
    """

    kind: DefinitionKind
    name: str
    qualified: str
    start: int
    end: int
    line: int
    signature: str
    doc: str = ""
    depth: int = 0


@frozen
class Import:
    """One import as it is written.

    `specifier` is the imported name or path without quotes, `names` are what is taken from it, `how` is the
    word of the language's query file that tells kinds of imports apart, and `inside` are the inline modules
    around it.
    """

    specifier: str
    names: tuple[str, ...] = ()
    line: int = 1
    how: str = ""
    inside: tuple[str, ...] = ()


@frozen
class Parsed:
    """A source text as its grammar reads it: definitions in the order of their lines.

    `package` is the package or namespace that the text says it belongs to, `heads` are the comments and the
    docstring it begins with, `exports` are the names that it lists as public (`__all__`, `export {…}`), and
    `error_line` is the first line that the grammar cannot read, if any; `unread` are all such lines, as first
    and last: declarations there are known by how their lines begin.
    """

    definitions: tuple[Definition, ...] = ()
    imports: tuple[Import, ...] = ()
    package: str = ""
    heads: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    error_line: int | None = None
    unread: tuple[tuple[int, int], ...] = ()

    @property
    def unread_in_words(self) -> str | None:
        """Which lines the grammar could not read; one or two are most often a word that it does not know."""
        spans = [f"{first}-{last}" for first, last in self.unread if last - first >= LEAST_UNREAD]
        more = f" and {len(spans) - MOST_UNREAD} more places" if len(spans) > MOST_UNREAD else ""
        return f"not parsed: lines {', '.join(spans[:MOST_UNREAD])}{more}" if spans else None


@frozen
class NotParsed:
    """Why a text was not parsed, in words that fit behind the name of its file.

    `partly` is what could be read of a text whose larger part makes no sense to its grammar. `failed` says
    that it should have been parsed: a language without a grammar is nobody's fault.
    """

    reason: str
    partly: Parsed | None = None
    failed: bool = True

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """The definitions of what could be read."""
        return () if self.partly is None else self.partly.definitions


@frozen
class Spans:
    """Where comments and strings are, as (start, end) in characters; in order, without overlaps."""

    comments: tuple[tuple[int, int], ...] = ()
    strings: tuple[tuple[int, int], ...] = ()


class Syntax(Protocol):
    """Parses source texts; no text makes it raise, hang or take more than its bounded time."""

    def knows(self, language: str) -> bool:
        """Whether there is a grammar for a language."""

    def parse(self, language: str, text: str) -> Parsed | NotParsed:
        """The definitions and imports of a text in a language of `kernel.languages`."""

    def parse_all(self, texts: Iterable[tuple[str, str]]) -> Iterator[Parsed | NotParsed]:
        """`parse` for each language and text, in order; some texts are taken before the first answer."""

    def spans(self, language: str, text: str) -> Spans | NotParsed:
        """Where the comments and strings of a text are."""

    def occurrences(self, language: str, text: str, name: str) -> Sequence[int] | NotParsed:
        """Where an identifier stands that is `name`, in characters, outside comments and strings."""


class NoSyntax:
    """A `Syntax` that knows no language."""

    def knows(self, _language: str) -> bool:
        """Never."""
        return False

    def parse(self, language: str, _text: str) -> NotParsed:
        """Nothing is parsed."""
        return no_grammar(language)

    def parse_all(self, texts: Iterable[tuple[str, str]]) -> Iterator[NotParsed]:
        """Nothing is parsed."""
        return (no_grammar(language) for language, _ in texts)

    def spans(self, language: str, _text: str) -> NotParsed:
        """Nothing is parsed."""
        return no_grammar(language)

    def occurrences(self, language: str, _text: str, _name: str) -> NotParsed:
        """Nothing is parsed."""
        return no_grammar(language)


def name_parts(name: str) -> list[str]:
    """The parts of a qualified name, as any language writes it; the name itself if it has none."""
    name = _OPERATOR.sub("operator", name.strip())
    return [part for part in _JOINTS.split(name) if part] or [name]


def named(definitions: Sequence[Definition], symbol: str) -> list[Definition]:
    """The definitions of a name: by the whole qualified name, else by its end (`method`, `Class.method`)."""
    parts = name_parts(symbol)
    known = [(each, name_parts(each.qualified)) for each in definitions]
    whole = [each for each, its_parts in known if its_parts == parts]
    return whole or [each for each, its_parts in known if its_parts[-len(parts) :] == parts]


_TYPES = frozenset({DefinitionKind.INTERFACE, DefinitionKind.TYPE})
_OVERLOAD = re.compile(r"^\s*@(?:\w+\.)*overload\b", re.MULTILINE)
_DOCSTRING = re.compile(r'\n\s*(?:"""(?s:.*?)"""|\'\'\'(?s:.*?)\'\'\')')


def with_bodies(places: Sequence[tuple[Definition, Sequence[str]]]) -> list[Definition]:
    """Those of some definitions, each with the lines of its file, that do something; all if none does.

    Stubs, overloads and declarations of the same name are never what is meant.
    """
    rest = [each for each, lines in places if not _is_stub(each, lines)] or [each for each, _ in places]
    return [each for each in rest if each.kind not in _TYPES] or rest


def _is_stub(definition: Definition, lines: Sequence[str]) -> bool:
    """Whether a definition is only a head, an `@overload`, or has `...` in place of a body."""
    above = "\n".join(lines[definition.start - 1 : definition.line - 1])
    text = _DOCSTRING.sub("", "\n".join(lines[definition.line - 1 : definition.end]))
    code, head = "".join(text.split()).removesuffix("..."), "".join(definition.signature.split())
    return _OVERLOAD.search(above) is not None or code.rstrip(":;,") == head.rstrip(":;,")


def readable_part(answer: Parsed | NotParsed) -> Parsed:
    """What could be read of a text, all of it or little."""
    return answer if isinstance(answer, Parsed) else answer.partly or Parsed()


def no_grammar(language: str) -> NotParsed:
    """Why texts of a language are not parsed."""
    return NotParsed(f"there is no grammar for {language or 'its language'}", failed=False)
