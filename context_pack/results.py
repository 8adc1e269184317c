"""The types that the library takes and returns, in one place; loaded by whoever first names one of them."""

from __future__ import annotations

from context_pack.bundles.exports import EntityNeighbours, ExportedText, WrittenDocument
from context_pack.code.grep import Searched
from context_pack.code.outline import Outlined
from context_pack.code.reading import FileRead
from context_pack.code.usages import Usages
from context_pack.composition import Ports
from context_pack.contexts.queries import CheckedContext, ContextPart, FolderListing
from context_pack.documents.search import SearchAnswers
from context_pack.kernel.errors import Code, Failure, Kind
from context_pack.kernel.paging import Page
from context_pack.memory.ports import Recorded
from context_pack.memory.search import FoundInMemory
from context_pack.packs.commands import (
    DeleteDiagram,
    DeleteRef,
    DeleteSection,
    SetMeta,
    TouchTtl,
    UpsertDiagram,
    UpsertRef,
    UpsertSection,
)
from context_pack.packs.draft import Drafted
from context_pack.packs.model import Diagram, Pack, Ref, Section, Status
from context_pack.packs.read import Compared
from context_pack.packs.render import Rendered
from context_pack.packs.states import State
from context_pack.packs.verify import Repaired, Verified
from context_pack.toolkit.spec import Answer

__all__ = [
    "Answer",
    "CheckedContext",
    "Code",
    "Compared",
    "ContextPart",
    "DeleteDiagram",
    "DeleteRef",
    "DeleteSection",
    "Diagram",
    "Drafted",
    "EntityNeighbours",
    "ExportedText",
    "Failure",
    "FileRead",
    "FolderListing",
    "FoundInMemory",
    "Kind",
    "Outlined",
    "Pack",
    "Page",
    "Ports",
    "Recorded",
    "Ref",
    "Rendered",
    "Repaired",
    "SearchAnswers",
    "Searched",
    "Section",
    "SetMeta",
    "State",
    "Status",
    "TouchTtl",
    "UpsertDiagram",
    "UpsertRef",
    "UpsertSection",
    "Usages",
    "Verified",
    "WrittenDocument",
]
