"""The arguments of the document tools."""

from __future__ import annotations

from attrs import frozen

from context_pack.toolkit.arguments import arg, array, boolean, integer, number, text
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS

NAME = text(0, 200)
DOCUMENT = text(0, 1024)
COLLECTION = "Collection name or id"
DOCUMENT_ID = "Document id"
MAX_QUERY = 4000
MOST_HITS = 100
SEARCH_LIMIT = integer(1, MOST_HITS)
TOKENS = integer(200)
BUDGET = "Most tokens"
DISTANCE = number(0)


@frozen
class ListCollections:
    """List all collections."""


@frozen
class SearchDocuments:
    """Search with one question."""

    query: str = arg(text(0, MAX_QUERY, blank=False), "What to find")
    collections: tuple[str, ...] = arg(array(NAME, 0, 100), "Only these", default=())
    limit: int = arg(SEARCH_LIMIT, "Hits", default=10)
    max_distance: float | None = arg(DISTANCE, "Largest distance", name="maxDistance", default=None)
    hybrid: bool = arg(boolean(), "Match keywords too", name="hybridSearch", default=True)
    max_tokens: int = arg(TOKENS, BUDGET, name="maxTokens", default=DEFAULT_MAX_TOKENS)


@frozen
class GetDocument:
    """Read a whole document."""

    collection: str = arg(NAME, COLLECTION)
    document: str = arg(DOCUMENT, DOCUMENT_ID)


@frozen
class ListDocuments:
    """List one page of a collection's documents."""

    collection: str = arg(NAME, COLLECTION)
    limit: int = arg(integer(1, 1000), "Page size", default=100)
    offset: int = arg(integer(0), "Start", default=0)


@frozen
class GetOutline:
    """Read the headings of a document."""

    collection: str = arg(NAME, COLLECTION)
    document: str = arg(DOCUMENT, DOCUMENT_ID)
    max_depth: int = arg(integer(1, 6), "Deepest level", name="maxDepth", default=3)


@frozen
class GetSection:
    """Read one section of a document."""

    collection: str = arg(NAME, COLLECTION)
    document: str = arg(DOCUMENT, DOCUMENT_ID)
    section: str = arg(text(0, 1000), "Heading, part of it, or Parent > Heading")
    subsections: bool = arg(boolean(), "With nested sections", name="includeSubsections", default=True)


@frozen
class BatchQuestion:
    """One of several questions; what is wrong with it fails it alone, so nothing is refused here."""

    query: str = arg(text(0, 100_000), "1-4000 characters")
    collections: tuple[str, ...] = arg(array(text(0, 1000), 0, 100), "Only these", default=())


@frozen
class SearchBatch:
    """Search with several questions."""

    queries: tuple[BatchQuestion, ...] = arg(array(BatchQuestion, 1, 10), "1-10 queries")
    limit: int = arg(SEARCH_LIMIT, "Hits each", default=5)
    max_distance: float | None = arg(DISTANCE, "Largest distance", name="maxDistance", default=None)
    hybrid: bool = arg(boolean(), "Match keywords too", name="hybridSearch", default=True)
    max_tokens: int = arg(TOKENS, BUDGET, name="maxTokens", default=DEFAULT_MAX_TOKENS)


@frozen
class FindRelated:
    """Find passages like a document or a chunk."""

    collection: str = arg(NAME, COLLECTION)
    document: str = arg(DOCUMENT, DOCUMENT_ID)
    chunk: str | None = arg(
        text(0, 20_000, blank=False), "Text to compare instead of the document", default=None
    )
    limit: int = arg(SEARCH_LIMIT, "Items", default=5)
    same_document: bool = arg(boolean(), "Also from the document itself", name="sameDocument", default=False)
    max_tokens: int = arg(TOKENS, BUDGET, name="maxTokens", default=DEFAULT_MAX_TOKENS)


@frozen
class Sync:
    """Bring one collection, or all, up to date."""

    collection: str | None = arg(NAME, "Default: all", default=None)
