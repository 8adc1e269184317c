"""Hostile paths through every tool that takes one: none is served, none hangs.

Traversal in every spelling, encodings, backslashes, absolute paths, links and loops of them, devices, pipes,
case and width tricks, NTFS names and very long names. The secrets all hold one word, and that word is in no
reply.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from file_trees import lay
from hanging import never_hanging
from local_client import LocalClient

SECRET = "TOPSECRETWORD"
ROOT_TELLERS = ("list_contexts", "query_context", "check_freshness")
OUTSIDE = [
    "../outside/secret.txt", "..", "../", "src/../../outside/secret.txt", "..//outside//secret.txt",
    "../" * 60 + "etc/passwd", "nothing/../../outside/secret.txt", "link_in/../../outside/secret.txt",
    "....//outside/secret.txt", "..;/outside/secret.txt", ".. /outside/secret.txt",
    "..\\outside\\secret.txt", "src\\..\\..\\outside\\secret.txt", "\\\\server\\share\\x", "src\\.env",
    "%2e%2e/outside/secret.txt", "..%2foutside%2fsecret.txt", "%252e%252e%252foutside/secret.txt",
    "%c0%ae%c0%ae/outside/secret.txt", "\uff0e\uff0e/outside/secret.txt", "..\u2215outside\u2215secret.txt",
    "..\uff0foutside\uff0fsecret.txt", "..\x00/outside/secret.txt", "src/ok.txt\x00.png", "src/ok.txt\n",
    "\u202e../outside/secret.txt", "\ufeff../outside/secret.txt", "file:///etc/passwd",
    "/", "/etc/passwd", "//etc/passwd", "/proc/self/environ", "/dev/zero", "/dev/stdin",
    "C:\\Windows\\win.ini", "c:secret.txt", "/../etc/passwd", "OUTSIDE", "ROOT",
]  # fmt: skip
DENIED = [
    ".env", ".ENV", ".env.local", ".env ", ".env.", ".env::$DATA", "\uff0eenv", ".\u200benv", ".git",
    ".git/config", ".GIT/config", ".git./config", ".git::$INDEX_ALLOCATION/config", "src/.git/config",
    "node_modules/x/index.js", "id_rsa", "ID_RSA", "key.pem", "KEY.PEM.", "a.p12", ".ssh/config",
    ".aws/credentials", ".netrc", "./.env", "src/../.env", "custom/private.txt", "CUSTOM/private.txt",
]  # fmt: skip
LINKS = {
    "link_out": "../outside/secret.txt", "link_out_chain": "link_out", "folder_out": "../outside",
    "loop": "loop", "loop_a": "loop_b", "loop_b": "loop_a", "link_to_env": ".env", "link_to_git": ".git",
    "link_in": "src", "link_in_to_env": "src/../.env", "link_dangling": "../outside/nothing",
    "link_up": "..", "link_to_pipe": "pipe", "link_back_in_denied": "../root/.env",
}  # fmt: skip
ODD = [
    "pipe", "src", ".", "locked.bin", "latin.txt", "huge.txt", "folder_out/secret.txt",
    "link_up/outside/secret.txt",
]  # fmt: skip
LONG = [
    "a" * 256, "a" * 5000, "a/" * 3000 + "x", "é" * 600, "./" * 1500 + ".env", "\U0001f600" * 300,
    " " * 200, "",
]  # fmt: skip
HOSTILE = [*OUTSIDE, *DENIED, *(name for name in LINKS if name != "link_in"), *ODD, *LONG]
SECRETS = (
    ".env .env.local .git/config src/.git/config node_modules/x/index.js id_rsa key.pem a.p12 .ssh/config "
    ".aws/credentials .netrc custom/private.txt ../outside/secret.txt"
)
REFUSALS = {
    "File not found", "Permission denied", "Absolute paths not allowed", "Path traversal not allowed",
    "Not a text file", "File too large", "Invalid parameters",
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root full of traps, with secrets in and around it."""
    root = tmp_path_factory.mktemp("hostile") / "root"
    scope = f"version: 1\nscope: .\nsummary: {SECRET}\nfingerprint: abcdef12\n"
    scope += "last_updated: 2026-01-01T00:00:00Z\nmaintenance: none\n"
    lay(root, {"src/ok.txt": "fine\n", "src/deep/.context.yaml": scope.replace(SECRET, "Nothing secret")})
    lay(root, dict.fromkeys(SECRETS.split(), SECRET))
    for closed in ("../outside", ".git", "node_modules/x", "custom"):
        lay(
            root / closed,
            {".context.yaml": scope, "bundle.yaml": f"id: {SECRET}\n", "README.md": f"# {SECRET}\n"},
        )
    lay(root, {"locked.bin": SECRET.encode() + b"\0", "latin.txt": SECRET.encode() + b"\xe9"})
    lay(root, {"huge.txt": SECRET + "x" * 3 * 1024 * 1024})
    os.mkfifo(root / "pipe")
    for name, target in LINKS.items():
        (root / name).symlink_to(target)
    return root


@pytest.fixture(scope="module")
def client(place: Path) -> Iterator[LocalClient]:
    settings = {"CONTEXT_PACK_RATE_LIMITS": "off", "CONTEXT_PACK_DENY": "custom"}
    connected = LocalClient(place, CONTEXT_PACK_ROOT=str(place.parent / "store"), **settings)
    yield connected
    connected.close()


def spelled(path: str, root: Path) -> str:
    """The path with the places that only the test knows."""
    places = {"OUTSIDE": root.parent / "outside" / "secret.txt", "ROOT": root / "src" / "ok.txt"}
    return str(places.get(path, path))


def call(client: LocalClient, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    """The text of an answer, and whether it is an error."""
    with never_hanging():
        result = client.call(tool, arguments)
    return result["content"][0]["text"], bool(result["isError"])


def assert_names_no_place(text: str, tool: str, arguments: dict[str, Any], place: Path) -> None:
    """No answer has an absolute path that the caller did not say, but for the root of contexts."""
    top = str(place.parent)
    if top not in json.dumps(arguments):
        assert top not in (text.replace(str(place), "") if tool in ROOT_TELLERS else text), (tool, text)


@pytest.mark.clause("CD-32")
@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path[:40]))
def test_read_file_serves_no_hostile_path(client: LocalClient, place: Path, path: str) -> None:
    for more in ({}, {"includeDeps": True}, {"startLine": 1, "endLine": 2}):
        arguments = {"path": spelled(path, place), **more}
        text, failed = call(client, "read_file", arguments)
        assert failed, text
        assert SECRET not in text
        assert_names_no_place(text, "read_file", arguments, place)
        assert json.loads(text)["error"] in REFUSALS


def named(path: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls in which the path may stand for a folder, a bundle, a document or a pattern."""
    entity = {"entityType": path or "x", "id": path or "x"}
    document = {"collection": path, "document": path}
    return [
        ("query_context", {"scope": path}),
        ("query_context", {"scope": ".", "path": path}),
        ("check_freshness", {"scope": path}),
        ("list_contexts", {"path": path}),
        ("export_context", {"bundleId": path, "targets": [{"entityType": "x", "entityId": path or "x"}]}),
        ("get_context", {"bundleId": path, **entity}),
        ("export_entity_markdown", {"bundleId": path, "entityType": "x", "entityId": path or "x"}),
        ("documents_get_document", document),
        ("documents_get_outline", {**document, "collection": "docs"}),
        ("documents_get_section", {**document, "section": path}),
        ("documents_find_related", {**document, "collection": "docs"}),
        ("documents_sync", {"collection": path}),
        ("code_outline", {"path": path}),
        ("context_for", {"path": path}),
        ("find_usages", {"name": "anything", "path": path}),
        ("grep_codebase", {"pattern": SECRET[:-1] + ".", "filePattern": path}),
    ]


@pytest.mark.clause("CD-32")
@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path[:40]))
def test_no_other_tool_serves_a_hostile_path(client: LocalClient, place: Path, path: str) -> None:
    """A call may be refused or find nothing; it is answered, and shows nothing of what it must not."""
    for tool, arguments in named(spelled(path, place)):
        text, _ = call(client, tool, arguments)
        assert SECRET not in text, tool
        assert_names_no_place(text, tool, arguments, place)
    for family in ("scope", "document/docs", "pack", "bundle/x/y"):
        for tail in (spelled(path, place), quote(spelled(path, place), safe="")):
            reply = client.request("resources/read", {"uri": f"context://{family}/{tail}"})
            assert SECRET not in json.dumps(reply), tail


@pytest.mark.clause("CD-32")
def test_packs_anchor_and_show_no_hostile_path(client: LocalClient, place: Path) -> None:
    pack = client.payload("input", {"action": "create", "ttl_minutes": 60})["payload"]
    main = {"id": pack["id"], "section_key": "core"}
    section = {"action": "upsert_section", "section_title": "Core", "expected_revision": 1, **main}
    revision = client.payload("input", section)["payload"]["revision"]
    for number, path in enumerate(HOSTILE):
        ref = {"action": "upsert_ref", "ref_key": f"r-{number}", "line_start": 1, "line_end": 1, **main}
        ref |= {"path": spelled(path, place), "expected_revision": revision}
        text, failed = call(client, "input", ref)
        assert SECRET not in text
        revision = revision if failed else json.loads(text)["payload"]["revision"]
    assert revision > 20  # a ref may point at what cannot be read, and then shows nothing of it
    for tool, arguments in (
        ("output", {"id": pack["id"], "max_tokens": 100_000}),
        ("input", {"action": "verify", "id": pack["id"]}),
        ("input", {"action": "get", "id": pack["id"]}),
    ):
        text, failed = call(client, tool, arguments)
        assert (failed, SECRET in text) == (False, False)


@pytest.mark.clause("CD-32")
def test_imports_lead_to_no_hostile_path(client: LocalClient, place: Path) -> None:
    names = [name for name in (*OUTSIDE, *DENIED, *LINKS, *ODD) if name.isprintable()]
    scripts = "".join(f"import {json.dumps(name)};\nimport {json.dumps('./' + name)};\n" for name in names)
    (place / "importer.ts").write_text(scripts)
    (place / "includer.c").write_text("".join(f'#include "{name}"\n' for name in names))
    for path in ("importer.ts", "includer.c"):
        text, failed = call(client, "read_file", {"path": path, "includeDeps": True})
        assert (failed, SECRET in text) == (False, False)
        for each in json.loads(text)["dependencies"]:
            assert each["path"] in ("locked.bin", "latin.txt", "huge.txt", "src/ok.txt", "importer.ts"), each
            assert each["content"] in (None, "fine\n")


@pytest.mark.clause("CD-32")
def test_a_refusal_does_not_reveal_whether_an_outside_file_exists(client: LocalClient, place: Path) -> None:
    (place / "way_there").symlink_to("../outside/secret.txt")
    (place / "way_gone").symlink_to("../outside/nothing.txt")
    names = ("way_there", "way_gone", "folder_out/secret.txt", "folder_out/nothing.txt")
    answers = {call(client, "read_file", {"path": name})[0].replace(name, "x") for name in names}
    assert len(answers) == 1, answers


@pytest.mark.clause("CD-32")
def test_what_may_be_read_is_served_after_all_of_it(client: LocalClient) -> None:
    for path in ("src/ok.txt", "link_in/ok.txt"):
        text, failed = call(client, "read_file", {"path": path})
        assert (failed, json.loads(text)["file"]["content"]) == (False, "fine\n")
    assert "Nothing secret" in call(client, "query_context", {"scope": "src/deep"})[0]
