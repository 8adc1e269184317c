"""Generates a context from a folder's files, its manifest and the folders in it, without a language model.

Deterministic: the same files give the same fields, so they can be made again whenever the folder has changed.
Lists are bounded: a context is read by people and models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import Any

from attrs import frozen

from context_pack.contexts.model import FIELDS, ROOT_SCOPE, VERSION, ContextSummary
from context_pack.contexts.ports import Project, ProjectFolder, Scan
from context_pack.contexts.queries import gist_of
from context_pack.contexts.scan import parent_of
from context_pack.contexts.sources import (
    ExportedName,
    ManifestFacts,
    Outline,
    outline_of,
    prose_paragraph,
    prose_title,
    read_manifest,
)
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath, is_test
from context_pack.kernel.syntax import Syntax
from context_pack.kernel.text import canonical_json, counted, first_sentence, one_line, sha256_hex

GENERATED = (
    *("summary", "files", "interfaces", "exports", "dependencies", "testing", "subdirectories"),
    *("project", "structure"),
)
ALWAYS_DERIVED = ("version", "last_updated", "fingerprint")
DIGEST_DIGITS = 8
MAINTENANCE = """\
Correct the summary and add what the code does not show (decisions, constraints; no secrets), then run
`context-pack contexts refresh`: what you wrote stays."""

MOST_LISTED, MOST_NAMED, MOST_SAID = 20, 5, 60
PAGES = ("readme.md", "readme.rst", "readme.txt", "readme.mdx", "index.md", "index.rst", "index.mdx")
ENTRY_NAMES = (
    "__init__.py", "index.ts", "index.tsx", "index.js", "index.mjs", "mod.rs", "lib.rs", "doc.go",
    "main.go", "main.py", "main.rs", "main.ts", "__main__.py", "package-info.java",
)  # fmt: skip
NO_PROGRAM = frozenset({"json", "yaml", "toml", "xml", "markdown", "text", "rst", "html", "css", "scss", ""})
SOURCE_FOLDERS = ("src", "lib", "packages", "app")

_NEAR = re.compile(r"\./[^/]*|\.[^./]*")
_LAST = re.compile(r"(?<=\w)(?:\.|::|/)[^./:]+$")


@frozen
class FolderFile:
    """One source of a folder; the text is None when it cannot be read."""

    name: str
    text: str | None
    outline: Outline
    is_test: bool = False

    @property
    def is_program(self) -> bool:
        """Whether it is code that is not there to test other code."""
        return language_of(self.name) not in NO_PROGRAM and not self.is_test


@frozen
class Child:
    """A folder in the folder: its name, what its context says, how many sources it has."""

    name: str
    summary: str | None
    sources: int

    @property
    def gist(self) -> str:
        """What the folder is for, in a sentence."""
        if self.summary is not None and self.summary.strip():
            return first_sentence(self.summary)
        return counted(self.sources, "source file") if self.sources else "Holds folders"


@frozen
class Subject:
    """A folder to write about; an import that begins with one of the names `own` is of the project itself."""

    scope: str
    sources: Sequence[FolderFile]
    children: Sequence[Child] = ()
    own: frozenset[str] = frozenset()

    @cached_property
    def manifest(self) -> ManifestFacts | None:
        """The facts of the manifest in the folder."""
        manifests = (read_manifest(each.name, each.text) for each in self.sources if each.text is not None)
        return next(filter(None, manifests), None)

    @property
    def exports(self) -> list[ExportedName]:
        """What the programs here offer: the first of each file, then the second of each."""
        rows = zip_longest(*(each.outline.exports for each in self.sources if each.is_program))
        return [export for row in rows for export in row if export is not None]


class Surveyor:
    """Gathers subjects to write about, for one pass over a project."""

    def __init__(self, project: Project, scan: Scan, syntax: Syntax) -> None:
        self._project, self._scan, self._syntax = project, scan, syntax
        self._summaries: dict[str, str] = {}

    def keep_summary(self, scope: str, summary: str) -> None:
        """Keep the summary of a context that was just made."""
        self._summaries[scope] = summary

    def subject(self, folder: ProjectFolder, read_sources: bool = True) -> Subject:
        """A folder with all that can be said of it, or only with what the folders in it say."""
        sources = [self._source(folder.scope, name) for name in folder.sources] if read_sources else ()
        children = [self._child(each) for each in self._inside.get(folder.scope, ())]
        return Subject(folder.scope, sources, children, self._own if read_sources else frozenset())

    def summary(self, folder: ProjectFolder) -> str | None:
        """The summary in the folder's context, if it has one."""
        if folder.scope in self._summaries:
            return self._summaries[folder.scope]
        gist = gist_of(folder)
        return gist.summary if isinstance(gist, ContextSummary) else None

    def _source(self, scope: str, name: str) -> FolderFile:
        text = self._project.text(scope, name)
        if text is None:
            return FolderFile(name, None, Outline())
        outline = outline_of(name, text, self._syntax.parse(language_of(name), text))
        return FolderFile(name, text, outline, is_test(RelativePath(f"{scope}/{name}".removeprefix("./"))))

    def _child(self, folder: ProjectFolder) -> Child:
        return Child(folder.scope.rpartition("/")[2], self.summary(folder), len(folder.sources))

    @cached_property
    def _inside(self) -> Mapping[str, list[ProjectFolder]]:
        """The folders that count, by the folder they are in."""
        chosen = {folder.scope for folder in self._scan.kept()[0]}
        by_parent: dict[str, list[ProjectFolder]] = {}
        for folder in sorted(self._scan.folders, key=lambda each: each.scope):
            parent = parent_of(folder.scope)
            if parent is not None and (folder.sources or folder.scope in chosen):
                by_parent.setdefault(parent, []).append(folder)
        return by_parent

    @cached_property
    def _own(self) -> frozenset[str]:
        """The project's top folders, those in its source folders, and the name of its Go module."""
        scopes = [folder.scope.split("/") for folder in self._scan.folders if folder.scope != ROOT_SCOPE]
        names = {parts[0] for parts in scopes}
        names |= {parts[1] for parts in scopes if len(parts) > 1 and parts[0] in SOURCE_FOLDERS}
        module = read_manifest("go.mod", self._project.text(ROOT_SCOPE, "go.mod") or "")
        return frozenset(names | ({module.name} if module is not None and module.name else set()))


def new_record(subject: Subject, fingerprint: str, moment: str) -> dict[str, Any]:
    """A whole new context in schema order."""
    record: dict[str, Any] = {
        **generated(subject),
        "version": VERSION,
        "last_updated": moment,
        "fingerprint": fingerprint,
        "scope": subject.scope,
        "maintenance": MAINTENANCE,
    }
    record["derived_fields"] = [*ALWAYS_DERIVED, *derived_entries(record, ("scope", *GENERATED))]
    return {name: record[name] for name in FIELDS if record.get(name) is not None}


def derived_entries(record: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Generated fields as `derived_fields` lists them: with a digest, by which a later edit is noticed."""
    return [f"{name} {digest_of(record.get(name))}" for name in names]


def digest_of(value: Any) -> str:
    """A short digest of a field's value, however it is laid out."""
    return sha256_hex(canonical_json(value))[:DIGEST_DIGITS]


def generated(subject: Subject, names: Sequence[str] = GENERATED) -> dict[str, Any]:
    """The fields of these names; None for one that has nothing to say here."""
    return {name: _MAKERS[name](subject) or None for name in names}


def summary_of(subject: Subject) -> str:
    """What the folder is for: as its manifest, a page, its main file, its names or its folders say."""
    manifest = subject.manifest
    if manifest is not None and manifest.description:
        return one_line(manifest.description)
    pages = {each.name.lower(): each.text for each in subject.sources if each.text is not None}
    for name in filter(pages.__contains__, PAGES):
        if said := prose_paragraph(pages[name]) or prose_title(name, pages[name]):
            return said
    abouts = {each.name: each.outline.about for each in subject.sources if each.outline.about}
    programs = [each for each in subject.sources if each.is_program]
    alone = programs[0].outline.about if len(programs) == 1 else ""
    if said := next((abouts[name] for name in ENTRY_NAMES if name in abouts), alone):
        return said
    if defined := dict.fromkeys(export.name for export in subject.exports):
        return one_line(f"Defines {_listed(list(defined))} ({counted(len(programs), 'file')}).")
    if subject.sources:
        names = [each.name for each in subject.sources]
        return one_line(f"{counted(len(names), 'file')}: {_listed(names)}.")
    if not subject.children:
        return "Nothing to tell yet."
    told = [f"{child.name} ({one_line(child.gist.rstrip('.'), MOST_SAID)})" for child in subject.children]
    return one_line(f"Holds {_listed(told)}.")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    return f"{shown} and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else shown


def _purpose(file: FolderFile) -> str:
    """What a file is for: its own words, else its role, its names or its language."""
    if len(file.outline.about) > 2:
        return file.outline.about
    if file.is_test:
        return "Test file"
    names = list(dict.fromkeys(export.name for export in file.outline.exports))
    return one_line(f"Defines {_listed(names)}") if names else f"{language_of(file.name)} source file".strip()


def _exports(subject: Subject) -> list[str]:
    """How what has no description is called; of what has one, `interfaces` tells."""
    return list(dict.fromkeys(each.signature for each in subject.exports if not each.about))[:MOST_LISTED]


def _interfaces(subject: Subject) -> list[dict[str, str]]:
    abouts = {export.name: export.about for export in reversed(subject.exports) if export.about}
    rows = [{"name": name, "description": about} for name, about in reversed(abouts.items())]
    return rows[:MOST_LISTED]


def _dependencies(subject: Subject) -> dict[str, list[str]]:
    """What the manifest here declares, and which parts of the project elsewhere its sources import."""
    own = subject.scope.replace("/", ".") + "."
    imports = {path for each in subject.sources for path in each.outline.imports}
    internal = {path for path in imports if _is_internal(path, subject.own) and not path.startswith(own)}
    if len(internal) > MOST_LISTED:
        internal = {_LAST.sub("", path) for path in internal}
    external = () if subject.manifest is None else subject.manifest.depends
    listed = {"internal": sorted(internal)[:MOST_LISTED], "external": list(external)[:MOST_LISTED]}
    return {name: value for name, value in listed.items() if value}


def _is_internal(path: str, own: frozenset[str]) -> bool:
    """Whether an import is of another folder of the project."""
    if path.startswith((".", "crate::", "super::", "self::", "@/", "~/")):
        return not _NEAR.fullmatch(path)
    return any(path == name or path.startswith((f"{name}/", f"{name}.", f"{name}::")) for name in own)


def _testing(subject: Subject) -> list[str]:
    manifest = subject.manifest
    return [f"Run: {manifest.test}"] if manifest is not None and manifest.test else []


def _project(subject: Subject) -> dict[str, str] | None:
    manifest = subject.manifest
    if subject.scope != ROOT_SCOPE or manifest is None:
        return None
    description = manifest.description or summary_of(subject)
    return {
        "name": manifest.name or "unnamed",
        "description": description,
        "language": manifest.language,
    }


_MAKERS: Mapping[str, Callable[[Subject], Any]] = {
    "summary": summary_of,
    "files": lambda subject: [{"name": each.name, "purpose": _purpose(each)} for each in subject.sources],
    "interfaces": _interfaces,
    "exports": _exports,
    "dependencies": _dependencies,
    "testing": _testing,
    "subdirectories": lambda subject: [
        {"name": f"{child.name}/", "summary": child.gist} for child in subject.children
    ],
    "project": _project,
    "structure": lambda subject: (
        [{"path": child.name, "summary": child.gist} for child in subject.children]
        if subject.scope == ROOT_SCOPE
        else []
    ),
}
