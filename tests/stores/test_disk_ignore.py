"""Which files a walk yields: git's own answer is the yardstick."""

from __future__ import annotations

import logging
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hanging import never_hanging

from context_pack.kernel.gitignore import IgnoreFile
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.files.walking import visit

NAMES = ["a", "b", "ab", "a.b", "a.c", "abc", "-", "[a]", "a b", "!a", "#a", "a ", "b.a.c", "ba", "]", "^"]
PIECES = [
    "a", "b", "c", ".", "*", "**", "?", "/", "[ab]", "[!a]", "[^b]", "[a-b]", "[]a]", "[[:alpha:]]", "[a",
    "\\a", "\\*", "\\", " ", "!", "#", "-", "]", "**/", "/**", "*.c", "a/", "[\\]]", "[a-", "[[:foo:]]",
    "[[:alpha]", "[-a]", "[z-a]", "\\ ", "***", "^", "[!]a]", "[[:punct:]b]", "[a/b]",
]  # fmt: skip


def plant(folder: Path, chance: random.Random, depth: int = 0) -> None:
    """A random tree with random ignore files."""
    for name in chance.sample(NAMES, chance.randint(2, 6)):
        if depth < 3 and chance.random() < 0.5:
            (folder / name).mkdir()
            plant(folder / name, chance, depth + 1)
        else:
            (folder / name).touch()
    if depth == 0 or chance.random() < 0.5:
        lines = ["".join(chance.choices(PIECES, k=chance.randint(1, 5))) for _ in range(chance.randint(1, 5))]
        lines = [chance.choice(["", "", "!"]) + line for line in lines]
        (folder / ".gitignore").write_text("\n".join(lines) + chance.choice(["", "\n", "\r\n"]))


def git_files(root: Path) -> list[str]:
    """The files that git would not ignore."""
    words = ["git", "-C", str(root), "ls-files", "--others", "--exclude-per-directory=.gitignore", "-z"]
    listed = subprocess.run(words, capture_output=True, check=True).stdout
    return sorted(name.decode() for name in listed.split(b"\0") if name)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def lay(root: Path, *paths: str, **ignores: str) -> None:
    """Empty files, and ignore files by the name of their folder (`top` is the root)."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    for folder, text in ignores.items():
        (root if folder == "top" else root / folder).joinpath(".gitignore").write_text(text)


def files_below(root: Path, policy: PathPolicy, **options: Any) -> list[str]:
    """What a walk yields, in order."""
    found: list[str] = []
    visit(root, policy, lambda path, _: found.append(path), **options)
    return sorted(found)


def walked(root: Path, policy: PathPolicy | None = None, excluded: tuple[str, ...] = ()) -> list[str]:
    """What a walk yields, ignore files left out."""
    found = files_below(root, policy or PathPolicy(), excluded=excluded)
    return [path for path in found if not path.endswith((".gitignore", ".ignore"))]


@pytest.mark.clause("ST-46")
@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
@pytest.mark.parametrize("seed", range(4))
def test_a_walk_yields_what_git_would_not_ignore(root: Path, seed: int) -> None:
    chance = random.Random(seed)
    for turn in range(20):
        tree = root / str(turn)
        tree.mkdir()
        subprocess.run(["git", "init", "-q", str(tree)], check=True)
        plant(tree, chance)
        found = files_below(tree, PathPolicy())
        assert found == sorted(found)
        assert found == git_files(tree)


@pytest.mark.clause("ST-46")
def test_an_ignore_file_wins_over_a_gitignore_at_any_level(root: Path) -> None:
    lay(root, "a", "b", "sub/a", "sub/b", top="a\n", sub="b\n")
    (root / ".ignore").write_text("!a\n!b\n")
    assert walked(root) == ["a", "b", "sub/a", "sub/b"]
    (root / ".ignore").write_text("b\n")
    (root / "sub" / ".ignore").write_text("!b\n")
    assert walked(root) == ["sub/b"]


@pytest.mark.clause("ST-46")
def test_hidden_files_count_and_denied_or_excluded_ones_do_not(root: Path) -> None:
    lay(
        root,
        ".github/x.yml",
        ".hidden",
        ".env",
        ".env.example",
        ".git/config",
        "a/node_modules/x",
        "a/dist/y",
    )
    lay(root, "a/dist2/y", "dist", "keys/a.pem", "extra/x", "other/x")
    policy = PathPolicy(("extra/x",))
    expected = [".env.example", ".github/x.yml", ".hidden", "a/dist2/y", "dist", "other/x"]
    assert walked(root, policy, ("dist",)) == expected


@pytest.mark.clause("ST-46")
def test_links_pipes_and_names_that_no_path_can_spell_are_left_out(root: Path) -> None:
    lay(root, "real/file", "with space (1).txt", "übung.md")
    (root / "link").symlink_to("real")
    (root / "filelink").symlink_to("real/file")
    (root / "circle").symlink_to(".")
    os.mkfifo(root / "pipe")
    for name in (b"new\nline", b"back\\slash", b"\xff\xfe", b"c:drive", b"x" * 255):
        (root / os.fsdecode(name)).touch()
    deep = root
    for _ in range(5):
        deep = deep / ("y" * 220)
        deep.mkdir()
    (deep / "too-long-a-path").touch()
    assert walked(root) == ["real/file", "with space (1).txt", "x" * 255, "übung.md"]


@pytest.mark.clause("ST-46")
def test_a_root_that_is_not_there_or_is_a_link(root: Path) -> None:
    assert walked(root / "nothing") == []
    lay(root, "a")
    (root.parent / "link").symlink_to(root)
    assert walked(root.parent / "link") == ["a"]


@pytest.mark.clause("ST-46")
def test_a_stopped_walk_leaves_no_descriptor_open(root: Path) -> None:
    lay(root, *(f"{index}/{index}/x" for index in range(20)))
    before = sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []
    asked = iter([True] * 5)
    assert len(files_below(root, PathPolicy(), go_on=lambda: next(asked, False))) == 2

    def stop(path: str, _: object) -> None:
        raise KeyError(path)

    with pytest.raises(KeyError):
        visit(root, PathPolicy(), stop)
    after = sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []
    assert after == before


@pytest.mark.clause("ST-46")
def test_no_pattern_makes_a_match_hang() -> None:
    lines = [
        "*a" * 40 + "*b",
        "**/a/" * 30 + "b",
        "*?" * 60 + "x",
        "a*/" * 20 + "z",
        "[a-z]*" * 40 + "q",
        "*" * 200 + "z",
    ]
    rules = IgnoreFile("\n".join(lines))
    with never_hanging():  # one way after the other, it would take years
        for path in ("a" * 255, "/".join("a" * 500), "/".join(["ab" * 20] * 20)):
            assert rules.verdict(path, False) is None
        assert rules.verdict("ab" * 100, False) is True


@pytest.mark.clause("ST-46")
def test_of_too_many_patterns_the_first_count_with_all_plain_lines_and_it_is_said(
    root: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("context_pack"), "propagate", True)
    caplog.set_level(logging.WARNING, logger="context_pack")
    patterns = "".join(f"out{number}/**/*.tmp{number}?\n" for number in range(9_000))
    plain = "".join(f"made/file{number}.py\nname{number}\n" for number in range(9_000))
    files = ("out999/a/x.tmp9991", "out8999/a/x.tmp89991", "made/file8999.py", "a/name8999")
    lay(root, *files, top=patterns + plain)
    assert walked(root) == ["out8999/a/x.tmp89991"]
    assert {record.getMessage() for record in caplog.records} == {
        "an ignore file has 9000 patterns: the first 1000 count, and all plain names and paths"
    }
