"""The library: every use case as typed, synchronous calls, without a server.

A workspace owns nothing global: two of them in one process know nothing of each other, and none prints,
starts a thread, or reads settings from the environment. What cannot be done is raised as a `Failure`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from context_pack.composition import Ports, UseCases
from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS
from context_pack.toolkit.registry import Registry
from context_pack.toolkit.spec import Answer
from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.settings import (
    DEFAULT_MAX_SOURCE_BYTES,
    Settings,
    given_cache,
    resolve_root,
    resolve_source_root,
    working_directory,
)

if TYPE_CHECKING:
    from context_pack_adapters.library import bundles, code, contexts, documents, memory, packs

T = TypeVar("T")

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
        self._lock = RLock()
        self._cases = UseCases(ports, max_source_bytes)
        self._features: dict[Callable[[UseCases], Any], Any] = {}
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
    def packs(self) -> packs.Packs:
        """Packs: create, draft, change, render, verify, repair."""
        from context_pack_adapters.library.packs import Packs

        return self._feature(Packs)

    @property
    def code(self) -> code.SourceCode:
        """Code: read, search, outline, usages."""
        from context_pack_adapters.library.code import SourceCode

        return self._feature(SourceCode)

    @property
    def bundles(self) -> bundles.Bundles:
        """Bundles: list, export, neighbours, documents."""
        from context_pack_adapters.library.bundles import Bundles

        return self._feature(Bundles)

    @property
    def contexts(self) -> contexts.Contexts:
        """Directory contexts: list, query, check, refresh."""
        from context_pack_adapters.library.contexts import Contexts

        return self._feature(Contexts)

    @property
    def documents(self) -> documents.Documents:
        """Documents: collections, search, outline, section, sync."""
        from context_pack_adapters.library.documents import Documents

        return self._feature(Documents)

    @property
    def memory(self) -> memory.Memory:
        """Memory: record, search, list, forget."""
        from context_pack_adapters.library.memory import Memory

        return self._feature(Memory)

    @property
    def tools(self) -> Sequence[str]:
        """The names that `call` takes."""
        return tuple(self._registry.tools)

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
        call, registry = QuietCall(page_tokens=page_tokens), self._registry
        if tool not in registry.tools:
            raise Failure(Code.NOT_FOUND, f"there is no tool '{tool}'", {"tools": list(registry.tools)})
        answer = registry.call(tool, {} if arguments is None else arguments, call)
        call.settle()
        return answer

    def close(self) -> None:
        """Close all files; closing twice is fine."""
        self._closed = True
        self._ports.close()

    def __enter__(self) -> Workspace:
        self._check_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _registry(self) -> Registry:
        from context_pack.app import build

        return self._feature(build)

    def _feature(self, make: Callable[[UseCases], T]) -> T:
        """What is made of the use cases, once, by the first who asks for it."""
        self._check_open()
        with self._lock:
            if make not in self._features:
                self._features[make] = make(self._cases)
            feature: T = self._features[make]
            return feature

    def _check_open(self) -> None:
        if self._closed:
            raise Failure(Code.INVALID_STATE, "the workspace is closed; open another one")


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
