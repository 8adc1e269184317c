"""What counts as a text file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.ports import Reason, decode


@pytest.mark.clause("KN-12")
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_utf8_text_comes_back_with_its_line_endings(text: str) -> None:
    assert decode(b"\xef\xbb\xbf" + text.encode()) == text
    assert decode(text.encode()) == text.removeprefix("\ufeff")


@pytest.mark.clause("KN-12")
def test_only_one_byte_order_mark_is_dropped() -> None:
    assert decode("\ufeff\ufeffa\r\n".encode()) == "\ufeffa\r\n"


@pytest.mark.clause("KN-12")
def test_a_nul_counts_in_the_first_eight_kibibytes_only() -> None:
    assert decode(b"a" * (8192 - 1) + b"\0") is Reason.BINARY
    assert decode(b"a" * 8192 + b"\0") == "a" * 8192 + "\0"
    assert decode(b"\0\xff") is Reason.BINARY


@pytest.mark.clause("KN-12")
@pytest.mark.parametrize("data", [b"\xff\xfea", b"caf\xe9", b"\xed\xa0\x80", b"\xc0\xaf", b"abc\xf0\x9f"])
def test_bytes_that_are_not_utf8_have_that_reason(data: bytes) -> None:
    assert decode(data) is Reason.NOT_UTF8
