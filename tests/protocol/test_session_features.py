"""Reading resources, rendering prompts, completing arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.protocol.conftest import Demo, Peer

Modern = Callable[..., dict[str, Any]]
GREET = {"type": "ref/prompt", "name": "greet"}
MEMO = {"type": "ref/resource", "uri": "memo://{name}"}


def complete(peer: Peer, ref: Any, name: Any, value: Any, **more: Any) -> Any:
    """The completion of one argument."""
    params = {"ref": ref, "argument": {"name": name, "value": value}, **more}
    return peer.result("completion/complete", params)["completion"]


@pytest.mark.clause("MCP-50")
def test_a_resource_is_read_as_text_or_as_bytes(peer: Peer) -> None:
    assert peer.result("resources/read", {"uri": "memo://one"}) == {
        "contents": [{"uri": "memo://one", "mimeType": "text/markdown", "text": "first memo"}]
    }
    assert peer.result("resources/read", {"uri": "memo://bytes"}) == {
        "contents": [{"uri": "memo://bytes", "mimeType": "image/png", "blob": "AAECAw=="}]
    }


@pytest.mark.clause("MCP-50")
def test_a_resource_may_be_kept_for_its_remaining_life(peer: Peer, modern: Modern) -> None:
    result = peer.result("resources/read", modern({"uri": "memo://one"}))
    assert (result["ttlMs"], result["cacheScope"]) == (10_000, "private")


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
        None,
        {},
        {"name": 5},
        {"name": "nope"},
        {"name": "greet"},
        {"name": "greet", "arguments": {}},
        {"name": "greet", "arguments": {"tone": "kindly"}},
        {"name": "greet", "arguments": {"who": 5}},
        {"name": "greet", "arguments": {"who": None}},
        {"name": "greet", "arguments": []},
        {"name": "greet", "arguments": "you"},
        {"name": "greet", "arguments": {"who": "nobody"}},
    ],
)
def test_a_prompt_that_cannot_be_rendered_is_invalid(peer: Peer, modern: Modern, params: Any) -> None:
    assert peer.error("prompts/get", params)["code"] == -32602
    assert peer.error("prompts/get", modern(params))["code"] == -32602


@pytest.mark.clause("MCP-52")
def test_a_prompt_whose_source_fails_is_an_internal_error(peer: Peer) -> None:
    error = peer.error("prompts/get", {"name": "greet", "arguments": {"who": "ghost"}})
    assert (error["code"], error["data"]) == (-32603, {"code": "io_error"})


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
def test_exactly_a_hundred_values_are_all_of_them(peer: Peer, demo: Demo) -> None:
    demo.memos = {f"m{number}": "" for number in range(100)}
    assert complete(peer, MEMO, "name", "m")["hasMore"] is False
    demo.memos["m100"] = ""
    found = complete(peer, MEMO, "name", "m")
    assert (len(found["values"]), found["total"], found["hasMore"]) == (100, 101, True)


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
