"""Gathers the facts about a folder: outlines of its sources, its children, its project's manifests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from attrs import evolve

from context_pack.contexts.generate import Child, FolderFile, Subject, Surroundings
from context_pack.contexts.manifests import ManifestFacts, is_manifest
from context_pack.contexts.model import ROOT_SCOPE, ContextSummary
from context_pack.contexts.outline import Outline, outline_of, rows_about_folders
from context_pack.contexts.ports import Project, ProjectFolder, Scan
from context_pack.contexts.queries import gist_of
from context_pack.contexts.scan import parent_of
from context_pack.kernel.languages import language_of
from context_pack.kernel.syntax import Syntax

MOST_PAGES = 30
SOURCE_FOLDERS = ("src", "lib", "packages", "app")


class Surveyor:
    """Gathers subjects to write about, for one pass over a project."""

    def __init__(self, project: Project, scan: Scan, syntax: Syntax) -> None:
        self._project, self._scan, self._syntax = project, scan, syntax
        self._summaries: dict[str, str] = {}
        self._manifests: dict[str, ManifestFacts | None] = {}
        self._pages: dict[str, dict[str, str]] = {}

    def keep_summary(self, scope: str, summary: str) -> None:
        """Keep the summary of a context that was just made."""
        self._summaries[scope] = summary

    def subject(self, folder: ProjectFolder) -> Subject:
        """A folder with all that can be said of it."""
        sources = [self._source(folder.scope, name) for name in folder.sources]
        return evolve(self.children(folder), sources=sources, around=self._around(folder))

    def children(self, folder: ProjectFolder) -> Subject:
        """A folder with what its children say; none of its sources is read."""
        children = [self._child(each) for each in self._inside.get(folder.scope, ())]
        return Subject(folder.scope, (), folder.names, children)

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
        return FolderFile(name, text, outline_of(name, text, self._syntax.parse(language_of(name), text)))

    def _child(self, folder: ProjectFolder) -> Child:
        return Child(folder.scope.rpartition("/")[2], self.summary(folder), len(folder.sources))

    @cached_property
    def _folders(self) -> Mapping[str, ProjectFolder]:
        return {folder.scope: folder for folder in self._scan.folders}

    @cached_property
    def _inside(self) -> Mapping[str, list[ProjectFolder]]:
        """The folders that count, by the folder they are in."""
        chosen = {folder.scope for folder in self._scan.kept()[0]}
        found: dict[str, list[ProjectFolder]] = {}
        for folder in sorted(self._scan.folders, key=lambda each: each.scope):
            parent = parent_of(folder.scope)
            if parent is not None and (folder.sources or folder.scope in chosen):
                found.setdefault(parent, []).append(folder)
        return found

    def _around(self, folder: ProjectFolder) -> Surroundings:
        """What the manifests of the folder and the folders above it declare."""
        found = [each for scope in _upwards(folder.scope) if (each := self._manifest(scope)) is not None]
        declared = frozenset(name for each in found for name in each.needs)
        module = next((each.name for each in found if each.kind == "go"), "")
        languages = self._languages if folder.scope == ROOT_SCOPE else ()
        told = (self._said(above, folder.scope) for above in _upwards(folder.scope)[1:])
        said = next(filter(None, told), "")
        return Surroundings(declared, self._own, module, languages, said)

    def _said(self, above: str, scope: str) -> str:
        """What the pages of a folder above, and of its `docs`, say of a folder."""
        below = scope if above == ROOT_SCOPE else scope.removeprefix(f"{above}/")
        if above not in self._pages:
            docs = "docs" if above == ROOT_SCOPE else f"{above}/docs"
            texts = [
                self._project.text(place, name) or ""
                for place in (above, docs)
                if (folder := self._folders.get(place)) is not None
                for name in folder.sources
                if language_of(name) == "markdown"
            ]
            self._pages[above] = dict(rows_about_folders("\n".join(texts[:MOST_PAGES])))
        return self._pages[above].get(below, "")

    def _manifest(self, scope: str) -> ManifestFacts | None:
        if scope not in self._manifests:
            folder = self._folders.get(scope)
            names = [] if folder is None else folder.sources
            found = [
                FolderFile(name, self._project.text(scope, name), Outline())
                for name in names
                if is_manifest(name)
            ]
            known = frozenset() if folder is None else folder.names
            self._manifests[scope] = Subject(scope, found, known).manifest
        return self._manifests[scope]

    @cached_property
    def _own(self) -> frozenset[str]:
        """The names of the project's own top folders, and of those in its source folders."""
        names = set()
        for scope in self._folders:
            parts = scope.split("/")
            names.add(parts[0])
            if len(parts) > 1 and parts[0] in SOURCE_FOLDERS:
                names.add(parts[1])
        return frozenset(names - {ROOT_SCOPE})

    @cached_property
    def _languages(self) -> tuple[str, ...]:
        return tuple(sorted({language_of(name) for folder in self._scan.folders for name in folder.sources}))


def _upwards(scope: str) -> list[str]:
    """A scope and the scopes it lies in, the nearest first."""
    found: list[str] = []
    at: str | None = scope
    while at is not None:
        found.append(at)
        at = parent_of(at)
    return found
