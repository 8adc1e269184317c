"""Links, pipes and odd files at every path that a project may have: nothing outside, nothing hangs.

Each path meets each kind of plant, some at once, under one connection that stays open; it calls every tool.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from hanging import never_hanging
from hostile_world import CALLS, OURS, STORE, THEIRS, World, sources
from local_client import LocalClient
from ordinary_user import ordinary_user

AT_ONCE = 12
ROOT_TELLERS = ("list_contexts", "query_context")
FAMILIES = ("read_file", "documents_search", "get_context", "query_context", "context_search", "output")


def _linked(world: World, path: str, place: Path) -> None:
    """A link to what has this path in the decoy, or at least this name."""
    target = world.decoy / path
    place.symlink_to(target if target.exists() else world.decoy / "docs/page.md")


def _other_kind(world: World, path: str, place: Path) -> None:
    """A folder in the place of a file, and a file in the place of a folder."""
    if (world.template / path).is_dir():
        place.write_text(f"{OURS}\n")
    else:
        place.mkdir()
        (place / "file.txt").write_text(f"{OURS}\n")


def _closed(_: World, __: str, place: Path) -> None:
    place.write_text(OURS)
    place.chmod(0)


def _huge(_: World, __: str, place: Path) -> None:
    with open(place, "wb") as file:
        file.truncate(1 << 33)


KINDS: Mapping[str, Callable[[World, str, Path], object]] = {
    "a link to the decoy": _linked,
    # Whoever writes through this one makes a file outside.
    "a link to nothing": lambda world, _, place: place.symlink_to(world.decoy / "not-there-yet"),
    "a pipe": lambda _, __, place: os.mkfifo(place),
    "a huge file": _huge,
    "noise": lambda _, __, place: place.write_bytes(bytes(range(256)) * 4),
    "the other kind": _other_kind,
    "an unreadable one": _closed,
}
STORED = ("packs", "packs/.create.lock", "excerpts", "memory", "memory/discoveries")
PATHS = (
    *sources(OURS),
    "src",
    "docs",
    "shop",
    "shop/sdd-bundle.yaml",
    *(f"{STORE}/{name}" for name in STORED),
)


def plant(world: World, kind: str, paths: Sequence[str]) -> None:
    """Have the project as it was made, but with this at those paths."""
    world.restore()
    for path in paths:
        place = world.project / path
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        KINDS[kind](world, path, place)


def groups(at_once: int) -> list[list[str]]:
    """The paths in groups of so many at most, none of them inside another of its group."""
    found: list[list[str]] = []
    for path in PATHS:
        for group in found:
            inside = any(
                f"{path}/".startswith(f"{one}/") or f"{one}/".startswith(f"{path}/") for one in group
            )
            if len(group) < at_once and not inside:
                group.append(path)
                break
        else:
            found.append([path])
    return found


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
