# ruff: noqa: E501 -- sample sources and answers stand on one line, as they do in files
"""What a context says that nobody wrote: summary, files, interfaces, dependencies, tests, the project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from context_trees import PROJECT, Files, disk_contexts, refresher

from context_pack.contexts import sources
from context_pack.contexts.generate import GENERATED, FolderFile, Subject, generated, summary_of
from context_pack.contexts.model import Context, read_context
from context_pack.contexts.refresh import RefreshRequest
from context_pack.contexts.sources import Outline, read_manifest
from context_pack.kernel.languages import language_of
from context_pack.kernel.ports import Reason
from context_pack_adapters.syntax import shared_syntax

SYNTAX = shared_syntax()


def outline_of(name: str, text: str) -> Outline:
    return sources.outline_of(name, text, SYNTAX.parse(language_of(name), text))


def subject(**files: str) -> Subject:
    named = {name.replace("__", "."): text for name, text in sorted(files.items())}
    found = [
        FolderFile(name, text, outline_of(name, text), name.startswith("test_"))
        for name, text in named.items()
    ]
    return Subject("src", found)


def made(texts: Mapping[str, str | bytes]) -> dict[str, dict[str, Any]]:
    """The contexts that init makes, by scope."""
    files = Files(texts)
    ports = disk_contexts(files.root)
    project = ports.open(None)
    assert not isinstance(project, Reason)
    refresher(ports).refresh(project, RefreshRequest())
    found = {}
    for path in files:
        if path.endswith(".context.yaml"):
            verdict = read_context(files[path])
            assert isinstance(verdict, Context)
            found[path.removesuffix(".context.yaml").rstrip("/") or "."] = dict(verdict.record)
    return found


@pytest.mark.clause("CX-31")
def test_contexts_of_a_project_are_generated_from_its_files() -> None:
    contexts = made(PROJECT)
    root, src, billing = contexts["."], contexts["src"], contexts["billing"]
    assert sorted(contexts) == [".", "billing", "docs", "src", "src/core"]
    assert root["summary"] == "Sells things"
    assert root["project"] == {
        "name": "shop",
        "description": "Sells things",
        "language": "javascript",
    }
    assert root["dependencies"] == {"external": ["express ^4"]}
    assert root["structure"] == [
        {"path": "billing", "summary": "Billing of the shop."},
        {"path": "docs", "summary": "1 file: guide.md."},
        {"path": "src", "summary": "Front door."},
    ]
    assert src["summary"] == "Front door."
    assert src["files"] == [
        {"name": "cart.test.ts", "purpose": "Test file"},
        {"name": "cart.ts", "purpose": "Defines add"},
        {"name": "index.ts", "purpose": "Front door."},
    ]
    assert src["exports"] == ["function add(item: string, count = 1): number", "const VERSION: string"]
    assert src["dependencies"] == {"internal": ["./core/api"]}
    assert src["subdirectories"] == [{"name": "core/", "summary": "Fast core."}]
    assert billing["summary"] == "Billing of the shop."
    assert "dependencies" not in billing
    assert billing["derived_fields"][:3] == ["version", "last_updated", "fingerprint"]
    assert [each.partition(" ")[0] for each in billing["derived_fields"][3:]] == ["scope", *GENERATED]


@pytest.mark.clause("CX-31")
@pytest.mark.parametrize(
    ("files", "summary"),
    [
        ({"pyproject__toml": '[project]\nname = "x"\ndescription = "From the manifest."\n', "README__md": "# T\n\nP."}, "From the manifest."),
        ({"README__md": "# Title\n\nFrom the README. More.\n", "a__py": '"""Doc."""'}, "From the README."),
        ({"README__md": "# Title\n"}, "Title"),
        ({"index__ts": "/** From the entry. */", "a__ts": "/** Other. */"}, "From the entry."),
        ({"only__py": '"""From the only module."""\n', "test_only__py": '"""Tests."""\n'}, "From the only module."),
        ({"a__py": '"""A."""', "b__py": "x = 1"}, "2 files: a.py, b.py."),
        ({"README": "", "index__rst": "Guide\n=====\n\nHow it works.\n"}, "How it works."),
        ({"index__rst": "UI\n==\n\n.. toctree::\n   :maxdepth: 1\n\n   views\n   forms\n\nWhat people see.\n"}, "What people see."),
        ({"a__py": "def one(): ...\ndef two(): ...\n", "b__py": "class Three: ...\n"}, "Defines one, Three, two (2 files)."),
        ({}, "Nothing to tell yet."),
    ],
)  # fmt: skip
def test_a_summary_comes_from_the_best_source_there_is(files: dict[str, Any], summary: str) -> None:
    assert summary_of(subject(**files)) == summary


@pytest.mark.clause("CX-31")
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("requirements.txt", "# c\nflask>=2 ; x\n-r other\nattrs\nrequests[security]==2.31.0 # why\n", ("flask >=2", "attrs", "requests ==2.31.0")),
        ("go.mod", "module a.b/c\n\nrequire (\n\tx.y/z v1.2.3\n\tq.r/s v0.1.0 // indirect\n)\n", ("x.y/z v1.2.3",)),
        ("Cargo.toml", '[package]\nname = "c"\n[dependencies]\nserde = "1"\naxum = {version = "0.7"}\n', ("serde 1", "axum 0.7")),
        ("package.json", '{"scripts": {"test": "no test specified"}, "dependencies": {"a": "1"}, "devDependencies": {"b": "2"}}', ("a 1", "b 2 (dev)")),
        ("pyproject.toml", '[tool.poetry]\nname = "p"\n[tool.poetry.dependencies]\npython = "^3.11"\nattrs = "^24"\n', ("attrs ^24",)),
    ],
)  # fmt: skip
def test_dependencies_come_from_package_manifests(name: str, text: str, expected: tuple[str, ...]) -> None:
    manifest = read_manifest(name, text)
    assert manifest is not None
    assert manifest.depends == expected


@pytest.mark.clause("CX-31")
def test_many_exports_are_counted_and_lists_are_bounded() -> None:
    text = "".join(f"def f{number}(): ...\n" for number in range(200))
    fields = generated(subject(a__py=text))
    assert fields["files"][0]["purpose"] == "Defines f0, f1, f2, f3, f4 and 195 more"
    assert len(fields["exports"]) == 20
    assert not fields["interfaces"]


@pytest.mark.clause("CX-31")
def test_what_has_a_description_is_told_once_and_without_its_signature() -> None:
    fields = generated(subject(a__py='def one():\n    """The first."""\n\n\ndef two(): ...\n'))
    assert fields["interfaces"] == [{"name": "one", "description": "The first."}]
    assert fields["exports"] == ["def two()"]


@pytest.mark.clause("CX-31")
@pytest.mark.parametrize(
    "before",
    [
        "[![GoDoc Widget]][GoDoc] [![Build]](https://ci.example.org)",
        "![logo][img]",
        "```sh\ncurl -sSL https://example.org/install | sh\n```",
        "curl -sSL https://example.org/install | sh",
        "$ npm install -g widget",
        "`pip install widget`",
    ],
)
def test_a_badge_or_a_command_is_no_summary(before: str) -> None:
    assert summary_of(subject(README__md=f"# Widget\n\n{before}\n\nDraws widgets.\n")) == "Draws widgets."


@pytest.mark.clause("CX-30")
def test_no_context_is_made_in_the_folders_of_a_bundle() -> None:
    files: dict[str, str | bytes] = {
        ".context.config.yaml": "min_tokens: 0\n",
        "src/a.py": "x = 1\n",
        "specs/sdd-bundle.yaml": "kind: Bundle\n",
        "specs/bundle/feature/one.yaml": "id: one\n",
    }
    assert sorted(made(files)) == [".", "src"]


@pytest.mark.clause("CX-31")
@pytest.mark.parametrize(
    ("name", "text", "about", "exported", "imported"),
    [
        (
            "m.go",
            '// Package m does it.\npackage m\n\nimport (\n\t"fmt"\n\tx "a.b/c"\n)\n\ntype Engine struct {\n}\n'
            "func (e *Engine) Run(n int) error {\n}\nfunc lower() {}\nfunc New() *Engine {\n}\n",
            "Package m does it.",
            ["type Engine struct", "func (e *Engine) Run(n int) error", "func New() *Engine"],
            ("fmt", "a.b/c"),
        ),
        (
            "lib.rs",
            "//! Fast core.\n//! Very.\nuse crate::store;\npub async fn go<T>(t: T) -> bool {\n}\nfn no() {}\npub struct S {}\n",
            "Fast core.",
            ["pub async fn go<T>(t: T) -> bool", "pub struct S"],
            ("crate::store",),
        ),
        ("a.sh", "#!/bin/sh\n# Builds.\n\nmain() {\n  :\n}\n", "Builds.", ["main()"], ()),
        ("a.sql", "-- Tables.\nCREATE TABLE IF NOT EXISTS users (\n", "Tables.", [], ()),
    ],
)  # fmt: skip
def test_outlines_of_other_languages_list_their_declarations(
    name: str, text: str, about: str, exported: list[str], imported: tuple[str, ...]
) -> None:
    found = outline_of(name, text)
    assert (found.about, [e.signature.strip() for e in found.exports], found.imports) == (
        about,
        exported,
        imported,
    )
