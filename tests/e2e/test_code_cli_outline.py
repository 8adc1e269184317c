"""`context-pack outline`, and the outlines and usages of a tree on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    """The command line in a small project."""
    (tmp_path / "app.py").write_text("def main():\n    return helper()\n\n\ndef helper(): ...\n")
    (tmp_path / ".gitignore").write_text("built/\n")
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "gone.py").write_text("def helper(): ...\n")
    return CommandLine(tmp_path)


@pytest.mark.clause("CD-82", "CD-89")
def test_the_command_prints_the_tools_list_without_ignored_files(shell: CommandLine) -> None:
    done = shell("outline")
    assert (done.code, done.err) == (0, "")
    assert done.out == "app.py (python, 5 lines)\n  1-2 def main()\n  5 def helper()\n"
    assert shell("outline", "app.py", "--query", "HELP").out.splitlines()[1:] == ["  5 def helper()"]


@pytest.mark.clause("CD-89")
def test_an_unreadable_path_is_reported_on_stderr(shell: CommandLine) -> None:
    done = shell("outline", "none.py")
    assert (done.code, done.out) == (1, "")
    assert "File not found: none.py" in done.err
    assert shell("outline", "app.py", "--depth", "99").code == 1


@pytest.mark.clause("CD-85")
def test_usages_leave_ignored_files_out(shell: CommandLine) -> None:
    lines = shell("call", "find_usages", "name=helper").out.splitlines()
    assert lines == [
        "helper: 1 definition, 1 use; by name, not by type",
        "defined app.py:5 helper: def helper()",
        "app.py",
        "  2 in main: return helper()",
    ]
