"""`read`, `outline`, `usages` and `grep`: lists for people, colours on a terminal, JSON for programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine
from file_trees import lay

TEXT = "import os\nimport helper\n\nprint(os, helper)  # größe\n" + "# more\n" * 6
FROM_ROOT = "give the path from the source root, as in src/app.py"


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    """The command line in a small project with an ignored folder."""
    files = {
        "app.py": TEXT,
        "helper.py": "X = 1\n",
        "main.py": "def main():\n    return assist()\n\n\ndef assist(): ...\n",
        "big.py": "import helper, large\n",
        "large.py": "#" * 80_001,
        ".env": "SECRET=1",
        ".gitignore": "built/\n",
        "built/gone.py": "def assist(): ...\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return CommandLine(tmp_path)


@pytest.mark.clause("CD-45")
@pytest.mark.parametrize(
    "place, first, count",
    [
        ("app.py", " 1: import os", 10),
        ("app.py:2-3", "2: import helper", 2),
        ("app.py:4", "4: print(os, helper)  # größe", 1),
        ("app.py:8-99", " 8: # more", 3),
        ("main.py#assist", "5: def assist(): ...", 1),
    ],
)
def test_a_file_or_a_part_of_it_is_printed_with_its_line_numbers(
    shell: CommandLine, place: str, first: str, count: int
) -> None:
    done = shell("read", place)
    assert (done.code, done.out.splitlines()[0], done.out.count("\n")) == (0, first, count)


@pytest.mark.clause("CD-45")
def test_imports_come_under_headings_and_say_what_is_left_out(shell: CommandLine) -> None:
    out = shell("read", "app.py", "--deps").out
    assert out.startswith("== app.py  python\n 1: import os\n")
    assert out.endswith("\n\n== helper.py  python\n1: X = 1\n")
    assert "== large.py  python\n(not shown: budget)\n" in shell("read", "big.py", "--deps").out
    found = shell("read", "app.py:1", "--deps", "--json").json
    assert found["file"]["content"] == "import os\n"
    words = ("path=app.py", "includeDeps=true", "startLine=1", "endLine=1")
    assert found == shell("call", "read_file", *words).json


@pytest.mark.clause("CD-45")
@pytest.mark.parametrize(
    "path, words",
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
def test_what_is_not_there_is_answered_with_what_is_near(shell: CommandLine) -> None:
    assert "No definition is called 'asist': main.py: assist (5-5): " in shell("read", "main.py#asist").err
    done = shell("outline", "none.py")
    assert (done.code, done.out, "File not found: none.py" in done.err) == (1, "", True)
    assert shell("outline", "main.py", "--depth", "99").code == 2
    unknown = shell("usages", "nothing_here")
    assert (unknown.code, unknown.out) == (1, "nothing_here: 0 definitions, 0 uses\n")


@pytest.mark.clause("CD-45")
def test_colours_and_visible_control_symbols_are_for_terminals_only(
    shell: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "steer.txt").write_text("a\x1b[31mb\r\n")
    shown = shell.on_terminal("read", "steer.txt").out
    assert shown == "\x1b[2m1: \x1b[0ma\u241b[31mb\n"
    assert shell.on_terminal("read", "steer.txt", NO_COLOR="1").out == "1: a\u241b[31mb\n"
    assert shell("read", "steer.txt").out == "1: a\x1b[31mb\n"


@pytest.mark.clause("CD-82", "CD-45", "CD-85")
def test_outlines_and_usages_are_lists_without_ignored_files(shell: CommandLine) -> None:
    done = shell("outline", ".", "--query", "i")
    assert (done.code, done.err) == (0, "")
    assert done.out == "main.py (5 lines)\n  1-2 def main()\n  5 def assist()\n"
    assert shell("usages", "assist").out.splitlines() == [
        "assist: 1 definition, 1 use",
        "defined main.py:5: def assist()",
        "main.py",
        "  2 in main: return assist()",
    ]


@pytest.mark.clause("CLI-08")
def test_lists_are_whole_unless_a_budget_is_asked_for(shell: CommandLine) -> None:
    names = [f"a_function_with_a_rather_long_name_{number}" for number in range(2_000)]
    (shell.folder / "many.py").write_text("".join(f"def {name}():\n    pass\n" for name in names))
    whole = shell("outline", "many.py")
    assert (whole.out.count("\n"), whole.err) == (2_001, "")
    cut = shell("outline", "many.py", "--max-tokens", "500")
    assert "[" not in cut.out
    assert "narrow PATH, --query or --depth, or raise --max-tokens" in cut.err
    (shell.folder / "large.txt").write_text("".join(f"line number {number}\n" for number in range(30_000)))
    assert shell("read", "large.txt").out.count("\n") == 30_000


@pytest.mark.clause("CLI-08")
def test_what_is_missing_in_a_list_is_said_on_stderr_in_the_words_of_the_command_line(
    shell: CommandLine,
) -> None:
    (shell.folder / "uses.py").write_text("assist()\n" * 20)
    done = shell("usages", "assist", "--limit", "5")
    assert "5 of 21 uses shown; narrow --path, or go on with --offset 5" in done.err
    assert "offset" not in done.out
    assert "--glob is not a valid glob" in shell("grep", "x", "--glob", "[").err
    assert shell("grep", "ASSIST").out.splitlines()[0] == "main.py:2:    return assist()"
    assert shell("grep", "ASSIST", "--case-sensitive").code == 1
    assert shell("grep", "ASSIST", "main.py").out == shell("grep", "ASSIST", "--glob", "main.py").out
    assert (shell("grep", "ASSIST", "..").code, shell("grep", "ASSIST", "nowhere").code) == (2, 2)
    (shell.folder / "app" / "[id]").mkdir(parents=True)
    (shell.folder / "app" / "[id]" / "page.tsx").write_text("TODO\n")
    inside = CommandLine(shell.folder / "app")
    for place in ("app/[id]/page.tsx", "app/[id]", "./[id]", "[id]/page.tsx"):
        done = inside("grep", "TODO", place, "--source-root", "..")
        assert done.out == "app/[id]/page.tsx:1:TODO\n", place
    for name in ("!odd", "#odd", " odd", "..odd", "{a,b}"):
        (shell.folder / name).mkdir()
        (shell.folder / name / "f.py").write_text("TODO\n")
        assert shell("grep", "TODO", name).out == f"{name}/f.py:1:TODO\n"
    assert "there is no ''" in shell("grep", "TODO", "").err
    assert "'context-pack contexts status'" in shell("contexts", "refresh", "none").err


@pytest.mark.clause("CD-45")
def test_a_refusal_names_no_tool_that_a_command_line_does_not_have(tmp_path: Path) -> None:
    lay(tmp_path, {"src/a.py": "A = 1\n"})
    refused = CommandLine(tmp_path)("read", "src")
    assert refused.code == 1
    assert "of a folder, an outline lists what is in it" in refused.err
    missing = CommandLine(tmp_path)("memory", "forget", "1234abcd")
    assert "'context-pack memory list' shows them" in missing.err
