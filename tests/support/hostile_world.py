"""A small project with something of everything that the product reads or writes, and the world around it.

`World.made` builds it twice: the project, and a decoy outside of it that is the same but for one word, so
that whatever is served from the decoy can be told. `CALLS` use every tool.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from bundle_maker import bundle_files, write_files
from file_trees import committed, lay

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
