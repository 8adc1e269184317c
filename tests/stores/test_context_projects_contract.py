"""What every `Projects`, `Project` and `ProjectFolder` does: on disk and in memory alike."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from context_trees import Asked, context, disk_contexts, memory_contexts, plant

from context_pack.contexts.ports import Project, ProjectFolder, Projects, Scan, unwatched
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
    """A world of either kind, and ways to change it."""

    def __init__(self, kind: str, root: Path) -> None:
        self._root = root if kind == "disk" else None
        self._files: dict[str, str | bytes] = {}
        self.put(FILES)
        self.ports: Projects = disk_contexts(root) if kind == "disk" else memory_contexts(self._files)

    def put(self, files: dict[str, str | bytes]) -> None:
        """Write files."""
        if self._root is not None:
            plant(self._root, files)
        else:
            self._files.update(files)

    def project(self, path: str | None = None) -> Project:
        """A project that is there."""
        found = self.ports.open(path)
        assert not isinstance(found, Reason)
        return found

    def folder(self, scope: str) -> ProjectFolder:
        """A folder that is there."""
        found = self.project().find(scope)
        assert not isinstance(found, Reason)
        return found


@pytest.fixture(params=["disk", "memory"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    return World(request.param, tmp_path)


def scanned(project: Project) -> Scan:
    """The scan of a project that can be scanned."""
    found = project.scan(unwatched)
    assert found is not None
    return found


@pytest.mark.clause("CX-10", "CX-11")
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


@pytest.mark.clause("CX-11", "CX-13")
def test_configured_ignore_lines_override_folders_and_hide_no_files(
    world: World,
) -> None:
    world.put({".context.config.yaml": 'min_tokens: 0\nignore: ["!gen/", "src/core", "*.py"]\n'})
    scan = scanned(world.project())
    assert {folder.scope for folder in scan.folders} == {".", "empty-of-sources", "gen", "logs", "src"}
    assert "a.py" in next(folder for folder in scan.folders if folder.scope == ".").sources


@pytest.mark.clause("CX-10", "CX-13")
@pytest.mark.parametrize(
    "depth, deepest", [(None, 10), (0, 0), (1, 1), (12, 11)], ids=["default", "none", "one", "more"]
)
def test_a_scan_is_ten_folders_deep_unless_configured(world: World, depth: int | None, deepest: int) -> None:
    config = "min_tokens: 0\n" + ("" if depth is None else f"max_depth: {depth}\n")
    world.put({".context.config.yaml": config, "/".join(["d"] * 11) + "/a.py": ""})
    scopes = [folder.scope for folder in scanned(world.project()).folders]
    assert max(0 if scope == "." else scope.count("/") + 1 for scope in scopes) == deepest


@pytest.mark.clause("CX-13")
@pytest.mark.parametrize("config", ["min_tokens: [\n", "- a\n", "min_tokens: many\n", "min_tokens: .nan\n"])
def test_a_broken_configuration_means_the_defaults_and_a_warning(world: World, config: str) -> None:
    world.put({".context.config.yaml": config})
    scan = scanned(world.project())
    assert (scan.rules.min_tokens, scan.warnings) == (4096, 1)


@pytest.mark.clause("CX-13")
def test_settings_of_the_other_tool_are_accepted(world: World) -> None:
    world.put({".context.config.yaml": "provider: x\nmin_tokens: 7\nmode: lean\nmodel: {name: y}\n"})
    scan = scanned(world.project())
    assert (scan.rules.min_tokens, scan.warnings) == (7, 0)


@pytest.mark.clause("CX-05", "CX-06")
def test_a_folder_knows_its_files_sources_and_contents(world: World) -> None:
    folder = world.folder("src/core")
    assert (folder.scope, folder.warnings) == ("src/core", 0)
    assert folder.names == {"lib.rs", ".context.yaml", ".hidden"}
    assert (list(folder.sources), folder.source_bytes) == (["lib.rs"], len("fn a() {}\n"))
    assert folder.context() == str(FILES["src/core/.context.yaml"]).encode()
    rows = [
        f"{name}:{sha256(str(FILES[f'src/core/{name}']).encode()).hexdigest()}"
        for name in (".hidden", "lib.rs")
    ]
    assert folder.content_fingerprint(unwatched) == sha256("\n".join(rows).encode()).hexdigest()[:8]
    assert len(folder.stat_fingerprint()) == 8
    assert world.folder("src").context() is Reason.MISSING


@pytest.mark.clause("CX-06", "CX-07")
def test_a_changed_file_changes_both_fingerprints_and_a_context_none(world: World) -> None:
    before = world.folder("src/core")
    stat, content = before.stat_fingerprint(), before.content_fingerprint(unwatched)
    world.put({"src/core/.context.yaml": context("src/core", todos=["t"])})
    same = world.folder("src/core")
    assert (same.stat_fingerprint(), same.content_fingerprint(unwatched)) == (stat, content)
    world.put({"src/core/lib.rs": "fn b() { }\n"})
    changed = world.folder("src/core")
    assert changed.stat_fingerprint() != stat
    assert changed.content_fingerprint(unwatched) != content


@pytest.mark.clause("CX-20", "CX-21")
@pytest.mark.parametrize(
    "scope, found",
    [
        ("src/core", "src/core"),
        ("src\\core", "src/core"),
        ("./src/", "src"),
        ("src/../src/core/", "src/core"),
        ("", "."),
        (".", "."),
        ("src/core/../..", "."),
        ("node_modules/m", "node_modules/m"),
        ("nowhere", Reason.MISSING),
        ("a.py", Reason.MISSING),
        ("..", Reason.OUTSIDE),
        ("src/../../x", Reason.OUTSIDE),
        ("..\\..\\etc", Reason.OUTSIDE),
        ("/etc", Reason.OUTSIDE),
    ],
)
def test_a_scope_leads_to_a_folder_to_nothing_or_outside(
    world: World, scope: str, found: str | Reason
) -> None:
    folder = world.project().find(scope)
    assert (folder if isinstance(folder, Reason) else folder.scope) == found


@pytest.mark.clause("CX-20")
def test_an_absolute_scope_inside_the_root_is_served(world: World) -> None:
    project = world.project()
    folder = project.find(f"{project.root}/src/core")
    assert not isinstance(folder, Reason)
    assert folder.scope == "src/core"


@pytest.mark.clause("CX-22")
@pytest.mark.parametrize(
    "path, refusal",
    [
        ("..", Reason.DENIED),
        ("/", Reason.DENIED),
        ("src/../../other", Reason.DENIED),
        ("nowhere", Reason.MISSING),
    ],
)
def test_a_path_outside_or_without_a_folder_is_refused(world: World, path: str, refusal: Reason) -> None:
    assert world.ports.open(path) is refusal


@pytest.mark.clause("CX-22")
@pytest.mark.parametrize("path", ["src", "./src/", "src/core/.."])
def test_a_path_is_taken_from_the_source_root(world: World, path: str) -> None:
    project = world.project(path)
    assert project.root == world.ports.shown("src")
    assert sorted(folder.scope for folder in scanned(project).folders) == [".", "core"]


@pytest.mark.clause("CX-27")
def test_the_folders_directly_inside_are_those_that_a_scan_enters(world: World) -> None:
    project = world.project()
    assert list(project.inside(".")) == ["empty-of-sources", "logs", "src"]
    assert list(project.inside("src")) == ["src/core"]
    assert list(project.inside("nowhere")) == []


def test_a_text_is_given_only_where_there_is_one(world: World) -> None:
    project = world.project()
    assert project.text("src", "main.py") == "pass\n"
    assert project.text(".", "picture.png") is None
    assert project.text(".", "nowhere.py") is None


@pytest.mark.clause("CX-35")
def test_a_file_is_written_only_in_place_of_what_was_seen(world: World) -> None:
    project = world.project()
    before = str(FILES["src/core/.context.yaml"]).encode()
    assert not project.write("src/core", ".context.yaml", None, b"new")
    assert not project.write("src/core", ".context.yaml", b"other", b"new")
    assert world.folder("src/core").context() == before
    assert project.write("src/core", ".context.yaml", before, b"new")
    assert world.folder("src/core").context() == b"new"
    assert project.write("src", ".context.yaml", None, b"first")
    assert world.folder("src").context() == b"first"
    assert project.write(".", "AGENTS.md", None, b"hello")
    assert project.text(".", "AGENTS.md") == "hello"


@pytest.mark.clause("CX-15", "CX-20", "CX-24")
def test_the_tools_answer_alike_on_disk_and_in_memory(tmp_path: Path) -> None:
    disk, memory = World("disk", tmp_path), World("memory", tmp_path)
    for tool, arguments in (
        ("list_contexts", {}),
        ("list_contexts", {"path": "src"}),
        ("list_contexts", {"path": "nowhere"}),
        ("list_contexts", {"path": ".."}),
        ("check_freshness", {"scope": "nowhere"}),
        ("check_freshness", {"scope": "../x"}),
        ("query_context", {"scope": "src/core", "filter": ["summary", "x"]}),
        ("query_context", {"scope": "core", "path": "src"}),
        ("query_context", {"scope": "src"}),
    ):
        ours, theirs = (Asked(each.ports).raw(tool, **arguments) for each in (disk, memory))
        root = str(disk.ports.shown(""))
        assert str(ours).replace(root, "/project") == str(theirs), (tool, arguments)
