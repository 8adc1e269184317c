"""Checks of the built packages: what is in them, and that the installed server answers.

Standard library only: it also runs in the fresh environment that holds nothing but the wheel.
"""

from __future__ import annotations

import json
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
        "LICENSE",
        "tests/conftest.py",
        ".ci/run",
    } - names
    if missing:
        raise SystemExit(f"the sdist lacks {sorted(missing)}")
    sys.stdout.write(f"{wheel.name}: {sorted(packages)}; {sdist.name}: {len(names)} entries\n")


def server(command: str) -> None:
    """The installed command initializes, lists its tools and serves a call; nothing else is on its stdout."""
    text = "".join(json.dumps(message) + "\n" for message in MESSAGES)
    done = subprocess.run([command], input=text, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the server ended with {done.returncode}: {done.stderr}")
    replies = {reply["id"]: reply["result"] for reply in map(json.loads, done.stdout.splitlines())}
    names = [tool["name"] for tool in replies[2]["tools"]]
    if not {"input", "output"} <= set(names) or replies[3].get("isError"):
        raise SystemExit(f"the server answered {replies}")
    sys.stdout.write(f"{replies[1]['serverInfo']}: {names}\n")


if __name__ == "__main__":
    {"contents": lambda: contents(Path(sys.argv[2])), "server": lambda: server(sys.argv[2])}[sys.argv[1]]()
