"""`context-pack read`: numbered lines for people, colours on a terminal, JSON for programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

from context_pack_adapters.cli.dispatch import run

TEXT = "import os\nimport helper\n\nprint(os, helper)  # größe\n" + "# more\n" * 6

FROM_ROOT = "give the path from the source root, as in src/app.py"


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    """The command line in a small project."""
    (tmp_path / "app.py").write_text(TEXT)
    (tmp_path / "helper.py").write_text("X = 1\n")
    (tmp_path / "big.py").write_text("import helper, large\n")
    (tmp_path / "large.py").write_text("#" * 80_001)
    (tmp_path / ".env").write_text("SECRET=1")
    return CommandLine(tmp_path)


@pytest.mark.clause("CD-45")
def test_lines_are_numbered_from_one(shell: CommandLine) -> None:
    done = shell("read", "app.py")
    assert done.code == 0
    assert done.out.splitlines()[:4] == [
        " 1: import os",
        " 2: import helper",
        " 3: ",
        " 4: print(os, helper)  # größe",
    ]
    assert done.out.splitlines()[-1] == "10: # more"


@pytest.mark.clause("CD-45")
def test_a_definition_that_is_not_there_is_answered_with_near_ones(
    tmp_path: Path, shell: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two.py").write_text("def load():\n    return 1\n")
    assert run(["read", "two.py#laod", "--source-root", str(tmp_path)]) == 1
    assert "No definition is called 'laod': two.py: load (1-2): " in capsys.readouterr().err


@pytest.mark.clause("CD-45")
@pytest.mark.parametrize(
    ("lines", "numbers"),
    [("2-3", [2, 3]), ("9-", [9, 10]), ("-2", [1, 2]), ("4", [4]), ("8-99", [8, 9, 10]), (" 2-2 ", [2])],
)
def test_a_range_keeps_its_line_numbers(shell: CommandLine, lines: str, numbers: list[int]) -> None:
    done = shell("read", "app.py", f"--lines={lines}")
    assert [int(line.split(":")[0]) for line in done.out.splitlines()] == numbers


@pytest.mark.clause("CD-45")
@pytest.mark.parametrize("lines", ["", "-", "a-b", "1-2-3", "1,2", "1.5", "٣"])
def test_a_malformed_line_range_is_wrong_usage(shell: CommandLine, lines: str) -> None:
    done = shell("read", "app.py", f"--lines={lines}")
    assert (done.code, done.out) == (2, "")
    assert "40-60" in done.err


@pytest.mark.clause("CD-45")
@pytest.mark.parametrize(
    "lines, words",
    [("5-2", "write it as 2-5"), ("0", "line of a file is 1"), ("0-3", "is 1"), ("-0", "is 1")],
)
def test_a_range_without_lines_is_wrong_usage(shell: CommandLine, lines: str, words: str) -> None:
    done = shell("read", "app.py", f"--lines={lines}")
    assert (done.code, done.out, words in done.err) == (2, "", True)


@pytest.mark.clause("CD-45")
def test_imports_come_under_headings_and_say_what_is_left_out(shell: CommandLine) -> None:
    out = shell("read", "app.py", "--deps").out
    assert out.startswith("== app.py  python, 10 lines\n 1: import os\n")
    assert "\n\n== helper.py  python, 1 line\n1: X = 1\n" in out
    assert out.endswith("\n\nexternal: os\n")
    assert "== large.py  python, 1 line\n(not shown: budget)\n" in shell("read", "big.py", "--deps").out


@pytest.mark.clause("CD-45")
def test_json_is_the_tools_own_answer(shell: CommandLine) -> None:
    found = shell("read", "app.py", "--deps", "--lines", "1-1", "--json").json
    assert found["file"]["content"] == "import os\n"
    assert [each["path"] for each in found["dependencies"]] == ["helper.py"]
    assert (
        found
        == shell("call", "read_file", "path=app.py", "includeDeps=true", "startLine=1", "endLine=1").json
    )


@pytest.mark.clause("CD-45")
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nothing.py", "File not found: nothing.py"),
        (".env", "Permission denied: .env"),
        ("../x", f"Path traversal not allowed: ../x: {FROM_ROOT}"),
        ("/etc/passwd", f"Absolute paths not allowed: /etc/passwd: {FROM_ROOT}"),
    ],
)
def test_a_refusal_is_one_line_on_stderr(shell: CommandLine, path: str, words: str) -> None:
    done = shell("read", path)
    assert (done.code, done.out, done.err) == (1, "", f"context-pack: {words}\n")
    assert shell("read", path, "--json").json["path"] == path


@pytest.mark.clause("CD-45")
def test_colours_and_visible_control_symbols_are_for_terminals_only(
    shell: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "steer.txt").write_text("a\x1b[31mb\r\n")
    shown = shell.on_terminal("read", "steer.txt").out
    assert shown == "\x1b[2m1: \x1b[0ma\u241b[31mb\n"
    assert shell.on_terminal("read", "steer.txt", NO_COLOR="1").out == "1: a\u241b[31mb\n"
    assert shell("read", "steer.txt").out == "1: a\x1b[31mb\n"


@pytest.mark.clause("CD-45")
def test_an_empty_file_prints_nothing(shell: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    done = shell("read", "empty")
    assert (done.code, done.out) == (0, "")


@pytest.mark.clause("CD-45")
def test_the_command_is_in_the_help_with_examples(shell: CommandLine) -> None:
    assert "  read " in shell("--help", "--all").out
    assert "--lines" in shell("read", "--help").out
