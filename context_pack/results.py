"""The types of what the library returns, in one place; loaded only by whoever names one of them."""

from __future__ import annotations

from context_pack.bundles.exports import EntityNeighbours, ExportedText, WrittenDocument
from context_pack.code.grep import Searched
from context_pack.code.outline import Outlined
from context_pack.code.reading import FileRead
from context_pack.code.usages import Usages
from context_pack.contexts.queries import CheckedContext, ContextPart, FolderListing
from context_pack.documents.usecases.search import SearchAnswers
from context_pack.kernel.paging import Page
from context_pack.memory.ports import Recorded
from context_pack.memory.usecases.search import FoundInMemory
from context_pack.packs.domain.render import Rendered
from context_pack.packs.usecases.draft import Drafted
from context_pack.packs.usecases.read import Compared
from context_pack.packs.usecases.verify import Repaired, Verified
from context_pack.toolkit.spec import Answer

__all__ = [
    "Answer",
    "CheckedContext",
    "Compared",
    "ContextPart",
    "Drafted",
    "EntityNeighbours",
    "ExportedText",
    "FileRead",
    "FolderListing",
    "FoundInMemory",
    "Outlined",
    "Page",
    "Recorded",
    "Rendered",
    "Repaired",
    "SearchAnswers",
    "Searched",
    "Usages",
    "Verified",
    "WrittenDocument",
]
