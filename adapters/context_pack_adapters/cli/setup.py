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

from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.client_file import ClientFile, Edit
from context_pack_adapters.cli.config_text import (
    UnreadableConfig,
    drop_block,
    drop_hooks,
    drop_json,
    drop_toml,
    put_block,
    put_hooks,
    put_json,
    put_toml,
)
from context_pack_adapters.files.folder import Folder

NAME = "context-pack"
ENVIRON = {"CONTEXT_PACK_TOOLS": "auto"}
NEXT = """
Start your agent anew, then ask it to "list the context packs".
'context-pack doctor' checks this side, 'context-pack demo' shows a first pack."""
SHARED = """
These files can be shared: they name the bare command, so everybody needs context-pack on the PATH
('uv tool install .' or 'pipx install .' in the clone of context-pack). The client asks each of them for
approval before it starts a server that a project names."""

CLIENT_SECONDS = 60.0
"""How long a client's own command may take."""
Entry = Callable[[list[str]], Mapping[str, Any]]


def _usual(command: list[str]) -> Mapping[str, Any]:
    return {"command": command[0], "args": command[1:], "env": ENVIRON}


def _in_a_workspace(command: list[str]) -> Mapping[str, Any]:
    """The entry for clients that start servers outside the project folder."""
    return {**_usual(command), "env": {"CONTEXT_PACK_SOURCE_ROOT": "${workspaceFolder}", **ENVIRON}}


class Client(NamedTuple):
    """Where a client keeps its servers, for a user and in a project, and how it spells one.

    Places of a user are below the home folder, but for `.config` and `.codex`, which variables may move.
    """

    title: str
    user: str
    project: str | None
    section: str
    entry: Entry = _usual
    signs: tuple[str, ...] = ()
    """What is below the home folder where the client is."""


_VS_CODE = "Library/Application Support/Code" if sys.platform == "darwin" else ".config/Code"
CLIENTS: Mapping[str, Client] = {
    "claude": Client(
        "Claude Code", ".claude.json", ".mcp.json", "mcpServers", signs=(".claude", ".claude.json")
    ),
    "codex": Client("Codex", ".codex/config.toml", ".codex/config.toml", "mcp_servers", signs=(".codex",)),
    "gemini": Client(
        "Gemini CLI", ".gemini/settings.json", ".gemini/settings.json", "mcpServers", signs=(".gemini",)
    ),
    "cursor": Client(
        "Cursor", ".cursor/mcp.json", ".cursor/mcp.json", "mcpServers", _in_a_workspace, (".cursor",)
    ),
    "vscode": Client(
        "VS Code", f"{_VS_CODE}/User/mcp.json", ".vscode/mcp.json", "servers",
        lambda command: {"type": "stdio", **_in_a_workspace(command)}, (_VS_CODE, ".vscode"),
    ),
    "zed": Client(
        "Zed", ".config/zed/settings.json", ".zed/settings.json", "context_servers",
        lambda command: {"source": "custom", **_usual(command)}, (".config/zed",),
    ),
    "opencode": Client(
        "opencode", ".config/opencode/opencode.json", "opencode.json", "mcp",
        lambda command: {"type": "local", "command": command, "environment": ENVIRON, "enabled": True},
        (".config/opencode", ".local/share/opencode"),
    ),
    "windsurf": Client(
        "Windsurf", ".codeium/windsurf/mcp_config.json", None, "mcpServers", signs=(".codeium/windsurf",)
    ),
}  # fmt: skip


class OwnCommand(NamedTuple):
    """A client's own command that changes its configuration: it may hold the file open."""

    program: str
    add: Callable[[Mapping[str, Any], str], list[str]]
    remove: Callable[[str], list[str]] | None
    scopes: tuple[str, ...] = ("user", "project")


def _variables(entry: Mapping[str, Any], option: str) -> list[str]:
    return [word for name, value in entry["env"].items() for word in (option, f"{name}={value}")]


OWN_COMMANDS: Mapping[str, OwnCommand] = {
    "claude": OwnCommand(
        "claude",
        lambda entry, scope: ["mcp", "add-json", "--scope", scope, NAME, json.dumps(entry)],
        lambda scope: ["mcp", "remove", "--scope", scope, NAME],
    ),
    "codex": OwnCommand(
        "codex",
        lambda entry, _: [
            "mcp", "add", NAME, *_variables(entry, "--env"), "--", entry["command"], *entry["args"],
        ],
        lambda _: ["mcp", "remove", NAME],
        ("user",),
    ),
    "gemini": OwnCommand(
        "gemini",
        lambda entry, scope: [
            "mcp", "add", "--scope", scope, *_variables(entry, "-e"), NAME, entry["command"], *entry["args"],
        ],
        lambda scope: ["mcp", "remove", "--scope", scope, NAME],
    ),
    "vscode": OwnCommand(
        "code", lambda entry, _: ["--add-mcp", json.dumps({"name": NAME, **entry})], None, ("user",)
    ),
}  # fmt: skip


class Hooks(NamedTuple):
    """Where a client keeps hooks, and which of its events run us."""

    user: str
    project: str
    events: Mapping[str, str]
    note: str = ""


HOOKS: Mapping[str, Hooks] = {
    "claude": Hooks(
        ".claude/settings.json",
        ".claude/settings.json",
        {"SessionStart": "start", "PreCompact": "compact", "SessionEnd": "end"},
    ),
    "codex": Hooks(
        ".codex/hooks.json",
        ".codex/hooks.json",
        {"SessionStart": "start", "PreCompact": "compact"},
        "Codex runs new hooks once you trusted them: it asks, or see /hooks.",
    ),
    "gemini": Hooks(
        ".gemini/settings.json",
        ".gemini/settings.json",
        {"SessionStart": "start", "PreCompress": "compact", "SessionEnd": "end"},
    ),
    "opencode": Hooks(".config/opencode/plugins/context-pack.js", ".opencode/plugins/context-pack.js", {}),
}
"""Clients that can run commands at the start and the end of a session."""
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


class SetupOptions(NamedTuple):
    """What is asked of every client."""

    clients: tuple[str, ...]
    project: bool
    show: bool
    remove: bool
    hooks: bool

    @property
    def scope(self) -> str:
        """The scope, as clients call it."""
        return "project" if self.project else "user"


@command("setup", anywhere=True)
@click.argument("clients", nargs=-1, metavar="[CLIENT]...")
@click.option("--user", "where", flag_value="user", help="For every project of this user (the default).")
@click.option("--project", "where", flag_value="project", help="For this project, in files to share.")
@flag("--hooks", "Also tell each session what is known here, and keep what it did.")
@flag("--agents-md", "Write how to ask us into AGENTS.md of this project, for agents without our tools.")
@flag("--print", "Print what would be written or removed, and change nothing.", "show")
@flag("--remove", "Take it out again.")
def setup(
    app: App,
    clients: tuple[str, ...],
    where: str | None,
    hooks: bool,
    agents_md: bool,
    show: bool,
    remove: bool,
) -> int:
    """Write this server into the configuration of your agents.

    Without names, every client is set up whose folder is in your home. Clients with a command of their own
    for this (claude, codex, gemini, code) are asked to do it; files of the others are changed. Everything
    else in those files stays, and what a file held before is kept beside it under the name
    FILE.before-context-pack. A file with comments in JSON is left alone, and what to paste is printed. Doing
    it twice changes nothing. --remove takes out the server and the hooks wherever they are.

    Examples:
      context-pack setup                        the clients that are here, for all projects
      context-pack setup claude --hooks         and tell each session what is known
      context-pack setup codex gemini --print   what their files would be given
      context-pack setup claude --project       .mcp.json of this project
      context-pack setup --agents-md            ten lines in AGENTS.md
      context-pack setup --remove               take it out of all of them
    """
    options = SetupOptions(clients, where == "project", show, remove, hooks)
    named = [name.lower() for name in clients]
    unknown = [name for name in named if name not in CLIENTS]
    if unknown:
        raise click.UsageError(f"unknown client {unknown[0]!r}; there are {', '.join(CLIENTS)}")
    without = [name for name in named if hooks and name not in HOOKS]
    if without:
        raise click.UsageError(f"{without[0]} has no hooks that we know; those that have: {', '.join(HOOKS)}")
    if agents_md:
        done = _report(AGENTS_FILE, _agents_file(app), app.settings.source_root, options)
        if not named:
            return 0 if done else 1
    chosen = named or [name for name, client in CLIENTS.items() if _is_meant(client, options)]
    if not chosen:
        output.complain(f"no client was found; name one of: {', '.join(CLIENTS)}")
        return 1
    failed = 0
    for name in chosen:
        failed += not _set_up(name, options, app)
    if not options.remove and not options.show and failed < len(chosen):
        output.note((SHARED if options.project else "") + NEXT)
    return 1 if failed else 0


def _agents_file(app: App) -> ClientFile:
    edit = Edit(lambda text: put_block(text, AGENTS_BLOCK), drop_block)
    return ClientFile(Folder(app.settings.source_root), AGENTS_FILE, edit)


def _is_meant(client: Client, options: SetupOptions) -> bool:
    """Whether an unnamed client is meant: one that is installed; for removal, any that may have the entry."""
    if options.remove:
        return client.project is not None or not options.project
    return _is_here(client)


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


def _set_up(name: str, options: SetupOptions, app: App) -> bool:
    """Change the configuration of one client and report it; False if that failed."""
    client = CLIENTS[name]
    relative = client.project if options.project else client.user
    if relative is None:
        output.complain(f"{client.title} has no configuration of a project; leave --project out")
        return False
    start = [NAME] if options.project else command_line()
    entry, place = client.entry(start), (client.section, NAME)
    edit = Edit(lambda text: put_json(text, *place, entry), lambda text: drop_json(text, *place))
    if relative.endswith(".toml"):
        edit = Edit(lambda text: put_toml(text, *place, entry), lambda text: drop_toml(text, *place))
    hooks = HOOKS.get(name)
    place_of_hooks = hooks and (hooks.project if options.project else hooks.user)
    if hooks is not None and (options.hooks or options.remove):
        commands = {event: f"{shlex.join(start)} hook {ours}" for event, ours in hooks.events.items()}
        both = Edit(lambda text: put_hooks(text, commands), drop_hooks)
        if str(place_of_hooks).endswith(".js"):
            plugin = files(__package__).joinpath("opencode.js").read_text("utf-8")
            both = Edit(lambda _: plugin.replace("COMMAND", json.dumps(start)), lambda _: "")
        if place_of_hooks == relative:
            edit = edit.then(both)
        elif not _report(f"{client.title}, hooks", *_file(str(place_of_hooks), both, options, app), options):
            return False
        if hooks.note and not options.remove:
            output.note(hooks.note)
    file, path = _file(relative, edit, options, app)
    if not options.show and _ask_client(name, entry, file, options, app):
        output.line(f"{client.title}: {'removed' if options.remove else 'added'} by its own command: {path}")
        options = options._replace(clients=())
        if not options.remove and not file.is_behind():
            return True
    return _report(client.title, file, path, options)


def _file(relative: str, edit: Edit, options: SetupOptions, app: App) -> tuple[ClientFile, str]:
    """A file of a client, and the path that people know it by."""
    path = os.path.join(app.settings.source_root, relative) if options.project else user_place(relative)
    *inside, name = relative.split("/")
    # A link in a project may be a stranger's; one in the user's own home is theirs.
    top = Folder(app.settings.source_root)
    folder = top.below(*inside) if options.project else Folder(os.path.dirname(path))
    return ClientFile(folder, name, edit), path


def _ask_client(
    name: str, entry: Mapping[str, Any], file: ClientFile, options: SetupOptions, app: App
) -> bool:
    """Let a client that is installed change its own file; whether it did: if not, we do it."""
    own = OWN_COMMANDS.get(name)
    program = own and shutil.which(own.program)
    if own is None or program is None or options.scope not in own.scopes:
        return False
    if options.remove and own.remove is None:
        return False
    with suppress(OSError, UnreadableConfig, subprocess.TimeoutExpired):
        if (file.read() == file.after(remove=True)) is options.remove:
            return False  # nothing to add, or nothing to remove
        file.keep_copy()
        words = own.remove(options.scope) if options.remove and own.remove else own.add(entry, options.scope)
        where = app.settings.source_root if options.project else os.path.expanduser("~")
        subprocess.run(
            [program, *words],
            cwd=where,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=CLIENT_SECONDS,
            check=False,
        )
        return (file.read() == file.after(remove=True)) is options.remove
    return False


def _report(title: str, file: ClientFile, path: str, options: SetupOptions) -> bool:
    """Change one file, or print what would be changed, and say so; False if that failed."""
    try:
        if options.show and not options.remove:
            output.line(f"# {title}: {path}")
            output.raw(file.changed("", remove=False))
        elif options.show:
            if file.read() != file.after(remove=True):
                output.line(f"{title}: would be removed from {path}")
        elif file.change(remove=options.remove):
            output.line(f"{title}: {'removed from' if options.remove else 'written to'} {path}")
        elif not options.remove:
            output.line(f"{title}: {path} is as it should be")
        elif options.clients:
            output.line(f"{title}: it is not in {path}")
    except UnreadableConfig as fault:
        output.complain(f"{title}: {path} cannot be changed: {fault}")
        if not options.remove:
            output.line(f"# put this into {path} by hand:")
            output.raw(file.changed("", remove=False))
        return False
    except OSError as error:
        output.complain(f"{title}: {path}: {error.strerror or error}; see --print")
        return False
    return True


def _is_here(client: Client) -> bool:
    return any(_entry_exists(user_place(sign)) for sign in client.signs)


def _entry_exists(path: str) -> bool:
    folder, name = os.path.split(path)
    try:
        return name in Folder(folder).names()
    except OSError:
        return False
