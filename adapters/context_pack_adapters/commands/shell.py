"""What a command works with: settings, terminal, and on demand the registry or the workspace."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ids import is_pack_id
from context_pack_adapters.commands.terminal import Terminal
from context_pack_adapters.commands.trouble import words_for
from context_pack_adapters.logs import Log
from context_pack_adapters.settings import Settings

if TYPE_CHECKING:
    from context_pack.toolkit.registry import Registry
    from context_pack_adapters.workspace import Workspace

PAGE = 500


class Shell(NamedTuple):
    """One run of the command line."""

    settings: Settings
    terminal: Terminal
    log: Log

    @property
    def packs_folder(self) -> str:
        """Where the pack files are."""
        return os.path.join(self.settings.root, "packs")

    @property
    def discoveries_folder(self) -> str:
        """Where the files of discoveries are."""
        return os.path.join(self.settings.root, "memory", "discoveries")

    def complain(self, failure: Failure, about: str = "") -> None:
        """Tell on stderr what failed."""
        of_memory = failure.code is Code.MALFORMED_DISCOVERY
        for line in words_for(failure, self.discoveries_folder if of_memory else self.packs_folder):
            self.terminal.complain(f"{about}: {line}" if about else line)

    def complain_of(self, failures: Mapping[str, Failure]) -> None:
        """Tell what failed with which packs."""
        for pack, failure in failures.items():
            self.complain(failure, pack)

    def registry(self) -> Registry:
        """Every tool over the real ports, without the rate limits of a connection."""
        from context_pack_adapters.bootstrap import load_registry

        return load_registry(self.settings, self.log)

    def workspace(self) -> Workspace:
        """The library over the same settings."""
        from context_pack_adapters.bootstrap import open_ports
        from context_pack_adapters.workspace import Workspace

        return Workspace(open_ports(self.settings), self.settings.max_source_bytes)


def ask(workspace: Workspace, **arguments: Any) -> dict[str, Any]:
    """The payload of an `input` call; absent arguments are left out.

    Raises:
        Failure: the tool refused.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    answer = json.loads(workspace.call("input", given).text)
    if answer.get("error"):
        raise Failure(Code(answer["code"]), answer["message"], answer["details"])
    payload: dict[str, Any] = answer["payload"]
    return payload


def every_pack(workspace: Workspace, **filters: Any) -> Iterator[dict[str, Any]]:
    """The summary of every pack that passes the filters."""
    offset, more = 0, True
    while more:
        page = ask(workspace, action="list", limit=PAGE, offset=offset, **filters)
        yield from page["packs"]
        offset, more = offset + page["count"], page["has_more"]


class Found(NamedTuple):
    """The ids of the packs that can be read, and why the other files named like packs cannot, by id."""

    ids: list[str]
    broken: dict[str, Failure]


def readable_packs(shell: Shell, workspace: Workspace, status: str | None = None) -> Found:
    """Every pack; where a malformed file makes the list fail, each file on its own.

    Raises:
        Failure: the store cannot be read at all.
    """
    from context_pack_adapters.bootstrap import storage_place
    from context_pack_adapters.disk.folder import Folder

    try:
        return Found([pack["id"] for pack in every_pack(workspace, status=status)], {})
    except Failure as failure:
        if failure.code not in {Code.MALFORMED_PACK, Code.MIGRATION_REQUIRED}:
            raise
    found = Found([], {})
    folder = Folder(storage_place(shell.settings).below("packs"))
    names = sorted(map(os.path.splitext, folder.names()))
    for pack_id in (stem for stem, suffix in names if suffix == ".md" and is_pack_id(stem)):
        try:
            pack = ask(workspace, action="get", id=pack_id)
        except Failure as reason:
            if reason.code is not Code.NOT_FOUND:  # that is one which has expired
                found.broken[pack_id] = reason
            continue
        if status in (None, pack["status"]):
            found.ids.append(pack_id)
    return found


def as_json(failures: Mapping[str, Failure]) -> list[dict[str, str]]:
    """Which packs something could not be done with, and why."""
    return [
        {"pack": pack, "code": failure.code, "message": failure.message} for pack, failure in failures.items()
    ]


class Usage(Exception):
    """The command was called in a way it does not understand; the text says what would be right."""


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint that names the known word closest to `word`, or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""
