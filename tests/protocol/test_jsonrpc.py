"""JSON-RPC: bodies become values, or parse faults; values are requests, notifications, or neither."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack_adapters.server.framing import MAX_DEPTH
from context_pack_adapters.server.jsonrpc import (
    Invalid,
    Notification,
    ProtocolError,
    Request,
    classify,
    decode,
)


@pytest.mark.clause("TR-14", "MCP-01")
@pytest.mark.parametrize(
    "text",
    [
        "{}", " [1, -0, 2.5e-3] \r\n", '{"a": {"b": null}}', "true", '"é"', "7", "9" * 4000,
        '[{"a":1},{"a":{"a":2}}]', "[" + "[]," * 1000 + "{}]", '"' + "[{" * 1000 + '"',
        '["\\ud800","\\udc00x","\\ud83d\\ude00"]',
    ],
)  # fmt: skip
def test_valid_json_is_decoded(text: str) -> None:
    assert decode(text.encode()) == json.loads(text)


FAULTS: list[tuple[bytes, str]] = [
    *((body, "malformed JSON") for body in (
        b"", b" ", b"{", b"{} {}", b"{}x", b"{'a':1}", b"[1,]", b'{"a":01}', b"\xef\xbb\xbf{}", b'["\n"]',
        b"\x00", b"[" * 100 + b"x" + b"]" * 100 + b"[" * 100, b"[" + b"[]," * 200 + b"]",
    )),
    *((b'{"a":"' + text + b'"}', "UTF-8") for text in (
        b"\xff", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\xe2\x82",
    )),
    *((b'{"a":[' + number + b"]}", "is not JSON") for number in (b"NaN", b"Infinity", b"-Infinity")),
    (b"[" + b"9" * 5000 + b"]", "digits"),
    *((body, "Parse error") for body in (b'{"a":' * 1_000_000, b"[" * 500_000 + b"]" * 500_000)),
]  # fmt: skip


@pytest.mark.clause("TR-14", "TR-18")
@pytest.mark.parametrize(("body", "reason"), FAULTS, ids=lambda value: ascii(value[:20]))
def test_what_is_no_strict_json_is_a_fault(body: bytes, reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason) as caught:
        decode(body)
    assert caught.value.code == -32700


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


@pytest.mark.clause("TR-09")
def test_a_fault_says_why_and_quotes_nothing() -> None:
    with pytest.raises(ProtocolError) as caught:
        decode(b'{"password": "hunter2" oops}')
    assert "hunter2" not in str(caught.value)
    assert "character 23" in str(caught.value)


@pytest.mark.clause("MCP-01", "MCP-02")
@pytest.mark.parametrize("ident", ["", "a", "1", 0, -1, 7, 2**64, -(2**200), "é", "\ud800"])
@pytest.mark.parametrize("params", [{}, {"a": 1}, [], [1, 2], None])
def test_a_request_has_an_id_a_method_and_perhaps_parameters(ident: str | int, params: Any) -> None:
    message = {"jsonrpc": "2.0", "id": ident, "method": "m", "params": params, "result": 1, "extra": [1]}
    assert classify(message) == Request(ident, "m", params)
    del message["params"]
    assert classify(message) == Request(ident, "m", None)


@pytest.mark.clause("MCP-02")
@pytest.mark.parametrize("text", ["null", "true", "1.5", "1.0", "1e2", "[]", "[1]", "{}", '{"id":1}'])
def test_any_other_id_is_no_request_and_is_answered_under_null(text: str) -> None:
    message = classify(decode(f'{{"jsonrpc":"2.0","id":{text},"method":"ping"}}'.encode()))
    assert isinstance(message, Invalid)
    assert (message.id, message.code) == (None, -32600)


@pytest.mark.clause("MCP-02")
@pytest.mark.parametrize(
    "value",
    [
        1, None, True, "ping", 1.5, [], [{"jsonrpc": "2.0", "id": 1, "method": "ping"}], {},
        {"jsonrpc": "2.0"}, {"jsonrpc": "2.0", "id": 1}, {"jsonrpc": "2.0", "id": 1, "params": {}},
        {"jsonrpc": "2.0", "result": 1}, {"jsonrpc": "2.0", "id": 1, "method": None},
        {"jsonrpc": "2.0", "id": 1, "method": ["ping"]}, {"jsonrpc": "2.0", "method": 1, "params": "bar"},
        {"id": 1, "method": "ping"}, {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": 2.0, "id": 1, "method": "ping"}, {"jsonrpc": ["2.0"], "id": 1, "method": "ping"},
        {"JSONRPC": "2.0", "id": 1, "method": "ping"}, {"id": 1, "result": {}},
    ],
)  # fmt: skip
def test_a_value_that_is_no_request_is_answered_under_its_id_if_that_can_be_read(value: Any) -> None:
    message = classify(value)
    assert isinstance(message, Invalid)
    assert (message.id, message.code) == (value.get("id") if isinstance(value, dict) else None, -32600)
    assert message.message.startswith("Invalid request: ")


@pytest.mark.clause("MCP-02", "MCP-03")
@pytest.mark.parametrize("params", [0, 5, "", "text", True, False, 1.5])
def test_parameters_of_another_kind_are_refused_in_requests_and_dropped_in_notifications(params: Any) -> None:
    message = classify({"jsonrpc": "2.0", "id": 9, "method": "m", "params": params})
    assert isinstance(message, Invalid)
    assert (message.id, message.code) == (9, -32602)
    assert classify({"jsonrpc": "2.0", "method": "m", "params": params}) == Notification("m", None)
