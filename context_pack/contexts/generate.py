"""Generates a context from a folder's files, manifests and children, without a language model.

Pure and deterministic: the same files give the same fields, so they can be made again whenever the folder has
changed. Lists are bounded: a context is read by people and models.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from attrs import evolve, frozen

from context_pack.contexts.manifests import ManifestFacts, joined, read_manifest
from context_pack.contexts.model import FIELDS, ROOT_SCOPE, VERSION
from context_pack.contexts.outline import PROSE, ExportedName, Outline, paragraph_of, title_of
from context_pack.contexts.purposes import counterpart_of, is_test, purpose_of, spoken
from context_pack.kernel.languages import language_of
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

MOST_EXPORTS, MOST_INTERFACES, MOST_DEPENDENCIES, MOST_TESTS = 20, 20, 20, 40
MOST_NAMED, MOST_SAID = 5, 60
README_NAMES = ("readme.md", "readme.rst", "readme.txt", "readme.mdx")
INDEX_NAMES = ("index.md", "index.rst", "index.mdx")
ENTRY_NAMES = (
    "__init__.py", "index.ts", "index.tsx", "index.js", "index.mjs", "mod.rs", "lib.rs", "doc.go",
    "main.go", "main.py", "main.rs", "main.ts", "__main__.py", "package-info.java",
)  # fmt: skip
NO_PROGRAM = frozenset({"json", "yaml", "toml", "xml", "markdown", "text", "rst", "html", "css", "scss", ""})

_NEAR = re.compile(r"\./[^/]*|\.[^./]*")
_LAST = re.compile(r"(?<=\w)(?:\.|::|/)[^./:]+$")


@frozen
class FolderFile:
    """One source of a folder; the text is None when it cannot be read."""

    name: str
    text: str | None
    outline: Outline


@frozen
class Child:
    """A folder in the folder: its name, what its context says, how many sources it has."""

    name: str
    summary: str | None
    sources: int


@frozen
class Surroundings:
    """Facts of the project around a folder: declared packages, own top folders, the Go module's name."""

    declared: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    module: str = ""
    languages: tuple[str, ...] = ()
    """The languages of all the project's sources."""
    said: str = ""
    """What a README or another page above the folder says of it."""


@frozen
class Subject:
    """A folder to write about; `names` are all its files."""

    scope: str
    sources: Sequence[FolderFile]
    names: frozenset[str] = frozenset()
    children: Sequence[Child] = ()
    around: Surroundings = Surroundings()

    @property
    def manifest(self) -> ManifestFacts | None:
        """The facts of the manifests in the folder."""
        found = (read_manifest(each.name, each.text) for each in self.sources if each.text is not None)
        return joined([each for each in found if each is not None], self.names)


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


def of_other_folders(is_root: bool, has_sources: bool) -> frozenset[str]:
    """The fields that can change although nothing in the folder itself did."""
    names = {"subdirectories", *(() if has_sources else ("summary",))}
    return frozenset(names | ({"structure", "project"} if is_root else set()))


def generated(subject: Subject, names: Sequence[str] = GENERATED) -> dict[str, Any]:
    """The fields of these names; None for one that has nothing to say here."""
    return {name: _MAKERS[name](subject) or None for name in names}


def summary_of(subject: Subject) -> str:
    """What the folder is for, in a sentence: as its manifest, its documentation or its definitions say."""
    manifest = subject.manifest
    if manifest is not None and manifest.description:
        return one_line(manifest.description)
    pages = {each.name.lower(): each.text for each in subject.sources if each.text is not None}
    for name in (*README_NAMES, *INDEX_NAMES):
        said = paragraph_of(pages[name]) or title_of(pages[name]) if name in pages else ""
        if said:
            return said
    return (
        _documented(subject)
        or subject.around.said
        or one_line(_summary_from_names(subject) or _inside(subject.children))
    )


def _documented(subject: Subject) -> str:
    """The description from the folder's main file."""
    abouts = {each.name: each.outline.about for each in subject.sources if each.outline.about}
    entry = next((abouts[name] for name in ENTRY_NAMES if name in abouts), "")
    code = [each for each in _programs(subject) if not is_test(each.name)]
    return entry or (code[0].outline.about if len(code) == 1 else "")


def _programs(subject: Subject) -> list[FolderFile]:
    return [each for each in subject.sources if language_of(each.name) not in NO_PROGRAM]


def _summary_from_names(subject: Subject) -> str:
    """A summary from names: what the sources define, test or are titled; else their kind."""
    code, names = _programs(subject), [each.name for each in subject.sources]
    tests = [each for each in code if is_test(each.name)]
    if len(tests) * 2 > sum(each.name != "__init__.py" for each in code):
        return f"Tests: {_listed([each.name for each in tests])} ({_count(tests)})."
    defined = dict.fromkeys(export.name for _, export in _in_turn(evolve(subject, sources=code)))
    if defined:
        return f"Defines {_listed(list(defined))} ({_count(code)})."
    titled = [each for each in subject.sources if language_of(each.name) in PROSE and each.outline.about]
    if len(titled) * 2 > len(names):
        return f"Documentation: {_listed([each.outline.about for each in titled], '; ')} ({_count(titled)})."
    kinds = Counter(language_of(name) for name in names).most_common(1)
    of_kind = [each for each in subject.sources if kinds and language_of(each.name) == kinds[0][0]]
    others = len(names) - len(of_kind)
    more = f" and {counted(others, 'other file')}" if others else ""
    return f"{_count(of_kind)}{more}: {_listed([each.name for each in of_kind])}." if of_kind else ""


def _count(sources: Sequence[FolderFile]) -> str:
    """A summary that counts files, with their common language if they have one."""
    spoken_in = {spoken(language_of(each.name)) for each in sources}
    kind = spoken_in.pop() if len(spoken_in) == 1 else ""
    return counted(len(sources), f"{kind or 'source'} file")


def _inside(children: Sequence[Child]) -> str:
    """A summary from the child folders, for a folder without sources."""
    if not children:
        return "Nothing to tell yet."
    said = [first_sentence(child.summary or "").rstrip(".") for child in children]
    if len(said) == 1 and said[0]:
        return f"{children[0].name}: {said[0]}."
    short = [f" ({one_line(each, MOST_SAID)})" if each else "" for each in said]
    return f"Holds {_listed([child.name + more for child, more in zip(children, short, strict=True)])}."


def _listed(names: Sequence[str], between: str = ", ") -> str:
    shown = between.join(names[:MOST_NAMED])
    return f"{shown} and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else shown


def _child_summary(child: Child) -> str:
    if child.summary is not None and child.summary.strip():
        return first_sentence(child.summary)
    return counted(child.sources, "source file") if child.sources else "Holds folders"


def _files(subject: Subject) -> list[dict[str, str]]:
    names = [each.name for each in subject.sources]
    found: list[dict[str, str]] = []
    for each in subject.sources:
        entry = {"name": each.name, "purpose": purpose_of(each.name, each.outline)}
        tester = counterpart_of(each.name, names)
        found.append(entry if tester is None else {**entry, "test_file": tester})
    return found


def _exports(subject: Subject) -> list[str]:
    """How what has no description is called; of what has one, `interfaces` tells."""
    bare = (export.signature for _, export in _in_turn(subject) if not export.about)
    return list(dict.fromkeys(bare))[:MOST_EXPORTS]


def _interfaces(subject: Subject) -> list[dict[str, str]]:
    """What is offered, with its description: the first of each file, then the second of each."""
    abouts = {export.name: export.about for _, export in reversed(_in_turn(subject)) if export.about}
    rows = [{"name": name, "description": about} for name, about in reversed(abouts.items())]
    return rows[:MOST_INTERFACES]


def _in_turn(subject: Subject) -> list[tuple[FolderFile, ExportedName]]:
    """The exports of all sources but tests with their files: the first of each file, then the second."""
    files = [each for each in subject.sources if not is_test(each.name)]
    rows = zip_longest(*([(each, export) for export in each.outline.exports] for each in files))
    return [pair for row in rows for pair in row if pair is not None]


def _dependencies(subject: Subject) -> dict[str, list[str]]:
    found = {"internal": _internal(subject), "external": _external(subject)}
    return {name: value for name, value in found.items() if value}


def _external(subject: Subject) -> list[str]:
    """What the manifests here declare, else which declared packages the sources here import."""
    manifest = subject.manifest
    if manifest is not None and manifest.depends:
        return list(manifest.depends)[:MOST_DEPENDENCIES]
    declared = {_folded(name): name for name in subject.around.declared}
    used = {declared[head] for path in _imports(subject) for head in _heads(path) if head in declared}
    return sorted(used)[:MOST_DEPENDENCIES]


def _internal(subject: Subject) -> list[str]:
    """Which parts of the project outside this folder the sources import; many are told by their folders."""
    own = subject.scope.replace("/", ".") + "."
    paths = {
        path
        for path in _imports(subject)
        if _is_internal(path, subject.around) and not _NEAR.fullmatch(path) and not path.startswith(own)
    }
    if len(paths) > MOST_DEPENDENCIES:
        paths = {_LAST.sub("", path) for path in paths}
    return sorted(paths)[:MOST_DEPENDENCIES]


def _imports(subject: Subject) -> set[str]:
    return {path for each in subject.sources for path in each.outline.imports}


def _is_internal(path: str, around: Surroundings) -> bool:
    if path.startswith((".", "crate::", "super::", "self::", "@/", "~/")):
        return True
    if around.module and (path == around.module or path.startswith(around.module + "/")):
        return True
    return path.replace("::", ".").partition(".")[0].partition("/")[0] in around.own


def _heads(path: str) -> list[str]:
    """The package names that an import may mean."""
    parts = path.split("/")
    scoped = ["/".join(parts[:number]) for number in range(1, min(len(parts), 4) + 1)]
    return [_folded(name) for name in (*scoped, path.partition(".")[0], path.partition("::")[0])]


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")


def _testing(subject: Subject) -> list[str]:
    """How the project is tested, and which files here test which."""
    manifest = subject.manifest
    lines = [f"Run: {manifest.test}"] if manifest is not None and manifest.test else []
    names = [each.name for each in subject.sources]
    tested = {tester: name for name in names if (tester := counterpart_of(name, names)) is not None}
    lines += [f"{name} tests {tested[name]}" if name in tested else name for name in names if is_test(name)]
    return lines[:MOST_TESTS]


def _subdirectories(subject: Subject) -> list[dict[str, str]]:
    return [{"name": f"{child.name}/", "summary": _child_summary(child)} for child in subject.children]


def _structure(subject: Subject) -> list[dict[str, str]]:
    if subject.scope != ROOT_SCOPE:
        return []
    return [{"path": child.name, "summary": _child_summary(child)} for child in subject.children]


def _project(subject: Subject) -> dict[str, str] | None:
    if subject.scope != ROOT_SCOPE:
        return None
    manifest = subject.manifest
    if manifest is None:
        return None
    languages = subject.around.languages
    typed = manifest.kind == "javascript" and ("typescript" in languages or "tsx" in languages)
    project = {
        "name": manifest.name or "unnamed",
        "description": manifest.description or summary_of(subject),
        "language": "typescript" if typed else manifest.kind,
        "framework": manifest.framework,
        "package_manager": manifest.package_manager,
    }
    return {name: value for name, value in project.items() if value}


_MAKERS: Mapping[str, Callable[[Subject], Any]] = {
    "summary": summary_of,
    "files": _files,
    "interfaces": _interfaces,
    "exports": _exports,
    "dependencies": _dependencies,
    "testing": _testing,
    "subdirectories": _subdirectories,
    "project": _project,
    "structure": _structure,
}
