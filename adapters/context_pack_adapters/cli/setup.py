"""`context-pack setup`: writes this server into the configuration of the agents that are here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import click

from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command, flag
from context_pack_adapters.cli.config_text import (
    UnreadableConfig,
    drop_json,
    drop_toml,
    put_json,
    put_toml,
)
from context_pack_adapters.files.folder import Folder

NAME = "context-pack"
ENVIRON = {"CONTEXT_PACK_TOOLS": "auto"}
BACKUP = ".before-context-pack"
NEXT = """
Start your agent anew, then ask it to "list the context packs".
'context-pack doctor' checks this side, 'context-pack demo' shows a first pack."""
SHARED = """
These files can be shared: they name the bare command, so everybody needs context-pack on the PATH
('uv tool install context-pack' or 'pipx install context-pack'). The client asks each of them for
approval before it starts a server that a project names."""
TRIES = 5
"""How often a file is read anew because its client wrote it meanwhile."""
MOST_BYTES = 16 * 1024 * 1024

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


class SetupOptions(NamedTuple):
    """What is asked of every client."""

    clients: tuple[str, ...]
    project: bool
    show: bool
    remove: bool


@command("setup", anywhere=True)
@click.argument("clients", nargs=-1, metavar="[CLIENT]...")
@click.option("--user", "where", flag_value="user", help="For every project of this user (the default).")
@click.option("--project", "where", flag_value="project", help="For this project, in files to share.")
@flag("--print", "Print what would be written or removed, and change nothing.", "show")
@flag("--remove", "Take it out again.")
def setup(app: App, clients: tuple[str, ...], where: str | None, show: bool, remove: bool) -> int:
    """Write this server into the configuration of your agents.

    Without names, every client is set up whose folder is in your home. Everything else in those files stays,
    and what a file held before is kept beside it under the name FILE.before-context-pack. A file with
    comments in JSON is left alone, and the entry to paste is printed. Doing it twice changes nothing.
    --remove takes it out wherever it is, and the copy with it.

    Examples:
      context-pack setup                        the clients that are here, for all projects
      context-pack setup codex gemini --print   what their files would be given
      context-pack setup claude --project       .mcp.json of this project
      context-pack setup --remove               take it out of all of them
    """
    options = SetupOptions(clients, where == "project", show, remove)
    named = [name.lower() for name in clients]
    unknown = [name for name in named if name not in CLIENTS]
    if unknown:
        raise click.UsageError(f"unknown client {unknown[0]!r}; there are {', '.join(CLIENTS)}")
    chosen = named or [name for name, client in CLIENTS.items() if _is_meant(client, options)]
    if not chosen:
        output.complain(f"no client was found; name one of: {', '.join(CLIENTS)}")
        return 1
    failed = 0
    for name in chosen:
        failed += not _set_up(CLIENTS[name], options, app)
    if not options.remove and not options.show and failed < len(chosen):
        output.note((SHARED if options.project else "") + NEXT)
    return 1 if failed else 0


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


def _set_up(client: Client, options: SetupOptions, app: App) -> bool:
    """Change the configuration of one client and report it; False if that failed."""
    relative = client.project if options.project else client.user
    if relative is None:
        output.complain(f"{client.title} has no configuration of a project; leave --project out")
        return False
    path = os.path.join(app.settings.source_root, relative) if options.project else user_place(relative)
    *inside, name = relative.split("/")
    # A link in a project may be a stranger's; one in the user's own home is theirs.
    top = Folder(app.settings.source_root)
    folder = top.below(*inside) if options.project else Folder(os.path.dirname(path))
    file = ClientConfig(client, folder, name, [NAME] if options.project else command_line())
    try:
        if options.show and not options.remove:
            output.line(f"# {client.title}: {path}")
            output.raw(file.changed("", remove=False))
        elif options.show:
            if file.read() != file.after(remove=True):
                output.line(f"{client.title}: would be removed from {path}")
        elif file.change(remove=options.remove):
            output.line(f"{client.title}: {'removed from' if options.remove else 'written to'} {path}")
        elif not options.remove:
            output.line(f"{client.title}: {path} is as it should be")
        elif options.clients:
            output.line(f"{client.title}: it is not in {path}")
    except UnreadableConfig as fault:
        output.complain(f"{client.title}: {path} cannot be changed: {fault}")
        if not options.remove:
            output.line(f"# put this into {path} by hand:")
            output.raw(file.changed("", remove=False))
        return False
    except OSError as error:
        output.complain(f"{client.title}: {path}: {error.strerror or error}; see --print")
        return False
    return True


class ClientConfig(NamedTuple):
    """The configuration of one client in a folder, and the command that starts us from there."""

    client: Client
    folder: Folder
    name: str
    command: list[str]

    def change(self, *, remove: bool) -> bool:
        """Put our entry in, or take it out; says whether anything changed.

        A client may write its file at any moment: what was read is compared once more before it is replaced.
        """
        for _ in range(TRIES):
            before = self.read()
            after = self.after(remove=remove)
            if after == before:
                if remove:
                    self._forget_copy()
                return False
            if self.read() == before:
                self._write(before, after)
                if remove:
                    self._forget_copy()
                return True
        raise UnreadableConfig("its client keeps writing it; close the client and try again")

    def after(self, *, remove: bool) -> str | None:
        """The text of the file with our entry, or without; None for a file that had nothing else.

        With the entry gone, a file that nobody else has changed is what it was before us to the byte.
        """
        before, copy = self.read(), self.read(BACKUP)
        if copy is not None and self.changed(copy, remove=True) != copy:
            copy = None  # it has an entry of ours, so it is not what was there before us
        if remove and copy is not None and self.changed(copy, remove=False) == before:
            return copy
        after = self.changed(before or "", remove=remove)
        if remove and after != before and after.strip() in ("", "{}") and copy is None:
            return None
        return before if remove and after == (before or "") else after

    def read(self, ending: str = "") -> str | None:
        """The text of the file, exactly; None if there is none."""
        try:
            return self.folder.read(self.name + ending, MOST_BYTES)[0].decode("utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise UnreadableConfig("it is not UTF-8") from None

    def changed(self, text: str, *, remove: bool) -> str:
        """The text of a configuration with our entry, or without it; its line ends and its mark stay."""
        mark = text[: text.startswith("\ufeff")]
        plain = text.removeprefix(mark).replace("\r\n", "\n")
        ends = "\r\n" if "\r\n" in text else "\n"
        place = (self.client.section, NAME)
        if self.name.endswith(".toml"):
            after = (
                drop_toml(plain, *place)
                if remove
                else put_toml(plain, *place, self.client.entry(self.command))
            )
        elif remove:
            after = drop_json(plain, *place)
        else:
            after = put_json(plain, *place, self.client.entry(self.command))
        return text if after == plain else mark + after.replace("\n", ends)

    def _write(self, before: str | None, after: str | None) -> None:
        """Replace the file; what it held before us is kept beside it, for the same eyes only."""
        self.folder.make()
        if after is None:
            self.folder.remove(self.name)
            self.folder.remove_if_empty()
            return
        mode = None if before is None else self.folder.status(self.name).st_mode & 0o777
        if before is not None and self.changed(before, remove=True) == before:
            self.folder.write(self.name + BACKUP, before.encode(), mode)
        self.folder.write(self.name, after.encode(), mode)

    def _forget_copy(self) -> None:
        with suppress(FileNotFoundError):
            self.folder.remove(self.name + BACKUP)


def _is_here(client: Client) -> bool:
    return any(_entry_exists(user_place(sign)) for sign in client.signs)


def _entry_exists(path: str) -> bool:
    folder, name = os.path.split(path)
    try:
        return name in Folder(folder).names()
    except OSError:
        return False
