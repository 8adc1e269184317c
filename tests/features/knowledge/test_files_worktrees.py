"""What is written down in one worktree is read in the others, named as theirs, and written in its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from file_trees import committed, git

from context_pack_adapters.library import Workspace, open_workspace
from context_pack_adapters.settings import DEFAULT_ROOT

CODE = 'def expiry(now, minutes):\n    """When it ends."""\n    return now + minutes\n'
RULE = "An expiry is never in the past: callers sort by it"
TEXT = "# Times\n\n## Ends\n\nIt ends after `minutes`: src/ttl.py#expiry.\n"


def write_down(project: Path, name: str = "times") -> None:
    """A pack and a discovery about the function."""
    with open_workspace(project) as workspace:
        done = workspace.call("input", {"action": "write", "text": TEXT, "name": name, "ttl_minutes": 60})
        assert not done.is_error, done.text
        rule = {"type": "rule", "content": RULE, "path": "src/ttl.py", "symbol": "expiry"}
        assert not workspace.call("context_record", rule).is_error


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """A repository with one file, and a linked worktree beside it."""
    folder = committed(tmp_path / "main", {"src/ttl.py": CODE})
    git(folder, "worktree", "add", "-q", str(tmp_path / "side"), "-b", "side")
    return folder


@pytest.fixture
def side(main: Path, tmp_path: Path) -> Iterator[Workspace]:
    """The linked worktree, while the main one knows something."""
    write_down(main)
    with open_workspace(tmp_path / "side") as workspace:
        yield workspace


def lists(side: Workspace) -> str:
    return side.call("output", {}).text


def renders(side: Workspace) -> str:
    return side.call("output", {"name": "times"}).text


def is_told(side: Workspace) -> str:
    return side.call("context_for", {"path": "src/ttl.py"}).text


def reads(side: Workspace) -> str:
    return side.call("read_file", {"path": "src/ttl.py"}).text


@pytest.mark.clause("KW-12")
@pytest.mark.parametrize("ask", [lists, renders, is_told, reads])
def test_packs_and_discoveries_of_the_main_worktree_are_read_and_named(
    side: Workspace, ask: Callable[[Workspace], str]
) -> None:
    assert "from worktree" in ask(side)
    assert "main" in ask(side)


@pytest.mark.clause("KW-12")
def test_a_search_names_the_worktree_of_what_it_finds(side: Workspace) -> None:
    query = {"query": "expiry never in the past", "sources": ["discovery", "pack"]}
    rows = json.loads(side.call("context_search", query).text)["results"]
    assert {row["worktree"] for row in rows} == {"main"}


@pytest.mark.clause("KW-12")
def test_a_linked_worktree_is_read_from_the_main_one_and_from_another(main: Path, tmp_path: Path) -> None:
    git(main, "worktree", "add", "-q", str(tmp_path / "third"), "-b", "third")
    write_down(tmp_path / "side")
    for project in (main, tmp_path / "third"):
        with open_workspace(project) as workspace:
            assert "from worktree side" in lists(workspace)


@pytest.mark.clause("KW-12")
def test_what_is_written_in_both_is_the_own_one(main: Path, tmp_path: Path, side: Workspace) -> None:
    (pack,) = (main / DEFAULT_ROOT / "packs").glob("*.md")
    own = tmp_path / "side" / DEFAULT_ROOT / "packs" / pack.name
    own.parent.mkdir(parents=True)
    own.write_bytes(pack.read_bytes())
    assert "from worktree" not in renders(side)


def unreadable_pack(main: Path) -> None:
    (main / DEFAULT_ROOT / "packs/pk_aaaaaaaa.md").write_text("no pack")


def unreadable_discovery(main: Path) -> None:
    (discovery,) = (main / DEFAULT_ROOT / "memory/discoveries").glob("*.md")
    discovery.with_name(f"{'0' * 8}-0000-4000-8000-{'0' * 12}.md").write_text("no discovery")


def does_not_find(side: Workspace) -> str:
    return side.call("output", {"name": "unknown"}).text


@pytest.mark.clause("KW-12")
@pytest.mark.parametrize(
    ("spoil", "ask"),
    [
        (unreadable_pack, lists),
        (unreadable_pack, does_not_find),
        (unreadable_pack, is_told),
        (unreadable_discovery, is_told),
    ],
)
def test_a_file_of_another_worktree_that_cannot_be_read_is_named_and_hides_nothing(
    side: Workspace, main: Path, spoil: Callable[[Path], None], ask: Callable[[Workspace], str]
) -> None:
    spoil(main)
    assert "in worktree main: " in ask(side)
    assert "from worktree main" in lists(side)


@pytest.mark.clause("KW-12")
def test_worktrees_that_git_links_by_relative_paths_are_read(main: Path, tmp_path: Path) -> None:
    """As git 2.48 writes them with `worktree.useRelativePaths`."""
    write_down(main)
    git(main, "config", "extensions.relativeWorktrees", "true")
    (tmp_path / "side/.git").write_text("gitdir: ../main/.git/worktrees/side\n")
    (main / ".git/worktrees/side/gitdir").write_text("../../../../side/.git\n")
    with open_workspace(tmp_path / "side") as workspace:
        assert "from worktree main" in lists(workspace)
    write_down(tmp_path / "side", "others")
    with open_workspace(main) as workspace:
        assert "from worktree side" in lists(workspace)


@pytest.mark.clause("KW-13")
def test_a_pack_of_another_worktree_cannot_be_changed_and_is_not_checked(side: Workspace, main: Path) -> None:
    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in (main / DEFAULT_ROOT).rglob("*") if path.is_file()}

    before = files()
    refused = side.call(
        "input", {"action": "touch_ttl", "name": "times", "extend_minutes": 9, "expected_revision": 1}
    )
    assert refused.is_error
    assert side.cases.gate.verify().counts["packs"]["checked"] == 0
    assert files() == before


@pytest.mark.clause("KW-12")
def test_of_code_that_is_otherwise_here_nothing_is_told(side: Workspace, tmp_path: Path) -> None:
    (tmp_path / "side/src/ttl.py").write_text(CODE.replace("now + minutes", "now * minutes + 1"))
    assert RULE not in is_told(side)


def links_the_entries(stranger: Path, main: Path) -> None:
    (stranger / ".git").mkdir()
    (stranger / ".git/worktrees").symlink_to(main / ".git/worktrees")


def links_the_repository(stranger: Path, main: Path) -> None:
    (stranger / ".git").symlink_to(main / ".git")


def names_the_entry(stranger: Path, main: Path) -> None:
    (stranger / ".git").write_text(f"gitdir: {main}/.git/worktrees/side\n")


def names_the_tree(stranger: Path, main: Path) -> None:
    (stranger / ".git/worktrees/side").mkdir(parents=True)
    (stranger / ".git/worktrees/side/gitdir").write_text(f"{main}/.git\n")
    (stranger / ".git/worktrees/two").mkdir(parents=True)
    (stranger / ".git/worktrees/two/gitdir").write_text(f"{main.parent}/side/.git\n")


@pytest.mark.clause("KW-13")
@pytest.mark.parametrize("claim", [links_the_entries, links_the_repository, names_the_entry, names_the_tree])
def test_a_repository_that_only_claims_to_be_of_ours_is_not_believed(
    main: Path, tmp_path: Path, claim: Callable[[Path, Path], Any]
) -> None:
    write_down(main)
    write_down(tmp_path / "side", "sides")
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    claim(stranger, main)
    with open_workspace(stranger) as workspace:
        assert "from worktree" not in lists(workspace)


@pytest.mark.clause("KW-13")
def test_no_link_below_another_worktree_is_followed(main: Path, tmp_path: Path) -> None:
    write_down(main)
    (main / DEFAULT_ROOT).rename(tmp_path / "elsewhere")
    (main / DEFAULT_ROOT).symlink_to(tmp_path / "elsewhere")
    with open_workspace(tmp_path / "side") as workspace:
        assert "from worktree" not in lists(workspace)
