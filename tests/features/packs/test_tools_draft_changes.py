"""Packs drafted from a diff and from stack traces, over real files and a real repository."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from file_trees import committed, lay

from context_pack import open_workspace
from context_pack.kernel.errors import Failure
from context_pack_adapters.library import Workspace

SHOP = """\
RATE = 2


def price(item):
    return item.net * RATE


class Shop:
    def total(self, items):
        return sum(price(item) for item in items)

    def empty(self):
        return not self.total([])
"""
TEST = """\
from shop import Shop


def test_total():
    assert Shop().total([]) == 0
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one commit."""
    return committed(tmp_path / "project", {"shop.py": SHOP, "tests/test_shop.py": TEST})


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    with open_workspace(root) as opened:
        yield opened


def places(workspace: Workspace, pack: str, section: str) -> list[str]:
    """Where the refs of a section are."""
    found = workspace.packs.get(pack).section(section)
    return [] if found is None else [f"{ref.title} {ref.path}:{ref.lines}" for ref in found.refs]


@pytest.mark.clause("PK-84")
def test_a_diff_brings_what_changed_whole_who_uses_it_and_what_is_known(
    root: Path, workspace: Workspace
) -> None:
    known = workspace.packs.create(name="notes", ttl_minutes=60)
    known = workspace.packs.upsert_section(known, section_key="main", section_title="Main")
    workspace.packs.upsert_ref(
        known, section_key="main", ref_key="total", symbol="Shop.total", ref_why="Sums are never cached."
    )
    (root / "shop.py").write_text(SHOP.replace("sum(price", "3 + sum(price").replace("RATE = 2", "RATE = 3"))
    drafted = workspace.packs.draft(diff="HEAD", name="review", ttl_minutes=60)
    assert drafted.notes == {}
    assert drafted.pack.title == "Changes since HEAD"
    assert places(workspace, "review", "changed") == ["RATE shop.py:1-1", "Shop.total shop.py:9-10"]
    assert places(workspace, "review", "callers") == ["price shop.py:4-5", "Shop.empty shop.py:12-13"]
    assert places(workspace, "review", "tests") == ["test_total tests/test_shop.py:4-5"]
    text = workspace.packs.document("review")
    assert "- shop.py: +2 -2\n" in text
    assert "- Sums are never cached. (pack notes, ref total)" in text
    (root / "shop.py").write_text(
        "import os\n\n" + (root / "shop.py").read_text().replace("3 + sum", "4 + sum")
    )
    states = {one.ref.title: str(one.resolution.state) for one in workspace.packs.verify("review").refs}
    assert states["Shop.total"] == "changed"
    assert states["Shop.empty"] == "moved"


@pytest.mark.clause("PK-84")
def test_what_does_not_fit_is_named_and_the_text_of_a_diff_does_as_well(
    root: Path, workspace: Workspace
) -> None:
    body = "".join(f"    value_{n} = {n}\n" for n in range(300))
    (root / "long.py").write_text(f"def long():\n{body}\n\ndef short():\n    return 1\n")
    diff = "--- /dev/null\n+++ b/long.py\n@@ -0,0 +1,305 @@\n" + "+x\n" * 305
    drafted = workspace.packs.draft(diff=diff, name="big", ttl_minutes=60, max_tokens=900)
    assert drafted.notes["left_out"] == ["long long.py:1-301"]
    assert "short long.py:304-305" in places(workspace, "big", "changed")
    with pytest.raises(Failure, match="nothing has changed"):
        workspace.packs.draft(diff="HEAD", ttl_minutes=60)
    with pytest.raises(Failure, match="one of 'query', 'diff' and 'trace'"):
        workspace.packs.draft(query="what is it", diff="HEAD", ttl_minutes=60)


@pytest.mark.clause("PK-84")
@pytest.mark.parametrize(
    ("name", "code", "frame", "place"),
    [
        ("a/b.py", "def f():\n    return 1 / 0\n", '  File "/x/y/a/b.py", line 2, in f', "f a/b.py:1-2"),
        (
            "src/p/B.java",
            "package p;\nclass B {\n  void f() {\n    g();\n  }\n}\n",
            "\tat p.B.f(B.java:4)",
            "B.f src/p/B.java:3-5",
        ),
    ],
)
def test_each_frame_of_a_trace_is_shown_at_its_function(
    root: Path, workspace: Workspace, name: str, code: str, frame: str, place: str
) -> None:
    lay(root, {name: code})
    workspace.packs.draft(trace=f"SomeError: it broke\n{frame}\n", name="trace", ttl_minutes=60)
    assert workspace.packs.get("trace").title == "Trace: SomeError: it broke"
    assert places(workspace, "trace", "trace") == [place]
    with pytest.raises(Failure, match="no file of this project"):
        workspace.packs.draft(trace="nothing here", ttl_minutes=60)
