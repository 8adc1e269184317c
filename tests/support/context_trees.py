# ruff: noqa: E501 -- sample sources stand on one line
"""Small projects with contexts for tests, in folders, and asked as a caller would."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from file_trees import lay
from inmemory import FixedClock
from inmemory.folders import temporary

from context_pack.contexts.ports import Projects
from context_pack.contexts.queries import ContextQueries
from context_pack.contexts.refresh import ContextRefresher
from context_pack.contexts.tools import build
from context_pack.kernel.paths import PathPolicy
from context_pack.kernel.yaml_documents import dump
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.registry import Registry
from context_pack_adapters.contexts.projects import DiskProjects
from context_pack_adapters.syntax import shared_syntax

MINIMAL = """\
version: 1
last_updated: 2026-02-13T10:00:00Z
fingerprint: "00000000"
scope: src
summary: A folder.
maintenance: Keep it true.
"""
PROJECT: Mapping[str, str] = {
    ".context.config.yaml": "min_tokens: 0\n",
    "README.md": "# Shop\n\nA small shop. It sells things.\n",
    "package.json": '{"name": "shop", "description": "Sells things", "dependencies": {"express": "^4"}}',
    "src/index.ts": '/** Front door. */\nimport { start } from "./core/api";\nexport const VERSION: string = "1";\n',
    "src/cart.ts": "export function add(item: string, count = 1): number {\n  return count;\n}\n",
    "src/cart.test.ts": 'import { add } from "./cart";\n',
    "src/core/lib.rs": "//! Fast core.\npub fn start(n: u8) -> bool { true }\n",
    "billing/__init__.py": '"""Billing of the shop."""\n',
    "billing/invoice.py": '"""Invoices."""\n\nfrom .lines import Line\n\n\ndef make(number: str) -> bool:\n    return True\n',
    "docs/guide.md": "# Guide\n",
}


class Files(MutableMapping[str, str | bytes]):
    """The files of a project of its own, by their paths; what is read is bytes."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.root = lay(temporary(self) / "project", files)

    def __getitem__(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def __setitem__(self, path: str, content: str | bytes) -> None:
        lay(self.root, {path: content})

    def __delitem__(self, path: str) -> None:
        (self.root / path).unlink()

    def __contains__(self, path: object) -> bool:
        return (self.root / str(path)).is_file()

    def __iter__(self) -> Iterator[str]:
        files = (path for path in self.root.rglob("*") if path.is_file())
        return (path.relative_to(self.root).as_posix() for path in files)

    def __len__(self) -> int:
        return len(list(iter(self)))


def age(root: Path, seconds: float = 100.0) -> None:
    """Make every file look as if it had been written a while ago."""
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            then = path.stat().st_mtime_ns - int(seconds * 1e9)
            os.utime(path, ns=(then, then))


def context(scope: str = "src", fingerprint: str = "00000000", **more: Any) -> str:
    """The text of a valid context."""
    record = {
        "version": 1,
        "last_updated": "2026-02-13T10:00:00Z",
        "fingerprint": fingerprint,
        "scope": scope,
        "summary": "A folder.",
        "maintenance": "Keep it true.",
        **more,
    }
    return dump(record)


def disk_contexts(root: Path, *allowed: Path, deny: tuple[str, ...] = ()) -> Projects:
    """The ports over a folder."""
    return DiskProjects(str(root), [str(path) for path in allowed], PathPolicy(deny))


def refresher(ports: Projects, clock: FixedClock | None = None) -> ContextRefresher:
    """The use case over these ports, at a time that stands still."""
    return ContextRefresher(clock or FixedClock(), shared_syntax())


class Asked:
    """The three tools, called as a client calls them."""

    def __init__(self, ports: Projects) -> None:
        self.alarms: list[BaseException] = []
        self.registry = Registry(
            tools={tool.name: tool for tool in build(ContextQueries(ports))},
            resources=list,
            prompts={},
            monotonic=lambda: 0.0,
            alarm=lambda _, error: self.alarms.append(error),
        )

    def raw(self, tool: str, **arguments: Any) -> tuple[Any, bool]:
        """The JSON of an answer, and whether it is an error."""
        answer = self.registry.call(tool, arguments, QuietCall())
        assert self.alarms == []
        body = json.loads(answer.text)
        assert answer.structured is None or answer.structured == body
        assert (answer.structured is None) == answer.is_error
        return body, answer.is_error

    def ok(self, tool: str, **arguments: Any) -> Any:
        """The JSON of an answer that is no error."""
        body, is_error = self.raw(tool, **arguments)
        assert not is_error, body
        return body

    def error(self, tool: str, **arguments: Any) -> Any:
        """The JSON of a refusal."""
        body, is_error = self.raw(tool, **arguments)
        assert is_error, body
        return body

    def entries(self, **arguments: Any) -> dict[str, Any]:
        """The entries of a list by scope."""
        return {entry["scope"]: entry for entry in self.ok("list_contexts", **arguments)["entries"]}
