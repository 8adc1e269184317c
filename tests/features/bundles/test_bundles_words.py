"""How fields are called, and when an entity was last modified."""

from __future__ import annotations

import pytest

from context_pack.bundles.model import last_modified, words_of

FILE_NS = 1_765_432_100_123_999_999


@pytest.mark.clause("BD-22")
@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("ownerActorId", "Owner Actor ID"),
        ("apiURLs", "API URLs"),
        ("schema_uri", "Schema URI"),
        ("HTTPPort", "HTTP Port"),
        ("kebab-case-ids", "Kebab Case IDs"),
        ("steps.actorId", "Actor ID"),
        ("größe", "Größe"),
        ("__", "__"),
    ],
)
def test_a_field_name_is_split_into_words(field: str, words: str) -> None:
    assert words_of(field) == words


@pytest.mark.clause("BD-35")
@pytest.mark.parametrize(
    ("stated", "instant"),
    [
        ("2025-12-20", "2025-12-20T00:00:00.000Z"),
        ("2025-12-20T14:30:00.123999999Z", "2025-12-20T14:30:00.123Z"),
        ("2025-12-20T00:30:00+01:00", "2025-12-19T23:30:00.000Z"),
        ("2025-12-20T14:30:00", "2025-12-20T14:30:00.000Z"),
    ],
)
def test_a_stated_modification_date_is_parsed_as_an_instant(stated: str, instant: str) -> None:
    assert last_modified(stated, FILE_NS) == instant
