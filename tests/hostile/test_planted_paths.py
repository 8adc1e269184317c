"""Links, pipes and odd files at every path that a project may have: nothing outside, nothing hangs.

`World.made` builds a small project with something of everything that the product reads or writes, twice: the
project, and a decoy outside of it that is the same but for one word, so that what is served of the decoy can
be told. `CALLS` use every tool. Each path meets each kind of plant, some at once, under one connection that
stays open; and places are swapped for links to the decoy, in a loop, by a process of its own.
`HOSTILE_SECONDS=10` goes on for so long at each place, instead of for a number of rounds.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from bundle_maker import bundle_files, write_files
from file_trees import committed, lay
from hanging import never_hanging
from local_client import LocalClient
from ordinary_user import ordinary_user

from context_pack import open_workspace

OURS, THEIRS = "harmless", "leakedword"
STORE = ".agents/mcp/context_pack"
CONTEXT = """\
version: 1
scope: {scope}
summary: the {word} marker of this folder
fingerprint: abcdef12
last_updated: 2026-01-01T00:00:00Z
maintenance: keep it true
"""


def sources(word: str) -> dict[str, str | bytes]:
    """The files that people wrote, every one with the word in it."""
    python = f'"""The {word} marker."""\n\n\ndef marker_{word}():\n    return "marker {word}"\n'
    return {
        "README.md": f"# Project\n\nThe {word} marker.\n",
        "AGENTS.md": f"# Agents\n\nMind the {word} marker.\n",
        ".gitignore": f"out/\n# {word}\n",
        ".ignore": f"# {word}\n*.log\n",
        ".context.config.yaml": f"min_tokens: 0 # {word}\n",
        ".context.yaml": CONTEXT.format(scope=".", word=word),
        ".git/config": f"# {word}\n",
        ".env": f"KEY={word}\n",
        "package.json": json.dumps({"name": "shop", "description": word, "workspaces": ["web"]}),
        "core/src/lib.rs": f"//! The {word} marker.\nmod inner;\nuse crate::inner::go;\n",
        "core/src/inner.rs": f"pub fn go() {{}} // marker {word}\n",
        "c/main.c": f'#include "part.h"\n/* marker {word} */\nint main(void) {{ return 0; }}\n',
        "c/part.h": f"/* marker {word} */\n",
        "tsconfig.json": '{"extends": "./web/base.json", "references": [{"path": "./web"}]}',
        "web/base.json": f'{{"compilerOptions": {{"paths": {{"@/*": ["./web/*"]}}}}, "x": "{word}"}}',
        "web/package.json": json.dumps({"name": "@shop/web", "main": "index.ts", "description": word}),
        "web/index.ts": f'import {{ one }} from "@/part";\nexport const two = "marker {word}";\n',
        "web/part.ts": f'import two from "@shop/web";\nexport const one = "marker {word}";\n',
        "src/main.py": f'"""Marker {word}."""\nfrom deep.app import marker_{word}\n\nmarker_{word}()\n',
        "src/deep/__init__.py": "",
        "src/deep/app.py": python,
        "src/deep/.context.yaml": CONTEXT.format(scope="src/deep", word=word),
        "docs/page.md": f"# Marker\n\nThe {word} marker of a document.\n\n## Part\n\nMore {word} words.\n",
        "docs/part/other.md": f"# Other marker\n\nAnother {word} marker.\n",
        "manual/manifest.json": json.dumps(
            {"name": "manual", "version": "1", "description": word, "sources": {"glob": ["**/*.md"]}}
        ),
        "manual/text.md": f"# Manual\n\nThe {word} marker of the manual.\n",
        "notes/rules.md": f"# Rules\n\n- Never move the {word} marker without a word.\n",
        "bundles.yaml": f"bundles:\n  - path: shop\n    name: shop\n    description: {word}\n",
        "context.json": json.dumps(
            {
                "collections": {
                    "docs": {"url": "./docs", "description": word},
                    "manual": {"url": "manual/manifest.json"},
                }
            }
        ),
        "out/old.json": f'{{"old": "{word}"}}',
    }


def _node(key: str, word: str, *to: str) -> dict[str, Any]:
    return {"id": key, "title": f"{key} {word}", "refs": list(to)}


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read_file", {"path": "src/main.py", "includeDeps": True}),
    ("read_file", {"path": "src/deep/app.py"}),
    ("read_file", {"path": "web/index.ts", "includeDeps": True}),
    ("read_file", {"path": "core/src/lib.rs", "includeDeps": True}),
    ("read_file", {"path": "c/main.c", "includeDeps": True}),
    ("grep_codebase", {"pattern": "marker .+", "limit": 100}),
    ("code_outline", {}),
    ("context_for", {"path": "src/deep/app.py"}),
    ("code_outline", {"path": "src/deep/app.py"}),
    ("find_usages", {"name": f"marker_{OURS}"}),
    ("get_context", {"entityType": "Node", "id": "a"}),
    ("export_context", {"targets": [{"entityType": "Node", "entityId": "a"}]}),
    ("export_entity_markdown", {"entityType": "Node", "entityId": "a"}),
    ("list_contexts", {}),
    ("list_contexts", {"path": "src"}),
    ("check_freshness", {"scope": "src/deep"}),
    ("query_context", {"scope": "."}),
    ("query_context", {"scope": "deep", "path": "src"}),
    ("documents_sync", {}),
    ("documents_list_collections", {}),
    ("documents_search", {"query": "marker"}),
    ("documents_search_batch", {"queries": [{"query": "marker of the manual"}]}),
    ("documents_list_documents", {"collection": "docs"}),
    ("documents_get_document", {"collection": "docs", "document": "page.md"}),
    ("documents_get_document", {"collection": "guide", "document": "guide.md"}),
    ("documents_get_outline", {"collection": "docs", "document": "page.md"}),
    ("documents_get_section", {"collection": "manual", "document": "text.md", "section": "Manual"}),
    ("documents_find_related", {"collection": "docs", "document": "page.md"}),
    ("context_record", {"type": "rule", "content": "never cross the marker at night", "module": "night"}),
    ("context_search", {"query": "marker"}),
    ("input", {"action": "list"}),
    ("input", {"action": "get", "id": "the-pack"}),
    ("input", {"action": "create", "ttl_minutes": 60, "brief": "a second one"}),
    ("input", {"action": "draft", "query": "marker", "ttl_minutes": 60}),
    ("input", {"action": "verify", "id": "the-pack"}),
    ("input", {"action": "repair", "id": "the-pack", "expected_revision": 4}),
    ("input", {"action": "touch_ttl", "id": "the-pack", "expected_revision": 4, "ttl_minutes": 9}),
    ("output", {"id": "the-pack"}),
    ("output", {}),
    ("input", {"action": "delete_pack", "id": "old-pack", "expected_revision": 4}),
]
"""Every tool at least once; between them they read and write every kind of file."""


class World(NamedTuple):
    """The project, and what is around it: the decoy, the user's home, and the private folders."""

    top: Path

    @property
    def project(self) -> Path:
        """What a hostile hand may have prepared."""
        return self.top / "project"

    @property
    def decoy(self) -> Path:
        """The same project with another word, which nothing of ours may read or write."""
        return self.top / "outside" / "decoy"

    @property
    def template(self) -> Path:
        """The project as it was made."""
        return self.top / "template"

    @property
    def environment(self) -> dict[str, str]:
        """What a connection to the project is started with."""
        home = str(self.top / "outside" / "home")
        private = {
            "HOME": home,
            "XDG_CONFIG_HOME": f"{home}/.config",
            "CONTEXT_PACK_CACHE": str(self.top / "private"),
        }
        return {**private, "CONTEXT_PACK_RATE_LIMITS": "off"}

    @classmethod
    def made(cls, top: Path) -> World:
        """Build all of it below a folder."""
        from context_pack import open_workspace

        world = cls(top)
        for place, word in ((world.project, OURS), (world.decoy, THEIRS)):
            lay(place, sources(word))
            write_files(place / "shop", bundle_files({"Node": [_node("a", word, "b"), _node("b", word)]}))
        config = top / "outside/home/.config/context-pack/context.json"
        lay(config.parent, {config.name: json.dumps({"collections": {"far": {"url": _repository(world)}}})})
        lay(top / "outside/home", {"notes.md": f"# Private\n\nA {THEIRS} marker.\n"})
        with open_workspace(
            world.project, cache=top / "private", embedder="fast", user_config=config
        ) as workspace:
            for name in ("the-pack", "old-pack"):
                pack = workspace.packs.create(ttl_minutes=600, name=name, brief=f"the {OURS} marker")
                pack = workspace.packs.upsert_section(pack, section_key="main", section_title="Main")
                for number, path in enumerate(("src/deep/app.py", "web/index.ts")):
                    pack = workspace.packs.upsert_ref(
                        pack, section_key="main", ref_key=f"r{number}", path=path, line_start=1, line_end=2
                    )
            workspace.call("context_record", {"type": "rule", "content": f"never move the {OURS} marker"})
        shutil.copytree(world.project / ".agents", world.decoy / ".agents")
        _say(world.decoy / ".agents", OURS, THEIRS)
        shutil.copytree(world.project, world.template)
        return world

    def restore(self) -> None:
        """Have the project as it was made."""
        shutil.rmtree(self.project)
        shutil.copytree(self.template, self.project)

    def around(self) -> dict[str, tuple[int, int, bytes]]:
        """Mode, time and bytes of everything outside of the project and of its own private folders."""
        found: dict[str, tuple[int, int, bytes]] = {}
        for folder, _, names in os.walk(self.top / "outside"):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                status = os.lstat(path)
                content = Path(path).read_bytes() if path != folder else b""
                found[path] = (status.st_mode, status.st_mtime_ns, content)
        return found


def _say(folder: Path, old: str, new: str) -> None:
    for path in filter(Path.is_file, folder.rglob("*")):
        path.write_text(path.read_text().replace(old, new))


def _repository(world: World) -> str:
    """The address of a repository of documents, outside of the project."""
    place = world.top / "outside" / "far"
    return f"git+file://{committed(place, {'far.md': '# Far, a marker far away'})}"


AT_ONCE = 12
ROOT_TELLERS = ("list_contexts", "query_context")
FAMILIES = ("read_file", "documents_search", "get_context", "query_context", "context_search", "output")


def _linked(world: World, path: str, place: Path) -> None:
    """A link to what has this path in the decoy, or at least this name."""
    target = world.decoy / path
    place.symlink_to(target if target.exists() else world.decoy / "docs/page.md")


def _other_kind(world: World, path: str, place: Path) -> None:
    """A folder in the place of a file, and a file in the place of a folder."""
    if (world.template / path).is_dir():
        place.write_text(f"{OURS}\n")
    else:
        place.mkdir()
        (place / "file.txt").write_text(f"{OURS}\n")


def _closed(_: World, __: str, place: Path) -> None:
    place.write_text(OURS)
    place.chmod(0)


def _huge(_: World, __: str, place: Path) -> None:
    with open(place, "wb") as file:
        file.truncate(1 << 33)


KINDS: Mapping[str, Callable[[World, str, Path], object]] = {
    "a link to the decoy": _linked,
    # Whoever writes through this one makes a file outside.
    "a link to nothing": lambda world, _, place: place.symlink_to(world.decoy / "not-there-yet"),
    "a pipe": lambda _, __, place: os.mkfifo(place),
    "a huge file": _huge,
    "noise": lambda _, __, place: place.write_bytes(bytes(range(256)) * 4),
    "the other kind": _other_kind,
    "an unreadable one": _closed,
}
STORED = ("packs", "packs/.create.lock", "excerpts", "memory", "memory/discoveries")
PATHS = (
    *sources(OURS),
    "src",
    "docs",
    "shop",
    "shop/sdd-bundle.yaml",
    *(f"{STORE}/{name}" for name in STORED),
)


def plant(world: World, kind: str, paths: Sequence[str]) -> None:
    """Have the project as it was made, but with this at those paths."""
    world.restore()
    for path in paths:
        place = world.project / path
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        KINDS[kind](world, path, place)


def groups(at_once: int) -> list[list[str]]:
    """The paths in groups of so many at most, none of them inside another of its group."""
    found: list[list[str]] = []
    for path in PATHS:
        for group in found:
            inside = any(
                f"{path}/".startswith(f"{one}/") or f"{one}/".startswith(f"{path}/") for one in group
            )
            if len(group) < at_once and not inside:
                group.append(path)
                break
        else:
            found.append([path])
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World.made(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def client(world: World) -> Iterator[LocalClient]:
    """One connection that lives through all that is planted, as a server does."""
    connected = LocalClient(world.project, **world.environment)
    yield connected
    connected.close()


def answers(world: World, client: LocalClient) -> Iterator[tuple[str, str]]:
    """What every tool answers, but for the one absolute path that is promised: the root of contexts."""
    for tool, arguments in CALLS:
        with never_hanging():
            text = json.dumps(client.call(tool, arguments), ensure_ascii=False)
        if tool in ROOT_TELLERS:
            text = text.replace(str(world.project), "")
        yield f"{tool} {arguments}", text


@pytest.mark.slow
@pytest.mark.clause("ST-32", "ST-40", "CD-32", "DC-06", "BD-13", "CX-20")
@pytest.mark.parametrize("kind", KINDS)
def test_planted_paths_read_and_write_nothing_outside_and_never_hang(
    world: World, client: LocalClient, kind: str
) -> None:
    before = world.around()
    for group in groups(AT_ONCE):
        plant(world, kind, group)
        with ExitStack() as stack:
            if kind == "an unreadable one":
                stack.enter_context(ordinary_user())
            for call, text in answers(world, client):
                assert THEIRS not in text, (group, call)
                assert str(world.top) not in text, (group, call, text)
                assert "failed inside" not in text, (group, call, text)
        assert world.around() == before, group
    world.restore()
    told = dict(answers(world, client))
    for family in FAMILIES:
        assert any(OURS in text for call, text in told.items() if call.startswith(family)), family


def test_every_tool_is_called_and_a_changed_byte_is_noticed(world: World, client: LocalClient) -> None:
    listed = {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}
    assert listed == {tool for tool, _ in CALLS}
    before, page = world.around(), Path(world.decoy / "docs" / "page.md")
    text = page.read_text()
    page.write_text(text.replace("M", "m", 1))
    assert world.around() != before
    page.write_text(text)


SECONDS = float(os.environ.get("HOSTILE_SECONDS", "0"))
ROUNDS = 3
SWAPPER = """
import ctypes, os, sys
place, link = map(os.fsencode, sys.argv[1:])
swap = ctypes.CDLL(None, use_errno=True).renameat2
count = 0
print("ready", flush=True)
os.set_blocking(0, False)
while sys.stdin.buffer.raw.read(1) is None:
    for _ in range(20):  # both exchange their names in one step, so that there is always something
        if swap(-100, place, -100, link, 2) or swap(-100, place, -100, link, 2):
            sys.exit(os.strerror(ctypes.get_errno()))
        count += 1
print(count)
"""
PLACES = (
    *("src", "src/deep", "docs", "docs/part", "shop", "web", ".agents"),
    *(STORE, f"{STORE}/packs", f"{STORE}/memory/discoveries"),
    *("src/deep/app.py", "src/main.py", "docs/page.md", "web/package.json"),
)


@contextmanager
def swapped(place: Path, target: Path) -> Iterator[None]:
    """The place is its own folder and a link to the target, by turns, until the block ends."""
    link = place.with_name("a-link")
    link.symlink_to(target)
    command = [sys.executable, "-c", SWAPPER, str(place), str(link)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            told, _ = process.communicate()
    link.unlink()
    assert int(told) > 20


@pytest.mark.skipif(sys.platform != "linux", reason="names are exchanged by a call of Linux")
@pytest.mark.clause("ST-40", "CD-32", "BD-13", "CX-20", "DC-06", "ST-32")
@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_served_or_written_behind_a_link_that_takes_a_place(world: World, place: str) -> None:
    world.restore()
    before = world.around()
    with open_workspace(world.project, cache=world.top / "private", embedder="fast") as workspace:
        with swapped(world.project / place, world.decoy / place):
            end, rounds = time.monotonic() + SECONDS, 0
            while rounds < ROUNDS or time.monotonic() < end:
                rounds += 1
                for tool, arguments in CALLS:
                    assert THEIRS not in workspace.call(tool, arguments).text, tool
        told = [workspace.call(tool, arguments).text for tool, arguments in CALLS]
        assert not any(THEIRS in text for text in told)
        assert any(OURS in text for text in told)
    assert world.around() == before
