"""What the session serves: tools, lists, resources, prompts, completion."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from context_pack_adapters.server.catalog import MAX_RESOURCES

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


@pytest.mark.clause("MCP-09")
def test_a_tools_exception_becomes_an_error_without_its_text(peer: Peer, demo: Demo) -> None:
    result = peer.call("break")
    assert result["isError"] is True
    assert "secret" not in str(result)
    assert [name for name, _ in demo.alarms] == ["break"]


@pytest.mark.clause("MCP-26")
def test_changes_are_of_the_kind_write_and_reads_are_not(peer: Peer, req: Request) -> None:
    for action, kind in [("read", "read"), ("write", "write")]:
        (job,) = peer.post(req("tools/call", {"name": "note", "arguments": {"action": action}}))
        assert (job.kind, job.family) == (kind, "demo")
        job.run()


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


LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


@pytest.mark.clause("MCP-40")
@pytest.mark.parametrize("method", LISTS)
def test_a_list_is_one_page_by_default_and_always_the_same(peer: Peer, method: str) -> None:
    first = peer.result(method)
    assert "nextCursor" not in first
    assert first[LISTS[method]]
    assert peer.result(method) == first == peer.result(method, {"cursor": None})
    assert peer.result(method, {"cursor": ""}) == first


def fill(demo: Demo, count: int) -> None:
    demo.memos = {f"memo-{number}": "text" for number in range(count)}


@pytest.mark.clause("MCP-40")
def test_pages_of_resources_join_to_the_whole_list(peer: Peer, demo: Demo) -> None:
    fill(demo, 2 * MAX_RESOURCES + 1)
    names: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(3):
        result = peer.result("resources/list", cursor)
        assert len(result["resources"]) <= MAX_RESOURCES
        names += [each["name"] for each in result["resources"]]
        cursor = {"cursor": result.get("nextCursor", "")}
    assert cursor == {"cursor": ""}
    assert names == list(demo.memos)


@pytest.mark.clause("MCP-40")
@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("cursor", ["x", "\U0001f4a5", 5, 0, True, [], {}, "AAAA" * 3000, "\ud800"])
def test_a_bad_cursor_is_invalid(peer: Peer, modern: Modern, method: str, cursor: Any) -> None:
    assert peer.error(method, {"cursor": cursor})["code"] == -32602
    assert peer.error(method, modern({"cursor": cursor}))["code"] == -32602


@pytest.mark.clause("MCP-40")
def test_a_list_may_shrink_under_a_cursor(peer: Peer, demo: Demo) -> None:
    fill(demo, MAX_RESOURCES + 1)
    cursor = peer.result("resources/list")["nextCursor"]
    demo.memos.clear()
    assert peer.result("resources/list", {"cursor": cursor}) == {"resources": []}


@pytest.mark.clause("MCP-42")
def test_resources_and_templates_are_listed_with_their_types(peer: Peer, demo: Demo) -> None:
    assert peer.result("resources/list")["resources"][0] == {
        "uri": "memo://one",
        "name": "one",
        "title": "One",
        "mimeType": "text/markdown",
    }
    assert peer.result("resources/templates/list")["resourceTemplates"] == [
        {
            "uriTemplate": "memo://{name}",
            "name": "memo",
            "title": "Memos",
            "description": "Short texts.",
            "mimeType": "text/markdown",
        }
    ]
    demo.memos["three"] = "new"
    assert len(peer.result("resources/list")["resources"]) == 3


@pytest.mark.clause("MCP-42")
def test_prompts_are_listed_with_their_arguments(peer: Peer) -> None:
    assert peer.result("prompts/list")["prompts"] == [
        {
            "name": "greet",
            "title": "Greet",
            "description": "Says hello.",
            "arguments": [
                {"name": "who", "description": "whom to greet", "required": True},
                {"name": "tone", "description": "how", "required": False},
            ],
        }
    ]


GREET = {"type": "ref/prompt", "name": "greet"}

MEMO = {"type": "ref/resource", "uri": "memo://{name}"}


def complete(peer: Peer, ref: Any, name: Any, value: Any, **more: Any) -> Any:
    """The completion of one argument."""
    params = {"ref": ref, "argument": {"name": name, "value": value}, **more}
    return peer.result("completion/complete", params)["completion"]


@pytest.mark.clause("MCP-50")
def test_a_resource_is_read_as_text(peer: Peer) -> None:
    assert peer.result("resources/read", {"uri": "memo://one"}) == {
        "contents": [{"uri": "memo://one", "mimeType": "text/markdown", "text": "first memo"}]
    }


@pytest.mark.clause("MCP-50")
@pytest.mark.parametrize("uri", ["memo://none", "other://one", "", "memo://../etc", "memo://\ud800"])
def test_an_unknown_resource_has_the_code_of_its_era(peer: Peer, modern: Modern, uri: str) -> None:
    old = peer.error("resources/read", {"uri": uri})
    new = peer.error("resources/read", modern({"uri": uri}))
    assert (old["code"], old["data"]) == (-32002, {"uri": uri})
    assert (new["code"], new["data"]) == (-32602, {"uri": uri})


@pytest.mark.clause("MCP-50")
@pytest.mark.parametrize("params", [None, {}, {"uri": 5}, {"uri": None}, {"uri": ["memo://one"]}])
def test_reading_without_a_uri_is_invalid(peer: Peer, params: Any) -> None:
    assert peer.error("resources/read", params)["code"] == -32602


@pytest.mark.clause("MCP-50")
def test_a_resource_that_is_there_but_broken_says_so(peer: Peer) -> None:
    error = peer.error("resources/read", {"uri": "memo://broken"})
    assert error == {
        "code": -32603,
        "message": "the memo is malformed",
        "data": {"uri": "memo://broken", "code": "malformed_pack"},
    }
    assert peer.alarms == []


@pytest.mark.clause("MCP-52")
def test_a_prompt_is_rendered_as_a_users_message(peer: Peer) -> None:
    assert peer.result("prompts/get", {"name": "greet", "arguments": {"who": "you"}}) == {
        "description": "Says hello.",
        "messages": [{"role": "user", "content": {"type": "text", "text": "Greet you plainly."}}],
    }


@pytest.mark.clause("MCP-52")
@pytest.mark.parametrize(
    "params",
    [
        None, {}, {"name": 5}, {"name": "nope"}, {"name": "greet"}, {"name": "greet", "arguments": {}},
        {"name": "greet", "arguments": {"tone": "kindly"}}, {"name": "greet", "arguments": {"who": 5}},
        {"name": "greet", "arguments": {"who": None}}, {"name": "greet", "arguments": []},
        {"name": "greet", "arguments": "you"}, {"name": "greet", "arguments": {"who": "nobody"}},
    ],
)  # fmt: skip
def test_a_prompt_that_cannot_be_rendered_is_invalid(peer: Peer, modern: Modern, params: Any) -> None:
    assert peer.error("prompts/get", params)["code"] == -32602
    assert peer.error("prompts/get", modern(params))["code"] == -32602


@pytest.mark.clause("MCP-09")
def test_a_list_or_a_completion_whose_source_fails_says_so(peer: Peer, demo: Demo, modern: Modern) -> None:
    demo.memos["broken"] = ""
    told = {"code": -32603, "message": "a memo is malformed", "data": {"code": "malformed_pack"}}
    assert peer.error("resources/list") == peer.error("resources/list", modern()) == told
    params = {"ref": MEMO, "argument": {"name": "name", "value": ""}}
    assert peer.error("completion/complete", params) == told
    assert peer.alarms == []


@pytest.mark.clause("MCP-54")
def test_an_argument_of_a_prompt_is_completed(peer: Peer) -> None:
    found = complete(peer, GREET, "who", "a", context={"arguments": {"tone": "!"}})
    assert found["values"] == [f"a{number}!" for number in range(100)]
    assert (found["total"], found["hasMore"]) == (250, True)


@pytest.mark.clause("MCP-54")
@pytest.mark.parametrize("uri", ["memo://{name}", "memo://one"])
def test_an_argument_of_a_template_is_completed(peer: Peer, uri: str) -> None:
    found = complete(peer, {"type": "ref/resource", "uri": uri}, "name", "t")
    assert found == {"values": ["two"], "total": 1, "hasMore": False}


@pytest.mark.clause("MCP-54")
def test_completions_beyond_ten_thousand_are_not_counted(peer: Peer, demo: Demo) -> None:
    demo.memos = {f"m{number}": "" for number in range(10_001)}
    found = complete(peer, MEMO, "name", "m")
    assert found["hasMore"] is True
    assert "total" not in found


@pytest.mark.clause("MCP-54")
@pytest.mark.parametrize("ref", [GREET, MEMO])
def test_an_unknown_argument_of_a_known_ref_has_no_completions(peer: Peer, ref: Any) -> None:
    assert complete(peer, ref, "nope", "x") == {"values": [], "total": 0, "hasMore": False}


@pytest.mark.clause("MCP-54")
@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        {"ref": GREET},
        {"ref": "greet", "argument": {"name": "who", "value": ""}},
        {"ref": {}, "argument": {"name": "who", "value": ""}},
        {"ref": {"type": "ref/prompt"}, "argument": {"name": "who", "value": ""}},
        {"ref": {"type": "ref/prompt", "name": "nope"}, "argument": {"name": "who", "value": ""}},
        {"ref": {"type": "ref/resource", "uri": "other://{x}"}, "argument": {"name": "x", "value": ""}},
        {"ref": {"type": "ref/tool", "name": "echo"}, "argument": {"name": "x", "value": ""}},
        {"ref": GREET, "argument": {"name": "who"}},
        {"ref": GREET, "argument": {"value": "x"}},
        {"ref": GREET, "argument": {"name": "who", "value": 5}},
        {"ref": GREET, "argument": "who"},
        {"ref": GREET, "argument": {"name": "who", "value": ""}, "context": {"arguments": {"tone": 5}}},
    ],
)
def test_a_completion_of_nothing_known_is_invalid(peer: Peer, modern: Modern, params: Any) -> None:
    assert peer.error("completion/complete", params)["code"] == -32602
    assert peer.error("completion/complete", modern(params))["code"] == -32602
