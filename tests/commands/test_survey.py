"""A first look at a folder: the same places every time, bounded, and only what may be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.cli.survey import (
    LONGEST,
    LONGEST_README,
    ProjectSurvey,
    SurveyedLines,
    survey,
)
from context_pack_adapters.source.tree import DiskSourceTree
from context_pack_adapters.syntax import shared_syntax


def write(root: Path, name: str, content: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def see(root: Path) -> ProjectSurvey:
    return survey(DiskSourceTree(root, PathPolicy()), shared_syntax())


@pytest.mark.clause("CLI-31")
def test_an_empty_folder_has_nothing_to_show(tmp_path: Path) -> None:
    assert see(tmp_path) == ProjectSurvey(None, None, None, [], 0)


@pytest.mark.clause("CLI-31")
def test_a_folder_that_is_not_there_has_nothing_to_show(tmp_path: Path) -> None:
    assert see(tmp_path / "absent") == ProjectSurvey(None, None, None, [], 0)


@pytest.mark.clause("CLI-31")
def test_a_first_look_finds_the_readme_the_entry_point_and_a_definition(tmp_path: Path) -> None:
    write(tmp_path, "README.md", "# Shop\n\nSells things.\n\n")
    write(tmp_path, "shop/__main__.py", "from shop import till\n\ntill.open()\n")
    write(tmp_path, "shop/till.py", "X = 1\n\n\nclass Till:\n    def x():\n        ...\n\n\ndef f(): ...\n")
    write(tmp_path, "tests/main.py", "print('not this one')\n")
    assert see(tmp_path) == ProjectSurvey(
        readme=SurveyedLines("README.md", 1, 3, "read me"),
        entry=SurveyedLines("shop/__main__.py", 1, 3, "entry point"),
        definition=SurveyedLines("shop/till.py", 4, 6, "Till"),
        top=["README.md", "shop/", "tests/"],
        files=4,
    )


@pytest.mark.clause("CLI-31")
@pytest.mark.parametrize(
    "name, code, found",
    [
        (
            "a.ts",
            "export async function load(x) {\n  go()\n}\n\nlet y = 1\n",
            SurveyedLines("a.ts", 1, 3, "load"),
        ),
        ("a.rs", "use x;\n\npub(crate) fn run() {\n}\n", SurveyedLines("a.rs", 3, 4, "run")),
        ("a.go", "package a\n\nfunc (s *Shop) Open() {\n\ts.x()\n}\n", SurveyedLines("a.go", 3, 5, "Open")),
        ("a.java", "public final class Till {\n  int x;\n}\n", SurveyedLines("a.java", 1, 3, "Till")),
    ],
)
def test_definitions_are_found_in_many_languages(
    tmp_path: Path, name: str, code: str, found: SurveyedLines
) -> None:
    write(tmp_path, name, code)
    assert see(tmp_path).definition == found


@pytest.mark.clause("CLI-31")
def test_surveyed_excerpts_are_bounded(tmp_path: Path) -> None:
    write(tmp_path, "README.md", "line\n" * 500)
    write(tmp_path, "long.py", "def f():\n" + "    x = 1\n" * 500)
    found = see(tmp_path)
    assert found.readme == SurveyedLines("README.md", 1, LONGEST_README, "read me")
    assert found.definition == SurveyedLines("long.py", 1, LONGEST, "f")


@pytest.mark.clause("CLI-31")
def test_secrets_generated_folders_and_links_out_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("def secret():\n    pass\n")
    root = tmp_path / "project"
    write(root, "node_modules/x/main.js", "function x() {\n}\n")
    write(root, ".env", "KEY=1\n")
    write(root, "keys/main.pem", "-----\n")
    os.symlink(tmp_path / "outside.py", root / "main.py")
    found = see(root)
    assert (found.readme, found.entry, found.definition) == (None, None, None)
    assert found.top == []


@pytest.mark.clause("CLI-31")
def test_odd_names_and_contents_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "back\\slash.py", "def f():\n    pass\n")
    write(tmp_path, "C:drive.py", "def f():\n    pass\n")
    (tmp_path / "README").write_bytes(b"\x00\x01binary")
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text("def g():\n    pass\n")
    found = see(tmp_path)
    assert found.readme is None
    assert found.definition is None
