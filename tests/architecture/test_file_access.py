"""Only `disk/` opens, lists and changes files; other modules that do are listed here, with a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DISK = "adapters/context_pack_adapters/disk/"

MODULES = {"tempfile", "glob", "mmap", "fileinput", "linecache"}
OF_SHUTIL_HARMLESS = {"which", "get_terminal_size"}
OF_OS = {
    *("open", "walk", "fwalk", "scandir", "listdir", "stat", "lstat", "readlink", "mkdir", "makedirs"),
    *("remove", "unlink", "rename", "renames", "replace", "rmdir", "removedirs", "link", "symlink"),
    *("truncate", "chmod", "chown", "utime", "mkfifo", "mknod"),
}
OF_PATHS = {
    *("read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "rglob", "glob", "unlink"),
    *("symlink_to", "hardlink_to", "lchmod"),
}
OF_OS_PATH = {"realpath", "exists", "lexists", "isfile", "isdir", "islink", "getsize", "getmtime", "samefile"}

OUR_OWN = "what our own package ships"
NULL = "the null device, in the place of the standard streams"
MODELS = "model files that the user's environment names, or that a package ships"
SQLITE = "SQLite opens its files by path; they are in a private folder of the user"
GRAPHS = "hnswlib opens its files by path; they are in a private folder of the user"
GIT = "git makes its repository by path; it is in a private folder of the user"
NAMED = "whether there is something where a person on the command line said"
SPELLING = "how a path is spelled without links, to compare it; it is not opened"
STATES = "whether folders that the walk went through are what they were; nothing is read by them"
PROJECT = "where the project begins, before anything of it is read"
LOOKS = "the doctor tells what is there and opens nothing"

EXCEPTIONS: dict[str, dict[str, str]] = {
    "settings.py": {"isdir": PROJECT, "lexists": PROJECT},
    "commands/code.py": {"lexists": NAMED, "isdir": NAMED},
    "commands/demo.py": {"import tempfile": "a storage root that is gone after the demo", "isdir": NAMED},
    "commands/dispatch.py": {"os.open": NULL, "isdir": NAMED},
    "commands/docs_content.py": {"lexists": NAMED},
    "commands/doctor_places.py": {"lexists": LOOKS},
    "commands/memory_import.py": {"isdir": NAMED, "exists": NAMED},
    "commands/packs_build.py": {"lexists": NAMED},
    "commands/packs_export.py": {"isdir": NAMED},
    "commands/places.py": {"lexists": NAMED},
    "commands/terminal.py": {"os.open": NULL},
    "disk_searches.py": {"os.lstat": "whether a store has anything to load; nothing is read by it"},
    "embed/folder.py": dict.fromkeys((".read_bytes",), MODELS),
    "embed/granite.py": {"isfile": MODELS, "open": MODELS},
    "index/database.py": dict.fromkeys(("os.open", "os.lstat", "os.unlink", "islink", "lexists"), SQLITE),
    "index/graph.py": dict.fromkeys(("import glob", "os.replace", "os.unlink"), GRAPHS),
    "workspace/__init__.py": {"isdir": "whether there is a project to open"},
    "mcp/process.py": {"os.open": NULL},
    "private_places.py": {"realpath": SPELLING},
    "stores/bundle_files_discovery.py": {
        "realpath": SPELLING,
        "isdir": "a folder that the environment names",
    },
    "stores/collection_config.py": {
        "realpath": "the user's own file may be a link",
    },
    "stores/collection_git.py": dict.fromkeys(("shutil.rmtree", "os.mkdir", ".unlink", ".glob"), GIT)
    | {"lexists": GIT},
    "stores/collection_sources.py": {"realpath": "a place that the user's own file names, or a name to tell"},
    "stores/context_project.py": {"realpath": SPELLING},
    "stores/context_projects.py": {"realpath": SPELLING},
    "stores/git_process.py": {"exists": "the shell that limits what git may do"},
    "../../context_pack/__main__.py": {"isdir": OUR_OWN},
}


def uses(tree: ast.AST) -> Iterator[str]:
    """The calls of a module that touch files without `disk/`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (f"import {one.name}" for one in node.names if one.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom):
            yield from _taken(node.module or "", {one.name for one in node.names})
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            of = ast.unparse(node.value)
            if of == "os" and node.attr in OF_OS:
                yield f"os.{node.attr}"
            elif of == "os.path" and node.attr in OF_OS_PATH:
                yield node.attr
            elif of == "shutil" and node.attr not in OF_SHUTIL_HARMLESS:
                yield f"shutil.{node.attr}"
            elif of == "io" and node.attr in ("open", "FileIO"):
                yield "open"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if ast.unparse(node.func.value) not in ("os", "self") and node.func.attr in OF_PATHS:
                yield f".{node.func.attr}"
        elif isinstance(node, ast.Name) and node.id == "open" and isinstance(node.ctx, ast.Load):
            yield "open"


def _taken(module: str, names: set[str]) -> Iterator[str]:
    """What is taken from a module by name."""
    if module.split(".")[0] in MODULES:
        yield f"import {module}"
    elif module in ("os", "os.path"):
        yield from (f"{module}.{name}" for name in names & {*OF_OS, *OF_OS_PATH})
    elif module == "shutil":
        yield from (f"shutil.{name}" for name in names - OF_SHUTIL_HARMLESS)


def modules() -> list[Path]:
    """Every module of ours outside `disk/`."""
    found = [*(ROOT / "adapters").rglob("*.py"), *(ROOT / "context_pack").rglob("*.py")]
    return sorted(path for path in found if not path.relative_to(ROOT).as_posix().startswith(DISK))


def test_only_the_disk_package_touches_files() -> None:
    """Both ways: no module outside `disk/` that is not listed, and no listed module without such a call."""
    found: dict[str, set[str]] = {}
    for path in modules():
        seen = set(uses(ast.parse(path.read_text("utf-8"))))
        if seen:
            found[_name(path)] = seen
    assert found == {name: set(calls) for name, calls in EXCEPTIONS.items()}


def _name(path: Path) -> str:
    home = ROOT / "adapters" / "context_pack_adapters"
    if path.is_relative_to(home):
        return path.relative_to(home).as_posix()
    return f"../../{path.relative_to(ROOT).as_posix()}"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("open('x')", "open"),
        ("import io\nio.open('x')", "open"),
        ("import os\nos.open('x', 0)", "os.open"),
        ("import os\nf = os.scandir", "os.scandir"),
        ("from os import walk", "os.walk"),
        ("from os.path import realpath", "os.path.realpath"),
        ("import os\nos.path.realpath('x')", "realpath"),
        ("import shutil\nshutil.rmtree('x')", "shutil.rmtree"),
        ("from shutil import rmtree", "shutil.rmtree"),
        ("Path('x').read_text()", ".read_text"),
        ("Path('x').rglob('*')", ".rglob"),
    ],
)
def test_the_check_finds_each_call_that_touches_files(source: str, told: str) -> None:
    assert set(uses(ast.parse(source))) == {told}


@pytest.mark.parametrize("source", ["from shutil import which", "store.open(x)", "text.replace('a', 'b')"])
def test_the_check_ignores_calls_that_touch_no_file(source: str) -> None:
    assert not set(uses(ast.parse(source)))
