"""The outline of a source file: a line about it, its exports and its imports.

What is defined and imported comes from the syntax port; here stands which of it a language makes public. A
file whose language has no grammar has the comment that it begins with, or the title of its prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

from context_pack.contexts import prose
from context_pack.kernel.comments import about, head_comment
from context_pack.kernel.languages import language_of
from context_pack.kernel.sentences import first_sentence, one_line
from context_pack.kernel.syntax import Definition, DefinitionKind, Import, NotParsed, Parsed

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
        return Outline(prose.title_of(text) or prose.paragraph_of(text))
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
