"""Lists and their pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from context_pack.kernel.paging import encode_cursor
from context_pack_adapters.server.catalog import MAX_RESOURCES

if TYPE_CHECKING:
    from tests.protocol.conftest import Demo, Peer

LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
Modern = Callable[..., dict[str, Any]]


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
def test_a_cursor_of_another_list_is_invalid(peer: Peer, demo: Demo) -> None:
    fill(demo, MAX_RESOURCES + 1)
    cursor = peer.result("resources/list")["nextCursor"]
    assert peer.error("prompts/list", {"cursor": cursor})["code"] == -32602
    assert peer.error("tools/list", {"cursor": cursor})["code"] == -32602


@pytest.mark.clause("MCP-40")
@pytest.mark.parametrize(
    "payload", [{}, {"offset": 0}, {"offset": -1}, {"offset": "1"}, {"offset": True}, {"offset": 1.0}]
)
def test_a_cursor_that_means_nothing_is_invalid(peer: Peer, payload: dict[str, Any]) -> None:
    assert peer.error("tools/list", {"cursor": encode_cursor("tools", payload)})["code"] == -32602


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
        },
        {"name": "talk", "title": "Talk", "description": "Whole messages.", "arguments": []},
    ]


@pytest.mark.clause("MCP-20")
@pytest.mark.parametrize("method", LISTS)
def test_lists_say_how_long_they_may_be_kept(peer: Peer, modern: Modern, method: str) -> None:
    result = peer.result(method, modern())
    assert result["cacheScope"] == "private"
    assert (result["ttlMs"] == 0) is (method == "resources/list")
