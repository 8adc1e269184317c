"""What files say of themselves: a source file's line about it, its exports and imports; a manifest's facts.

What is defined and imported comes from the syntax port; here stands which of it a language makes public. A
file whose language has no grammar has the comment that it begins with, prose its title. A manifest that
cannot be read says nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import frozen

from context_pack.kernel.comments import about, head_comment
from context_pack.kernel.languages import language_of
from context_pack.kernel.syntax import Definition, DefinitionKind, Import, NotParsed, Parsed
from context_pack.kernel.text import first_sentence, one_line, toml_of
from context_pack.retrieval.headings import document, headings

SCRIPTS = frozenset({"javascript", "jsx", "typescript", "tsx", "vue", "svelte"})
COMPONENTS = frozenset({"vue", "svelte"})
"""Markup with scripts in it; what it begins with is no comment of the script."""
WITH_PUBLIC_MEMBERS = frozenset({"java", "csharp", "kotlin", "swift", "scala"})
WITH_CONSTANTS = SCRIPTS | {"go", "rust"}
NO_DEPENDENCY = frozenset({"module", "trait", "built"})
"""Kinds of imports, as query files call them, that name nothing to depend on."""
_GO_RECEIVER = re.compile(r"func \((?:\w+\s+)?\*?(?P<type>\w+)")


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
    if language in ("markdown", "rst"):
        return Outline(prose_title(name, text) or prose_paragraph(text))
    if language == "json":
        return Outline()
    if isinstance(parsed, NotParsed):
        extension = name.rpartition(".")[2].lower()
        return Outline(head_comment(text, "dockerfile" if name in ("Dockerfile", "Makefile") else extension))
    listed = [ExportedName(each, each) for each in parsed.exports] if language in SCRIPTS else []
    exports = {each.name: each for each in reversed([*_defined(parsed, language), *listed])}
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


def _imported(each: Import, language: str) -> Iterator[str]:
    """An import as other features of contexts compare it."""
    if language == "python" and not each.specifier.strip("."):
        yield from (each.specifier + name for name in each.names)
    elif each.how not in NO_DEPENDENCY and not each.specifier.startswith("<"):
        yield each.specifier.partition("::{")[0]


# -- prose

_MOST_PROSE = 20_000
_TARGET = r"(?:\([^)]{0,400}\)|\[[^\]]{0,200}\])"
_BADGE = re.compile(
    rf"\[!\[[^\]]{{0,200}}\]{_TARGET}?\]{_TARGET}?|!\[[^\]]{{0,200}}\]{_TARGET}?|<[^>]{{1,400}}>"
)
"""Images, also those that are links, by address or by reference; and tags."""
_LINK = re.compile(rf"\[([^\]]{{0,200}})\]{_TARGET}")
_NO_PROSE = re.compile(r"\s|\$ |\.\. |:\w+:|\||`[^`]*`$|(?:curl|wget) ")
"""How lines begin that are no sentences: directives and their lines, tables, commands."""


def prose_title(name: str, text: str) -> str:
    """The first heading, else nothing."""
    outline = headings(text[:_MOST_PROSE], name)
    return one_line(outline[0].text) if outline else ""


def prose_paragraph(text: str) -> str:
    """The first sentence of the first paragraph of prose."""
    page = document(text[:_MOST_PROSE])
    for block in page.blocks:
        lines = page.lines[block.start : block.end + 1]
        if block.kind == "paragraph" and not block.depth and not _NO_PROSE.match(lines[0]):
            plain = _LINK.sub(r"\1", _BADGE.sub("", " ".join(lines))).replace("**", "").replace("`", "")
            if said := first_sentence(plain):
                return said
    return ""


# -- manifests

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*(?P<version>[^;#\s][^;#]*)?")
_GO_MODULE = re.compile(r"^module\s+(?P<name>\S+)", re.MULTILINE)
_GO_REQUIRED = re.compile(
    r"^(?:require\s+|\t)(?P<name>[\w.~/-]+\.[\w.~/-]+)\s+(?P<version>v\S+)(?P<rest>[^\n]*)", re.MULTILINE
)


@frozen
class ManifestFacts:
    """What a package manifest says; `depends` are lines such as `express ^4.19.0`."""

    language: str
    name: str = ""
    description: str = ""
    depends: tuple[str, ...] = ()
    test: str = ""


def read_manifest(name: str, text: str) -> ManifestFacts | None:
    """The facts of a manifest of that file name; None when it is none, or cannot be read."""
    reader = _READERS.get(name)
    try:
        return None if reader is None else reader(text)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def _text(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _versioned(table: Any, mark: str = "") -> Iterator[str]:
    """A table of name and version as lines."""
    for name, value in table.items() if isinstance(table, dict) else ():
        version = _text(value.get("version") if isinstance(value, dict) else value)
        yield " ".join(filter(None, (name, version, mark)))


def _required(lines: Any) -> Iterator[str]:
    """Requirements as pip writes them, as lines."""
    for line in lines:
        if (requirement := _REQUIREMENT.match(line.strip())) is not None:
            yield f"{requirement['name']} {(requirement['version'] or '').strip()}".strip()


def _package_json(text: str) -> ManifestFacts:
    data = json.loads(text)
    scripts, developing = data.get("scripts") or {}, data.get("devDependencies") or {}
    test = _text(scripts.get("test"))
    return ManifestFacts(
        "typescript" if "typescript" in developing else "javascript",
        _text(data.get("name")),
        _text(data.get("description")),
        (*_versioned(data.get("dependencies")), *_versioned(developing, "(dev)")),
        "" if "no test specified" in test else test,
    )


def _pyproject(text: str) -> ManifestFacts:
    data = toml_of(text)
    poetry = data.get("tool", {}).get("poetry", {})
    project = data.get("project", poetry)
    depends = [*_required(data.get("project", {}).get("dependencies", ()))]
    depends += [line for line in _versioned(poetry.get("dependencies")) if not line.startswith("python ")]
    test = "pytest" if "pytest" in text else ""
    name, description = _text(project.get("name")), _text(project.get("description"))
    return ManifestFacts("python", name, description, tuple(depends), test)


def _requirements(text: str) -> ManifestFacts:
    return ManifestFacts("python", depends=tuple(_required(text.splitlines())))


def _cargo(text: str) -> ManifestFacts:
    data = toml_of(text)
    package = data.get("package", {})
    depends = (*_versioned(data.get("dependencies")), *_versioned(data.get("dev-dependencies"), "(dev)"))
    name, description = _text(package.get("name")), _text(package.get("description"))
    return ManifestFacts("rust", name, description, depends, "cargo test")


def _go_mod(text: str) -> ManifestFacts:
    named = _GO_MODULE.search(text)
    required = (each for each in _GO_REQUIRED.finditer(text) if "indirect" not in each["rest"])
    depends = tuple(f"{each['name']} {each['version']}" for each in required)
    return ManifestFacts("go", named["name"] if named else "", "", depends, "go test ./...")


_READERS: Mapping[str, Callable[[str], ManifestFacts]] = {
    "package.json": _package_json,
    "pyproject.toml": _pyproject,
    "Cargo.toml": _cargo,
    "go.mod": _go_mod,
    "requirements.txt": _requirements,
}
"""Where a folder has several, the first by name counts."""
