"""The store on a disk that is full, read-only or forbidden: a clear `io_error`, the old pack whole."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from sample_packs import maker

from context_pack.kernel.errors import Code, Failure
from context_pack.packs.model import Pack
from context_pack_adapters.packs.store import FilePackStore
from context_pack_adapters.system import SystemClock

WORKER = Path(__file__).with_name("pack_store_worker.py")
OUR_PATH = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The storage root; it may become the place of a mount in a worker's own name space."""
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def put(root: Path, name: str = "old one") -> Pack:
    """A pack that was there before things went wrong."""
    store = FilePackStore(root, SystemClock(), os.urandom)
    made = store.create(maker(SystemClock().now(), name=name), name)
    return store.update(made.id, lambda pack: attrs.evolve(pack, revision=2))


def run_mounted(mounts: str, script: str) -> dict[str, Any]:
    """What a shell script prints after mounting, in a name space of its own, which ends with it."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here")
    words = ["unshare", "-rm", "sh", "-ec", f"{mounts}\n{script}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, env=OUR_PATH)
    if done.returncode:
        pytest.skip(f"no name spaces here: {done.stderr.strip()[:80]}")
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def worker(*words: object) -> str:
    """A worker as a shell command."""
    return " ".join(f"'{word}'" for word in (sys.executable, WORKER, *words))


@pytest.mark.clause("ST-14")
def test_a_full_disk_refuses_writes_and_keeps_the_old_pack_whole(root: Path) -> None:
    pack = put(root)
    keep = root.parent / "keep"
    shutil.copytree(root, keep)
    mounts = f"mount -t tmpfs -o size=64k tmpfs '{root}'\ncp -r '{keep}'/. '{root}'\n"
    fill = f"dd if=/dev/zero of='{root}/filler' bs=4k 2>/dev/null || true"
    after = f"ls -A '{root}/packs' > '{root.parent}/listing'\n"
    after += f"cat '{root}/packs/{pack.id}.md' > '{root.parent}/after'"
    answers = run_mounted(f"{mounts}{fill}", f"{worker('try_everything', root, pack.id, 'old one')}\n{after}")
    assert {action: answers[action] for action in ("get", "find", "all")} == {"get": 2, "find": 2, "all": 1}
    for action in ("update", "create", "create named"):
        told = answers[action]
        assert (told["code"], told["details"]["reason"]) == (Code.IO_ERROR, "ENOSPC")
        assert told["message"].startswith(f"{told['details']['file']}: ")
        assert "no space" in told["message"]
        assert ";" in told["message"], "it must say what to do"
        assert str(root) not in json.dumps(told)
    assert (root.parent / "after").read_bytes() == (root / "packs" / f"{pack.id}.md").read_bytes()
    listed = set((root.parent / "listing").read_text().split())
    kept = {".gitignore", f"{pack.id}.md", f"{pack.id}.lock", ".create.lock"}
    assert listed == kept, "no temporary file stays"


def blocked_by_a_file(root: Path) -> None:
    """A file where the packs folder should be."""
    (root / "packs").write_text("in the way")


def rooted_in_a_file(root: Path) -> None:
    """A file where the root should be."""
    root.rmdir()
    root.write_text("in the way")


@pytest.mark.clause("ST-14")
@pytest.mark.parametrize("damage", [blocked_by_a_file, rooted_in_a_file])
@pytest.mark.parametrize("action", ["create", "create named", "all", "get"])
def test_a_file_in_place_of_the_packs_folder_is_reported(
    root: Path, damage: Callable[[Path], None], action: str
) -> None:
    damage(root)
    store = FilePackStore(root, SystemClock(), os.urandom)
    acts: dict[str, Callable[[], object]] = {
        "create": lambda: store.create(maker(), None),
        "create named": lambda: store.create(maker(name="new one"), "new one"),
        "all": store.all,
        "get": lambda: store.get("pk_aaaaaaaa"),
    }
    with pytest.raises(Failure) as told:
        acts[action]()
    assert told.value.code is Code.IO_ERROR
    assert "not a folder" in told.value.message
    assert str(root) not in told.value.message
