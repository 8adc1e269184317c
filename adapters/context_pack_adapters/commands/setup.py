"""`context-pack setup`: writes this server into the configuration of the agents that are here."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from context_pack_adapters.commands.arguments import argument, command, flag, one_of
from context_pack_adapters.commands.config_text import (
    UnreadableConfig,
    drop_json,
    drop_toml,
    put_json,
    put_toml,
)
from context_pack_adapters.commands.shell import Shell, WrongUsage
from context_pack_adapters.disk.folder import Folder

NAME = "context-pack"
ENVIRON = {"CONTEXT_PACK_TOOLS": "auto"}
BACKUP = ".before-context-pack"
NEXT = """
Start your agent anew, then ask it to "list the context packs".
'context-pack doctor' checks this side, 'context-pack demo' shows a first pack."""
SHARED = """
These files name the full path of this command: a team that shares them needs it there, or writes
the plain name that is on everybody's PATH."""
MOST_BYTES = 16 * 1024 * 1024

Entry = Callable[[list[str]], Mapping[str, Any]]


def _usual(command: list[str]) -> Mapping[str, Any]:
    return {"command": command[0], "args": command[1:], "env": ENVIRON}


def _in_a_workspace(command: list[str]) -> Mapping[str, Any]:
    """The entry for clients that start servers outside the project folder."""
    return {**_usual(command), "env": {"CONTEXT_PACK_SOURCE_ROOT": "${workspaceFolder}", **ENVIRON}}


class Client(NamedTuple):
    """Where a client keeps its servers, below the home folder and in a project, and how it spells one."""

    title: str
    user: str
    project: str | None
    section: str
    entry: Entry = _usual
    signs: tuple[str, ...] = ()
    """What is below the home folder where the client is."""


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
        "VS Code", ".config/Code/User/mcp.json", ".vscode/mcp.json", "servers",
        lambda command: {"type": "stdio", **_in_a_workspace(command)}, (".config/Code", ".vscode"),
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


@command(
    argument(
        "clients", metavar="CLIENT", nargs="*", help=f"which ones: {', '.join(CLIENTS)}; else those found"
    ),
    one_of(
        flag("--user", "for every project of this user (the default)"),
        flag("--project", "for this project only, in files that can be shared"),
    ),
    flag("--print", "print what would be written or removed, and change nothing"),
    flag("--remove", "take it out again"),
)
def setup(options: Namespace, shell: Shell) -> int:
    """Write this server into the configuration of your agents.

    Without names, every client is set up whose folder is in your home. Everything else in those files stays
    as it is, byte for byte, and what a file held before is kept beside it under the name
    FILE.before-context-pack. Doing it twice changes nothing. --remove takes it out wherever it is.

    Examples:
      context-pack setup                        the clients that are here, for all projects
      context-pack setup codex gemini --print   what their files would be given
      context-pack setup claude --project       .mcp.json of this project
      context-pack setup --remove               take it out of all of them
    """
    named = [name.lower() for name in options.clients]
    unknown = [name for name in named if name not in CLIENTS]
    if unknown:
        raise WrongUsage(f"unknown client {unknown[0]!r}; there are {', '.join(CLIENTS)}")
    chosen = named or [name for name, client in CLIENTS.items() if _is_meant(client, options)]
    if not chosen:
        shell.terminal.complain(f"no client was found; name one of: {', '.join(CLIENTS)}")
        return 1
    failed = 0
    for name in chosen:
        failed += not _set_up(CLIENTS[name], options, shell)
    if not options.remove and not options.print and failed < len(chosen):
        shell.terminal.note((SHARED if options.project else "") + NEXT)
    return 1 if failed else 0


def _is_meant(client: Client, options: Namespace) -> bool:
    """Whether an unnamed client is meant: one that is installed; for removal, any that may have the entry."""
    if options.remove:
        return client.project is not None or not options.project
    return _is_here(client)


def command_line() -> list[str]:
    """The full command that starts this very server."""
    script = os.path.join(os.path.dirname(sys.executable), "context-pack")
    if os.access(script, os.X_OK):
        return [script]
    return [sys.executable, "-P", "-m", "context_pack"]  # modules of the project are never ours


def _set_up(client: Client, options: Namespace, shell: Shell) -> bool:
    """Change the configuration of one client and report it; False if that failed."""
    relative = client.project if options.project else client.user
    if relative is None:
        shell.terminal.complain(f"{client.title} has no configuration of a project; leave --project out")
        return False
    top = shell.settings.source_root if options.project else os.path.expanduser("~")
    path = os.path.join(top, relative)
    *inside, name = relative.split("/")
    # A link in a project may be a stranger's; one in the user's own home is theirs.
    folder = Folder(top).below(*inside) if options.project else Folder(os.path.dirname(path))
    try:
        before = _read(folder, name)
        after = changed(client, relative, before or "", remove=options.remove)
        kept = _read(folder, name + BACKUP)
        if kept is not None and changed(client, relative, kept, remove=True) != kept:
            kept = None  # it has an entry of ours, so it is not what was there before us
        if options.remove and kept is not None and changed(client, relative, kept, remove=False) == before:
            after = kept
        if options.print and not options.remove:
            shell.terminal.line(f"# {client.title}: {path}")
            shell.terminal.raw(changed(client, relative, "", remove=False))
        elif after == (before or ""):
            if not options.remove:
                shell.terminal.line(f"{client.title}: {path} is as it should be")
            elif options.clients:
                shell.terminal.line(f"{client.title}: it is not in {path}")
        elif options.print:
            shell.terminal.line(f"{client.title}: would be removed from {path}")
        else:
            _write(folder, name, before, after, kept, giving_back=options.remove)
            shell.terminal.line(
                f"{client.title}: {'removed from' if options.remove else 'written to'} {path}"
            )
    except UnreadableConfig as fault:
        shell.terminal.complain(f"{client.title}: {path} cannot be changed: {fault}; see --print")
        return False
    except OSError as error:
        shell.terminal.complain(f"{client.title}: {path}: {error.strerror or error}; see --print")
        return False
    return True


def changed(client: Client, path: str, text: str, *, remove: bool) -> str:
    """The text of a configuration with our entry, or without it; its line ends and its mark stay."""
    mark = text[: text.startswith("\ufeff")]
    plain = text.removeprefix(mark).replace("\r\n", "\n")
    if mark + plain.replace("\n", "\r\n") == text != mark + plain:
        return mark + _changed(client, path, plain, remove=remove).replace("\n", "\r\n")
    return mark + _changed(client, path, text.removeprefix(mark), remove=remove)


def _changed(client: Client, path: str, text: str, *, remove: bool) -> str:
    if path.endswith(".toml"):
        table = f"{client.section}.{NAME}"
        return drop_toml(text, table) if remove else put_toml(text, table, client.entry(command_line()))
    if remove:
        return drop_json(text, (client.section, NAME))
    return put_json(text, (client.section, NAME), client.entry(command_line()))


def _is_here(client: Client) -> bool:
    home = os.path.expanduser("~")
    return any(_entry_exists(os.path.join(home, sign)) for sign in client.signs)


def _entry_exists(path: str) -> bool:
    folder, name = os.path.split(path)
    try:
        return name in Folder(folder).names()
    except OSError:
        return False


def _read(folder: Folder, name: str) -> str | None:
    """The text of a file, exactly; None if there is none."""
    try:
        return folder.read(name, MOST_BYTES)[0].decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise UnreadableConfig("it is not UTF-8") from None


def _write(
    folder: Folder, name: str, before: str | None, after: str, kept: str | None, *, giving_back: bool
) -> None:
    """Write the new text and keep a backup of the old one; a file that only we filled is removed.

    A file that is given back as it was before us needs no copy beside it.
    """
    folder.make()
    nothing_left = giving_back and kept is None and after.strip() in ("", "{}")
    if giving_back and kept == after:
        folder.remove(name + BACKUP)
    elif before is not None and not nothing_left:
        folder.write(name + BACKUP, before.encode())
    if nothing_left:
        folder.remove(name)
    else:
        mode = None if before is None else folder.status(name).st_mode & 0o777
        folder.write(name, after.encode(), mode)
