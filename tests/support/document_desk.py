"""The document tools over a project on disk, called as a client calls them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attrs import evolve
from inmemory import FixedClock

from context_pack.app import build
from context_pack.documents.ports import DocumentPorts
from context_pack.retrieval.ports import Background
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.registry import Registry
from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.settings import Settings


class Desk:
    """A registry over one project; its clock moves between calls, so that each looks at the disk."""

    def __init__(self, root: Path, private: Path, worker: Background | None = None, **settings: Any) -> None:
        self.root, self.clock, self.page = root, FixedClock(), 20_000
        user = str(root / "xdg/context-pack/context.json")
        given = {"embedder": "fast", "cache": str(private), "user_config": user, **settings}
        self._disk = open_ports(Settings(str(root / ".store"), str(root), **given))
        assert self._disk.documents is not None
        self.documents: DocumentPorts = evolve(self._disk.documents(), background=worker)
        self.registry: Registry = build(
            evolve(self._disk, clock=self.clock, documents=lambda: self.documents)
        )

    def __call__(self, tool: str, **arguments: Any) -> Any:
        """The answer of a tool, of which text and structure say the same."""
        answer = self._answer(tool, arguments)
        assert not answer.is_error, answer.text
        assert json.loads(answer.text) == answer.structured
        return answer.structured

    def refused(self, tool: str, **arguments: Any) -> str:
        """The words of an error."""
        answer = self._answer(tool, arguments)
        assert answer.is_error, answer.text
        return str(answer.text)

    def _answer(self, tool: str, arguments: dict[str, Any]) -> Any:
        self.clock.advance(seconds=3)
        return self.registry.call(f"documents_{tool}", arguments, QuietCall(page_tokens=self.page))

    def found(self, query: str, **arguments: Any) -> list[str]:
        """The documents that a search finds, in order."""
        return [row["documentId"] for row in self("search", query=query, **arguments)["results"]]
