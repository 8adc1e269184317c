"""The store's files: malformed ones, expired ones, changed ones, and what reads remember of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import attrs
import pytest
from attrs import frozen
from hanging import never_hanging
from inmemory import FixedClock
from sample_packs import maker, sample_pack

from context_pack.kernel.errors import Code, Failure, Kind
from context_pack.packs.model import Pack
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.packs import pack_format
from context_pack_adapters.packs.store import FilePackStore

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
