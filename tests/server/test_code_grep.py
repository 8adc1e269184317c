"""`grep_codebase` over a real connection, and `context-pack grep`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from stdio_client import StdioClient

TRAP = "(a|aa)+!$"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project."""
    for path, text in {
        "src/auth.ts": "// JWT\nexport function handleAuth() {\n  return jwt.sign(payload);\n}\n",
        "src/user.py": "class User:\n    pass  # TODO: jwt\n",
        ".gitignore": "*.log\n",
        "debug.log": "jwt\n",
        ".env": "jwt=secret\n",
        "node_modules/jwt/index.js": "jwt\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def grep(client: StdioClient, pattern: str, **options: Any) -> Any:
    """A successful search."""
    return client.payload("grep_codebase", {"pattern": pattern, **options})


@pytest.mark.clause("CD-69")
def test_a_cancelled_search_is_not_answered_and_the_next_one_is(project: Path, client: StdioClient) -> None:
    (project / "trap.txt").write_text("a" * 90 + "?!\n")
    arguments = {"name": "grep_codebase", "arguments": {"pattern": f"{TRAP}(?!x)"}}
    client.send({"jsonrpc": "2.0", "id": "trap", "method": "tools/call", "params": arguments})
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "trap"}})
    assert grep(client, "handleAuth")["totalMatches"] == 1
    client.request("ping")
    assert all(message.get("id") != "trap" for message in client.notifications)


@pytest.fixture
def cli(project: Path) -> CommandLine:
    """The command line in the project."""
    return CommandLine(project)


@pytest.mark.clause("CD-73")
def test_the_command_prints_lines_with_their_places(cli: CommandLine) -> None:
    done = cli("grep", "jwt", "-g", "*.ts")
    assert (done.code, done.err) == (0, "")
    assert done.out == "src/auth.ts:1:// JWT\nsrc/auth.ts:3:  return jwt.sign(payload);\n"
    assert cli("grep", "jwt", "-s", "-g", "*.ts").out == "src/auth.ts:3:  return jwt.sign(payload);\n"
    assert cli("grep", "-s", "--glob", "!*.ts", "JWT|User").out == "src/user.py:1:class User:\n"


@pytest.mark.clause("CD-73")
def test_the_exit_code_is_greps(cli: CommandLine) -> None:
    done = cli("grep", "nothing-like-this")
    assert (done.code, done.out) == (1, "")
    assert "No matches found for pattern 'nothing-like-this' in 3 files." in done.err
    for words in (["["], ["a", "-g", "{"], ["a" * 201], [""]):
        done = cli("grep", *words)
        assert (done.code, done.out) == (2, ""), words
        assert done.err.startswith("context-pack: Invalid ")
    assert cli("grep").code == 2
    for count in ("many", "0", "101"):
        done = cli("grep", "a", "-m", count)
        assert (done.code, "-m/--max-count" in done.err) == (2, True)
