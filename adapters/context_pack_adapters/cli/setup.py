"""`context-pack setup`: writes this server into the configuration of the agents that are here."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any, NamedTuple

import click

from context_pack_adapters.about import IN_THE_CLONE, SOURCE
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.client_files import (
    NAME,
    ClientFile,
    Edit,
    UnreadableConfig,
    block_edit,
    hooks_edit,
    server_edit,
)

ENVIRON = {"CONTEXT_PACK_TOOLS": "auto"}
NEXT = """
Start your agent anew, then ask it to "list the context packs".
'context-pack doctor' checks this side, 'context-pack demo' shows a first pack."""
SHARED = f"""
These files can be shared: they name the bare command, so everybody needs context-pack on the PATH
('uv tool install {SOURCE}' or 'pipx install {SOURCE}'{IN_THE_CLONE}). The client asks each of
them for approval before it starts a server that a project names."""
CLIENT_SECONDS = 60.0
"""How long a client's own command may take."""


def _usual(command: list[str]) -> dict[str, Any]:
    return {"command": command[0], "args": command[1:], "env": ENVIRON}


def _in_a_workspace(command: list[str]) -> dict[str, Any]:
    """The entry for clients that start servers outside the project folder."""
    return {**_usual(command), "env": {"CONTEXT_PACK_SOURCE_ROOT": "${workspaceFolder}", **ENVIRON}}


class Hooks(NamedTuple):
    """Where a client keeps hooks, for a user and in a project, and which of its events run us."""

    user: str
    project: str
    events: Mapping[str, str]
    note: str = ""


class Client(NamedTuple):
    """Where a client keeps its servers, for a user and in a project, and how it spells one.

    Places of a user are below the home folder, but for `.config` and `.codex`, which variables may move.
    """

    title: str
    user: str
    project: str | None
    section: str
    entry: Callable[[list[str]], dict[str, Any]] = _usual
    signs: tuple[str, ...] = ()
    """What is below the home folder where the client is, if that is not the folder of the user's file."""
    add: str = ""
    """Its own command that adds a server: it may hold its file open. Without SCOPE it is the user's alone."""
    remove: str = ""
    hooks: Hooks | None = None


_VS_CODE = "Library/Application Support/Code" if sys.platform == "darwin" else ".config/Code"
CLIENTS: Mapping[str, Client] = {
    "claude": Client(
        "Claude Code", ".claude.json", ".mcp.json", "mcpServers",
        signs=(".claude", ".claude.json"),
        add="claude mcp add-json --scope SCOPE context-pack ENTRY",
        remove="claude mcp remove --scope SCOPE context-pack",
        hooks=Hooks(
            ".claude/settings.json", ".claude/settings.json",
            {"SessionStart": "start", "PreCompact": "compact", "SessionEnd": "end"},
        ),
    ),
    "codex": Client(
        "Codex", ".codex/config.toml", ".codex/config.toml", "mcp_servers",
        add="codex mcp add context-pack --env CONTEXT_PACK_TOOLS=auto -- COMMAND",
        remove="codex mcp remove context-pack",
        hooks=Hooks(
            ".codex/hooks.json", ".codex/hooks.json", {"SessionStart": "start", "PreCompact": "compact"},
            "Codex runs new hooks once you trusted them: it asks, or see /hooks.",
        ),
    ),
    "gemini": Client(
        "Gemini CLI", ".gemini/settings.json", ".gemini/settings.json", "mcpServers",
        add="gemini mcp add --scope SCOPE -e CONTEXT_PACK_TOOLS=auto context-pack COMMAND",
        remove="gemini mcp remove --scope SCOPE context-pack",
        hooks=Hooks(
            ".gemini/settings.json", ".gemini/settings.json",
            {"SessionStart": "start", "PreCompress": "compact", "SessionEnd": "end"},
        ),
    ),
    "cursor": Client(
        "Cursor", ".cursor/mcp.json", ".cursor/mcp.json", "mcpServers", _in_a_workspace,
    ),
    "vscode": Client(
        "VS Code", f"{_VS_CODE}/User/mcp.json", ".vscode/mcp.json", "servers",
        lambda command: {"type": "stdio", **_in_a_workspace(command)}, (_VS_CODE, ".vscode"),
        add="code --add-mcp NAMED_ENTRY",
    ),
    "zed": Client(
        "Zed", ".config/zed/settings.json", ".zed/settings.json", "context_servers",
        lambda command: {"source": "custom", **_usual(command)},
    ),
    "opencode": Client(
        "opencode", ".config/opencode/opencode.json", "opencode.json", "mcp",
        lambda command: {"type": "local", "command": command, "environment": ENVIRON, "enabled": True},
        hooks=Hooks(".config/opencode/plugins/context-pack.js", ".opencode/plugins/context-pack.js", {}),
    ),
    "windsurf": Client(
        "Windsurf", ".codeium/windsurf/mcp_config.json", None, "mcpServers",
    ),
}  # fmt: skip
AGENTS_FILE = "AGENTS.md"
AGENTS_BLOCK = """\
## What is known here

This project keeps context packs and discoveries: notes that know which code they are about. If you have no
context-pack tools (sub-agents often have none), the command does the same:

- before you change a file: `context-pack about FILE` (rules, decisions and claims about it)
- to take over: `context-pack packs list`, then `context-pack packs show NAME`; read again what it lists first
- to find code or notes: `context-pack search "how does …"`
- after a change: `context-pack verify`; exit code 1 means that a note's code changed, so read and correct it
- what you found out and code does not say: `context-pack memory add rule "…" --path FILE --symbol NAME`
"""


@command("setup", anywhere=True)
@click.argument("clients", nargs=-1, type=click.Choice(list(CLIENTS)), metavar="[CLIENT]...")
@flag("--project", "For this project, in files to share, instead of for all projects of yours.")
@flag("--hooks", "Also tell each session what is known here, and keep what it did.")
@flag("--agents-md", "Write how to ask us into AGENTS.md of this project, for agents without our tools.")
@flag("--print", "Print what would be written or removed, and change nothing.", "show")
@flag("--remove", "Take it out again.")
def setup(
    app: App, clients: tuple[str, ...], project: bool, hooks: bool, agents_md: bool, show: bool, remove: bool
) -> int:
    """Write this server into the configuration of your agents.

    Without names, every client is set up whose folder is in your home. Clients with a command of their own
    for this (claude, codex, gemini, code) are asked to do it; files of the others are changed. Everything
    else in those files stays. Where your own file is a link to one in your home folder, that one is changed.
    A file with comments in JSON, and any other link, is left alone, and what to paste is printed. Doing it
    twice changes nothing. --remove takes out the server and the hooks wherever they are.

    Examples:
      context-pack setup                        the clients that are here, for all projects
      context-pack setup claude --hooks         and tell each session what is known
      context-pack setup codex gemini --print   what their files would be given
      context-pack setup claude --project       .mcp.json of this project
      context-pack setup --agents-md            ten lines in AGENTS.md
      context-pack setup --remove               take it out of all of them
    """
    run = SetupRun(app.settings.source_root, project, show, remove, hooks)
    without = [name for name in clients if hooks and CLIENTS[name].hooks is None]
    if without:
        raise click.UsageError(f"{without[0]} has no hooks that we know")
    if agents_md:
        file = ClientFile.in_project(run.source_root, AGENTS_FILE)
        done = run.change(AGENTS_FILE, file, block_edit(AGENTS_BLOCK))
        if not clients:
            return 0 if done else 1
    chosen = clients or [name for name, client in CLIENTS.items() if run.means(client)]
    if not chosen:
        output.complain(f"no client was found; name one of: {', '.join(CLIENTS)}")
        return 1
    results = [run.set_up(CLIENTS[name]) for name in chosen]
    if any(results) and not (remove or show):
        output.note((SHARED if project else "") + NEXT)
    return 0 if all(results) else 1


class SetupRun(NamedTuple):
    """What is done to every client."""

    source_root: str
    project: bool
    show: bool
    remove: bool
    hooks: bool

    def means(self, client: Client) -> bool:
        """Whether an unnamed client is meant: one that is here; for removal, any that may have the entry."""
        if self.remove:
            return client.project is not None or not self.project
        signs = client.signs or (os.path.dirname(client.user),)
        return any(os.path.lexists(user_place(sign)) for sign in signs)

    def set_up(self, client: Client) -> bool:
        """Change the configuration of one client and report it; False if that failed."""
        place = client.project if self.project else client.user
        if place is None:
            output.complain(f"{client.title} has no configuration of a project; leave --project out")
            return False
        start = [NAME] if self.project else command_line()
        file, entry = self._file(place), client.entry(start)
        edit, hooks = server_edit(place, client.section, entry), client.hooks
        if hooks is not None and (self.hooks or self.remove):
            hooks_place = hooks.project if self.project else hooks.user
            if hooks_place == place:
                edit = edit.then(_hooks_edit(hooks, start))
            elif not self.change(
                f"{client.title}, hooks", self._file(hooks_place), _hooks_edit(hooks, start)
            ):
                return False
            if hooks.note and not (self.remove or self.show):
                output.note(hooks.note)
        asked = self._ask(client, entry, file, edit)
        return self.change(client.title, file, edit, " by its own command" if asked else "")

    def _file(self, place: str) -> ClientFile:
        if self.project:
            return ClientFile.in_project(self.source_root, place)
        return ClientFile.of_user(user_place(place))

    def change(self, title: str, file: ClientFile, edit: Edit, done: str = "") -> bool:
        """Change one file, or print what would be changed, and say so; False if that failed.

        `done` says who has changed it already; what that left undone is done here.
        """
        try:
            if self.show and not self.remove:
                output.line(f"# {title}: {file.path}")
                output.raw(edit.put(""))
            elif self.show:
                if file.has_part(edit):
                    output.line(f"{title}: would be removed from {file.path}")
            elif file.change(edit, remove=self.remove) or done:
                output.line(f"{title}: {'removed from' if self.remove else 'written to'} {file.path}{done}")
            elif not self.remove:
                output.line(f"{title}: {file.path} is as it should be")
        except UnreadableConfig as fault:
            if file.names_us() and not (self.remove or self.hooks):  # written by hand, or by its client
                output.line(f"{title}: {file.path} names us{done}; compare it with --print, because {fault}")
                return True
            output.complain(f"{title}: {file.path} cannot be changed: {fault}")
            if not self.remove:
                output.line(f"# put this into {file.path} by hand:")
                output.raw(edit.put(""))
            return False
        except OSError as error:
            output.complain(f"{title}: {file.path}: {error.strerror or error}; see --print")
            return False
        return True

    def _ask(self, client: Client, entry: Mapping[str, Any], file: ClientFile, edit: Edit) -> bool:
        """Let a client that is installed change its own file; whether it did: if not, we do it."""
        own = (client.remove if self.remove else client.add).split()
        installed = shutil.which(own[0]) if own else None
        if installed is None or self.show or (self.project and "SCOPE" not in own):
            return False
        values = {
            "SCOPE": ["project" if self.project else "user"],
            "COMMAND": [entry["command"], *entry["args"]],
            "ENTRY": [json.dumps(entry)],
            "NAMED_ENTRY": [json.dumps({"name": NAME, **entry})],
        }
        # What it cannot do, for whatever reason, is done and told by `change`.
        with suppress(UnreadableConfig, OSError, subprocess.TimeoutExpired):
            if self._is_done(file, edit):
                return False
            subprocess.run(
                [installed, *(word for part in own[1:] for word in values.get(part, [part]))],
                cwd=self.source_root if self.project else os.path.expanduser("~"),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=CLIENT_SECONDS,
                check=False,
            )
            return self._is_done(file, edit)
        return False

    def _is_done(self, file: ClientFile, edit: Edit) -> bool:
        """Whether a file is as it should be; of one with comments only whether it names us is known."""
        text = file.read()
        try:
            return (edit.drop if self.remove else edit.put)(text) == text
        except UnreadableConfig:
            return file.names_us() is not self.remove


def command_line() -> list[str]:
    """The full command that starts this very server."""
    script = os.path.join(os.path.dirname(sys.executable), NAME)
    if os.access(script, os.X_OK):
        return [script]
    return [sys.executable, "-P", "-m", "context_pack"]  # modules of the project are never ours


def user_place(relative: str) -> str:
    """Where a place of the user is, by the variables that its client goes by."""
    top, _, rest = relative.partition("/")
    given = os.environ.get({".config": "XDG_CONFIG_HOME", ".codex": "CODEX_HOME"}.get(top, ""), "")
    return os.path.join(given if os.path.isabs(given) else os.path.expanduser(f"~/{top}"), rest).rstrip("/")


def _hooks_edit(hooks: Hooks, start: list[str]) -> Edit:
    if hooks.events:
        return hooks_edit({event: f"{shlex.join(start)} hook {ours}" for event, ours in hooks.events.items()})
    plugin = files(__package__).joinpath("opencode.js").read_text("utf-8")
    return Edit(lambda _: plugin.replace("COMMAND", json.dumps(start)), lambda _: "")
