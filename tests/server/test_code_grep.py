"""`grep_codebase` over a real connection, and `context-pack grep`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from stdio_client import StdioClient

Spawn = Callable[..., StdioClient]
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


@pytest.mark.clause("CD-50", "CD-58", "CD-55")
def test_grep_codebase_answers_over_stdio(project: Path, client: StdioClient) -> None:
    found = grep(client, "jwt")
    assert [(match["file"], match["line"], match["column"]) for match in found["matches"]] == [
        ("src/auth.ts", 1, 4),
        ("src/auth.ts", 3, 10),
        ("src/user.py", 2, 19),
    ]
    assert (found["totalMatches"], found["filesSearched"], found["pattern"]) == (3, 3, "jwt")
    assert found["matches"][1]["context"] == {
        "before": ["// JWT", "export function handleAuth() {"],
        "after": ["}"],
    }
    assert grep(client, "jwt", caseSensitive=True, filePattern="**/*.ts")["totalMatches"] == 1
    assert grep(client, "xyznonexistent123") == {
        "matches": [],
        "totalMatches": 0,
        "filesSearched": 3,
        "message": "No matches found for pattern 'xyznonexistent123'",
    }
    assert grep(client, "jwt(?=\\.)")["totalMatches"] == 1
    (project / "src" / "new.go").write_text("jwt in a new file\n")
    assert grep(client, "jwt")["totalMatches"] == 4


@pytest.mark.clause("CD-60", "CD-63", "CD-06")
def test_errors_have_the_familys_shape(project: Path, client: StdioClient) -> None:
    found = client.error("grep_codebase", {"pattern": "[invalid("})
    assert (found["error"], found["pattern"]) == ("Invalid regex pattern", "[invalid(")
    found = client.error("grep_codebase", {"pattern": "a", "filePattern": "{a"})
    assert found["error"] == "Invalid parameters"
    assert found["details"][0]["path"] == "$.filePattern"
    assert client.error("grep_codebase", {})["error"] == "Invalid parameters"
    assert client.error("grep_codebase", {"pattern": "a", "limit": 101})["error"] == "Invalid parameters"


@pytest.mark.clause("CD-50")
def test_the_tool_is_listed_with_its_arguments_and_bounds(client: StdioClient) -> None:
    tools = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}
    schema = tools["grep_codebase"]["inputSchema"]
    assert schema["required"] == ["pattern"]
    asked = ["pattern", "filePattern", "caseSensitive", "limit"]
    assert list(schema["properties"]) == [*asked, "context", "maxTokens"]
    bounds = schema["properties"]
    assert bounds["pattern"]["maxLength"] == 200
    assert (bounds["limit"]["minimum"], bounds["limit"]["maximum"], bounds["limit"]["default"]) == (
        1,
        100,
        50,
    )
    assert bounds["caseSensitive"]["default"] is False
    assert tools["grep_codebase"]["annotations"]["readOnlyHint"] is True
    assert "outputSchema" in tools["grep_codebase"]


@pytest.mark.slow
@pytest.mark.clause("CD-68", "CD-09")
def test_a_catastrophic_pattern_ends_and_ping_is_answered_meanwhile(project: Path, spawn: Spawn) -> None:
    (project / "trap.txt").write_text(("a" * 90 + "?!\n") * 50)
    client = spawn()
    client.initialize()
    grep(client, "jwt")
    arguments = {"name": "grep_codebase", "arguments": {"pattern": TRAP}}
    client.send({"jsonrpc": "2.0", "id": "trap", "method": "tools/call", "params": arguments})
    for _ in range(5):
        client.request("ping")
    assert client.notifications == []  # the search was not answered before the pings
    found = json.loads(client.reply("trap")["result"]["content"][0]["text"])
    assert (found["matches"], found["truncated"]) == ([], True)
    assert "the time was over after 3 of 4 files" in found["message"]


@pytest.mark.clause("CD-09")
def test_a_cancelled_search_is_not_answered_and_the_next_one_is(project: Path, client: StdioClient) -> None:
    (project / "trap.txt").write_text("a" * 90 + "?!\n")
    arguments = {"name": "grep_codebase", "arguments": {"pattern": f"{TRAP}(?!x)"}}
    client.send({"jsonrpc": "2.0", "id": "trap", "method": "tools/call", "params": arguments})
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "trap"}})
    assert grep(client, "handleAuth")["totalMatches"] == 1
    client.request("ping")
    assert all(message.get("id") != "trap" for message in client.notifications)


@pytest.mark.clause("CD-06")
def test_the_sixty_first_search_of_a_minute_is_refused(project: Path, spawn: Spawn) -> None:
    client = spawn()
    client.initialize()
    for _ in range(60):
        grep(client, "jwt", limit=1)
    found = client.error("grep_codebase", {"pattern": "jwt"})
    assert found["error"] == "Rate limit exceeded for grep_codebase"
    assert 0 < found["retryAfterMs"] <= 60_000


@pytest.fixture
def cli(project: Path) -> CommandLine:
    """The command line in the project."""
    return CommandLine(project)


@pytest.mark.clause("CD-45")
def test_the_command_prints_lines_with_their_places(cli: CommandLine) -> None:
    done = cli("grep", "jwt", "-g", "*.ts")
    assert (done.code, done.err) == (0, "")
    assert done.out == "src/auth.ts:1:// JWT\nsrc/auth.ts:3:  return jwt.sign(payload);\n"
    assert cli("grep", "jwt", "-s", "-g", "*.ts").out == "src/auth.ts:3:  return jwt.sign(payload);\n"
    assert cli("grep", "-s", "--glob", "!*.ts", "JWT|User").out == "src/user.py:1:class User:\n"


@pytest.mark.clause("CD-45")
def test_the_command_says_when_there_is_more(cli: CommandLine) -> None:
    done = cli("grep", "jwt", "-m", "1")
    assert done.out == "src/auth.ts:1:// JWT\n"
    assert done.err.startswith("1 of 3 matching lines")


@pytest.mark.clause("CD-45")
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


@pytest.mark.clause("CD-45")
def test_a_glob_that_no_file_matches_is_reported(cli: CommandLine) -> None:
    done = cli("grep", "jwt", "-g", "no-such-folder")
    assert done.code == 1
    assert "No file matches -g 'no-such-folder'" in done.err


@pytest.mark.clause("CD-45")
def test_the_command_prints_the_tools_answer_as_json(cli: CommandLine) -> None:
    done = cli("grep", "jwt", "--json", "-m", "2")
    assert done.code == 0
    assert done.json["totalMatches"] == 3
    assert len(done.json["matches"]) == 2
    done = cli("grep", "nothing-like-this", "--json")
    assert (done.code, done.json["matches"]) == (1, [])
    done = cli("grep", "[", "--json")
    assert (done.code, done.json["error"]) == (2, "Invalid regex pattern")


@pytest.mark.clause("CD-45")
def test_on_a_terminal_files_are_headings_and_matches_are_coloured(cli: CommandLine) -> None:
    done = cli.on_terminal("grep", "jwt")
    assert done.code == 0
    assert done.out == (
        "\x1b[36msrc/auth.ts\x1b[0m\n"
        "\x1b[32m1\x1b[0m:// \x1b[31mJWT\x1b[0m\n"
        "\x1b[32m3\x1b[0m:  return \x1b[31mjwt\x1b[0m.sign(payload);\n"
        "\n"
        "\x1b[36msrc/user.py\x1b[0m\n"
        "\x1b[32m2\x1b[0m:    pass  # TODO: \x1b[31mjwt\x1b[0m\n"
    )
    assert "\x1b" not in cli.on_terminal("grep", "jwt", NO_COLOR="1").out


@pytest.mark.clause("CD-45")
def test_a_file_cannot_steer_the_readers_terminal(cli: CommandLine, project: Path) -> None:
    (project / "evil.txt").write_text("jwt \x1b]0;owned\x07 \x1b[2J\n")
    done = cli.on_terminal("grep", "jwt", "-g", "evil.txt")
    assert "\x1b]0" not in done.out
    assert "\x1b[2J" not in done.out
