"""The shape of a request: what is one, what is not, and under which id the answer goes."""

from __future__ import annotations

from typing import Any

import pytest

from context_pack_adapters.server import jsonrpc
from context_pack_adapters.server.jsonrpc import Invalid, Notification, Request, classify, decode


def test_the_codes_are_those_of_json_rpc() -> None:
    codes = jsonrpc.PARSE_ERROR, jsonrpc.INVALID_REQUEST, jsonrpc.METHOD_NOT_FOUND
    assert codes == (-32700, -32600, -32601)
    assert (jsonrpc.INVALID_PARAMS, jsonrpc.INTERNAL_ERROR) == (-32602, -32603)


@pytest.mark.clause("MCP-02")
@pytest.mark.parametrize("ident", ["", "a", "1", 0, -1, 7, 2**64, -(2**200), "é", "\ud800"])
def test_an_id_is_a_string_or_an_integer(ident: str | int) -> None:
    assert classify({"jsonrpc": "2.0", "id": ident, "method": "ping"}) == Request(ident, "ping", None)


@pytest.mark.clause("MCP-02")
@pytest.mark.parametrize(
    "text", ["null", "true", "false", "1.5", "1.0", "1e2", "[]", "[1]", "{}", '{"id":1}']
)
def test_any_other_id_is_no_request_and_is_answered_under_null(text: str) -> None:
    message = classify(decode(f'{{"jsonrpc":"2.0","id":{text},"method":"ping"}}'.encode()))
    assert isinstance(message, Invalid)
    assert (message.id, message.code) == (None, -32600)


@pytest.mark.clause("MCP-02")
@pytest.mark.parametrize(
    "value",
    [
        1,
        None,
        True,
        "ping",
        1.5,
        [],
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
        {},
        {"jsonrpc": "2.0"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "params": {}},
        {"jsonrpc": "2.0", "result": 1},
        {"jsonrpc": "2.0", "id": 1, "method": None},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        {"jsonrpc": "2.0", "id": 1, "method": ["ping"]},
        {"jsonrpc": "2.0", "method": 1, "params": "bar"},
        {"id": 1, "method": "ping"},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2", "id": 1, "method": "ping"},
        {"jsonrpc": 2.0, "id": 1, "method": "ping"},
        {"jsonrpc": None, "id": 1, "method": "ping"},
        {"jsonrpc": ["2.0"], "id": 1, "method": "ping"},
        {"JSONRPC": "2.0", "id": 1, "method": "ping"},
        {"method": "ping"},
        {"id": 1, "result": {}},
    ],
)
def test_a_value_that_is_no_request_is_answered_under_its_id_if_that_can_be_read(value: Any) -> None:
    message = classify(value)
    assert isinstance(message, Invalid)
    assert (message.id, message.code) == (value.get("id") if isinstance(value, dict) else None, -32600)
    assert message.message.startswith("Invalid request: ")


@pytest.mark.clause("MCP-02")
@pytest.mark.parametrize("params", [{}, {"a": 1}, [], [1, 2], None])
def test_params_are_an_object_or_an_array_or_absent(params: Any) -> None:
    value = {"jsonrpc": "2.0", "id": "x", "method": "m", "params": params}
    assert classify(value) == Request("x", "m", params)
    assert classify({"jsonrpc": "2.0", "id": "x", "method": "m"}) == Request("x", "m", None)


@pytest.mark.clause("MCP-02")
@pytest.mark.parametrize("params", [0, 5, "", "text", True, False, 1.5])
def test_params_of_another_kind_are_refused_under_the_id_of_the_request(params: Any) -> None:
    message = classify({"jsonrpc": "2.0", "id": 9, "method": "m", "params": params})
    assert isinstance(message, Invalid)
    assert (message.id, message.code) == (9, -32602)


@pytest.mark.clause("MCP-03")
@pytest.mark.parametrize("params", [{"a": 1}, [1], None])
def test_a_message_without_an_id_is_a_notification(params: Any) -> None:
    assert classify({"jsonrpc": "2.0", "method": "m", "params": params}) == Notification("m", params)


@pytest.mark.clause("MCP-03")
@pytest.mark.parametrize("params", [5, "text", False])
def test_a_notification_with_senseless_params_is_still_one(params: Any) -> None:
    assert classify({"jsonrpc": "2.0", "method": "m", "params": params}) == Notification("m", None)


@pytest.mark.clause("MCP-03")
@pytest.mark.parametrize(
    "reply",
    [
        {"id": 1, "result": None},
        {"id": "a", "error": {"code": -1, "message": "no"}},
        {"id": None, "error": {"code": -32700, "message": "Parse error"}},
        {"id": 1.5, "result": {}},
    ],
)
def test_a_reply_of_the_peer_is_no_message_to_answer(reply: dict[str, Any]) -> None:
    assert classify({"jsonrpc": "2.0", **reply}) is None


@pytest.mark.clause("MCP-03")
def test_a_request_that_carries_a_result_is_still_a_request() -> None:
    assert classify({"jsonrpc": "2.0", "id": 1, "method": "m", "result": 1}) == Request(1, "m", None)


@pytest.mark.clause("MCP-02")
def test_unknown_members_of_a_message_are_ignored() -> None:
    assert classify({"jsonrpc": "2.0", "id": 1, "method": "m", "extra": [1]}) == Request(1, "m", None)
