"""Links, pipes, devices and odd files at every path that the product uses: nothing outside, nothing hangs.

The paths are collected by tracing the whole tool list and all commands (`path_trace`). Each meets each kind
of plant, some twenty paths at once, in one workspace that stays open; `benches/hostile.py` plants one at a
time, under a spawned server.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hanging import never_hanging
from hostile_world import CALLS, COMMANDS, OURS, THEIRS, World
from path_trace import paths_of
from planting import plantable, planted, rounds

from context_pack_adapters.cli import main
from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.library import Workspace
from context_pack_adapters.settings import current_settings

AT_ONCE = 20
SLICES = 4
"""In how many parts the commands are run, a part in each round."""
ROOT_TELLERS = ("list_contexts", "query_context")
FAMILIES = ("read_file", "documents_search", "get_context", "query_context", "context_search", "output")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World.made(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def paths(world: World) -> Sequence[str]:
    found = paths_of(world.top)
    world.restore()
    return found


@pytest.fixture(scope="module")
def workspace(world: World) -> Iterator[Workspace]:
    """One workspace that lives through all that is planted, as a server does."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in world.environment.items():
            patch.setenv(name, value)
        with Workspace(open_ports(current_settings())) as opened:
            yield opened


def told(world: World, workspace: Workspace) -> Iterator[tuple[str, str]]:
    """What every tool answers, but for the one absolute path that is promised: the root of contexts."""
    for tool, arguments in CALLS:
        with never_hanging():
            text = workspace.call(tool, arguments).text
        if tool in ROOT_TELLERS:
            text = text.replace(str(world.project), "")
        yield f"{tool} {arguments}", text


def said(words: Sequence[str]) -> str:
    """What a command says."""
    out = io.StringIO()
    with never_hanging(), redirect_stdout(out), redirect_stderr(out):
        main(words)
    return out.getvalue()


@pytest.mark.slow
@pytest.mark.clause("ST-32", "ST-40", "CD-32", "DC-06", "BD-13", "CX-20")
@pytest.mark.parametrize("kind", plantable())
def test_planted_paths_read_and_write_nothing_outside_and_never_hang(
    world: World, paths: Sequence[str], workspace: Workspace, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)
    before = world.around()
    for number, group in enumerate(rounds(paths, AT_ONCE)):
        with planted(world, kind, group):
            monkeypatch.chdir(world.project)
            for call, text in told(world, workspace):
                assert THEIRS not in text, (kind, group, call)
                assert str(world.top) not in text, (kind, group, call, text)
            for words in COMMANDS[number % SLICES :: SLICES]:
                text = said(words)
                assert THEIRS not in text, (kind, group, words)
                assert "Traceback" not in text, text
                assert "failed inside" not in text, (kind, group, words, text)
            assert world.around() == before, (kind, group)
    world.restore()
    answers = dict(told(world, workspace))
    for family in FAMILIES:
        assert any(OURS in text for call, text in answers.items() if call.startswith(family)), family


def test_the_trace_records_the_paths_of_every_family(paths: Sequence[str]) -> None:
    """A trace that missed a family would make the rest of this file prove little."""
    assert {
        "src/deep/app.py", "tsconfig.json", "web/base.json", ".gitignore", ".context.yaml", "AGENTS.md",
        "context.json", "manual/manifest.json", "bundles.yaml", "shop/sdd-bundle.yaml",
        "notes/rules.md", "out/pack.html",
        ".agents/mcp/context_pack/packs/.create.lock", ".agents/mcp/context_pack/memory/discoveries",
    } <= set(paths)  # fmt: skip


def differences(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Where two looks at the world differ."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def test_the_snapshot_of_the_outside_notices_a_changed_byte(world: World) -> None:
    before = world.around()
    page = world.decoy / "docs" / "page.md"
    kept = page.read_bytes()
    page.write_bytes(kept.replace(b"M", b"m", 1))
    assert differences(before, world.around()) == [str(page)]
    page.write_bytes(kept)
    os.utime(page, ns=(before[str(page)][1], before[str(page)][1]))
    assert world.around() == before
    assert Path(page).exists()
