"""The outline of a source file: a line about it, its exports and its imports.

What is defined and imported comes from the syntax port; here stands which of it a language makes public. A
file whose language has no grammar has the comment that it begins with, or the title of its prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

from context_pack.kernel.comments import about, head_comment
from context_pack.kernel.languages import language_of
from context_pack.kernel.syntax import Definition, DefinitionKind, Import, NotParsed, Parsed
from context_pack.kernel.text import first_sentence, one_line

PROSE = frozenset({"markdown", "rst", "text"})
SILENT = frozenset({"json"})
"""Formats without comments."""
SCRIPTS = frozenset({"javascript", "jsx", "typescript", "tsx", "vue", "svelte"})
COMPONENTS = frozenset({"vue", "svelte"})
"""Markup with scripts in it; what it begins with is no comment of the script."""
WITH_PUBLIC_MEMBERS = frozenset({"java", "csharp", "kotlin", "swift", "scala"})
NO_DEPENDENCY = frozenset({"module", "trait", "built"})
"""Kinds of imports, as query files call them, that name nothing to depend on."""
_GO_RECEIVER = re.compile(r"func \((?:\w+\s+)?\*?(?P<type>\w+)")
WITH_CONSTANTS = SCRIPTS | {"go", "rust"}


@frozen
class ExportedName:
    """Something that others can use: its name, how it is called, and a line about it."""

    name: str
    signature: str
    about: str = ""


@frozen
class Outline:
    """A source file in short; `imports` are written as the file writes them."""

    about: str = ""
    exports: tuple[ExportedName, ...] = ()
    imports: tuple[str, ...] = ()


def outline_of(name: str, text: str, parsed: Parsed | NotParsed) -> Outline:
    """A file in short; whatever it holds, this ends and raises nothing."""
    language = language_of(name)
    text = text.replace("\r\n", "\n")
    if language in PROSE:
        return Outline(title_of(text) or paragraph_of(text))
    if language in SILENT:
        return Outline()
    if isinstance(parsed, NotParsed):
        extension = name.rpartition(".")[2].lower()
        return Outline(head_comment(text, "dockerfile" if name in ("Dockerfile", "Makefile") else extension))
    exports = {
        each.name: each for each in reversed([*_defined(parsed, language), *_listed(parsed, language)])
    }
    taken = (path for each in parsed.imports for path in _imported(each, language))
    said = about(parsed.heads) or (head_comment(text, language) if language in COMPONENTS else "")
    return Outline(said, tuple(reversed(exports.values())), tuple(dict.fromkeys(taken)))


def _defined(parsed: Parsed, language: str) -> Iterator[ExportedName]:
    """The definitions that others may use."""
    for each in parsed.definitions:
        if _is_public(each, parsed, language):
            signature = each.signature.removeprefix("export ").removeprefix("default ")
            yield ExportedName(each.name, one_line(signature), first_sentence(each.doc))


def _is_public(each: Definition, parsed: Parsed, language: str) -> bool:
    if each.kind is DefinitionKind.CONSTANT and language not in WITH_CONSTANTS:
        return False
    if each.depth:
        return each.depth == 1 and language in WITH_PUBLIC_MEMBERS and each.signature.startswith("public ")
    if language == "python":
        return each.name in parsed.exports if parsed.exports else not each.name.startswith("_")
    if language in SCRIPTS:
        return each.signature.startswith("export ")
    if language == "go":
        receiver = _GO_RECEIVER.match(each.signature)
        return each.name[:1].isupper() and (receiver is None or receiver["type"][:1].isupper())
    if language == "rust":
        return each.signature.startswith("pub ")
    return not each.signature.startswith(("static ", "private ", "fileprivate "))


def _listed(parsed: Parsed, language: str) -> Iterator[ExportedName]:
    """Names that a script exports by lists and assignments."""
    if language in SCRIPTS:
        yield from (ExportedName(name, name) for name in parsed.exports)


def _imported(each: Import, language: str) -> Iterator[str]:
    """An import as other features of contexts compare it."""
    if language == "python" and not each.specifier.strip("."):
        yield from (each.specifier + name for name in each.names)
    elif each.how not in NO_DEPENDENCY and not each.specifier.startswith("<"):
        yield each.specifier.partition("::{")[0]


# -- prose: the title and the first paragraph, in Markdown or similar

_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"#{1,6}\s+(?P<title>.*)")
_UNDERLINE = re.compile(r"[=\-~^]{2,}\s*$")
_LONG_UNDERLINE = 3
"""Under a line of any length; a shorter one is under a title that is no longer."""
_DIRECTIVE = ".. "
"""What is indented below it belongs to it."""
_TARGET = r"(?:\([^)]{0,400}\)|\[[^\]]{0,200}\])"
_BADGE = re.compile(
    rf"\[!\[[^\]]{{0,200}}\]{_TARGET}?\]{_TARGET}?|!\[[^\]]{{0,200}}\]{_TARGET}?|<[^>]{{1,400}}>"
)
"""Images, also those that are links, by address or by reference; and tags."""
_LINK = re.compile(rf"\[([^\]]{{0,200}})\]{_TARGET}")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_COMMAND = re.compile(
    r"[$%>]\s|(?:curl|wget|npm|npx|pnpm|yarn|bun|pip3?|pipx|uv|uvx|brew|apt(?:-get)?|cargo|go|gem|docker|git|make|sudo)"
    r"\s+(?:-|https?:|i\b|add\b|get\b|install\b|run\b|clone\b|exec\b|build\b|dlx\b|[\w.-]+\s+-)"
)
"""A line for a shell: no sentence about the project."""
_NO_PROSE = re.compile(r"(?:[-*+|>]|\d+\.|```|~~~|\.\. |:\w+:|\[[^\]]+\]:|={3,}|-{3,}|[=~^]+\s*$)")
MOST_LINES = 80


def title_of(text: str) -> str:
    """The first heading, else nothing."""
    lines = _lines(text)
    for number, line in enumerate(lines):
        heading = _HEADING.match(line)
        if heading:
            return one_line(_plain(_unclosed(heading["title"])))
        if line.strip() and _is_underlined(lines, number):
            return one_line(_plain(line))
    return ""


def paragraph_of(text: str) -> str:
    """The first sentence of the first paragraph of prose."""
    lines = _lines(text)
    gathered: list[str] = []
    directive = fenced = False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
            line = ""
        code = fenced or (not gathered and line.startswith(("    ", "\t")))
        plain = "" if code or _COMMAND.match(line.strip().strip("`")) else _plain(line)
        directive = line.startswith(_DIRECTIVE) or (directive and (not plain or line[0].isspace()))
        stop = directive or not plain or _is_underlined(lines, number)
        stop = stop or bool(_HEADING.match(line) or _NO_PROSE.match(plain))
        if not stop:
            gathered.append(plain)
        elif gathered:
            break
    return first_sentence(" ".join(gathered))


_ABOUT_FOLDER = re.compile(
    r"[\s|*+-]*+`?(?P<folder>[\w@.-]+(?:/[\w@.-]+)*)/`?"
    r"(?:\s*\||:|\s+[-–—]|\s{2,}|\s+#)\s*(?P<said>[^|]*[^|\s])"
)
"""A row of a table, an item of a list or a line of a tree that says something of a folder."""
MOST_IN_ROW = 500


def rows_about_folders(text: str) -> Iterator[tuple[str, str]]:
    """The folders that a page names, each with what it says of them; the last rows come first."""
    lines = (line[:MOST_IN_ROW] for line in reversed(text.split("\n")))
    for row in filter(None, map(_ABOUT_FOLDER.match, lines)):
        said = first_sentence(_plain(row["said"]))
        if len(said.split()) > 1:
            yield row["folder"], said


def _is_underlined(lines: list[str], number: int) -> bool:
    """Whether a line is a title by the line below it."""
    below = lines[number + 1].rstrip() if number + 1 < len(lines) else ""
    return bool(_UNDERLINE.match(below)) and len(below) >= min(_LONG_UNDERLINE, len(lines[number].strip()))


def _lines(text: str) -> list[str]:
    body = _COMMENT.sub("", _FRONT.sub("", text[:20_000].replace("\r\n", "\n")))
    return body.split("\n")[:MOST_LINES]


def _unclosed(title: str) -> str:
    """A title without the signs that close it; those of `C#` are its own."""
    bare = title.rstrip().rstrip("#")
    return bare if not bare or bare[-1].isspace() else title


def _plain(line: str) -> str:
    """A line without badges, tags and marks of emphasis."""
    return _LINK.sub(r"\1", _BADGE.sub("", line)).replace("**", "").replace("`", "").strip()
