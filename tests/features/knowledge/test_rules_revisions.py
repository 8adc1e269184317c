"""What changed since a revision: asked of a real git, in repositories that may be hostile."""

from __future__ import annotations

from pathlib import Path

import pytest
from file_trees import committed, git

from context_pack.kernel.errors import Code, Failure
from context_pack.knowledge.places import parse_diff
from context_pack_adapters.source.changes import GitChanges


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one commit, and a change that is not committed."""
    folder = committed(tmp_path / "project", {"src/a.py": "one\ntwo\nthree\n"})
    (folder / "src/a.py").write_text("one\nTWO\nthree\n")
    return folder


@pytest.mark.clause("KW-02")
@pytest.mark.parametrize("root, path", [(".", "src/a.py"), ("src", "a.py")])
def test_changes_since_a_revision_name_the_lines_from_the_root_on(
    project: Path, root: str, path: str
) -> None:
    (file,) = parse_diff(GitChanges(project / root).since("main"))
    (hunk,) = file.hunks
    assert (file.new, hunk.new_start, hunk.new_count) == (path, 2, 1)


@pytest.mark.clause("KW-02")
def test_a_worktree_of_the_repository_is_compared_too(project: Path, tmp_path: Path) -> None:
    git(project, "worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    assert GitChanges(tmp_path / "other").since("main") == ""


@pytest.mark.clause("KW-02")
def test_no_command_that_a_repository_configures_is_run(project: Path, tmp_path: Path) -> None:
    decoy = tmp_path / "ran"
    for name in ("core.fsmonitor", "diff.external", "filter.x.clean", "filter.x.process", "diff.x.textconv"):
        git(project, "config", name, f"touch {decoy} #")
    (project / ".git/info").mkdir(exist_ok=True)
    (project / ".git/info/attributes").write_text("*.py filter=x diff=x\n")
    (project / ".gitattributes").write_text("*.py filter=x diff=x\n")
    assert "+TWO" in GitChanges(project).since("HEAD")
    assert not decoy.exists()


@pytest.mark.clause("KW-02")
@pytest.mark.parametrize("base", ["nothing", "--output=planted", "HEAD~9"])
def test_an_unknown_revision_is_an_error_that_says_what_to_name(project: Path, base: str) -> None:
    with pytest.raises(Failure, match="name a branch") as caught:
        GitChanges(project).since(base)
    assert caught.value.code is Code.NOT_FOUND
    assert not (project / "planted").exists()


@pytest.mark.clause("KW-02")
def test_a_folder_without_a_repository_asks_for_the_text(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="give the text of the diff"):
        GitChanges(tmp_path).since("HEAD")
