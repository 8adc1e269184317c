"""The documents family: its errors as plain text, and the JSON of what its answers are made of."""

from __future__ import annotations

from typing import Any

from context_pack.documents.domain.model import Collection, Outcome
from context_pack.documents.usecases.search import RankedPassage
from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.spec import Answer, FailedCall, Family

Body = dict[str, Any]
DIGITS = 6
MOST_HEADING = 1000
"""Characters; a longer heading is no name of anything."""


def document_error(failure: Failure, failed: FailedCall) -> Answer:
    """A failure as plain text."""
    if failure.code is Code.INVALID_DATA and failure.details.get("problems"):
        return Answer("; ".join(one["message"] for one in failure.details["problems"]), is_error=True)
    if failure.code is Code.RATE_LIMITED:
        return Answer(f"{failure.message}; {failure.details.get('hint')}", is_error=True)
    if failure.code is Code.INTERNAL:
        return Answer(f"{failed.tool}: {failure.message}", is_error=True)
    return Answer(failure.message, is_error=True)


FAMILY = Family("documents", document_error)


def named(collection: Collection) -> Body:
    """A collection by its alias, and by its id where that is another."""
    if collection.alias == collection.id:
        return {"collection": collection.alias}
    return {"collection": collection.alias, "collectionId": collection.id}


def outcome_body(outcome: Outcome) -> Body:
    """What a sync has done, as JSON."""
    return {
        "collection": outcome.collection,
        "added": outcome.added,
        "updated": outcome.updated,
        "removed": outcome.removed,
        "failed": [{"document": one.document, "reason": one.reason} for one in outcome.failed],
    }


def hit_body(hit: RankedPassage) -> Body:
    """A hit as JSON."""
    found = hit.ranked.found
    return {
        **named(hit.collection),
        "documentId": found.key,
        "documentTitle": found.title,
        **({"sectionHeading": found.heading[:MOST_HEADING]} if found.heading else {}),
        "content": found.text,
        "relevanceScore": round(hit.ranked.relevance, DIGITS),
        "distance": round(hit.ranked.distance, DIGITS),
        "chunkIndex": found.index,
        "totalChunks": found.total,
        "startLine": found.start,
        "endLine": found.end,
    }
