"""Places swapped for links to a decoy, in a loop, while every tool is called: the decoy stays untouched.

The swaps are made by a process of their own. `HOSTILE_SECONDS=10` goes on for so long at each place, instead
of for a number of rounds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hostile_world import CALLS, OURS, STORE, THEIRS, World

from context_pack import open_workspace

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names are exchanged by a call of Linux")

SECONDS = float(os.environ.get("HOSTILE_SECONDS", "0"))
ROUNDS = 3
SWAPPER = """
import ctypes, os, sys
place, link = map(os.fsencode, sys.argv[1:])
swap = ctypes.CDLL(None, use_errno=True).renameat2
count = 0
print("ready", flush=True)
os.set_blocking(0, False)
while sys.stdin.buffer.raw.read(1) is None:
    for _ in range(20):  # both exchange their names in one step, so that there is always something
        if swap(-100, place, -100, link, 2) or swap(-100, place, -100, link, 2):
            sys.exit(os.strerror(ctypes.get_errno()))
        count += 1
print(count)
"""
PLACES = (
    *("src", "src/deep", "docs", "docs/part", "shop", "web", ".agents"),
    *(STORE, f"{STORE}/packs", f"{STORE}/memory/discoveries"),
    *("src/deep/app.py", "src/main.py", "docs/page.md", "web/package.json"),
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World.made(tmp_path_factory.mktemp("swapped"))


@contextmanager
def swapped(place: Path, target: Path) -> Iterator[None]:
    """The place is its own folder and a link to the target, by turns, until the block ends."""
    link = place.with_name("a-link")
    link.symlink_to(target)
    command = [sys.executable, "-c", SWAPPER, str(place), str(link)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            told, _ = process.communicate()
    link.unlink()
    assert int(told) > 20


@pytest.mark.clause("ST-40", "CD-32", "BD-13", "CX-20", "DC-06", "ST-32")
@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_served_or_written_behind_a_link_that_takes_a_place(world: World, place: str) -> None:
    world.restore()
    before = world.around()
    with open_workspace(world.project, cache=world.top / "private", embedder="fast") as workspace:
        with swapped(world.project / place, world.decoy / place):
            end, rounds = time.monotonic() + SECONDS, 0
            while rounds < ROUNDS or time.monotonic() < end:
                rounds += 1
                for tool, arguments in CALLS:
                    assert THEIRS not in workspace.call(tool, arguments).text, tool
        told = [workspace.call(tool, arguments).text for tool, arguments in CALLS]
        assert not any(THEIRS in text for text in told)
        assert any(OURS in text for text in told)
    assert world.around() == before
