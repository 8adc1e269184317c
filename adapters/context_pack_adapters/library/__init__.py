"""The library: every use case as typed, synchronous calls, without a server.

A workspace owns nothing global: two of them in one process know nothing of each other, and none prints,
starts a thread, or reads settings from the environment. What cannot be done is raised as a `Failure`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from context_pack.composition import UseCases
from context_pack.kernel.errors import Code, Failure
from context_pack.ports import Ports
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS
from context_pack.toolkit.registry import Registry
from context_pack.toolkit.spec import Answer
from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.library.packs import Packs
from context_pack_adapters.settings import (
    DEFAULT_MAX_SOURCE_BYTES,
    Settings,
    given_cache,
    resolve_root,
    resolve_source_root,
    working_directory,
)

if TYPE_CHECKING:
    from context_pack_adapters.library.features import Bundles, Contexts, Documents, Memory, SourceCode

__all__ = ["Workspace", "open_workspace"]

Place = str | os.PathLike[str]


class Workspace:
    """An opened project: `packs`, `code`, `documents`, `memory`, `contexts`, `bundles`, `call` for any tool.

    Safe to share between threads. Works as a context manager; after `close` it refuses every call.
    """

    def __init__(
        self, ports: Ports, max_source_bytes: int = DEFAULT_MAX_SOURCE_BYTES, place: str = ""
    ) -> None:
        self._ports, self._place = ports, place
        self._cases = UseCases(ports, max_source_bytes)
        self._registry: Registry | None = None
        self._closed = False

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<Workspace of {self._place or 'ports of your own'}, {state}>"

    @property
    def cases(self) -> UseCases:
        """The use cases that everything here asks."""
        self._check_open()
        return self._cases

    @property
    def packs(self) -> Packs:
        """Packs: create, draft, change, render, verify, repair."""
        return Packs(self.cases)

    @property
    def code(self) -> SourceCode:
        """Code: read, search, outline, usages."""
        from context_pack_adapters.library.features import SourceCode

        return SourceCode(self.cases)

    @property
    def documents(self) -> Documents:
        """Documents: collections, search, outline, section, sync."""
        from context_pack_adapters.library.features import Documents

        return Documents(self.cases)

    @property
    def memory(self) -> Memory:
        """Memory: record, search, list, forget."""
        from context_pack_adapters.library.features import Memory

        return Memory(self.cases)

    @property
    def contexts(self) -> Contexts:
        """Directory contexts: list, query, check, refresh."""
        from context_pack_adapters.library.features import Contexts

        return Contexts(self.cases)

    @property
    def bundles(self) -> Bundles:
        """Bundles: list, export, neighbours, documents."""
        from context_pack_adapters.library.features import Bundles

        return Bundles(self.cases)

    @property
    def tools(self) -> Sequence[str]:
        """The names that `call` takes."""
        return tuple(self._tools().tools)

    def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, page_tokens: int = DEFAULT_MAX_TOKENS
    ) -> Answer:
        """Call a tool as an MCP client would; what it refuses comes back as an answer.

        Args:
            tool: one of `tools`.
            arguments: what the tool is asked, as JSON has it.
            page_tokens: the largest answer, where the arguments do not say otherwise.

        Raises:
            Failure: `not_found`, there is no such tool.
        """
        call, registry = QuietCall(page_tokens=page_tokens), self._tools()
        if tool not in registry.tools:
            raise Failure(Code.NOT_FOUND, f"there is no tool '{tool}'", {"tools": list(registry.tools)})
        return registry.call(tool, {} if arguments is None else arguments, call)

    def _tools(self) -> Registry:
        """The tools, made when the first is asked for."""
        cases = self.cases
        if self._registry is None:
            from context_pack.app import build

            self._registry = build(cases)
        return self._registry

    def _check_open(self) -> None:
        if self._closed:
            raise Failure(Code.INVALID_STATE, "the workspace is closed; open another one")

    def close(self) -> None:
        """Close all files; closing twice is fine."""
        self._closed = True
        self._ports.close()

    def __enter__(self) -> Workspace:
        self._check_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_workspace(
    project: Place = ".",
    *,
    storage: Place | None = None,
    deny: Sequence[str] = (),
    max_source_bytes: int = DEFAULT_MAX_SOURCE_BYTES,
    embedder: str = "auto",
    user_config: Place | None = None,
    cache: Place | None = None,
    ports: Ports | None = None,
) -> Workspace:
    """Open a project: packs, code, documents, memory, contexts and bundles below one folder.

    Args:
        project: the folder whose code is read; taken from the working directory.
        storage: where packs and discoveries are kept; without it, in the project's
            `.agents/mcp/context_pack`.
        deny: globs of names that are never read, in addition to secrets.
        max_source_bytes: larger files are not read.
        embedder: `auto`, `fast`, `semantic` or the URL of an endpoint.
        user_config: a `context.json` that is merged under the project's.
        cache: a folder for indexes and private state; without it they are in the user's cache and state
            folders, and where these are is all that is read of the environment.
        ports: adapters of your own, in place of a folder on disk.

    Nothing is touched until the first call.

    Raises:
        Failure: `not_found`, there is no such folder.
        TypeError: both a folder and ports were given.
    """
    if ports is not None:
        if project != "." or storage is not None or deny:
            raise TypeError("give either ports, or a project with its storage and deny")
        return Workspace(ports, max_source_bytes)
    here = working_directory()
    source = resolve_source_root(os.fspath(project), here)
    if not os.path.isdir(source):
        raise Failure(Code.NOT_FOUND, f"there is no folder {os.fspath(project)!r} to open")
    store = resolve_root("", source) if storage is None else resolve_source_root(os.fspath(storage), here)
    settings = Settings(
        root=store,
        source_root=source,
        deny=tuple(deny),
        max_source_bytes=max_source_bytes,
        embedder=embedder,
        user_config="" if user_config is None else os.path.join(here, os.fspath(user_config)),
        cache=given_cache(os.environ) if cache is None else resolve_source_root(os.fspath(cache), here),
    )
    return Workspace(open_ports(settings), max_source_bytes, source)
