"""A storage root inside a project that came from a stranger, with links in the place of its folders."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from context_pack import Failure, open_workspace
from context_pack_adapters.files.opening import Place
from context_pack_adapters.files.placing import link_in_the_way

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
    with pytest.raises(Failure, match="it is a link") as caught:
        open_workspace(project)
    assert caught.value.message.startswith(f"{place}: ")
    assert list((project.parent / leads).iterdir()) == []


@pytest.mark.clause("ST-32")
def test_a_configured_storage_root_may_be_a_link_but_not_contain_one(project: Path) -> None:
    own = project.parent / "own"
    own.symlink_to(project.parent / "outside")
    assert open_workspace(project, storage=own).packs.create(ttl_minutes=5).revision == 1
    assert list((project.parent / "outside" / "packs").glob("pk_*.md"))
    (project.parent / "outside" / "packs").rename(project / "kept")
    link(own, "packs", project / "kept")
    with pytest.raises(Failure, match="packs: it is a link"):
        open_workspace(project, storage=own)


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


@pytest.mark.clause("ST-32")
def test_a_project_that_is_itself_a_link_is_where_it_leads(project: Path) -> None:
    (project.parent / "alias").symlink_to(project)
    alias = project.parent / "alias"
    assert link_in_the_way(Place.of(alias / STORAGE, alias)) is None
    link(project, STORAGE, project.parent / "outside")
    assert link_in_the_way(Place.of(alias / STORAGE, alias)) == STORAGE


@pytest.mark.clause("ST-32")
def test_a_server_whose_storage_is_a_link_reports_it_and_exits(project: Path) -> None:
    link(project, f"{STORAGE}/packs", project.parent / "outside")
    checkout = Path(__file__).resolve().parents[2]
    ended = subprocess.run(
        [sys.executable, "-m", "context_pack"],
        cwd=project,
        input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        capture_output=True,
        env={"PYTHONPATH": f"{checkout}:{checkout / 'adapters'}"},
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, b"")
    assert b"packs: it is a link" in ended.stderr
