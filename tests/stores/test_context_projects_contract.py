"""Which folders of a project on disk count, and where its paths lead."""

from __future__ import annotations

from pathlib import Path

import pytest
from context_trees import context, disk_contexts
from file_trees import lay

from context_pack.contexts.ports import Project, Projects, Scan, unwatched
from context_pack.kernel.ports import Reason

FILES: dict[str, str | bytes] = {
    ".context.config.yaml": "min_tokens: 0\n",
    ".gitignore": "gen/\nlogs\n",
    ".contextignore": "!logs\nold-*\n",
    "a.py": "x = 1\n",
    "picture.png": b"\x89PNG\xff",
    "src/core/lib.rs": "fn a() {}\n",
    "src/core/.context.yaml": context("src/core"),
    "src/core/.hidden": "counts in fingerprints\n",
    "src/main.py": "pass\n",
    "gen/a.py": "",
    "logs/a.py": "",
    "old-1/a.py": "",
    "node_modules/m/a.js": "",
    ".secretive/a.py": "",
    "empty-of-sources/blob.bin": b"\x00",
}


class World:
    """A project on disk, and ways to change it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.put(FILES)
        self.ports: Projects = disk_contexts(root)

    def put(self, files: dict[str, str | bytes]) -> None:
        """Write files."""
        lay(self._root, files)

    def project(self, path: str | None = None) -> Project:
        """A project that is there."""
        project = self.ports.open(path)
        assert not isinstance(project, Reason)
        return project


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def scanned(project: Project) -> Scan:
    """The scan of a project that can be scanned."""
    found = project.scan(unwatched)
    assert found is not None
    return found


@pytest.mark.clause("CX-10")
def test_a_scan_finds_every_folder_not_excluded_by_name_or_ignore_lines(world: World) -> None:
    scan = scanned(world.project())
    assert sorted(folder.scope for folder in scan.folders) == [
        ".",
        "empty-of-sources",
        "logs",
        "src",
        "src/core",
    ]
    assert (scan.rules.min_tokens, scan.rules.max_depth, scan.warnings) == (0, 10, 0)


@pytest.mark.clause("CX-10")
def test_configured_ignore_lines_override_folders_and_hide_no_files(
    world: World,
) -> None:
    world.put({".context.config.yaml": 'min_tokens: 0\nignore: ["!gen/", "src/core", "*.py"]\n'})
    scan = scanned(world.project())
    assert {folder.scope for folder in scan.folders} == {".", "empty-of-sources", "gen", "logs", "src"}
    assert "a.py" in next(folder for folder in scan.folders if folder.scope == ".").sources


@pytest.mark.clause("CX-10")
@pytest.mark.parametrize(
    "depth, deepest", [(None, 10), (0, 0), (1, 1), (12, 11)], ids=["default", "none", "one", "more"]
)
def test_a_scan_is_ten_folders_deep_unless_configured(world: World, depth: int | None, deepest: int) -> None:
    config = "min_tokens: 0\n" + ("" if depth is None else f"max_depth: {depth}\n")
    world.put({".context.config.yaml": config, "/".join(["d"] * 11) + "/a.py": ""})
    scopes = [folder.scope for folder in scanned(world.project()).folders]
    assert max(0 if scope == "." else scope.count("/") + 1 for scope in scopes) == deepest
