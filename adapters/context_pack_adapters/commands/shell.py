"""What a command works with: settings, terminal, and on demand the registry or the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from context_pack_adapters.commands.terminal import Terminal
from context_pack_adapters.logs import Log
from context_pack_adapters.settings import Settings

if TYPE_CHECKING:
    from context_pack.toolkit.registry import Registry
    from context_pack_adapters.workspace import Workspace


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

        return Workspace(open_ports(self.settings), self.settings)


class Usage(Exception):
    """The command was called in a way it does not understand; the text says what would be right."""


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint that names the known word closest to `word`, or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""
