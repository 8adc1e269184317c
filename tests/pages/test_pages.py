"""Every page tells the truth: what it lists is what there is, and its links and paths lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from pages import GUIDES, ROOT, Block, all_pages, blocks, name_of

from context_pack_adapters.cli.dispatch import COMMANDS, GROUPS, HIDDEN, load
from context_pack_adapters.settings import VARIABLES

HOW_TO = ROOT / "docs/how-to-add-a-tool.md"
README_ORDER = ("what", "install", "first result", "connect", "library", "when", "where", "test")
README_BYTES = 12 * 1024
SOURCE_PATH = re.compile(r"(?:context_pack|adapters|tests|benches|docs|\.ci)/[\w./*-]*|\w+/[\w/]+\.py")
SOURCE_ROOTS = (ROOT, ROOT / "adapters/context_pack_adapters")
OURS = ("context-pack ", *(f"{group} " for group in GROUPS))


def readme() -> list[Block]:
    return list(blocks((ROOT / "README.md").read_text("utf-8")))


def test_a_block_that_is_not_run_says_why() -> None:
    for page in GUIDES:
        for block in blocks(page.read_text("utf-8")):
            kind, _, why = block.mark.partition(": ")
            assert kind in {"", "ci", "not run", "file", "change"}
            assert kind != "ci" or page.name == "README.md"
            assert kind not in {"file", "change"} or page.name == HOW_TO.name
            assert kind != "not run" or len(why) > 10


def test_the_readme_is_short_and_its_sections_stand_in_order() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.encode("utf-8")) <= README_BYTES
    tokens = MarkdownIt("commonmark").parse(text)
    headings = [
        tokens[place + 1].content.lower()
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag == "h2"
    ]
    assert len(headings) == len(README_ORDER)
    assert all(word in heading for word, heading in zip(README_ORDER, headings, strict=True)), headings


@pytest.mark.parametrize("mark", ["demo", "test"])
def test_the_two_setup_commands_are_one_line_each_and_ci_runs_them(mark: str) -> None:
    (block,) = [block for block in readme() if block.mark == f"ci: {mark}"]
    assert block.text.count("\n") == 1
    assert block.text.startswith("python3 -m venv .venv && ")
    assert f"as_readme_says {mark}" in (ROOT / ".ci/run").read_text("utf-8")


def test_the_first_pack_of_a_reader_has_refs() -> None:
    first = next(block for block in readme() if block.info == "console")
    assert "packs import" in first.text
    assert "2 refs" in first.text


def test_every_run_time_package_is_named_with_a_reason(checkout: Path) -> None:
    text = (checkout / "docs/architecture.md").read_text("utf-8")
    project = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]
    packages = list(project["dependencies"])
    for extra in project["optional-dependencies"].values():
        packages += extra
    names = {re.split(r"[<>=\[ ]", package)[0] for package in packages}
    names = {"tree-sitter-*" if name.startswith("tree-sitter-") else name for name in names}
    unexplained = {
        name for name in names if not re.search(rf"^\| .*`{re.escape(name)}`.* \| \S", text, re.MULTILINE)
    }
    assert sorted(unexplained) == []


def test_every_variable_that_is_read_is_in_the_one_environment_table(checkout: Path) -> None:
    row = re.compile(r"^\| `(CONTEXT_PACK_[A-Z_]+)` \|", re.MULTILINE)
    shown = row.findall((checkout / "docs/configuration.md").read_text("utf-8"))
    read = set(VARIABLES)
    for path in (checkout / "adapters").rglob("*.py"):
        read |= set(re.findall(r"[\"'](CONTEXT_PACK_[A-Z_]+)[\"']", path.read_text("utf-8")))
    assert sorted(shown) == sorted(read) == sorted(VARIABLES)
    assert [page for page in all_pages() if row.search(page.read_text("utf-8"))] == [
        checkout / "docs/configuration.md"
    ]


def test_the_glossary_has_at_most_forty_terms_in_order(checkout: Path) -> None:
    text = (checkout / "docs/glossary.md").read_text("utf-8")
    terms = re.findall(r"^- \*\*(.+?)\*\*", text, re.MULTILINE)
    assert 20 <= len(terms) <= 40
    assert terms == sorted(terms, key=str.lower)


@pytest.mark.slow
def test_the_tool_of_the_how_to_works_once_its_changes_are_made(
    tmp_path: Path, clean_env: dict[str, str]
) -> None:
    for folder in ("context_pack", "adapters", "docs", "tests/pages", "tests/support"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "CONTRACT.md", "tests/conftest.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    touched = set()
    for block in blocks(HOW_TO.read_text("utf-8")):
        kind, _, name = block.mark.partition(": ")
        file = tmp_path / name
        if kind == "file":
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, "utf-8")
        elif kind == "change":
            change(file, block.text)
        if kind in {"file", "change"} and not name.startswith("tests/"):
            touched.add(name)
    assert len(touched) <= 5
    checked = ("reference_tables", "registry_files", "startup_imports", "tool_list")
    tests = [f"tests/pages/test_{name}.py" for name in checked]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--regenerate"]
    # The list is full: the page says that room has to be found. The copy is no repository.
    command += ["-k", "not arguments_are_small and not workflows_pin and not index_that_we_do_not"]
    done = subprocess.run(
        [*command, "tests/features/code", *tests],
        cwd=tmp_path,
        env={**clean_env, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(tmp_path / "adapters")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("docs/contract/code.md", "docs/registry/manifest.json"):
        assert "line_count" in (tmp_path / name).read_text("utf-8")


def change(file: Path, diff: str) -> None:
    """Replace the removed lines of a diff, which stand once in the file, by the added ones."""
    lines = diff.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if not line.startswith("+")).removesuffix("\n")
    after = "".join(line[1:] for line in lines if not line.startswith("-")).removesuffix("\n")
    text = file.read_text("utf-8")
    assert text.count(before) == 1, f"{file.name}: {before}"
    file.write_text(text.replace(before, after), "utf-8")


# --- links, paths and commands that pages name


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    tokens = MarkdownIt("commonmark").parse(page.read_text("utf-8"))
    anchors: list[str] = []
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            words = re.sub(r"[^\w\- ]", "", tokens[index + 1].content.lower()).replace(" ", "-")
            seen = sum(anchor == words or anchor.startswith(f"{words}-") for anchor in anchors)
            anchors.append(words if words not in anchors else f"{words}-{seen}")
    return set(anchors)


def inline(page: Path, kind: str) -> Iterator[Any]:
    """The inline tokens of one kind on a page."""
    for token in MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8")):
        yield from (child for child in token.children or () if child.type == kind)


@pytest.mark.parametrize("page", all_pages(), ids=name_of)
def test_links_lead_to_pages_and_headings_that_exist(page: Path) -> None:
    broken = []
    for link in inline(page, "link_open"):
        target = str(link.attrGet("href"))
        if target.startswith(("http://", "https://")):
            continue
        place, _, anchor = target.partition("#")
        file = (page.parent / place).resolve() if place else page
        if not file.exists() or (anchor and anchor not in headings(file)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_paths_of_the_source_that_a_page_names_exist(page: Path) -> None:
    words = [
        word for code in inline(page, "code_inline") for word in str(code.content).split("::")[0].split()
    ]
    paths = {word for word in words if SOURCE_PATH.fullmatch(word)}
    missing = [path for path in paths if not any(any(root.glob(path.rstrip("/"))) for root in SOURCE_ROOTS)]
    assert sorted(missing) == []


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_commands_that_a_page_names_in_its_text_exist(page: Path) -> None:
    for code in inline(page, "code_inline"):
        text = " ".join(str(code.content).split())
        if not text.startswith(OURS) or text.endswith(" …"):
            continue
        words = shlex.split(text.removeprefix("context-pack "))
        options = {word for word in words if word.startswith("--")}
        name = next(name for name in (" ".join(words[:2]), words[0]) if name in COMMANDS or name in HIDDEN)
        known = {"--root", "--source-root", "--help", *options_of(name)}
        assert options <= known, text


def options_of(name: str) -> set[str]:
    """The options of a command."""
    return {option for parameter in load(name).params for option in parameter.opts}


def test_every_page_is_reached_from_the_readme() -> None:
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in seen:
            continue
        seen.add(page)
        for link in inline(page, "link_open"):
            target = (page.parent / str(link.attrGet("href")).partition("#")[0]).resolve()
            if target.suffix == ".md" and target.exists():
                todo.append(target)
    assert sorted(set(all_pages()) - seen) == []


def test_every_command_is_on_a_page() -> None:
    text = "\n".join(page.read_text("utf-8") for page in GUIDES)
    assert [name for name in COMMANDS if not re.search(rf"(?:context-pack |`){name}\b", text)] == []
