"""Links, pipes and odd files at every path that a project may have: nothing outside, nothing hangs.

Each path meets each kind of plant, some at once, under one connection that stays open; it calls every tool.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hanging import never_hanging
from hostile_world import CALLS, KINDS, OURS, THEIRS, World, groups, plant
from local_client import LocalClient
from ordinary_user import ordinary_user

AT_ONCE = 12
ROOT_TELLERS = ("list_contexts", "query_context")
FAMILIES = ("read_file", "documents_search", "get_context", "query_context", "context_search", "output")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World.made(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def client(world: World) -> Iterator[LocalClient]:
    """One connection that lives through all that is planted, as a server does."""
    connected = LocalClient(world.project, **world.environment)
    yield connected
    connected.close()


def answers(world: World, client: LocalClient) -> Iterator[tuple[str, str]]:
    """What every tool answers, but for the one absolute path that is promised: the root of contexts."""
    for tool, arguments in CALLS:
        with never_hanging():
            text = json.dumps(client.call(tool, arguments), ensure_ascii=False)
        if tool in ROOT_TELLERS:
            text = text.replace(str(world.project), "")
        yield f"{tool} {arguments}", text


@pytest.mark.slow
@pytest.mark.clause("ST-32", "ST-40", "CD-32", "DC-06", "BD-13", "CX-20")
@pytest.mark.parametrize("kind", KINDS)
def test_planted_paths_read_and_write_nothing_outside_and_never_hang(
    world: World, client: LocalClient, kind: str
) -> None:
    before = world.around()
    for group in groups(AT_ONCE):
        plant(world, kind, group)
        with ExitStack() as stack:
            if kind == "an unreadable one":
                stack.enter_context(ordinary_user())
            for call, text in answers(world, client):
                assert THEIRS not in text, (group, call)
                assert str(world.top) not in text, (group, call, text)
                assert "failed inside" not in text, (group, call, text)
        assert world.around() == before, group
    world.restore()
    told = dict(answers(world, client))
    for family in FAMILIES:
        assert any(OURS in text for call, text in told.items() if call.startswith(family)), family


def test_every_tool_is_called_and_a_changed_byte_is_noticed(world: World, client: LocalClient) -> None:
    listed = {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}
    assert listed == {tool for tool, _ in CALLS}
    before, page = world.around(), Path(world.decoy / "docs" / "page.md")
    text = page.read_text()
    page.write_text(text.replace("M", "m", 1))
    assert world.around() != before
    page.write_text(text)
