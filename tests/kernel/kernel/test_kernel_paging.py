"""Pages and the cursors between them."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paging import MAX_CURSOR_CHARS, decode_cursor, encode_cursor, page
from context_pack.kernel.text import sha256_hex

PAYLOADS = st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=8) | st.none(), max_size=4)


def refused(kind: str, text: Any) -> bool:
    with pytest.raises(Failure) as caught:
        decode_cursor(kind, text)
    return (caught.value.code, caught.value.details["field"]) == (Code.INVALID_DATA, "cursor")


@pytest.mark.clause("KN-29")
@given(PAYLOADS)
def test_a_cursor_carries_its_payload_in_url_safe_text(payload: dict[str, Any]) -> None:
    cursor = encode_cursor("packs", payload)
    assert decode_cursor("packs", cursor) == payload
    assert cursor.replace("-", "").replace("_", "").isalnum()
    assert cursor.isascii()


@pytest.mark.clause("KN-29")
@given(PAYLOADS, st.data())
def test_a_changed_cursor_is_refused(payload: dict[str, Any], data: st.DataObject) -> None:
    cursor = encode_cursor("packs", payload)
    at = data.draw(st.integers(0, len(cursor) - 1))
    other = data.draw(st.characters().filter(lambda char: char != cursor[at]))
    assert refused("packs", cursor[:at] + other + cursor[at + 1 :])
    assert refused("packs", cursor[:at])
    assert refused("packs", cursor + other)
    assert refused("tools", cursor)


@pytest.mark.clause("KN-29")
@given(st.text(max_size=40))
def test_an_invented_cursor_is_refused(text: str) -> None:
    assert refused("packs", text)


@pytest.mark.clause("KN-29")
@pytest.mark.parametrize("body", [b"[1]", b"{", b"\xff", b"[" * 3000, b"1"])
def test_a_well_sealed_cursor_without_an_object_is_refused(body: bytes) -> None:
    encoded = base64.urlsafe_b64encode(body).decode().rstrip("=")
    assert refused("packs", sha256_hex(f"packs\n{encoded}")[:8] + encoded)


@pytest.mark.clause("KN-29")
@pytest.mark.parametrize("text", [None, 3, b"x", "x" * (MAX_CURSOR_CHARS + 1)])
def test_a_cursor_that_is_no_short_text_is_refused(text: Any) -> None:
    assert refused("packs", text)


@pytest.mark.clause("KN-30")
@given(st.lists(st.integers(), max_size=20), st.integers(1, 7))
def test_pages_one_after_another_give_the_whole_list(items: list[int], limit: int) -> None:
    seen: list[int] = []
    while True:
        part = page(items, len(seen), limit)
        seen.extend(part.items)
        assert part.total == len(items)
        assert part.has_more == (len(seen) < len(items))
        if not part.has_more:
            break
    assert seen == items


@pytest.mark.clause("KN-30")
def test_a_page_past_the_end_is_empty_and_final() -> None:
    part = page([1, 2], 5, 3)
    assert (part.items, part.total, part.has_more) == ((), 2, False)
