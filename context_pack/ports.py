"""The ports of the core: everything it asks of the world. The use cases over them are in `composition`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import field, frozen

from context_pack.bundles.ports import BundleStore
from context_pack.code.access import AccessLog
from context_pack.contexts.ports import Projects
from context_pack.kernel.ports import Clock, SourceTree
from context_pack.kernel.syntax import NoSyntax, Syntax
from context_pack.knowledge.about import ChangesSince
from context_pack.memory.ports import DiscoveryStore, MemoryPorts, SessionLog
from context_pack.packs.ports import DiagramCheck, ExcerptStore, NoExcerptStore, PackHistory, PackStore

if TYPE_CHECKING:
    from context_pack.code.grep import CodeSearch
    from context_pack.documents.ports import DocumentPorts

DEFAULT_MAX_SOURCE_BYTES = 2 * 1024 * 1024


@frozen
class Readable:
    """What can be read: the own stores together with those of the other worktrees of the repository."""

    packs: PackStore
    excerpts: ExcerptStore
    discoveries: DiscoveryStore


@frozen
class Ports:
    """Everything the core asks of the world; a feature whose port is None is not offered.

    The ports of a feature besides packs are opened by the first who asks: a command that lists packs does not
    wait for searches.
    """

    clock: Clock
    source: SourceTree
    packs: PackStore
    syntax: Syntax = field(factory=NoSyntax)
    excerpts: ExcerptStore = field(factory=NoExcerptStore)
    history: PackHistory | None = None
    readable: Readable | None = None
    diagrams: DiagramCheck | None = None
    access: AccessLog | None = None
    changes: ChangesSince | None = None
    discoveries: DiscoveryStore | None = None
    sessions: SessionLog | None = None
    search: Callable[[], CodeSearch] | None = None
    bundles: Callable[[], BundleStore] | None = None
    contexts: Callable[[], Projects] | None = None
    documents: Callable[[], DocumentPorts] | None = None
    memory: Callable[[], MemoryPorts] | None = None
    close: Callable[[], None] = lambda: None
    """Closes what was opened; whoever made these ports calls it."""

    @property
    def readable_packs(self) -> PackStore:
        """The packs that can be read."""
        return self.packs if self.readable is None else self.readable.packs
