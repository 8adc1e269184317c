"""The arguments of the document tools."""

from __future__ import annotations

from attrs import frozen

from context_pack.toolkit.arguments import arg, array, boolean, integer, number, text
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS

NAME = text(1, 200)
DOCUMENT = text(1, 1024)
COLLECTION = "Collection name or id"
MAX_QUERY = 4000
SEARCH_LIMIT = integer(1, 100)
TOKENS = integer(100, 1_000_000)
BUDGET = "Answer budget"
DISTANCE = number(0, 2)


@frozen
class ListCollections:
    """All of them."""


@frozen
class Search:
    """One question."""

    query: str = arg(text(1, MAX_QUERY, blank=False), "What to find, in words")
    collections: tuple[str, ...] = arg(array(NAME, 0, 100), "Only these", default=())
    limit: int = arg(SEARCH_LIMIT, "Most hits", default=10)
    max_distance: float | None = arg(DISTANCE, "Largest cosine distance", name="maxDistance", default=None)
    hybrid: bool = arg(boolean(), "Keywords too", name="hybridSearch", default=True)
    max_tokens: int = arg(TOKENS, BUDGET, name="maxTokens", default=DEFAULT_MAX_TOKENS)


@frozen
class GetDocument:
    """The whole of a document."""

    collection: str = arg(NAME, COLLECTION)
    document: str = arg(DOCUMENT, "Document id")


@frozen
class ListDocuments:
    """One page of a collection."""

    collection: str = arg(NAME, COLLECTION)
    limit: int = arg(integer(1, 1000), "Page size", default=100)
    offset: int = arg(integer(0), "Where to start", default=0)


@frozen
class GetOutline:
    """The headings of a document."""

    collection: str = arg(NAME, COLLECTION)
    document: str = arg(DOCUMENT, "Document id")
    max_depth: int = arg(integer(1, 6), "Deepest level", name="maxDepth", default=3)


@frozen
class GetSection:
    """One section of a document."""

    collection: str = arg(NAME, COLLECTION)
    document: str = arg(DOCUMENT, "Document id")
    section: str = arg(text(1, 1000), "Heading, or a part of it")
    subsections: bool = arg(boolean(), "With nested ones", name="includeSubsections", default=True)


@frozen
class Query:
    """One of several questions; what is wrong with it fails it alone, so nothing is refused here."""

    query: str = arg(text(0, 100_000), "1-4000 characters")
    collections: tuple[str, ...] = arg(array(text(0, 1000), 0, 100), "Only these", default=())


@frozen
class SearchBatch:
    """Several questions."""

    queries: tuple[Query, ...] = arg(array(Query, 1, 10), "Questions")
    limit: int = arg(SEARCH_LIMIT, "Most hits each", default=5)
    max_distance: float | None = arg(DISTANCE, "Largest cosine distance", name="maxDistance", default=None)
    hybrid: bool = arg(boolean(), "Keywords too", name="hybridSearch", default=True)
    max_tokens: int = arg(TOKENS, BUDGET, name="maxTokens", default=DEFAULT_MAX_TOKENS)


@frozen
class FindRelated:
    """What is like a document or a chunk."""

    collection: str = arg(NAME, COLLECTION)
    document: str = arg(DOCUMENT, "Document id")
    chunk: str | None = arg(text(1, 20_000, blank=False), "Text instead of the document", default=None)
    limit: int = arg(SEARCH_LIMIT, "Most items", default=5)
    same_document: bool = arg(boolean(), "Its own chunks too", name="sameDocument", default=False)
    max_tokens: int = arg(TOKENS, BUDGET, name="maxTokens", default=DEFAULT_MAX_TOKENS)


@frozen
class Sync:
    """Bring one collection, or all, up to date."""

    collection: str | None = arg(NAME, COLLECTION + "; all without", default=None)
