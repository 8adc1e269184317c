"""Ids, digests, revisions and the table of failures: what things are told apart by."""

from __future__ import annotations

import hashlib
import json
import pickle
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.errors import KIND_OF, Code, Failure, Kind, invalid
from context_pack.kernel.text import PACK_ID_BYTES, canonical_json, is_pack_id, pack_id, sha256_hex
from context_pack.packs.model import FIRST, Pack, Status

TOKENS = st.binary(min_size=PACK_ID_BYTES, max_size=PACK_ID_BYTES)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.clause("KN-18")
@given(TOKENS, TOKENS)
def test_different_tokens_make_different_well_shaped_ids(one: bytes, other: bytes) -> None:
    assert is_pack_id(pack_id(one))
    assert (pack_id(one) == pack_id(other)) == (one == other)


@pytest.mark.clause("KN-18")
@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "pk_",
            "pk_abcdefg",
            "pk_abcdefghi",
            "pk_abcdefg1",
            "pk_ABCDEFGH",
            "PK_abcdefgh",
            "pk-abcdefgh",
        ),
        *("pk_abcdefgh\n", " pk_abcdefgh", "pk_abcdefg8", "pk_abcdefgé"),
    ],
)
def test_malformed_texts_are_no_pack_ids(text: str) -> None:
    assert not is_pack_id(text)
    assert is_pack_id("pk_f2ireb33")


@pytest.mark.clause("KN-18")
@pytest.mark.parametrize("size", [0, 4, 6])
def test_an_id_needs_exactly_five_bytes(size: int) -> None:
    with pytest.raises(ValueError, match="5 bytes"):
        pack_id(bytes(size))


@pytest.mark.clause("KN-19")
def test_a_digest_is_sha256_of_the_utf8_bytes() -> None:
    assert sha256_hex("é\n") == sha256_hex(b"\xc3\xa9\n") == hashlib.sha256(b"\xc3\xa9\n").hexdigest()
    assert sha256_hex("\ud800") != sha256_hex("?")


@pytest.mark.clause("KN-19")
@given(JSON)
def test_equal_values_have_one_canonical_json(value: object) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert canonical_json(json.loads(text)) == text


@pytest.mark.clause("KN-19")
def test_canonical_json_sorts_packs_tight_and_escapes_nothing_needless() -> None:
    assert canonical_json({"b": [1, 2.5], "a": {"é": "\u2028☃", "Z": None}}) == (
        '{"a":{"Z":null,"é":"\u2028☃"},"b":[1,2.5]}'
    )
    with pytest.raises(ValueError):
        canonical_json([float("nan")])


@pytest.mark.clause("KN-20")
@given(st.integers(FIRST, 50), st.integers(FIRST, 50))
def test_only_the_latest_revision_may_write(expected: int, actual: int) -> None:
    now = datetime(2026, 2, 20, 12, tzinfo=UTC)
    pack = Pack(
        id="pk_aaaaaaaa",
        status=Status.DRAFT,
        tags=(),
        revision=actual,
        created_at=now,
        updated_at=now,
        expires_at=now,
    )
    if expected == actual:
        pack.check_revision(expected)
        return
    with pytest.raises(Failure) as caught:
        pack.check_revision(expected)
    details = dict(caught.value.details)
    assert (caught.value.kind, caught.value.code) == (Kind.CONFLICT, Code.REVISION_CONFLICT)
    assert str(actual) in details.pop("hint")
    assert details == {
        "expected_revision": expected,
        "actual_revision": actual,
        "updated_at": "2026-02-20T12:00:00Z",
    }


@pytest.mark.clause("KN-32")
def test_every_code_belongs_to_one_kind() -> None:
    assert set(KIND_OF) == set(Code)
    assert set(KIND_OF.values()) == set(Kind)


@pytest.mark.clause("KN-32")
def test_a_failure_has_empty_details_by_default() -> None:
    assert Failure(Code.NOT_FOUND, "no such pack").details == {}
    assert invalid("wrong", "path", limit=3).details == {"field": "path", "limit": 3}
    assert invalid("wrong").details == {}


@pytest.mark.clause("KN-32")
def test_a_failure_survives_pickling() -> None:
    failure = pickle.loads(pickle.dumps(invalid("wrong", "path")))
    assert (failure.code, failure.message, failure.details) == (Code.INVALID_DATA, "wrong", {"field": "path"})
