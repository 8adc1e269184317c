"""More than a hundred hostile paths through every tool that reads files: none is served, none hangs.

Traversal in every spelling, encodings, backslashes, absolute paths, links, chains and loops of them, devices,
pipes and sockets, case and width tricks, NTFS names, very long names, and a path that is swapped while it is
opened. The secrets all hold one word, and that word is in no reply.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hanging import never_hanging
from stdio_client import StdioClient

from context_pack_adapters.cli import main

SECRET = "TOPSECRETWORD"
ROOT_TELLERS = ("list_contexts", "query_context", "check_freshness")
SECONDS = 20.0
"""How long one reply may take before it counts as a hang; it takes a few milliseconds."""

TRAVERSAL = [
    "../outside/secret.txt", "..", "../", "../..", "./../outside/secret.txt", "src/../../outside/secret.txt",
    "src/../src/ok.txt", "src/..", "src/./../../outside/secret.txt", "..//outside//secret.txt",
    "src//..//..//outside/secret.txt", "src/../..", "../" * 60 + "etc/passwd", "../" * 300 + "etc/passwd",
    "../root/.env", "src/deep/../../../outside/secret.txt", "src/ok.txt/../../../outside/secret.txt",
    "nothing/../../outside/secret.txt", "link_in/../../outside/secret.txt", "....//....//outside/secret.txt",
    ".../outside/secret.txt", "..;/outside/secret.txt", ".. /outside/secret.txt", ". ./outside/secret.txt",
]  # fmt: skip
BACKSLASHES = [
    "..\\outside\\secret.txt", "..\\..\\outside\\secret.txt", "src\\..\\..\\outside\\secret.txt",
    "..\\/outside/secret.txt", "../\\outside/secret.txt", "\\..\\outside\\secret.txt",
    "\\\\server\\share\\x", "\\etc\\passwd", "\\\\?\\C:\\Windows\\win.ini", "\\\\.\\PhysicalDrive0",
    "src\\.env", ".\\.env", ".git\\config",
]  # fmt: skip
ENCODINGS = [
    "%2e%2e/outside/secret.txt", "%2e%2e%2foutside%2fsecret.txt", "..%2foutside%2fsecret.txt",
    "..%5coutside%5csecret.txt", "%252e%252e%252foutside/secret.txt", "%c0%ae%c0%ae/outside/secret.txt",
    "..%c0%afoutside/secret.txt", "%uff0e%uff0e/outside/secret.txt", "\uff0e\uff0e/outside/secret.txt",
    "\u2024\u2024/outside/secret.txt", "..\u2215outside\u2215secret.txt",
    "..\uff0foutside\uff0fsecret.txt", "..\u29f5outside", "\u2025/outside/secret.txt",
    "&#46;&#46;/outside/secret.txt", "\\u002e\\u002e/outside/secret.txt", "..\x00/outside/secret.txt",
    "src/ok.txt\x00.png", "src/ok.txt%00", "src/ok.txt\n", "src/ok.txt\r", "src/\x1b[2J",
    "src/ok.txt\u2028", "\u202e../outside/secret.txt", "\ufeff../outside/secret.txt", "%2eenv",
    "file:///etc/passwd", "file:src/../../x",
]  # fmt: skip
ABSOLUTE = [
    "/", "//", "/etc/passwd", "//etc/passwd", "///etc/passwd", "/proc/self/environ",
    "/proc/self/root/etc/passwd", "/dev/zero", "/dev/stdin", "/dev/fd/0", "C:\\Windows\\win.ini",
    "C:/Windows/win.ini", "c:secret.txt", "z:", "/./etc/passwd", "/../etc/passwd", "OUTSIDE", "ROOT",
]  # fmt: skip
DENIED = [
    ".env", ".ENV", ".Env", ".env.local", ".ENV.LOCAL", ".env.production", ".env ", ".env.", ".env...",
    ".env::$DATA", ".env:stream", "\uff0eenv", ".\u200benv", ".e\u200dnv", ".env\u200b", ".git",
    ".git/config", ".GIT/config", ".git./config", ".git /config", ".git::$INDEX_ALLOCATION/config",
    "src/.git/config", "node_modules/x/index.js", "NODE_MODULES/x/index.js", "node_modules", "id_rsa",
    "ID_RSA", "id_rsa.bak", "id_ed25519", "key.pem", "KEY.PEM", "key.pem.", "server.key", "a.p12",
    "a.pfx", "a.keystore", ".ssh/config", ".aws/credentials", ".gnupg/x", ".netrc", ".npmrc", ".pypirc",
    "./.env", ".//.env", "src/../.env", "custom/private.txt", "CUSTOM/private.txt",
]  # fmt: skip
LINKS = [
    "link_out", "link_out_absolute", "link_out_chain", "folder_out/secret.txt", "folder_out",
    "folder_out_chain/secret.txt", "loop", "loop_a", "loop_a/x", "long_chain", "link_to_env",
    "link_to_git/config", "link_in_to_env", "link_dangling", "link_to_proc/environ",
    "link_to_root/etc/passwd", "link_up/outside/secret.txt", "link_to_dev_zero", "link_to_dev_stdin",
    "link_to_pipe", "link_to_self_fd", "deep_link/secret.txt", "link_back_in_denied", "link_to_tty",
]  # fmt: skip
ODD_FILES = ["pipe", "socket", "src", "src/", "src/deep", ".", "./", "locked.bin", "latin.txt", "huge.txt"]
LONG = [
    "a" * 256, "a" * 1024, "a" * 1025, "a" * 4096, "a" * 5000, "a/" * 400 + "x", "a/" * 3000 + "x",
    "é" * 600, "/" * 2000, "./" * 1500 + ".env", "./" * 500 + ".env", "." * 300, "src/" + "b" * 255,
    "\U0001f600" * 300, " " * 200, "",
]  # fmt: skip
HOSTILE = [*TRAVERSAL, *BACKSLASHES, *ENCODINGS, *ABSOLUTE, *DENIED, *LINKS, *ODD_FILES, *LONG]


SECRETS = """
    .env .env.local .env.production .git/config src/.git/config node_modules/x/index.js id_rsa id_rsa.bak
    id_ed25519 key.pem server.key a.p12 a.pfx a.keystore .ssh/config .aws/credentials .gnupg/x .netrc
    .npmrc .pypirc custom/private.txt
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A root full of traps, with secrets in and around it."""
    top = tmp_path_factory.mktemp("hostile")
    root = top / "root"
    for folder in ("src/deep", "src/.git", ".git", "node_modules/x", ".ssh", ".aws", ".gnupg", "custom"):
        (root / folder).mkdir(parents=True)
    (top / "outside").mkdir()
    (top / "outside" / "secret.txt").write_text(SECRET)
    (root / "src" / "ok.txt").write_text("fine\n")
    for closed in (top / "outside", root / ".git", root / "node_modules/x", root / ".ssh", root / "custom"):
        (closed / ".context.yaml").write_text(
            f"version: 1\nscope: .\nsummary: {SECRET} is what lies here\nfingerprint: abcdef12\n"
            "last_updated: 2026-01-01T00:00:00Z\nmaintenance: none\n"
        )
        (closed / "bundle.yaml").write_text(f"id: {SECRET}\nname: {SECRET}\n")
        (closed / "README.md").write_text(f"# {SECRET}\n")
    for name in SECRETS.split():
        (root / name).write_text(SECRET)
    (root / "locked.bin").write_bytes(SECRET.encode() + b"\0")
    (root / "latin.txt").write_bytes(SECRET.encode() + b"\xe9")
    (root / "huge.txt").write_text(SECRET + "x" * 3 * 1024 * 1024)
    os.mkfifo(root / "pipe")
    _link(root, top)
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(root)  # the name of a socket is short
        server.bind("socket")
        os.chdir(here)
        yield root


def _link(root: Path, top: Path) -> None:
    links = {
        "link_out": "../outside/secret.txt",
        "link_out_absolute": str(top / "outside" / "secret.txt"),
        "link_out_chain": "link_out",
        "folder_out": "../outside",
        "folder_out_chain": "folder_out",
        "loop": "loop",
        "loop_a": "loop_b",
        "loop_b": "loop_a",
        "link_to_env": ".env",
        "link_to_git": ".git",
        "link_in": "src",
        "link_in_to_env": "src/../.env",
        "link_dangling": "../outside/nothing",
        "link_to_proc": "/proc/self",
        "link_to_root": "/",
        "link_up": "..",
        "link_to_dev_zero": "/dev/zero",
        "link_to_dev_stdin": "/dev/stdin",
        "link_to_tty": "/dev/tty",
        "link_to_pipe": "pipe",
        "link_to_self_fd": "/proc/self/fd/0",
        "link_back_in_denied": "../root/.env",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    (root / "src" / "deep" / "way").symlink_to("../../../outside")
    (root / "deep_link").symlink_to("src/deep/way")
    (root / "chain_0").symlink_to("../outside/secret.txt")
    for number in range(60):
        (root / f"chain_{number + 1}").symlink_to(f"chain_{number}")
    (root / "long_chain").symlink_to("chain_60")


def spelled(path: str, root: Path) -> str:
    """The path with the places that only the test knows."""
    return {"OUTSIDE": str(root.parent / "outside" / "secret.txt"), "ROOT": str(root / "src" / "ok.txt")}.get(
        path, path
    )


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[StdioClient]:
    env = {"CONTEXT_PACK_RATE_LIMITS": "off", "CONTEXT_PACK_DENY": "custom", "CONTEXT_PACK_LOG": "error"}
    client = StdioClient(place, "unframed", env={**env, "CONTEXT_PACK_ROOT": str(place.parent / "store")})
    client.initialize()
    yield client
    client.kill()


def call(server: StdioClient, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    """The text of an answer that must come soon, and whether it is an error."""
    server._next_id += 1
    params = {"name": tool, "arguments": arguments}
    server.send({"jsonrpc": "2.0", "id": server._next_id, "method": "tools/call", "params": params})
    result = server.reply(server._next_id, SECONDS)["result"]
    return result["content"][0]["text"], bool(result["isError"])


def test_there_are_more_than_a_hundred_hostile_paths() -> None:
    assert len(set(HOSTILE)) > 150


@pytest.mark.clause("CD-32")
@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path[:40]))
def test_read_file_serves_no_hostile_path(server: StdioClient, place: Path, path: str) -> None:
    for arguments in ({}, {"includeDeps": True}, {"startLine": 1, "endLine": 2}):
        text, failed = call(server, "read_file", {"path": spelled(path, place), **arguments})
        assert failed, text
        assert SECRET not in text
        assert_tells_no_place(text, "read_file", {"path": spelled(path, place)}, place)
        assert json.loads(text)["error"] in {
            "File not found",
            "Permission denied",
            "Absolute paths not allowed",
            "Path traversal not allowed",
            "Not a text file",
            "File too large",
            "Invalid parameters",
        }


@pytest.mark.clause("CD-32")
def test_packs_anchor_and_show_no_hostile_path(server: StdioClient, place: Path) -> None:
    made, _ = call(server, "input", {"action": "create", "ttl_minutes": 60})
    pack = json.loads(made)["payload"]
    section = {"action": "upsert_section", "section_key": "core", "section_title": "Core"}
    made, _ = call(server, "input", {**section, "id": pack["id"], "expected_revision": pack["revision"]})
    revision = json.loads(made)["payload"]["revision"]
    anchored = 0
    for number, path in enumerate(HOSTILE):
        ref = {
            "section_key": "core",
            "ref_key": f"ref-{number}",
            "path": spelled(path, place),
            "line_start": 1,
            "line_end": 1,
        }
        asked = {"action": "upsert_ref", "id": pack["id"], "expected_revision": revision, **ref}
        text, failed = call(server, "input", asked)
        assert SECRET not in text
        if not failed:
            anchored += 1
            revision = json.loads(text)["payload"]["revision"]
    assert anchored > 50  # a ref may point at what cannot be read, and then shows nothing of it
    for tool, arguments in (
        ("output", {"id": pack["id"], "max_tokens": 100_000}),
        ("input", {"action": "verify", "id": pack["id"]}),
        ("input", {"action": "get", "id": pack["id"]}),
    ):
        text, failed = call(server, tool, arguments)
        assert not failed
        assert SECRET not in text


def named(path: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls of other families in which the path may stand for a folder, a bundle or a document."""
    return [
        ("query_context", {"scope": path}),
        ("query_context", {"scope": ".", "path": path}),
        ("check_freshness", {"scope": path}),
        ("list_contexts", {"path": path}),
        (
            "export_context",
            {"bundleId": path, "targets": [{"entityType": path or "x", "entityId": path or "x"}]},
        ),
        ("get_context", {"bundleId": path, "entityType": path or "x", "id": path or "x"}),
        ("documents_get_document", {"collection": path, "document": path}),
        ("documents_get_outline", {"collection": "docs", "document": path}),
        ("documents_sync", {"collection": path}),
        ("export_entity_markdown", {"bundleId": path, "entityType": "x", "entityId": path or "x"}),
        ("documents_get_section", {"collection": path, "document": path, "section": path}),
        ("documents_find_related", {"collection": "docs", "document": path}),
        ("code_outline", {"path": path}),
        ("find_usages", {"name": SECRET, "path": path}),
        ("grep_codebase", {"pattern": SECRET[:-1] + ".", "filePattern": path}),
    ]


@pytest.mark.clause("CD-32")
@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path[:40]))
def test_no_other_tool_serves_a_hostile_path(server: StdioClient, place: Path, path: str) -> None:
    """A call may be refused or find nothing; it is answered, and tells nothing of what it must not."""
    for tool, arguments in named(spelled(path, place)):
        text, _ = call(server, tool, arguments)
        if tool == "find_usages":
            text = text.replace(f"{SECRET}: ", "", 1)  # the name that was asked for
        assert SECRET not in text, tool
        assert_tells_no_place(text, tool, arguments, place)


def assert_tells_no_place(text: str, tool: str, arguments: dict[str, Any], place: Path) -> None:
    """No answer has an absolute path that the caller did not say, but for the root of contexts."""
    top = str(place.parent)
    if top not in json.dumps(arguments):
        assert top not in (text.replace(str(place), "") if tool in ROOT_TELLERS else text), (tool, text)


@pytest.mark.clause("CD-32")
@pytest.mark.parametrize(
    "words", [["read"], ["outline"], ["contexts", "show"], ["grep", SECRET[:-1] + ".", "-g"]]
)
def test_no_command_serves_a_hostile_path(
    place: Path, words: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("CONTEXT_PACK_DENY", "custom")
    monkeypatch.setenv("CONTEXT_PACK_ROOT", str(place.parent / "store"))
    for path in HOSTILE:
        with never_hanging():
            main(
                [*words, "--", spelled(path, place)] if words[0] != "grep" else [*words, spelled(path, place)]
            )
        said = "".join(capfd.readouterr())
        assert SECRET not in said, path
        assert "failed inside" not in said, path
        assert "Traceback" not in said, path


@pytest.mark.clause("CD-32")
@pytest.mark.parametrize("family", ["scope", "document/docs", "pack", "bundle/x/y"])
def test_no_resource_serves_a_hostile_path(server: StdioClient, place: Path, family: str) -> None:
    for path in HOSTILE:
        for tail in (spelled(path, place), quote(spelled(path, place), safe="")):
            server._next_id += 1
            params = {"uri": f"context://{family}/{tail}"}
            server.send(
                {"jsonrpc": "2.0", "id": server._next_id, "method": "resources/read", "params": params}
            )
            reply = server.reply(server._next_id, SECONDS)
            assert SECRET not in json.dumps(reply), tail


@pytest.mark.clause("CD-32")
def test_a_refusal_does_not_reveal_whether_an_outside_file_exists(server: StdioClient, place: Path) -> None:
    there, gone = place / "way_there", place / "way_gone"
    there.symlink_to("../outside/secret.txt")
    gone.symlink_to("../outside/nothing.txt")
    answers = {
        call(server, "read_file", {"path": name})[0].replace(name, "x") for name in ("way_there", "way_gone")
    }
    for name in ("secret.txt", "nothing.txt"):
        text, _ = call(server, "read_file", {"path": f"folder_out/{name}"})
        answers.add(text.replace(f"folder_out/{name}", "x"))
    assert len(answers) == 1, answers


@pytest.mark.clause("CD-32")
def test_imports_lead_to_no_hostile_path(server: StdioClient, place: Path) -> None:
    names = [*TRAVERSAL, *BACKSLASHES, *ABSOLUTE, *DENIED, *LINKS, *ODD_FILES]
    text = "".join(
        f"import {json.dumps(name)};\nimport {json.dumps('./' + name)};\n" for name in names if name
    )
    (place / "importer.ts").write_text(text)
    (place / "includer.c").write_text("".join(f'#include "{name}"\n' for name in names if "\n" not in name))
    for path in ("importer.ts", "includer.c"):
        answer, failed = call(server, "read_file", {"path": path, "includeDeps": True})
        assert not failed
        assert SECRET not in answer
        for each in json.loads(answer)["dependencies"]:
            assert each["path"] in ("locked.bin", "latin.txt", "huge.txt", "src/ok.txt", "importer.ts"), each[
                "path"
            ]
            assert each["content"] in (None, "fine\n")


@pytest.mark.clause("CD-32")
@pytest.mark.parametrize("victim", ["swapped", "swapped_folder/data.txt"])
def test_a_path_swapped_while_it_is_opened_never_gets_out(
    server: StdioClient, place: Path, victim: str
) -> None:
    """One thread swaps a harmless thing for a link to the secret as fast as it can, while it is read."""
    over = threading.Event()
    name = victim.partition("/")[0]
    harmless, evil = place / f"{name}_harmless", place / f"{name}_evil"
    if "/" in victim:
        harmless.mkdir()
        (harmless / "data.txt").write_text("harmless")
        (place.parent / "outside" / "data.txt").write_text(SECRET)
        evil.symlink_to("../outside")
    else:
        harmless.write_text("harmless")
        evil.symlink_to("../outside/secret.txt")

    def swap() -> None:
        while not over.wait(0.0005):  # leaves the reader a turn
            for thing in (harmless, evil):
                os.rename(thing, place / name)
                os.rename(place / name, thing)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        seen: set[str] = set()
        reads = count()
        with never_hanging():
            while next(reads) < 200 or len(seen) < 2:
                text, failed = call(server, "read_file", {"path": victim})
                assert SECRET not in text
                seen.add("read" if not failed else json.loads(text)["error"])
    finally:
        over.set()
        swapper.join()
    assert "File not found" in seen or "Permission denied" in seen


@pytest.mark.clause("CD-32")
def test_a_context_that_may_be_read_is_served(server: StdioClient, place: Path) -> None:
    text = (place.parent / "outside" / ".context.yaml").read_text().replace(SECRET, "Nothing secret")
    (place / "src" / "deep" / ".context.yaml").write_text(text)
    for tool, arguments in (
        ("query_context", {"scope": "src/deep"}),
        ("query_context", {"scope": ".", "path": "src/deep"}),
    ):
        answer, failed = call(server, tool, arguments)
        assert not failed, answer
        assert "Nothing secret is what lies here" in answer


@pytest.mark.clause("CD-32")
def test_the_server_still_reads_allowed_files_after_hostile_paths(server: StdioClient) -> None:
    for path in ("src/ok.txt", "link_in/ok.txt"):
        text, failed = call(server, "read_file", {"path": path})
        assert not failed
        assert json.loads(text)["file"]["content"] == "fine\n"
