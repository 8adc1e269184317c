"""Bodies become values strictly, or parse faults; never anything else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack_adapters.server.jsonrpc import ProtocolError, decode
from context_pack_adapters.server.limits import MAX_DEPTH


@pytest.mark.clause("TR-06")
@pytest.mark.parametrize("text", ["{}", " [1, -0, 2.5e-3] \r\n", '{"a": {"b": null}}', "true", '"é"', "7"])
def test_valid_json_is_decoded(text: str) -> None:
    assert decode(text.encode()) == json.loads(text)


@pytest.mark.clause("TR-09")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"{} {}",
        b"{}x",
        b"{'a':1}",
        b"[1,]",
        b'{"a":01}',
        b"\xef\xbb\xbf{}",
        b'["\n"]',
        b"\x00",
    ],
)
def test_malformed_json_is_a_parse_fault(body: bytes) -> None:
    with pytest.raises(ProtocolError, match="malformed JSON"):
        decode(body)


@pytest.mark.clause("TR-09")
@pytest.mark.parametrize(
    "text", [b"\xff", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\xe2\x82"]
)
def test_invalid_utf8_is_a_fault(text: bytes) -> None:
    with pytest.raises(ProtocolError, match="UTF-8"):
        decode(b'{"a":"' + text + b'"}')


@pytest.mark.clause("TR-14")
@pytest.mark.parametrize(
    "body", [b'{"a":1,"a":1}', b'{"a":1,"b":{"c":1,"c":2}}', b'[{"a":1,"\\u0061":2}]', b'{"":1,"":2}']
)
def test_duplicate_keys_are_a_fault(body: bytes) -> None:
    with pytest.raises(ProtocolError, match="duplicate key"):
        decode(body)


@pytest.mark.clause("TR-14")
def test_the_same_key_in_two_objects_is_fine() -> None:
    assert decode(b'[{"a":1},{"a":{"a":2}}]') == [{"a": 1}, {"a": {"a": 2}}]


@pytest.mark.clause("TR-14")
@pytest.mark.parametrize(
    "number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"9" * 400 + b".0"]
)
def test_a_number_that_is_not_finite_is_a_fault(number: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(b'{"a":[' + number + b"]}")


@pytest.mark.clause("TR-14")
def test_an_integer_of_too_many_digits_is_a_fault() -> None:
    assert decode(b"[" + b"9" * 4000 + b"]") == [int("9" * 4000)]
    with pytest.raises(ProtocolError, match="digits"):
        decode(b"[" + b"9" * 5000 + b"]")


@pytest.mark.clause("TR-14")
@pytest.mark.parametrize("pair", [(b"[", b"]"), (b'{"a":', b"}"), (b'[1, {"a":', b"}]")])
def test_depth_128_is_read_and_129_is_a_fault(pair: tuple[bytes, bytes]) -> None:
    opening, closing = pair
    levels = 64 if opening.startswith(b"[1") else 128
    assert decode(b" \n" + opening * (levels - 1) + b"[]" + closing * (levels - 1)) is not None
    with pytest.raises(ProtocolError, match="128 levels"):
        decode(b" \n" + opening * levels + b"[]" + closing * levels)


@pytest.mark.clause("TR-14")
@given(
    words=st.lists(st.text('a"\\[]{}', max_size=6), min_size=1, max_size=3),
    depth=st.sampled_from([1, 2, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, MAX_DEPTH + 2]),
)
def test_depth_is_counted_outside_strings_only(words: list[str], depth: int) -> None:
    """Quotation marks, backslashes and brackets in strings neither hide levels nor add any."""
    inner: object = words
    for level in range(depth - 1):
        inner = {"".join(words): inner} if level % 2 else [*words, inner]
    body = json.dumps(inner).encode()
    if depth <= MAX_DEPTH:
        assert decode(body) == inner
    else:
        with pytest.raises(ProtocolError, match="nested deeper"):
            decode(body)


@pytest.mark.clause("TR-14")
def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert decode(b"[" + b"[]," * 1000 + b"{}]") == [[]] * 1000 + [{}]
    assert decode(b'"' + b"[{" * 1000 + b'"') == "[{" * 1000


@pytest.mark.clause("TR-14", "TR-18")
@pytest.mark.parametrize("body", [b"[" * 1_000_000, b'{"a":' * 1_000_000, b"[" * 500_000 + b"]" * 500_000])
def test_a_million_brackets_are_a_fault_and_not_a_crash(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(body)


@pytest.mark.clause("TR-09")
@pytest.mark.parametrize("body", [b"[" * 100 + b"x" + b"]" * 100 + b"[" * 100, b"[" + b"[]," * 200 + b"]"])
def test_malformed_json_with_many_brackets_is_a_fault(body: bytes) -> None:
    with pytest.raises(ProtocolError, match="malformed"):
        decode(body)


@pytest.mark.clause("MCP-01")
def test_half_a_surrogate_pair_is_read_as_it_is() -> None:
    assert decode(b'["\\ud800","\\udc00x","\\ud83d\\ude00"]') == ["\ud800", "\udc00x", "😀"]


@pytest.mark.clause("TR-09")
def test_a_fault_says_why_and_quotes_nothing() -> None:
    with pytest.raises(ProtocolError) as caught:
        decode(b'{"password": "hunter2" oops}')
    assert "hunter2" not in str(caught.value)
    assert "character 23" in str(caught.value)
