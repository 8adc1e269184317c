"""The store's files and the anchored texts beside them: malformed, expired, changed; and a failing disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest
from attrs import frozen
from hanging import never_hanging
from inmemory import FixedClock
from sample_packs import maker, sample_pack

from context_pack import open_workspace
from context_pack.kernel.errors import Code, Failure, Kind
from context_pack.kernel.text import sha256_hex
from context_pack.packs.anchors import digest_of
from context_pack.packs.model import Pack
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.packs import pack_format
from context_pack_adapters.packs.excerpts import FileExcerptStore
from context_pack_adapters.packs.store import FilePackStore
from context_pack_adapters.system import SystemClock

BAD = "pk_baaaaaad"


@frozen
class Disk:
    """A store, its folder and its clock."""

    store: FilePackStore
    folder: Path
    clock: FixedClock

    def put(self, name: str | None = None, minutes: float = 60) -> Pack:
        return self.store.create(maker(self.clock.now(), minutes, name=name), name)

    def file(self, pack_id: str) -> Path:
        """Where a pack is."""
        return self.folder / f"{pack_id}.md"

    def names(self) -> set[str]:
        """Everything in the folder."""
        return {path.name for path in self.folder.iterdir()}


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    """An empty store whose folder exists."""
    clock = FixedClock()
    (tmp_path / "packs").mkdir()
    return Disk(FilePackStore(tmp_path, clock, os.urandom, lock_timeout=5.0), tmp_path / "packs", clock)


def failure_of(act: Callable[[], object]) -> Failure:
    """What an action raises."""
    with pytest.raises(Failure) as told:
        act()
    return told.value


def raised(pack: Pack) -> Pack:
    """A change that counts."""
    return attrs.evolve(pack, revision=pack.revision + 1)


@pytest.mark.clause("ST-30")
def test_a_new_folder_keeps_lock_files_out_of_version_control(disk: Disk, tmp_path: Path) -> None:
    FilePackStore(tmp_path / "fresh", disk.clock, os.urandom).create(maker(disk.clock.now(), 60), "new")
    assert (tmp_path / "fresh/packs/.gitignore").read_bytes() == b"*.lock\n"
    disk.put("in a folder that exists")
    assert ".gitignore" not in disk.names()


@pytest.mark.clause("ST-01")
def test_files_that_are_not_named_like_a_pack_are_ignored(disk: Disk) -> None:
    made = disk.put()
    for name in ("README.md", "pk_short.md", "pk_abcdefgh.txt", "PK_ABCDEFGH.md", "pk_abcdefgh.md~"):
        (disk.folder / name).write_text("nonsense")
    (disk.folder / "folder").mkdir()
    assert list(disk.store.all()) == [made]


@pytest.mark.clause("ST-08")
@pytest.mark.parametrize(
    ("data", "code", "details"),
    [
        (
            b"nonsense",
            Code.MALFORMED_PACK,
            {"files": [{"file": f"{BAD}.md", "reason": "the first line is not '---'"}]},
        ),
        (
            pack_format.encode(sample_pack(BAD)).replace(b"schema_version: 3", b"schema_version: 1"),
            Code.MIGRATION_REQUIRED,
            {"found": 1, "supported": 3},
        ),
    ],
)
def test_a_file_that_cannot_be_read_stops_what_looks_at_all_packs_and_healthy_ones_go_on_by_id(
    disk: Disk, data: bytes, code: Code, details: dict[str, object]
) -> None:
    made = disk.put("good one")
    disk.file(BAD).write_bytes(data)
    for act in (
        disk.store.all,
        lambda: disk.store.get(BAD),
        lambda: disk.store.find("good one"),
        lambda: disk.store.find("nobody"),
        lambda: disk.put("another"),
        lambda: disk.store.update(BAD, raised),
        lambda: disk.store.delete(BAD, lambda _: None),
    ):
        failure = failure_of(act)
        assert (failure.code, failure.details) == (code, details)
        assert BAD in failure.message
    assert disk.file(BAD).read_bytes() == data
    assert f"{BAD}.lock" not in disk.names()
    assert disk.store.get(made.id) == made
    assert disk.store.update(made.id, raised).revision == 2
    assert disk.put().revision == 1
    disk.store.delete(made.id, lambda _: None)
    disk.file(BAD).unlink()
    assert len(disk.store.all()) == 1


@pytest.mark.clause("ST-08")
def test_two_live_packs_with_one_name_are_malformed_when_asked_by_name(disk: Disk) -> None:
    made = disk.put("doubled")
    other = sample_pack("pk_aaaaaaaa", disk.clock.now(), name="doubled")
    disk.file(other.id).write_bytes(pack_format.encode(other))
    failure = failure_of(lambda: disk.store.find("doubled"))
    assert failure.code is Code.MALFORMED_PACK
    assert {entry["file"] for entry in failure.details["files"]} == {f"{made.id}.md", "pk_aaaaaaaa.md"}
    assert failure_of(lambda: disk.put("doubled")).code is Code.NAME_CONFLICT
    assert disk.store.get(made.id) == made


def make_link(path: Path) -> None:
    """A link to a pack that would be fine."""
    target = path.with_name("elsewhere")
    target.write_bytes(pack_format.encode(sample_pack(path.stem)))
    path.symlink_to(target)


STRANGE: dict[str, Callable[[Path], object]] = {
    "link": make_link,
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "pipe": lambda path: os.mkfifo(path),
    "folder": lambda path: path.mkdir(),
    "too large": lambda path: path.write_bytes(b"---\n" + b"#" * (8 * 1024 * 1024)),
}


@pytest.mark.clause("ST-11")
@pytest.mark.parametrize("kind", STRANGE)
def test_oversized_or_special_pack_files_are_malformed_and_never_block(disk: Disk, kind: str) -> None:
    STRANGE[kind](disk.file(BAD))
    for act in (lambda: disk.store.get(BAD), disk.store.all, lambda: disk.store.update(BAD, raised)):
        with never_hanging():
            failure = failure_of(act)
        assert failure.code is Code.MALFORMED_PACK
        assert [entry["file"] for entry in failure.details["files"]] == [f"{BAD}.md"]


@pytest.mark.clause("ST-23")
@pytest.mark.parametrize("look", ["get", "all", "find", "update", "delete"])
def test_whoever_comes_across_an_expired_pack_moves_its_file_to_the_trash(
    disk: Disk, tmp_path: Path, look: str
) -> None:
    trash = PrivateFolder(str(tmp_path / "state" / "trash"))
    store = FilePackStore(disk.folder.parent, disk.clock, os.urandom, trash=trash)
    dead, live = disk.put("dead one", minutes=1), disk.put("live one")
    disk.store.update(dead.id, raised)
    disk.clock.advance(minutes=1)
    acts: dict[str, Callable[[], object]] = {
        "get": lambda: store.get(dead.id),
        "all": store.all,
        "find": lambda: store.find("dead one"),
        "update": lambda: store.update(dead.id, raised),
        "delete": lambda: store.delete(dead.id, lambda _: None),
    }
    if look == "all":
        acts[look]()
    else:
        assert failure_of(acts[look]).code is Code.NOT_FOUND
    assert disk.names() - {".create.lock"} == {f"{live.id}.md"}
    assert trash.names() == [f"{dead.id}.md"]
    assert [pack.id for pack in store.expired()] == [dead.id]
    assert store.create(maker(disk.clock.now(), 60, name="dead one"), "dead one").id != dead.id


@pytest.mark.clause("ST-64")
def test_a_pack_comes_back_from_the_trash_within_30_days(disk: Disk, tmp_path: Path) -> None:
    trash = tmp_path / "state" / "trash"

    def opened() -> FilePackStore:
        return FilePackStore(disk.folder.parent, disk.clock, os.urandom, trash=PrivateFolder(str(trash)))

    old, other, live = disk.put("old one", 1), disk.put("other one", 1), disk.put(minutes=10**6)
    disk.clock.advance(minutes=1)
    assert [pack.id for pack in opened().all()] == [live.id]
    stamp = disk.clock.now().timestamp()
    for file in trash.iterdir():
        os.utime(file, (stamp, stamp))
    disk.clock.advance(days=29)
    opened().update(live.id, raised)
    later = disk.clock.now() + timedelta(days=9)
    restored = opened().restore("old one", lambda pack: attrs.evolve(pack, expires_at=later))
    assert opened().get(old.id) == opened().find("old one") == restored
    assert [file.name for file in trash.iterdir()] == [f"{other.id}.md"]
    disk.clock.advance(days=2)
    opened().update(live.id, raised)
    assert list(trash.iterdir()) == []


@pytest.mark.clause("ST-64")
def test_a_pack_that_cannot_go_to_the_trash_is_not_deleted(disk: Disk, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    trash = PrivateFolder(str(tmp_path / "state" / "trash"))
    store = FilePackStore(disk.folder.parent, disk.clock, os.urandom, trash=trash)
    made = disk.put()
    assert failure_of(lambda: store.delete(made.id, lambda _: None)).kind is Kind.IO_ERROR
    assert store.get(made.id) == made


@pytest.mark.clause("ST-19")
def test_a_deleted_pack_takes_its_lock_file_along(disk: Disk) -> None:
    made = disk.put()
    disk.store.update(made.id, raised)
    assert disk.names() == {f"{made.id}.md", f"{made.id}.lock"}
    disk.store.delete(made.id, lambda _: None)
    assert disk.names() == set()


@pytest.mark.clause("ST-30")
def test_reads_of_a_store_that_is_not_there_find_nothing_and_make_nothing(tmp_path: Path) -> None:
    root = tmp_path / "not" / "there"
    store = FilePackStore(root, FixedClock(), os.urandom)
    assert list(store.all()) == []
    assert failure_of(lambda: store.get("pk_aaaaaaaa")).code is Code.NOT_FOUND
    assert failure_of(lambda: store.find("nobody")).code is Code.NOT_FOUND
    assert not (tmp_path / "not").exists()


@pytest.mark.clause("ST-30")
def test_the_storage_root_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    made = FilePackStore(tmp_path / "link", FixedClock(), os.urandom).create(maker(FixedClock().now()), None)
    assert (tmp_path / "real" / "packs" / f"{made.id}.md").is_file()


@pytest.mark.clause("ST-69")
def test_an_edit_by_hand_counts_as_a_revision_and_other_line_endings_do_not(disk: Disk) -> None:
    pack = disk.store.update(disk.put().id, lambda old: raised(attrs.evolve(old, title="As written")))
    file = disk.file(pack.id)
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert disk.store.get(pack.id) == pack
    file.write_bytes(file.read_bytes().replace(b"As written", b"As edited"))
    edited = disk.store.get(pack.id)
    assert (edited.title, edited.revision) == ("As edited", pack.revision + 1)
    assert disk.store.all() == [edited]
    changed = disk.store.update(pack.id, lambda old: raised(attrs.evolve(old, brief="More")))
    assert (changed.title, changed.revision) == ("As edited", pack.revision + 2)
    assert disk.store.get(pack.id) == changed


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


TEXT = "def f():\n    return 1"
DIGEST = digest_of(TEXT)


@pytest.fixture
def store(tmp_path: Path) -> FileExcerptStore:
    """A store that has one text."""
    made = FileExcerptStore(tmp_path, FixedClock())
    made.put({DIGEST: TEXT})
    return made


@pytest.mark.clause("ST-60")
def test_a_link_in_the_place_of_a_text_or_of_the_folder_is_not_followed(
    store: FileExcerptStore, tmp_path: Path
) -> None:
    path, decoy = tmp_path / "excerpts" / f"{DIGEST}.txt", tmp_path / "decoy"
    decoy.write_text(TEXT)
    path.unlink()
    os.symlink(decoy, path)
    assert store.texts([DIGEST]) == {}
    path.unlink()
    path.parent.rmdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "excerpts")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(Failure) as caught:
        store.put({DIGEST: TEXT})
    assert caught.value.code is Code.IO_ERROR
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.clause("ST-60")
def test_a_text_in_a_file_named_after_all_of_its_digest_is_found_and_removed(tmp_path: Path) -> None:
    store, path = FileExcerptStore(tmp_path, FixedClock()), tmp_path / "excerpts" / f"{sha256_hex(TEXT)}.txt"
    path.parent.mkdir()
    path.write_text(TEXT)
    assert store.texts([DIGEST]) == {DIGEST: TEXT}
    store.remove([DIGEST])
    assert not path.exists()


@pytest.mark.clause("ST-60", "AN-19")
def test_texts_lie_beside_the_packs_and_go_with_the_last_pack_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"{TEXT}\nother()\n")
    packs = open_workspace(tmp_path, storage=tmp_path / "store").packs

    def made() -> Pack:
        pack = packs.create(ttl_minutes=60)
        pack = packs.upsert_section(pack, section_key="main", section_title="Main")
        return packs.upsert_ref(
            pack, section_key="main", ref_key="ref", path="a.py", line_start=1, line_end=2
        )

    one, two = made(), made()
    kept = tmp_path / "store" / "excerpts"
    assert [path.name for path in kept.iterdir()] == [f"{DIGEST}.txt"]
    packs.delete(one)
    packs.discard(one.id)
    assert [path.name for path in kept.iterdir()] == [f"{DIGEST}.txt"]
    two = packs.upsert_ref(two, section_key="main", ref_key="ref", path="a.py", line_start=3, line_end=3)
    assert [path.name for path in kept.iterdir()] == [f"{digest_of('other()')}.txt"]
    packs.delete(two)
    packs.discard(two.id)
    assert list(kept.iterdir()) == []
