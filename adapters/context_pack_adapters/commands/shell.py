"""What a command works with: settings, terminal, and on demand the registry or the workspace."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from context_pack_adapters.commands.terminal import Terminal
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
    from context_pack.kernel.errors import Code, Failure

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


class Usage(Exception):
    """The command was called in a way it does not understand; the text says what would be right."""


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint that names the known word closest to `word`, or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""
