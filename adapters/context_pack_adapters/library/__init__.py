"""The library API: every use case as typed, synchronous calls, without a server.

A workspace owns nothing global: two of them in one process know nothing of each other, and none prints,
starts a thread, or reads settings from the environment. What cannot be done is raised as a `Failure`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from context_pack.composition import Ports, UseCases
from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS
from context_pack_adapters.settings import (
    DEFAULT_MAX_SOURCE_BYTES,
    Settings,
    given_cache,
    resolve_root,
    resolve_source_root,
    working_directory,
)

if TYPE_CHECKING:
    from context_pack.toolkit.registry import Registry
    from context_pack.toolkit.spec import Answer
    from context_pack_adapters.library.bundles import Bundles
    from context_pack_adapters.library.code import SourceCode
    from context_pack_adapters.library.contexts import Contexts
    from context_pack_adapters.library.documents import Documents
    from context_pack_adapters.library.memory import Memory
    from context_pack_adapters.library.packs import Packs

T = TypeVar("T")

__all__ = ["Workspace", "open_workspace"]

Place = str | os.PathLike[str]


class Workspace:
    """Packs over one storage root and one source root.

    Safe to share between threads. Works as a context manager; after `close` it refuses every call.
    """

    def __init__(self, ports: Ports, max_source_bytes: int = DEFAULT_MAX_SOURCE_BYTES) -> None:
        self._ports = ports
        self._lock = RLock()
        self._cases = UseCases(ports, max_source_bytes)
        self._made: dict[object, Any] = {}
        self._registry: Registry | None = None
        self._closed = False

    @property
    def cases(self) -> UseCases:
        """The use cases that everything here asks."""
        self._check_open()
        return self._cases

    @property
    def packs(self) -> Packs:
        """The pack use cases."""
        from context_pack_adapters.library.packs import Packs

        return self._feature(Packs)

    @property
    def code(self) -> SourceCode:
        """The code use cases."""
        from context_pack_adapters.library.code import SourceCode

        return self._feature(SourceCode)

    @property
    def bundles(self) -> Bundles:
        """The bundle use cases."""
        from context_pack_adapters.library.bundles import Bundles

        return self._feature(Bundles)

    @property
    def contexts(self) -> Contexts:
        """The use cases of directory contexts."""
        from context_pack_adapters.library.contexts import Contexts

        return self._feature(Contexts)

    @property
    def documents(self) -> Documents:
        """The document use cases."""
        from context_pack_adapters.library.documents import Documents

        return self._feature(Documents)

    @property
    def memory(self) -> Memory:
        """The memory use cases."""
        from context_pack_adapters.library.memory import Memory

        return self._feature(Memory)

    def _feature(self, kind: Callable[[UseCases], T]) -> T:
        """The use cases of one feature, made when they are first asked for."""
        self._check_open()
        with self._lock:
            if kind not in self._made:
                self._made[kind] = kind(self._cases)
            feature: T = self._made[kind]
            return feature

    @property
    def tools(self) -> Sequence[str]:
        """The names that `call` takes."""
        return tuple(self._loaded().tools)

    def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, page_tokens: int = DEFAULT_MAX_TOKENS
    ) -> Answer:
        """Call any tool as an MCP client would that shows so much; what it refuses comes back as an answer.

        Raises:
            Failure: `not_found`, there is no such tool.
        """
        from context_pack.toolkit.call import QuietCall

        call, registry = QuietCall(page_tokens=page_tokens), self._loaded()
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _loaded(self) -> Registry:
        """The registry, built on the first call that needs it."""
        from context_pack.app import build

        self._check_open()
        with self._lock:
            if self._registry is None:
                self._registry = build(self._cases)
            return self._registry

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
    from context_pack_adapters.disk_ports import open_ports

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
    return Workspace(open_ports(settings), max_source_bytes)
