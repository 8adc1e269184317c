"""Tool calls: which threads run them, what an answer looks like, and whose fault an error is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.protocol.conftest import Demo, Peer

Request = Callable[..., dict[str, Any]]
Modern = Callable[..., dict[str, Any]]


@pytest.mark.clause("MCP-21")
@pytest.mark.parametrize(
    "text", ["hi", "é ключ 日本", 'a "quoted" \\ line\nand\ttab', "\u2028\u2029\x85", "😀"]
)
def test_a_json_answer_is_the_same_as_text_and_as_an_object(peer: Peer, text: str) -> None:
    result = peer.call("echo", {"text": text})
    (block,) = result["content"]
    assert block["type"] == "text"
    assert json.loads(block["text"]) == result["structuredContent"] == {"text": text}
    assert result["isError"] is False


@pytest.mark.clause("MCP-21")
def test_a_lone_surrogate_in_an_answer_is_sent_escaped(peer: Peer) -> None:
    result = peer.call("half")
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"] == {"text": "\udc00"}


@pytest.mark.clause("MCP-21")
def test_a_text_answer_has_no_object(peer: Peer) -> None:
    assert peer.call("text") == {"content": [{"type": "text", "text": "# Title\n\nline"}], "isError": False}


@pytest.mark.clause("MCP-21")
def test_an_answer_may_be_content_blocks(peer: Peer) -> None:
    assert peer.call("blocks")["content"] == [{"type": "image", "data": "AAEC", "mimeType": "image/png"}]


@pytest.mark.clause("MCP-22")
@pytest.mark.parametrize(
    "arguments", [{}, {"text": 5}, {"text": ""}, {"text": "a", "more": 1}, {"text": None}]
)
def test_bad_arguments_are_an_error_in_the_tools_own_shape(peer: Peer, arguments: dict[str, Any]) -> None:
    result = peer.result("tools/call", {"name": "echo", "arguments": arguments}, "my-id")
    assert result["isError"] is True
    assert "structuredContent" not in result
    shape = json.loads(result["content"][0]["text"])
    assert (shape["error"], shape["request_id"]) == ("invalid_data", "my-id")


@pytest.mark.clause("MCP-22")
def test_a_refusal_is_an_error_without_an_object(peer: Peer) -> None:
    result = peer.call("miss")
    assert json.loads(result["content"][0]["text"])["error"] == "not_found"
    assert set(result) == {"content", "isError"}


@pytest.mark.clause("MCP-23")
@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("name", ["nope", "", "Echo", "echo ", "x" * 9000, "a\nb"])
def test_an_unknown_tool_is_a_protocol_error(peer: Peer, modern: Modern, name: str, loaded: bool) -> None:
    if loaded:
        peer.load()
    for params in ({"name": name}, modern({"name": name})):
        error = peer.error("tools/call", params)
        assert error["code"] == -32602
        assert "\n" not in error["message"]
        assert len(error["message"]) < 120


@pytest.mark.clause("MCP-23")
@pytest.mark.parametrize("params", [None, {}, {"name": None}, {"name": 5}, {"name": ["echo"]}])
def test_a_call_without_a_name_is_invalid(peer: Peer, params: Any) -> None:
    assert peer.error("tools/call", params)["code"] == -32602


@pytest.mark.clause("MCP-23")
@pytest.mark.parametrize("arguments", [[], "text", 5, True, False, ""])
def test_arguments_that_are_no_object_are_a_protocol_error(peer: Peer, arguments: Any) -> None:
    assert peer.error("tools/call", {"name": "echo", "arguments": arguments})["code"] == -32602


@pytest.mark.clause("MCP-23")
@pytest.mark.parametrize("params", [{"name": "text"}, {"name": "text", "arguments": None}])
def test_absent_arguments_and_null_are_none(peer: Peer, params: dict[str, Any]) -> None:
    assert peer.result("tools/call", params)["isError"] is False


@pytest.mark.clause("MCP-09")
def test_a_tools_exception_becomes_an_error_without_its_text(peer: Peer, demo: Demo) -> None:
    result = peer.call("break")
    assert result["isError"] is True
    assert "secret" not in str(result)
    assert [name for name, _ in demo.alarms] == ["break"]


@pytest.mark.clause("MCP-09")
@pytest.mark.parametrize("name", ["leave", "odd"])
def test_an_exception_of_the_registry_is_an_internal_error(peer: Peer, name: str) -> None:
    error = peer.error("tools/call", {"name": name})
    assert error["code"] == -32603
    assert [place for place, _ in peer.alarms] == ["tools/call"]
    assert peer.result("ping") == {}


@pytest.mark.clause("MCP-26")
def test_changes_are_of_the_kind_write_and_reads_are_not(peer: Peer, req: Request) -> None:
    for action, kind in [("read", "read"), ("write", "write")]:
        (job,) = peer.post(req("tools/call", {"name": "note", "arguments": {"action": action}}))
        assert (job.kind, job.family) == (kind, "demo")
        job.run()


@pytest.mark.clause("MCP-26")
def test_a_call_that_may_change_something_is_of_the_kind_write(peer: Peer, req: Request) -> None:
    peer.load()
    (job,) = peer.post(req("tools/call", {"name": "note", "arguments": {"action": ["odd"]}}))
    assert job.kind == "write"
    job.run()
    assert peer.take()[0]["result"]["isError"] is True


@pytest.mark.clause("MCP-28")
@pytest.mark.parametrize(
    "method", ["initialize", "ping", "server/discover", "logging/setLevel", "resources/unsubscribe"]
)
def test_requests_without_tools_are_answered_at_once_without_loading(
    peer: Peer, demo: Demo, req: Request, modern: Modern, method: str
) -> None:
    params = modern() if method == "server/discover" else {"level": "error", "uri": "memo://one"}
    assert list(peer.post(req(method, params))) == []
    assert "result" in peer.take()[0]
    assert demo.loads == 0


@pytest.mark.clause("MCP-28")
@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/templates/list"])
def test_fixed_lists_load_the_registry_once_and_are_answered_at_once(
    peer: Peer, demo: Demo, req: Request, method: str
) -> None:
    assert list(peer.post(req(method))) == []
    first = peer.take()
    assert list(peer.post(req(method))) == []
    assert peer.take() == first
    assert demo.loads == 1
