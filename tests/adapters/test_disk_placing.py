"""A storage root inside a project that came from a stranger, with links that lead out of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from context_pack import Failure, open_workspace
from context_pack_adapters.disk.placing import linked_out

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
def test_a_link_that_leads_out_of_the_project_is_refused_and_nothing_is_written(
    project: Path, place: str
) -> None:
    link(project, place, project.parent / "outside")
    with pytest.raises(Failure, match="leads out of the project") as caught:
        open_workspace(source_root=project)
    assert str(project) not in caught.value.message
    assert list((project.parent / "outside").iterdir()) == []


@pytest.mark.clause("ST-32")
def test_links_that_stay_inside_and_places_of_ones_own_choice_are_fine(project: Path) -> None:
    (project / "kept").mkdir()
    link(project, f"{STORAGE}/packs", project / "kept")
    assert open_workspace(source_root=project).packs.create(ttl_minutes=5).revision == 1
    assert list((project / "kept").glob("pk_*.md"))
    own = project.parent / "outside"
    link(own, "packs", project / "kept")
    assert linked_out(str(own), str(project)) is None
    assert len(open_workspace(root=own, source_root=project).packs.list().items) == 1


@pytest.mark.clause("ST-32")
def test_a_project_that_is_itself_a_link_is_where_it_leads(project: Path) -> None:
    (project.parent / "alias").symlink_to(project)
    alias = str(project.parent / "alias")
    assert linked_out(f"{alias}/{STORAGE}", alias) is None
    link(project, STORAGE, project.parent / "outside")
    assert linked_out(f"{alias}/{STORAGE}", alias) == STORAGE


@pytest.mark.clause("ST-32")
def test_a_server_says_so_and_ends(project: Path) -> None:
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
    assert b"packs: a link leads out of the project" in ended.stderr
