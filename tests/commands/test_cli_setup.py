"""`context-pack setup`: the clients that are here are given this server, and nothing else changes."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine, Done
from stdio_client import environment

from context_pack_adapters.cli.dispatch import run
from context_pack_adapters.cli.setup import command_line

Setup = Callable[..., Done]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with three clients in it."""
    place = tmp_path / "home"
    (place / ".codex").mkdir(parents=True)
    (place / ".codex/config.toml").write_text('model = "o3" # mine\n')
    (place / ".gemini").mkdir()
    (place / ".config/opencode").mkdir(parents=True)
    (place / ".config/opencode/opencode.json").write_text('{"theme": "x"}\n')
    return place


@pytest.fixture
def setup(tmp_path: Path, home: Path) -> Setup:
    """Runs the command in that home."""
    cli = CommandLine(tmp_path)
    return lambda *words: cli("setup", *words, HOME=str(home))


@pytest.mark.clause("CLI-60")
def test_setup_configures_installed_clients_once_and_can_undo_it(home: Path, setup: Setup) -> None:
    done = setup()
    assert done.code == 0, done.err
    assert [line.partition(":")[0] for line in done.out.splitlines()[:3]] == [
        "Codex",
        "Gemini CLI",
        "opencode",
    ]
    codex = (home / ".codex/config.toml").read_text()
    assert codex.startswith('model = "o3" # mine\n')
    entry = tomllib.loads(codex)["mcp_servers"]["context-pack"]
    assert entry["env"] == {"CONTEXT_PACK_TOOLS": "auto"}
    assert Path(entry["command"]).is_absolute()
    gemini = json.loads((home / ".gemini/settings.json").read_text())
    assert gemini["mcpServers"]["context-pack"]["command"] == entry["command"]
    opencode = (home / ".config/opencode/opencode.json").read_text()
    assert json.loads(opencode)["theme"] == "x"
    files = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert setup().out.count("as it should be") == 3
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == files
    assert setup("cursor").code == 0
    would = setup("--remove", "--print")
    assert [line.partition(" from ")[0] for line in would.out.splitlines()] == [
        f"{client}: would be removed" for client in ("Codex", "Gemini CLI", "Cursor", "opencode")
    ]
    assert setup("--remove").code == 0
    assert (home / ".codex/config.toml").read_text() == 'model = "o3" # mine\n'
    assert json.loads((home / ".config/opencode/opencode.json").read_text()) == {"theme": "x"}
    assert list((home / ".gemini").iterdir()) == list((home / ".cursor").iterdir()) == []  # they stay known
    assert setup("--remove").out == ""


@pytest.mark.clause("CLI-60")
def test_a_project_is_set_up_in_its_own_files_and_the_command_serves(tmp_path: Path, setup: Setup) -> None:
    done = setup("claude", "vscode", "zed", "cursor", "--project")
    assert done.code == 0
    assert "context-pack on the PATH" in done.err
    assert "approval" in done.err
    entry = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["context-pack"]
    assert (
        json.loads((tmp_path / ".vscode/mcp.json").read_text())["servers"]["context-pack"]["type"] == "stdio"
    )
    assert "context_servers" in json.loads((tmp_path / ".zed/settings.json").read_text())
    hello = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n'
    assert (entry["command"], entry["args"]) == ("context-pack", [])
    command = [Path(sys.executable).parent / entry["command"]]
    told = subprocess.run(command, input=hello, capture_output=True, cwd=tmp_path, check=True, timeout=60)
    assert json.loads(told.stdout.split(b"\n")[0])["result"]["serverInfo"]["name"] == "context-pack"
    assert setup("windsurf", "--project").code == 1
    assert setup("--project", "--remove").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


@pytest.mark.clause("CLI-60")
@pytest.mark.parametrize("text", ["{ not json", '{\n  // mine\n  "recent": ["/src/context-pack"]\n}\n'])
def test_a_file_that_cannot_be_kept_is_left_alone_and_the_entry_to_paste_is_printed(
    home: Path, setup: Setup, text: str
) -> None:
    (home / ".config/opencode/opencode.json").write_text(text)
    assert "[mcp_servers.context-pack]" in setup("opencode", "codex", "--print").out
    done = setup("opencode")
    assert (done.code, "it has comments, or is no JSON" in done.err) == (1, True)
    assert json.loads(done.out.partition("\n")[2])["mcp"]["context-pack"]["type"] == "local"
    assert [path.read_text() for path in (home / ".config/opencode").iterdir()] == [text]
    assert setup("spoon").code == 2


@pytest.mark.clause("CLI-60")
def test_a_file_with_comments_that_was_written_by_hand_is_not_asked_for_again(
    home: Path, setup: Setup
) -> None:
    path = home / ".config/opencode/opencode.json"
    path.write_text('{\n  // mine\n  "mcp": {"context-pack": {"type": "local"}}\n}\n')
    done = setup("opencode")
    assert (done.code, "names us; compare it with --print, because it has comments" in done.out) == (0, True)
    assert setup("opencode", "--remove").code == 1


@pytest.mark.clause("CLI-60")
def test_a_private_file_stays_private(home: Path, setup: Setup) -> None:
    path = home / ".claude.json"
    path.write_text('{"oauthAccount": {"token": "decoy"}}\n')
    path.chmod(0o600)
    assert setup("claude").code == 0
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text(json.dumps({**json.loads(path.read_text()), "numStartups": 7}))
    assert setup("claude", "--remove").code == 0
    assert json.loads(path.read_text()) == {"oauthAccount": {"token": "decoy"}, "numStartups": 7}


@pytest.mark.clause("CLI-60")
@pytest.mark.parametrize("command", [["gemini"], ["opencode", "--hooks"]])
def test_a_link_into_the_home_folder_is_followed_and_stays(
    home: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    path = home / (".gemini/settings.json" if command == ["gemini"] else ".config/opencode/opencode.json")
    kept = home / "dotfiles/settings.json"
    kept.parent.mkdir()
    kept.write_text('{"theme":"x"}')
    kept.chmod(0o600)
    path.unlink(missing_ok=True)
    path.symlink_to(kept)
    assert run(["setup", *command]) == 0
    assert "context-pack" in kept.read_text()
    assert (path.is_symlink(), kept.stat().st_mode & 0o777, len([*kept.parent.iterdir()])) == (True, 0o600, 1)
    assert run(["setup", command[0], "--remove"]) == 0
    assert (path.is_symlink(), json.loads(kept.read_text())) == (True, {"theme": "x"})


@pytest.mark.clause("CLI-60")
@pytest.mark.parametrize("where", ["outside", "project", "nowhere"])
def test_any_other_link_is_left_alone_and_says_what_to_do(
    tmp_path: Path, home: Path, setup: Setup, where: str
) -> None:
    path = tmp_path / ".gemini/settings.json" if where == "project" else home / ".gemini/settings.json"
    path.parent.mkdir(exist_ok=True)
    target = {"outside": tmp_path, "project": home, "nowhere": home / "none"}[where] / "settings.json"
    if where != "nowhere":
        target.write_text("{}")
    path.symlink_to(target)
    done = setup("gemini", *(["--project"] if where == "project" else []))
    assert (done.code, "it is a link" in done.err, "by hand" in done.out) == (1, True, True)
    assert (path.is_symlink(), target.exists() and target.read_text()) == (True, where != "nowhere" and "{}")


@pytest.mark.clause("CLI-60")
def test_variables_of_the_clients_move_their_files(tmp_path: Path, home: Path) -> None:
    places = {"CODEX_HOME": str(tmp_path / "codex"), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    (tmp_path / "xdg/zed").mkdir(parents=True)
    (tmp_path / "codex").mkdir()
    done = CommandLine(tmp_path)("setup", HOME=str(home), **places)
    assert [line.partition(":")[0] for line in done.out.splitlines()] == ["Codex", "Gemini CLI", "Zed"]
    assert "context-pack" in (tmp_path / "codex/config.toml").read_text()
    assert "context-pack" in (tmp_path / "xdg/zed/settings.json").read_text()
    assert not (home / ".config/zed").exists()


@pytest.mark.clause("CLI-60")
def test_an_entry_of_an_earlier_setup_is_not_given_back(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home))
    path = home / ".gemini/settings.json"
    path.write_text('{"mcpServers": {"context-pack": {"command": "/old"}, "b": {}}}')
    assert run(["setup", "gemini"]) == 0
    assert run(["setup", "gemini", "--remove"]) == 0
    assert json.loads(path.read_text()) == {"mcpServers": {"b": {}}}
    path.unlink()
    assert run(["setup", "gemini"]) == 0
    path.write_text(path.read_text().replace("auto", "all"))
    assert run(["setup", "gemini"]) == 0
    assert run(["setup", "gemini", "--remove"]) == 0
    assert not path.exists()


@pytest.mark.clause("CLI-60")
def test_without_a_script_the_command_imports_nothing_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "typing.py").write_text("raise SystemExit('the project was run')\n")
    python = sys.executable
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    command = command_line()
    assert command[0] == str(tmp_path / "python")
    told = subprocess.run(
        [python, *command[1:], "--version"], cwd=tmp_path, capture_output=True, text=True, env=environment(),
        timeout=60, check=True,
    )  # fmt: skip
    assert told.stdout.startswith("context-pack ")


HOOKS_OF_ITS_OWN = '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "say hello"}]}]}}'


@pytest.mark.clause("CLI-72")
@pytest.mark.parametrize(
    ("client", "file"),
    [
        ("claude", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
    ],
)
def test_hooks_stand_beside_those_that_are_there_until_they_are_removed(
    home: Path, monkeypatch: pytest.MonkeyPatch, client: str, file: str
) -> None:
    monkeypatch.setenv("HOME", str(home))
    path = home / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(HOOKS_OF_ITS_OWN)
    assert run(["setup", client, "--hooks"]) == 0
    hooks = json.loads(path.read_text())["hooks"]
    commands = [each["command"] for group in hooks["SessionStart"] for each in group["hooks"]]
    assert commands[0] == "say hello"
    assert commands[1].endswith("context-pack hook start")
    assert {event for event in hooks if event.startswith("PreCom")}
    once = path.read_bytes()
    assert run(["setup", client, "--hooks"]) == 0
    assert path.read_bytes() == once
    assert run(["setup", client, "--remove"]) == 0
    assert json.loads(path.read_text()) == json.loads(HOOKS_OF_ITS_OWN)


@pytest.mark.clause("CLI-72")
def test_opencode_gets_a_plugin_that_runs_the_hooks_and_goes_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    path = home / ".config/opencode/plugins/context-pack.js"
    assert run(["setup", "opencode", "--hooks"]) == 0
    assert json.dumps(command_line()) in path.read_text()
    assert run(["setup", "opencode", "--remove"]) == 0
    assert not path.exists()


@pytest.mark.clause("CLI-72")
@pytest.mark.parametrize("text", [None, "# Ours\n", "# Ours\n\nTheirs\n"])
def test_a_block_in_agents_md_is_put_in_once_and_taken_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "AGENTS.md"
    if text is not None:
        path.write_text(text)
    assert run(["setup", "--agents-md"]) == 0
    once = path.read_text()
    assert "context-pack about FILE" in once
    assert once.startswith(text or "")
    assert run(["setup", "--agents-md"]) == 0
    assert path.read_text() == once
    assert run(["setup", "--agents-md", "--remove"]) == 0
    assert (path.read_text() if path.exists() else None) == text


@pytest.mark.clause("CLI-73")
@pytest.mark.parametrize("works", [True, False])
def test_a_clients_own_command_is_asked_and_where_it_fails_its_file_is_changed(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, works: bool
) -> None:
    entry = '{"mcpServers": {"context-pack": {"command": "by-its-own", "args": [], "env": {}}}}'
    program = tmp_path / "bin/gemini"
    program.parent.mkdir()
    write = f'[ "$2" = add ] && printf \'{entry}\' > "$HOME/.gemini/settings.json"' if works else "exit 1"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n{write}\n')
    program.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    (home / ".gemini/settings.json").write_text("{ // mine\n}" if works else "{}")
    assert run(["setup", "gemini"]) == 0
    asked = (tmp_path / "asked").read_text()
    assert asked.startswith("mcp add --scope user -e CONTEXT_PACK_TOOLS=auto context-pack ")
    servers = json.loads((home / ".gemini/settings.json").read_text())["mcpServers"]
    assert servers["context-pack"]["env"] == {"CONTEXT_PACK_TOOLS": "auto"}
