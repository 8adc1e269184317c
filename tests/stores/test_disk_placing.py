"""A storage root inside a project that came from a stranger, with links in the place of its folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from context_pack import Failure, open_workspace

STORAGE = ".agents/mcp/context_pack"
LINKS = [
    ".agents",
    ".agents/mcp",
    STORAGE,
    f"{STORAGE}/packs",
    f"{STORAGE}/memory",
    f"{STORAGE}/memory/discoveries",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project beside a folder that is none of its business."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def link(project: Path, place: str, target: Path) -> None:
    """Put a link into the project."""
    (project / place).parent.mkdir(parents=True, exist_ok=True)
    (project / place).symlink_to(target)


@pytest.mark.clause("ST-32")
@pytest.mark.parametrize("place", LINKS)
@pytest.mark.parametrize("leads", ["outside", "project/kept"])
def test_a_link_in_the_place_of_our_folders_is_refused_and_nothing_is_written(
    project: Path, place: str, leads: str
) -> None:
    (project / "kept").mkdir()
    link(project, place, project.parent / leads)
    workspace = open_workspace(project)
    if "memory" in place:
        with pytest.raises(Failure, match="a link, perhaps"):
            workspace.memory.record("rule", "never lose the till")
    else:
        with pytest.raises(Failure, match="a link, perhaps"):
            workspace.packs.create(ttl_minutes=5)
    assert list((project.parent / leads).iterdir()) == []


@pytest.mark.clause("ST-32")
def test_a_link_placed_later_is_refused_and_not_followed(project: Path) -> None:
    workspace = open_workspace(project)
    pack = workspace.packs.create(ttl_minutes=5)
    (project / STORAGE / "packs").rename(project.parent / "outside" / "packs")
    link(project, f"{STORAGE}/packs", project.parent / "outside" / "packs")
    before = sorted((project.parent / "outside").rglob("*"))
    for action in (
        lambda: workspace.packs.get(pack.id),
        lambda: workspace.packs.list(),
        lambda: workspace.packs.create(ttl_minutes=5),
        lambda: workspace.packs.set_status(pack, status="finalized"),
    ):
        with pytest.raises(Failure, match="not a folder"):
            action()
    assert sorted((project.parent / "outside").rglob("*")) == before
