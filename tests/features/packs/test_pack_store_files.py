"""The store's files: malformed ones, expired ones, changed ones, and what reads remember of them."""

from __future__ import annotations

import itertools
import os
import random
import resource
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import attrs
import pytest
from attrs import frozen
from hanging import never_hanging
from inmemory import FixedClock
from sample_packs import full_pack, maker, sample_pack

from context_pack.kernel.errors import Code, Failure
from context_pack.packs.model import Pack
from context_pack_adapters.files.folder import Folder
from context_pack_adapters.files.locking import PathLock, attempt_lock
from context_pack_adapters.files.private import PrivateFolder
from context_pack_adapters.files.signature import COARSE_GRAIN_NS, FINE_GRAIN_NS, is_settled
from context_pack_adapters.packs import pack_format
from context_pack_adapters.packs.pack_files import PackFile, PackFiles
from context_pack_adapters.packs.store import FilePackStore
from context_pack_adapters.system import SystemIds

BAD = "pk_baaaaaad"


@frozen
class Disk:
    """A store, its folder and its clock."""

    store: FilePackStore
    folder: Path
    clock: FixedClock

    def put(self, name: str | None = None, minutes: float = 60) -> Pack:
        """Store a fresh pack."""
        return self.store.create(maker(self.clock.now(), minutes, name=name), name)

    def file(self, pack_id: str) -> Path:
        """Where a pack is."""
        return self.folder / f"{pack_id}.md"

    def write(self, pack: Pack) -> None:
        """Write a pack as another program would, in place."""
        self.file(pack.id).write_bytes(pack_format.encode(pack))

    def names(self) -> set[str]:
        """Everything in the folder."""
        return {path.name for path in self.folder.iterdir()}


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    """An empty store whose folder exists."""
    clock = FixedClock()
    (tmp_path / "packs").mkdir()
    return Disk(FilePackStore(tmp_path, clock, SystemIds(), lock_timeout=5.0), tmp_path / "packs", clock)


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
    FilePackStore(tmp_path / "fresh", disk.clock, SystemIds()).create(maker(disk.clock.now(), 60), "new")
    assert (tmp_path / "fresh/packs/.gitignore").read_bytes() == b"*.lock\n"
    disk.put("in a folder that exists")
    assert ".gitignore" not in disk.names()


@pytest.mark.clause("ST-01")
def test_a_pack_is_one_file_named_after_its_id(disk: Disk) -> None:
    made = disk.put("a name")
    assert disk.names() == {f"{made.id}.md", ".create.lock"}
    assert pack_format.decode(disk.file(made.id).read_bytes(), made.id) == made


@pytest.mark.clause("ST-01")
def test_files_that_are_not_named_like_a_pack_are_ignored(disk: Disk) -> None:
    made = disk.put()
    for name in (
        "README.md",
        "pk_short.md",
        "pk_abcdefgh.txt",
        "PK_ABCDEFGH.md",
        "pk_abcdefgh.md~",
        "pk_abcdefg1.md",
    ):
        (disk.folder / name).write_text("nonsense")
    (disk.folder / "folder").mkdir()
    assert list(disk.store.all()) == [made]


@pytest.mark.clause("ST-08")
def test_one_malformed_file_stops_everything_that_looks_at_all_packs(disk: Disk) -> None:
    disk.put("good one")
    disk.file(BAD).write_text("nonsense")
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
        assert failure.code is Code.MALFORMED_PACK
        assert failure.kind == "io_error"
        assert failure.details == {"files": [{"file": f"{BAD}.md", "reason": "the first line is not '---'"}]}
    assert disk.file(BAD).read_text() == "nonsense"
    assert f"{BAD}.lock" not in disk.names()


@pytest.mark.clause("ST-08")
def test_healthy_packs_go_on_by_id_beside_a_malformed_one(disk: Disk) -> None:
    made = disk.put("good one")
    disk.file(BAD).write_text("nonsense")
    assert disk.store.get(made.id) == made
    assert disk.store.update(made.id, raised).revision == 2
    assert disk.put().revision == 1
    disk.store.delete(made.id, lambda _: None)
    disk.file(BAD).unlink()
    assert len(disk.store.all()) == 1


@pytest.mark.clause("ST-08")
def test_every_malformed_file_is_named_with_its_reason(disk: Disk) -> None:
    first, second = "pk_aaaaaaaa", "pk_bbbbbbbb"
    disk.file(first).write_bytes(pack_format.encode(full_pack("pk_cccccccc")))
    disk.file(second).write_text("---\na: 1\na: 2\n---\n")
    files = failure_of(disk.store.all).details["files"]
    assert files == [
        {"file": "pk_aaaaaaaa.md", "reason": "the id in the file is not the one in its name"},
        {"file": "pk_bbbbbbbb.md", "reason": "a key appears twice, line 3, column 1"},
    ]


@pytest.mark.clause("ST-08")
def test_hundreds_of_malformed_files_make_no_endless_answer(disk: Disk) -> None:
    for index in range(130):
        disk.file(f"pk_aaaaa{chr(97 + index // 26)}a{chr(97 + index % 26)}").write_text("")
    details = failure_of(disk.store.all).details
    assert (len(details["files"]), details["count"]) == (100, 130)


@pytest.mark.clause("ST-08")
def test_two_live_packs_with_one_name_are_malformed_when_asked_by_name(disk: Disk) -> None:
    made = disk.put("doubled")
    other = sample_pack("pk_aaaaaaaa", disk.clock.now(), name="doubled")
    disk.write(other)
    failure = failure_of(lambda: disk.store.find("doubled"))
    assert failure.code is Code.MALFORMED_PACK
    assert {entry["file"] for entry in failure.details["files"]} == {f"{made.id}.md", "pk_aaaaaaaa.md"}
    assert failure_of(lambda: disk.put("doubled")).code is Code.NAME_CONFLICT
    assert disk.store.get(made.id) == made


@pytest.mark.clause("ST-08")
def test_a_file_of_another_version_asks_for_migration_wherever_it_is_met(disk: Disk) -> None:
    made = disk.put("good one")
    old = pack_format.encode(sample_pack(BAD)).replace(b"schema_version: 2", b"schema_version: 1")
    disk.file(BAD).write_bytes(old)
    for act in (
        disk.store.all,
        lambda: disk.store.get(BAD),
        lambda: disk.store.find("good one"),
        lambda: disk.put("another"),
        lambda: disk.store.update(BAD, raised),
    ):
        failure = failure_of(act)
        assert failure.code is Code.MIGRATION_REQUIRED
        assert failure.details == {"found": 1, "supported": 2}
        assert BAD in failure.message
    assert disk.store.get(made.id) == made
    assert disk.file(BAD).read_bytes() == old


def make_link(path: Path) -> None:
    """A link to a pack that would be fine."""
    target = path.with_name("elsewhere")
    target.write_bytes(pack_format.encode(sample_pack(path.stem)))
    path.symlink_to(target)


def make_socket(path: Path) -> None:
    """A socket in the file system."""
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


STRANGE: dict[str, Callable[[Path], object]] = {
    "link": make_link,
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path),
    "pipe": lambda path: os.mkfifo(path),
    "folder": lambda path: path.mkdir(),
    "socket": make_socket,
    "too large": lambda path: path.write_bytes(b"---\n" + b"#" * (8 * 1024 * 1024)),
    "empty": lambda path: path.touch(),
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
@pytest.mark.parametrize("look", ["get", "all", "summaries", "find", "update", "delete"])
def test_whoever_comes_across_an_expired_pack_moves_its_file_to_the_trash(
    disk: Disk, tmp_path: Path, look: str
) -> None:
    trash = PrivateFolder(str(tmp_path / "state" / "trash"))
    store = FilePackStore(disk.folder.parent, disk.clock, SystemIds(), trash=trash)
    dead, live = disk.put("dead one", minutes=1), disk.put("live one")
    disk.store.update(dead.id, raised)
    disk.clock.advance(minutes=1)
    acts: dict[str, Callable[[], object]] = {
        "get": lambda: store.get(dead.id),
        "all": store.all,
        "summaries": store.summaries,
        "find": lambda: store.find("dead one"),
        "update": lambda: store.update(dead.id, raised),
        "delete": lambda: store.delete(dead.id, lambda _: None),
    }
    if look in ("all", "summaries"):
        acts[look]()
    else:
        assert failure_of(acts[look]).code is Code.NOT_FOUND
    assert disk.names() - {".create.lock"} == {f"{live.id}.md"}
    assert trash.names() == [f"{dead.id}.md"]
    assert [pack.id for pack in store.expired()] == [dead.id]
    assert store.create(maker(disk.clock.now(), 60, name="dead one"), "dead one").id != dead.id


@pytest.mark.clause("ST-64")
def test_an_expired_pack_can_be_removed_for_good(disk: Disk, tmp_path: Path) -> None:
    trash = PrivateFolder(str(tmp_path / "state" / "trash"))
    store = FilePackStore(disk.folder.parent, disk.clock, SystemIds(), trash=trash)
    seen, unseen = disk.put("seen", minutes=1), disk.put("unseen", minutes=1)
    disk.clock.advance(minutes=1)
    assert failure_of(lambda: store.get(seen.id)).code is Code.NOT_FOUND
    assert {store.discard("seen").id, store.discard(unseen.id).id} == {seen.id, unseen.id}
    assert (list(store.expired()), disk.names() - {".create.lock"}, trash.names()) == ([], set(), [])
    assert failure_of(lambda: store.discard("seen")).code is Code.NOT_FOUND


@pytest.mark.clause("ST-23")
def test_an_expired_pack_whose_lock_is_held_is_left_alone_without_waiting(disk: Disk) -> None:
    dead = disk.put(minutes=1)
    disk.clock.advance(minutes=1)
    patient = FilePackStore(disk.folder.parent, disk.clock, SystemIds(), lock_timeout=3600.0)
    with PathLock(str(disk.folder / f"{dead.id}.lock"), 1.0), never_hanging():
        assert list(patient.all()) == []
        assert failure_of(lambda: patient.get(dead.id)).code is Code.NOT_FOUND
        assert disk.file(dead.id).exists()


@pytest.mark.clause("ST-23")
def test_reusing_an_expired_packs_name_waits_for_its_writer(disk: Disk) -> None:
    dead = disk.put("the name", minutes=1)
    disk.clock.advance(minutes=1)
    results: list[object] = []

    def want() -> None:
        try:
            results.append(disk.put("the name").id)
        except Failure as failure:
            results.append(failure.code)

    with PathLock(str(disk.folder / f"{dead.id}.lock"), 1.0):
        wanting = threading.Thread(target=want)
        wanting.start()
        while (free := attempt_lock(str(disk.folder / ".create.lock"))) is not None:
            free.release()
        # The writer was in time: what it writes now, under its lock, is a live pack again.
        live = sample_pack(dead.id, disk.clock.now(), name="the name", revision=2)
        Folder(disk.folder).write(f"{dead.id}.md", pack_format.encode(live))
    wanting.join()
    assert results == [Code.NAME_CONFLICT]
    assert [pack.id for pack in disk.store.all()] == [dead.id]


@pytest.mark.clause("ST-64")
def test_a_pack_comes_back_from_the_trash_within_30_days(disk: Disk, tmp_path: Path) -> None:
    trash = tmp_path / "state" / "trash"

    def opened() -> FilePackStore:
        return FilePackStore(disk.folder.parent, disk.clock, SystemIds(), trash=PrivateFolder(str(trash)))

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


@pytest.mark.clause("ST-19")
def test_a_deleted_pack_takes_its_lock_file_along(disk: Disk) -> None:
    made = disk.put()
    disk.store.update(made.id, raised)
    assert disk.names() == {f"{made.id}.md", f"{made.id}.lock"}
    disk.store.delete(made.id, lambda _: None)
    assert disk.names() == set()


@pytest.mark.clause("ST-19")
def test_asking_for_a_pack_that_is_not_there_leaves_no_lock_file(disk: Disk) -> None:
    for act in (
        lambda: disk.store.get("pk_aaaaaaaa"),
        lambda: disk.store.update("pk_aaaaaaaa", raised),
        lambda: disk.store.delete("pk_aaaaaaaa", lambda _: None),
    ):
        assert failure_of(act).code is Code.NOT_FOUND
    assert disk.names() == set()


@pytest.mark.clause("ST-19")
def test_writers_waiting_on_a_deleted_pack_get_not_found(disk: Disk) -> None:
    made = disk.put()
    results: list[object] = []

    def write() -> None:
        results.append(failure_of(lambda: disk.store.update(made.id, raised)).code)

    writers = [threading.Thread(target=write) for _ in range(4)]

    def check(_: Pack) -> None:
        for writer in writers:
            writer.start()
        while not all(writer.is_alive() for writer in writers):
            time.sleep(0.001)

    disk.store.delete(made.id, check)
    for writer in writers:
        writer.join()
    assert results == [Code.NOT_FOUND] * 4
    assert disk.names() == set()


@pytest.mark.clause("ST-23")
def test_a_file_that_vanishes_under_a_reader_is_no_error(disk: Disk) -> None:
    ids = [disk.put().id for _ in range(40)]
    done = threading.Event()

    def remove() -> None:
        for pack_id in ids:
            disk.file(pack_id).unlink()
        done.set()

    remover = threading.Thread(target=remove)
    remover.start()
    while not done.is_set():
        disk.store.all()
    remover.join()
    assert list(disk.store.all()) == []


@pytest.mark.clause("ST-16")
def test_a_change_that_changes_nothing_writes_nothing(disk: Disk) -> None:
    made = disk.put()
    before = disk.file(made.id).stat()
    assert disk.store.update(made.id, lambda pack: attrs.evolve(pack)) == made
    after = disk.file(made.id).stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


@pytest.fixture
def files(disk: Disk) -> PackFiles:
    """The files of the store."""
    return PackFiles(Folder(disk.folder))


def read_pack(files: PackFiles, pack_id: str) -> Pack:
    """The pack in a file that holds one."""
    found = files.read(pack_id)
    assert isinstance(found, PackFile)
    return found.pack


def test_a_change_within_one_tick_of_the_clock_is_seen(disk: Disk, files: PackFiles) -> None:
    made = disk.put()
    for count in range(150):
        pack = attrs.evolve(made, title=f"title {count:04}")
        disk.write(pack)
        assert [listed.title for listed in files.all().packs] == [pack.title]
        assert list(files.all().packs) == [pack]
        assert read_pack(files, made.id) == pack


def test_random_file_changes_are_seen_by_the_next_listing(disk: Disk, files: PackFiles) -> None:
    chance = random.Random(5)
    ids = [f"pk_aaaaaaa{letter}" for letter in "abcdef"]
    expected: dict[str, Pack] = {}

    def write(pack_id: str, *, in_place: bool) -> None:
        title = f"title {chance.randrange(10)}"
        pack = sample_pack(pack_id, title=title, name=chance.choice([None, "first", "other"]))
        if in_place:
            disk.write(pack)
        else:
            Folder(disk.folder).write(f"{pack_id}.md", pack_format.encode(pack))
        expected[pack_id] = pack

    for turn in range(300):
        pack_id = chance.choice(ids)
        action = chance.choice(["replace", "edit", "remove", "break", "folder", "nothing"])
        if action in ("replace", "edit"):
            write(pack_id, in_place=action == "edit")
        elif action == "remove":
            disk.file(pack_id).unlink(missing_ok=True)
            expected.pop(pack_id, None)
        elif action == "break":
            disk.file(pack_id).write_text(f"nonsense {turn}")
            expected.pop(pack_id, None)
        elif action == "folder" and turn % 10 == 0:
            disk.folder.rename(disk.folder.with_name(f"moved {turn}"))
            disk.folder.mkdir()
            expected.clear()
        assert {pack.id for pack in files.all().packs} == set(expected)
        shelf = files.all()
        assert {pack.id: pack for pack in shelf.packs} == expected
        there = {path.stem for path in disk.folder.glob("*.md")}
        assert set(shelf.broken) == there - set(expected)
        for name in ("first", "other"):
            assert list(files.named(name).packs) == [
                pack for _, pack in sorted(expected.items()) if pack.name == name
            ]


def test_a_failed_listing_keeps_the_pending_change_names(disk: Disk) -> None:
    files = PackFiles(Folder(disk.folder))
    first, second = disk.put(), disk.put()
    for _ in range(3):
        assert len(files.all().packs) == 2
    for pack in (first, second):
        disk.store.update(pack.id, raised)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        failure = failure_of(files.all)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert failure.code is Code.IO_ERROR
    assert "too many files" in failure.message
    assert [pack.revision for pack in files.all().packs] == [2, 2]


@pytest.mark.parametrize(
    ("age_ns", "fraction", "trusted"),
    [
        (FINE_GRAIN_NS // 2, 123, False),
        (FINE_GRAIN_NS * 10, 123, True),
        (FINE_GRAIN_NS * 10, 0, False),
        (COARSE_GRAIN_NS * 2, 0, True),
        (-COARSE_GRAIN_NS, 123, False),
    ],
)
def test_a_stat_signature_is_trusted_once_older_than_the_clock_grain(
    age_ns: int, fraction: int, trusted: bool
) -> None:
    read_at = 1_800_000_000_500_000_000
    moment = read_at - age_ns
    moment = moment - moment % 1_000_000_000 + fraction if fraction == 0 else moment + fraction
    assert is_settled(moment, moment, read_at) is trusted


def test_a_repaired_file_loads_and_a_newly_broken_one_is_reported(disk: Disk) -> None:
    made = disk.put()
    whole = disk.file(made.id).read_bytes()
    assert list(disk.store.all()) == [made]
    disk.file(made.id).write_bytes(whole[:-1].replace(b"status: draft", b"status: drift"))
    assert failure_of(disk.store.all).code is Code.MALFORMED_PACK
    disk.file(made.id).write_bytes(whole)
    assert list(disk.store.all()) == [made]
    os.replace(disk.file(made.id), disk.folder / "moved away")
    assert list(disk.store.all()) == []
    assert failure_of(lambda: disk.store.get(made.id)).code is Code.NOT_FOUND


def test_many_threads_may_list_while_others_write(disk: Disk) -> None:
    ids = [disk.put().id for _ in range(10)]
    stop = threading.Event()
    counts: list[int] = []

    def look() -> None:
        while not stop.is_set():
            counts.append(len(disk.store.all()))

    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    for pack_id in ids * 3:
        disk.store.update(pack_id, raised)
    stop.set()
    for reader in readers:
        reader.join()
    assert set(counts) == {10}
    assert {pack.revision for pack in disk.store.all()} == {4}


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no tmpfs here")
def test_a_file_replaced_while_the_folder_is_listed_is_not_missed() -> None:
    """Thousands of files, because a short listing is made in one step; what they hold does not matter."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        names = ["pk_aaa" + "".join(letters) for letters in itertools.product("abcde", repeat=5)]
        for name in names:
            Path(folder, f"{name}.md").touch()
            Path(folder, f"{name}.lock").touch()
        stop = threading.Event()

        def replace() -> None:
            while not stop.is_set():
                for name in names:
                    Path(folder, ".new").touch()
                    os.replace(Path(folder, ".new"), Path(folder, f"{name}.md"))

        writer = threading.Thread(target=replace)
        writer.start()
        try:
            known = PackFiles(Folder(folder))
            for _ in range(3):
                assert len(PackFiles(Folder(folder)).all().broken) == len(names)
                assert len(known.all().broken) == len(names)
        finally:
            stop.set()
            writer.join()


@pytest.mark.clause("ST-30")
def test_reads_of_a_store_that_is_not_there_find_nothing_and_make_nothing(tmp_path: Path) -> None:
    root = tmp_path / "not" / "there"
    store = FilePackStore(root, FixedClock(), SystemIds())
    assert list(store.all()) == []
    assert failure_of(lambda: store.get("pk_aaaaaaaa")).code is Code.NOT_FOUND
    assert failure_of(lambda: store.find("nobody")).code is Code.NOT_FOUND
    assert not (tmp_path / "not").exists()


@pytest.mark.clause("ST-30")
@pytest.mark.parametrize("name", [None, "a name"])
def test_a_folder_that_vanished_is_made_again(disk: Disk, name: str | None) -> None:
    disk.put("first")
    for path in disk.folder.iterdir():
        path.unlink()
    disk.folder.rmdir()
    disk.folder.parent.rmdir()
    made = disk.put(name)
    assert list(disk.store.all()) == [made]


@pytest.mark.clause("ST-30")
def test_the_storage_root_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    made = FilePackStore(tmp_path / "link", FixedClock(), SystemIds()).create(maker(FixedClock().now()), None)
    assert (tmp_path / "real" / "packs" / f"{made.id}.md").is_file()


@pytest.mark.clause("ST-30")
def test_the_umask_rules_new_packs_and_an_update_keeps_the_mode(disk: Disk) -> None:
    before = os.umask(0o027)
    try:
        made = disk.put()
    finally:
        os.umask(before)
    assert stat.S_IMODE(disk.file(made.id).stat().st_mode) == 0o640
    disk.file(made.id).chmod(0o600)
    disk.store.update(made.id, raised)
    assert stat.S_IMODE(disk.file(made.id).stat().st_mode) == 0o600


@pytest.mark.clause("ST-12")
@pytest.mark.parametrize("act", ["all", "create", "update"])
def test_old_temporary_files_are_swept_and_young_ones_stay(disk: Disk, tmp_path: Path, act: str) -> None:
    made = disk.put()
    old, young = (disk.folder / f".{made.id}.md.{digits * 16}.tmp" for digits in "ab")
    foreign = disk.folder / "notes.tmp"
    for path in (old, young, foreign):
        path.write_text("half")
    for path, hours in ((old, 1.1), (young, 0.9), (foreign, 99)):
        moment = time.time() - hours * 3600
        os.utime(path, (moment, moment))
    fresh = FilePackStore(tmp_path, disk.clock, SystemIds())
    acts: dict[str, Callable[[], object]] = {
        "all": fresh.all,
        "create": lambda: fresh.create(maker(disk.clock.now()), None),
        "update": lambda: fresh.update(made.id, raised),
    }
    acts[act]()
    assert (old.exists(), young.exists(), foreign.exists()) == (False, True, True)
