# ruff: noqa: E501 -- sample sources and answers stand on one line, as they do in files
"""What a context says that nobody wrote: summary, files, interfaces, dependencies, tests, the project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from context_trees import PROJECT, Files, disk_contexts, refresher

from context_pack.contexts.agents import END, START, block_of, with_block
from context_pack.contexts.generate import GENERATED, Child, FolderFile, Subject, generated, summary_of
from context_pack.contexts.manifests import read_manifest
from context_pack.contexts.model import Context, read_context
from context_pack.contexts.outline import outline_of
from context_pack.contexts.refresh import RefreshRequest
from context_pack.kernel.languages import language_of
from context_pack.kernel.ports import Reason
from context_pack_adapters.syntax import shared_syntax

SYNTAX = shared_syntax()


def source(name: str, text: str) -> FolderFile:
    return FolderFile(name, text, outline_of(name, text, SYNTAX.parse(language_of(name), text)))


def subject(scope: str = "src", children: tuple[Child, ...] = (), **files: str) -> Subject:
    named = {name.replace("__", "."): text for name, text in files.items()}
    sources = [source(name, text) for name, text in sorted(named.items())]
    return Subject(scope, sources, frozenset(named), children)


def made(sources: Mapping[str, str | bytes]) -> dict[str, dict[str, Any]]:
    """The contexts that init makes, by scope."""
    files = Files(sources)
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
        "language": "typescript",
        "framework": "express",
        "package_manager": "npm",
    }
    assert root["dependencies"] == {"external": ["express ^4"]}
    assert root["structure"] == [
        {"path": "billing", "summary": "Billing of the shop."},
        {"path": "docs", "summary": "Documentation: Guide (1 Markdown file)."},
        {"path": "src", "summary": "Front door."},
    ]
    assert src["summary"] == "Front door."
    assert src["files"] == [
        {"name": "cart.test.ts", "purpose": "Test file"},
        {"name": "cart.ts", "purpose": "Defines add", "test_file": "cart.test.ts"},
        {"name": "index.ts", "purpose": "Front door."},
    ]
    assert src["exports"] == ["function add(item: string, count = 1): number", "const VERSION: string"]
    assert src["dependencies"] == {"internal": ["./core/api"]}
    assert src["testing"] == ["cart.test.ts tests cart.ts"]
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
        ({"a__py": '"""A."""', "b__py": "x = 1"}, "2 Python files: a.py, b.py."),
        ({"test_a__py": "", "test_b__py": ""}, "Tests: test_a.py, test_b.py (2 Python files)."),
        ({"README": "", "index__rst": "Guide\n=====\n\nHow it works.\n"}, "How it works."),
        ({"a__py": "def one(): ...\ndef two(): ...\n", "b__py": "class Three: ...\n"}, "Defines one, Three, two (2 Python files)."),
        ({"api__rst": "API\n===\n", "deploy__rst": "Deploying\n=========\n", "Makefile": "all:\n"}, "Documentation: API; Deploying (2 reStructuredText files)."),
        ({"a__json": "{}", "b__json": "{}", "Makefile": "all:\n"}, "2 JSON files and 1 other file: a.json, b.json."),
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
        ("package.json", '{"dependencies": {"a": "1"}, "devDependencies": {"b": "2"}}', ("a 1", "b 2 (dev)")),
        ("pyproject.toml", '[tool.poetry]\nname = "p"\n[tool.poetry.dependencies]\npython = "^3.11"\nattrs = "^24"\n', ("attrs ^24",)),
        ("composer.json", '{"require": {"a/b": "^1"}}', ("a/b ^1",)),
        ("Gemfile", "gem 'rails', '~> 7'\ngem 'puma'\n", ("rails ~> 7", "puma")),
    ],
)  # fmt: skip
def test_dependencies_come_from_package_manifests(name: str, text: str, expected: tuple[str, ...]) -> None:
    manifest = read_manifest(name, text)
    assert manifest is not None
    assert manifest.depends == expected


@pytest.mark.clause("CX-31")
def test_imports_of_declared_packages_are_external_dependencies() -> None:
    files: dict[str, str | bytes] = {
        ".context.config.yaml": "min_tokens: 0\n",
        "requirements.txt": "flask\ntyping-extensions\n",
        "app/a.py": "import flask.views\nimport os\nfrom typing_extensions import X\nimport app.b\nimport shop\n",
        "shop/x.py": "",
    }
    assert made(files)["app"]["dependencies"] == {
        "external": ["flask", "typing-extensions"],
        "internal": ["shop"],
    }


@pytest.mark.clause("CX-31")
def test_many_exports_are_counted_and_lists_are_bounded() -> None:
    text = "".join(f"def f{number}(): ...\n" for number in range(200))
    fields = generated(subject(a__py=text))
    assert fields["files"][0]["purpose"] == "Defines f0, f1, f2, f3, f4, f5 and 194 more"
    assert len(fields["exports"]) == 20
    assert not fields["interfaces"]


@pytest.mark.clause("CX-31")
@pytest.mark.parametrize(
    "page",
    [
        "| folder | what |\n|---|---|\n| `src/core/` | Rules that all share. More. |\n",
        "- `src/core/`: Rules that all share.\n",
        "```text\nsrc/core/       Rules that all share.\n```\n",
    ],
)
@pytest.mark.parametrize("place", ["README.md", "docs/architecture.md"])
def test_a_folder_without_words_of_its_own_has_those_of_a_page_above(page: str, place: str) -> None:
    files: dict[str, str | bytes] = {
        ".context.config.yaml": "min_tokens: 0\n",
        place: f"# Shop\n\n{page}",
        "src/core/a.py": "def one(): ...\n",
        "src/core/b.py": "def two(): ...\n",
        "src/other/c.py": "def three(): ...\n",
    }
    contexts = made(files)
    assert contexts["src/core"]["summary"] == "Rules that all share."
    assert contexts["src/other"]["summary"] == "Defines three (1 Python file)."


@pytest.mark.clause("CX-31")
def test_what_has_a_description_is_told_once_and_without_its_signature() -> None:
    fields = generated(subject(a__py='def one():\n    """The first."""\n\n\ndef two(): ...\n'))
    assert fields["interfaces"] == [{"name": "one", "description": "The first."}]
    assert fields["exports"] == ["def two()"]


@pytest.mark.clause("CX-42")
def test_the_managed_block_replaces_only_itself() -> None:
    block = block_of([(".", "All."), ("a|b", "One. Two.")])
    assert block.startswith(START)
    assert block.rstrip().endswith(END)
    assert "| `a\\|b` | One. |" in block
    assert with_block("", block) == block
    first = with_block("# Mine\n", block)
    assert first == f"# Mine\n\n{block}"
    assert with_block(f"{first}\nAfter.\n", block) == f"{first}\nAfter.\n"
    newer = block_of([(".", "New.")])
    assert with_block(f"{first}\nAfter.\n", newer) == f"# Mine\n\n{newer}\nAfter.\n"
    assert with_block("a\r\n", block) == "a\r\n\r\n" + block.replace("\n", "\r\n")


@pytest.mark.clause("CX-31")
@pytest.mark.parametrize(
    "before",
    [
        "[![GoDoc Widget]][GoDoc] [![Build]](https://ci.example.org)",
        "![logo][img]",
        "```sh\ncurl -sSL https://example.org/install | sh\n```",
        "    curl -O https://example.org/tool",
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
