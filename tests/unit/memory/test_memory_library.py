"""Memory as a library: the same use cases with values, on disk and in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from context_pack import open_workspace
from context_pack.kernel.errors import Failure
from context_pack_adapters.workspace import Workspace, open_memory_workspace

SOURCE = 'def feed_zebra():\n    """Give hay to the zebra."""\n    return 1\n'


@pytest.fixture(params=["disk", "memory"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Workspace]:
    def on_disk() -> Workspace:
        (tmp_path / "zoo.py").write_text(SOURCE)
        return open_workspace(root=tmp_path / "store", source_root=tmp_path)

    return on_disk if request.param == "disk" else lambda: open_memory_workspace({"zoo.py": SOURCE})


@pytest.mark.clause("ME-01", "ME-23")
def test_an_embedder_records_searches_and_forgets(workspace: Callable[[], Workspace]) -> None:
    with workspace() as opened:
        kept = opened.memory.record("rule", "A zebra eats hay", module="zoo")
        assert not kept.merged
        assert opened.memory.record("rule", "a zebra eats hay.").merged
        assert [each.id for each in opened.memory.discoveries()] == [kept.discovery.id]
        found = opened.memory.search("hay for the zebra", limit=10)
        assert {hit.found.corpus for hit in found.hits} == {"code", "discovery"}
        assert found.indexing is None
        only = opened.memory.search("hay for the zebra", type="rule", module="zoo")
        assert [hit.found.key for hit in only.hits] == [kept.discovery.id]
        opened.memory.forget(kept.discovery.id)
        with pytest.raises(Failure):
            opened.memory.forget(kept.discovery.id)
        with pytest.raises(Failure):
            opened.memory.search("ab")


@pytest.mark.clause("ME-10")
def test_a_workspace_leaves_no_session(workspace: Callable[[], Workspace], tmp_path: Path) -> None:
    with workspace() as opened:
        opened.call("context_search", {"query": "zebra"})
        opened.call("read_file", {"path": "zoo.py"})
    assert not (tmp_path / "store" / "memory").exists()
