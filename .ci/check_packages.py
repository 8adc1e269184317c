"""Checks of the built packages: what is in them, that the installed server answers; it makes the `.mcpb`.

Standard library only: it also runs in the fresh environment that holds nothing but the wheel.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

MESSAGES = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "ci", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "output", "arguments": {}}},
]


def contents(folder: Path) -> None:
    """The wheel's top level is exactly the two packages; the sdist holds the tests."""
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    packages = {top for top in tops if not top.endswith(".dist-info")}
    if packages != {"context_pack", "context_pack_adapters"}:
        raise SystemExit(f"the wheel's top level is {sorted(packages)}")
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as tarball:
        names = {name.partition("/")[2] for name in tarball.getnames()}
    missing = {
        "pyproject.toml",
        "README.md",
        "CONTRACT.md",
        "docs/security.md",
        "docs/contract/packs.md",
        "LICENSE",
        "tests/conftest.py",
        ".ci/run",
    } - names
    if missing:
        raise SystemExit(f"the sdist lacks {sorted(missing)}")
    sys.stdout.write(f"{wheel.name}: {sorted(packages)}; {sdist.name}: {len(names)} entries\n")


def bundle(folder: Path, target: Path) -> None:
    """Make the `.mcpb` of the sdist in a folder: our sources, from which uv installs, below the manifest."""
    (sdist,) = folder.glob("*.tar.gz")
    wanted = ("pyproject.toml", "README.md", "LICENSE", "context_pack/", "adapters/")
    target.mkdir(exist_ok=True)
    made = target / sdist.name.replace(".tar.gz", ".mcpb")
    with tarfile.open(sdist) as tarball, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in tarball.getmembers():
            name = entry.name.partition("/")[2].removeprefix("docs/registry/")
            if entry.isfile() and (name.startswith(wanted) or name == "manifest.json"):
                archive.writestr(name, tarball.extractfile(entry).read())
    sys.stdout.write(f"{made.name}: {made.stat().st_size} bytes\n")


def bundled(target: Path, project: Path) -> None:
    """The server answers that the manifest of the unpacked `.mcpb` in a folder starts, for a project."""
    (made,) = target.glob("*.mcpb")
    unpacked = target / "unpacked"
    zipfile.ZipFile(made).extractall(unpacked)
    config = json.loads((unpacked / "manifest.json").read_text())["server"]["mcp_config"]
    words = {"${__dirname}": str(unpacked), "${user_config.project}": str(project)}
    for name, value in config["env"].items():
        os.environ[name] = words.get(value, value)
    server([config["command"], *(words.get(each, each) for each in config["args"])])


def server(command: list[str]) -> None:
    """The installed command initializes, lists its tools and serves a call; nothing else is on its stdout."""
    text = "".join(json.dumps(message) + "\n" for message in MESSAGES)
    replies = {}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(text)
        process.stdin.flush()
        while len(replies) < 3:
            line = process.stdout.readline()
            if not line:
                raise SystemExit(f"the server ended with {process.wait()} after {replies}")
            reply = json.loads(line)
            replies[reply["id"]] = reply["result"]
        process.stdin.close()
        if process.wait(timeout=10) != 0 or process.stdout.read():
            raise SystemExit("the server did not end quietly")
    names = [tool["name"] for tool in replies[2]["tools"]]
    if not {"input", "output"} <= set(names) or replies[3].get("isError"):
        raise SystemExit(f"the server answered {replies}")
    sys.stdout.write(f"{replies[1]['serverInfo']}: {names}\n")


if __name__ == "__main__":
    name, *words = sys.argv[1:]
    if name == "server":
        server(words)
    else:
        {"contents": contents, "bundle": bundle, "bundled": bundled}[name](*map(Path, words))
