"""The types that the library takes and returns, in one place; loaded by whoever first names one of them.

What a search finds is flat here: a hit says where it is (`hit.path`, `hit.start`) and what stands there
(`hit.text`), and nothing of how the index keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from context_pack.bundles.exports import EntityNeighbours, ExportedText, WrittenDocument
from context_pack.bundles.model import Bundle, Unloadable
from context_pack.bundles.ports import BundlePlace
from context_pack.code.grep import FoundLines
from context_pack.code.outline import Outlined
from context_pack.code.reading import FileRead
from context_pack.code.usages import Usages
from context_pack.contexts.queries import CheckedContext, ContextPart, FolderListing
from context_pack.contexts.refresh import FolderOutcome
from context_pack.documents.model import Outcome
from context_pack.documents.shelf import DocumentSection
from context_pack.kernel.errors import Code, Failure, Kind
from context_pack.kernel.paging import Page
from context_pack.memory.discovery import Discovery
from context_pack.memory.ports import Recorded
from context_pack.packs.claims import Remark
from context_pack.packs.draft import Drafted
from context_pack.packs.model import Diagram, Pack, Ref, Section, Status
from context_pack.packs.operations import (
    DeleteDiagram,
    DeleteRef,
    DeleteSection,
    SetMeta,
    TouchTtl,
    UpsertDiagram,
    UpsertRef,
    UpsertSection,
)
from context_pack.packs.read import Compared, Repaired, Verified
from context_pack.packs.render import Rendered
from context_pack.packs.states import State
from context_pack.packs.write_text import WrittenText
from context_pack.ports import Ports
from context_pack.retrieval.headings import Heading
from context_pack.toolkit.spec import Answer

__all__ = [
    "Answer", "Bundle", "BundlePlace", "CheckedContext", "Code", "Compared", "ContextPart", "DeleteDiagram",
    "DeleteRef", "DeleteSection", "Diagram", "Discovery", "DocumentHit", "DocumentHits", "DocumentSection",
    "Drafted", "EntityNeighbours", "ExportedText", "Failure", "FileRead", "FolderListing", "FolderOutcome",
    "FoundLines", "Heading", "Kind", "ListedCollection", "MemoryHit", "MemoryHits", "Outcome", "Outlined",
    "Pack", "Page", "Ports", "Recorded", "Ref", "Remark", "Rendered", "Repaired", "Section", "SetMeta",
    "State", "Status", "StoredDocument", "TouchTtl", "Unloadable", "UpsertDiagram", "UpsertRef",
    "UpsertSection", "Usages", "Verified", "WrittenDocument", "WrittenText",
]  # fmt: skip


@frozen
class ListedCollection:
    """A configured collection of documents; `place` is a folder or the URL of a repository."""

    alias: str
    place: str
    documents: int
    description: str | None = None
    version: str | None = None


@frozen
class StoredDocument:
    """One document by its path in the collection; `size` counts characters, and in a list `text` is empty."""

    collection: str
    path: str
    title: str
    size: int
    text: str = field(default="", repr=False)


@frozen
class DocumentHit:
    """A passage of a document: its lines `start` to `end`, below `heading`; `relevance` is from 0 to 1."""

    collection: str
    path: str
    start: int
    end: int
    text: str
    title: str
    heading: str
    relevance: float


@frozen
class DocumentHits:
    """The passages that answer a question, the best first; iterates over them.

    `stale` says that documents have changed which are not indexed yet, `warning` what else limits the answer.
    """

    hits: tuple[DocumentHit, ...]
    stale: bool = False
    warning: str | None = None

    def __iter__(self) -> Iterator[DocumentHit]:
        return iter(self.hits)


@frozen
class MemoryHit:
    """Something that memory knows: `source` is `code`, `discovery`, `pack` or `session`.

    Code has `path`, `start`, `end` and the `symbol` that it defines; everything else an `id`, and what is
    told of it besides (`session`, `date`, `times`, `code`, …) in `facts`.
    """

    source: str
    text: str
    relevance: float
    path: str | None = None
    start: int | None = None
    end: int | None = None
    symbol: str | None = None
    id: str | None = None
    module: str | None = None
    facts: Mapping[str, Any] = field(factory=dict)


@frozen
class MemoryHits:
    """The best matches, of `total`; iterates over them. `warnings` say what limits the answer."""

    hits: tuple[MemoryHit, ...]
    total: int
    warnings: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[MemoryHit]:
        return iter(self.hits)
