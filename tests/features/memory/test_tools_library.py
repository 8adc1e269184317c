"""Memory as a library: the same use cases with values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inmemory.ports import open_memory_workspace

from context_pack import open_workspace
from context_pack.kernel.errors import Failure

SOURCE = 'def feed_zebra():\n    """Give hay to the zebra."""\n    return 1\n'


@pytest.mark.clause("ME-08")
def test_a_discovery_about_code_says_when_it_has_moved_or_changed(tmp_path: Path) -> None:
    zoo = tmp_path / "zoo.py"
    zoo.write_text(SOURCE)
    with open_workspace(tmp_path, storage=tmp_path / "store", embedder="fast") as opened:

        def told() -> dict[str, Any]:
            (hit,) = opened.memory.search("what a zebra eats", type="rule").hits
            code: dict[str, Any] = hit.facts["code"]
            return code

        kept = opened.memory.record("rule", "A zebra eats hay", symbol="feed_zebra").discovery
        assert kept.code is not None
        assert (str(kept.code.path), str(kept.code.lines)) == ("zoo.py", "1-3")
        place = {"path": "zoo.py", "lines": "1-3", "symbol": "feed_zebra"}
        assert told() == {**place, "state": "exact"}
        zoo.write_text("import os\n\n" + SOURCE)
        moved = {"path": "zoo.py", "lines": "3-5"}
        assert told() == {**place, "state": "moved", "now": moved}
        zoo.write_text("import os\n\n" + SOURCE.replace("return 1", "return 2"))
        assert told() | {"reason": ""} == {**place, "state": "changed", "now": moved, "reason": ""}
        assert opened.memory.record("rule", "A zebra eats hay").discovery.code == kept.code
        zoo.unlink()
        assert told()["state"] == "stale"


@pytest.mark.clause("ME-08")
@pytest.mark.parametrize(
    ("place", "field"),
    [
        ({"path": "nowhere.py"}, "path"),
        ({"path": "../zoo.py"}, "path"),
        ({"path": "zoo.py", "lines": "3-9"}, "path"),
        ({"path": "zoo.py", "lines": "3-1"}, "lines"),
        ({"path": "zoo.py", "lines": "all"}, "lines"),
        ({"lines": "1-2"}, "path"),
        ({"symbol": "feed_lion"}, "symbol"),
        ({"path": "zoo.py", "lines": "1-2", "symbol": "feed_zebra"}, "symbol"),
    ],
)
def test_a_discovery_about_code_that_is_not_there_is_refused(place: dict[str, str], field: str) -> None:
    with open_memory_workspace({"zoo.py": SOURCE}) as opened:
        with pytest.raises(Failure) as told:
            opened.memory.record("rule", "A zebra eats hay", **place)
        assert told.value.details["field"] == field
        assert list(opened.memory.discoveries()) == []


@pytest.mark.clause("ME-07")
def test_a_superseded_discovery_is_found_behind_its_successor() -> None:
    with open_memory_workspace({"zoo.py": SOURCE}) as opened:
        memory = opened.memory
        old = memory.record("rule", "A zebra eats hay and only hay").discovery.id
        mid = memory.record("rule", "The zebra gets grass", supersedes=old).discovery.id
        new = memory.record("rule", "What it eats, a zebra may choose itself", supersedes=mid).discovery.id
        found = memory.search("a zebra eats hay and only hay", type="rule").hits
    assert [hit.id for hit in found] == [new, mid, old]
