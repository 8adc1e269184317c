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


@pytest.mark.clause("CD-82", "CD-45")
def test_the_command_prints_the_tools_list_without_ignored_files(shell: CommandLine) -> None:
    done = shell("outline")
    assert (done.code, done.err) == (0, "")
    assert done.out == "app.py (5 lines)\n  1-2 def main()\n  5 def helper()\n"
    assert shell("outline", "app.py", "--query", "HELP").out.splitlines()[1:] == ["  5 def helper()"]


@pytest.mark.clause("CD-45")
def test_an_unreadable_path_is_reported_on_stderr(shell: CommandLine) -> None:
    done = shell("outline", "none.py")
    assert (done.code, done.out) == (1, "")
    assert "File not found: none.py" in done.err
    assert shell("outline", "app.py", "--depth", "99").code == 2


@pytest.mark.clause("CD-85")
def test_usages_leave_ignored_files_out(shell: CommandLine) -> None:
    lines = shell("call", "find_usages", "name=helper").out.splitlines()
    assert lines == [
        "helper: 1 definition, 1 use",
        "defined app.py:5: def helper()",
        "app.py",
        "  2 in main: return helper()",
    ]


@pytest.mark.clause("CLI-08")
def test_an_outline_is_whole_unless_a_budget_is_asked_for(shell: CommandLine) -> None:
    names = [f"a_function_with_a_rather_long_name_{number}" for number in range(2_000)]
    (shell.folder / "large.py").write_text("".join(f"def {name}():\n    pass\n" for name in names))
    whole = shell("outline", "large.py")
    assert (whole.out.count("\n"), whole.err) == (2_001, "")
    cut = shell("outline", "large.py", "--max-tokens", "500")
    assert "[" not in cut.out
    assert "narrow PATH, --query or --depth, or raise --max-tokens" in cut.err


@pytest.mark.clause("CLI-08")
def test_what_is_missing_in_a_list_is_said_on_stderr_in_the_words_of_the_command_line(
    shell: CommandLine,
) -> None:
    (shell.folder / "uses.py").write_text("helper()\n" * 20)
    done = shell("usages", "helper", "--limit", "5")
    assert "5 of 21 uses shown; narrow --path, or go on with --offset 5" in done.err
    assert "offset" not in done.out
    assert "-g is not a valid glob" in shell("grep", "x", "-g", "[").err
    assert "'context-pack contexts status'" in shell("contexts", "refresh", "none").err


@pytest.mark.clause("CLI-08")
def test_a_large_file_is_read_whole(shell: CommandLine) -> None:
    (shell.folder / "large.txt").write_text("".join(f"line number {number}\n" for number in range(30_000)))
    assert shell("read", "large.txt").out.count("\n") == 30_000
