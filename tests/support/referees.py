"""Official clients of the protocol in JavaScript: fetched once, pinned, kept in a cache folder.

What lives here: where a client comes from and how it is started. What must not: what it is asked. One that
cannot be had on this machine (no npm, no package index) skips its tests with the reason; one that is there
and finds fault fails them. `REFEREE_CACHE` names another cache folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from stdio_client import environment

TYPESCRIPT_SDK_1 = "@modelcontextprotocol/sdk@1.32.2"
TYPESCRIPT_CLIENT_2 = "@modelcontextprotocol/client@2.4.0"

NODE = 20
FETCH_SECONDS = 300
RUN_SECONDS = 120


def node_packages(pin: str) -> Path:
    """A `node_modules` folder with this package and all that it needs, fetched by the first who asks."""
    named = os.environ.get("REFEREE_CACHE")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "context-pack-tests"
    place = (Path(named) if named else caches) / f"npm-{pin.replace('/', '-').replace('@', '')}"
    reason = _why_not(pin, place)
    if reason is not None:
        pytest.skip(reason)
    return place / "node_modules"


@cache
def _why_not(pin: str, place: Path) -> str | None:
    """Why the package cannot be had, or None; a failure is remembered for this run of the tests."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return "npm is not on this machine"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    if int(version.strip().removeprefix("v").partition(".")[0]) < NODE:
        return f"node is older than {NODE}"
    place.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{place}.lock"):  # several test processes may want the same one
        return None if place.is_dir() else _fetch(npm, pin, place)


def _fetch(npm: str, pin: str, place: Path) -> str | None:
    """Fetch next to the place and rename, so that a folder which is there is whole."""
    with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        quick = ["--no-save", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"]
        patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000"]
        command = [npm, "install", *quick, *patience, "--prefix", str(made), pin]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False, cwd=scratch
            )
        except subprocess.TimeoutExpired:
            return f"{pin} could not be fetched in {FETCH_SECONDS} s"
        if done.returncode != 0:
            return f"{pin} could not be fetched: {done.stderr.strip()[:300]}"
        made.rename(place)
    return None


def transcript(script: Sequence[str | Path], plan: object, folder: Path) -> Any:
    """What a client's script prints after it has played a plan."""
    path = folder / "plan.json"
    path.write_text(json.dumps(plan), "utf-8")
    done = subprocess.run(
        ["node", *map(str, script), path],
        cwd=folder,
        env=environment(HOME=str(folder.parent)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=RUN_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
