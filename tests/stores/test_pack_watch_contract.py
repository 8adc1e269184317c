"""What subscribers of packs are told, over each store: one suite, run on files and on Postgres."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from attrs import define, evolve, field
from sample_packs import maker
from waiting import until

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange
from context_pack.packs.model import Pack, Ref, Section
from context_pack.packs.ports import PackStore
from context_pack_adapters.files.folder import Folder
from context_pack_adapters.packs.pack_files import folder_mark
from context_pack_adapters.packs.store import FilePackStore
from context_pack_adapters.packs.watch import PackWatch
from context_pack_adapters.system import SystemClock

URI = "context://pack/"


@define
class Subscriber:
    """Somebody who subscribed to packs that others change; a test looks when it wants to."""

    store: PackStore
    watch: PackWatch
    uris: set[str]
    told: list[tuple[list[str], bool]] = field(factory=list)
    listening: bool = True

    def subscribe(self, *handles: str) -> None:
        """Subscribe to packs by id or name."""
        self.uris |= {URI + handle for handle in handles}
        self.watch.follow()

    def news(self) -> list[tuple[list[str], bool]]:
        """What one look tells."""
        self.told.clear()
        self.watch.look()
        return list(self.told)


def subscriber(store: PackStore, root: Path, mark: Callable[[], object], clock: object = None) -> Subscriber:
    """A subscriber to nothing yet."""
    made: Subscriber

    def wanted() -> tuple[frozenset[str], bool]:
        return frozenset(made.uris), made.listening

    def tell(uris: list[str], listed: bool) -> None:
        made.told.append((uris, listed))

    watch = PackWatch(store, str(root), clock or SystemClock(), mark, wanted, tell)  # type: ignore[arg-type]
    made = Subscriber(store, watch, set())
    return made


@pytest.fixture(params=["disk", "postgres"])
def heard(request: pytest.FixtureRequest, tmp_path: Path) -> Subscriber:
    """A subscriber over each store."""
    if request.param == "disk":
        store: PackStore = FilePackStore(tmp_path, SystemClock(), os.urandom)
        return subscriber(store, tmp_path, lambda: folder_mark(Folder(tmp_path).below("packs")))
    database = request.getfixturevalue("new_database")()
    from context_pack_adapters.postgres.packs import PostgresPackStore, change_token

    return subscriber(PostgresPackStore(database, os.urandom), tmp_path, lambda: change_token(database))


def pointing_at(pack: Pack, path: str) -> Pack:
    """The pack with one ref more."""
    ref = Ref("ref", RelativePath(path), LineRange(1, 1))
    return evolve(pack, sections=(*pack.sections, Section(f"of-{len(pack.sections)}", "Code", None, (ref,))))


def create(heard: Subscriber, name: str | None = None) -> Pack:
    return heard.store.create(maker(SystemClock().now(), 60, name=name), name)


@pytest.mark.clause("MCP-86", "MCP-87", "TM-11")
def test_creating_changing_and_deleting_a_pack_is_told_once_each(heard: Subscriber) -> None:
    heard.subscribe("followed")
    assert heard.news() == []
    pack = create(heard, "followed")
    heard.subscribe(pack.id)
    uris = sorted({URI + "followed", URI + pack.id})
    assert heard.news() == [([URI + "followed"], True)]
    assert heard.news() == []
    heard.store.update(pack.id, lambda known: evolve(known, revision=2))
    assert heard.news() == [(uris, False)]
    heard.store.delete(pack.id, lambda _: None)
    assert heard.news() == [(uris, True)]
    assert heard.news() == []


@pytest.mark.clause("MCP-87", "TM-11")
def test_an_expiry_is_told_as_the_end_of_the_pack(heard: Subscriber) -> None:
    pack = create(heard)
    heard.subscribe(pack.id)
    soon = SystemClock().now() + timedelta(seconds=0.5)
    heard.store.update(pack.id, lambda known: evolve(known, revision=2, expires_at=soon))
    until(lambda: ([URI + pack.id], True) in heard.news())
    assert SystemClock().now() >= soon
    assert heard.news() == []


@pytest.mark.clause("MCP-86")
def test_nothing_is_told_of_what_changed_while_nobody_listened(heard: Subscriber) -> None:
    heard.subscribe("followed")
    heard.listening = False
    assert heard.news() == []
    create(heard, "followed")
    heard.listening = True
    heard.watch.follow()
    assert heard.news() == []


@pytest.mark.clause("MCP-87")
def test_edits_of_the_files_that_a_pack_points_at_are_told(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/app.py").write_text("one\n")
    (tmp_path / "src/other.py").write_text("one\n")
    store = FilePackStore(tmp_path, SystemClock(), os.urandom)
    heard = subscriber(store, tmp_path, lambda: folder_mark(Folder(tmp_path).below("packs")))
    pack = store.create(lambda key: pointing_at(maker(SystemClock().now(), 60)(key), "src/app.py"), None)
    heard.subscribe(pack.id)
    for change in (
        lambda: (tmp_path / "src/app.py").write_text("longer\n"),
        lambda: (tmp_path / "src/app.py").unlink(),
        lambda: (tmp_path / "src/app.py").write_text("again\n"),
    ):
        change()
        assert heard.news() == [([URI + pack.id], False)]
    (tmp_path / "src/other.py").write_text("nobody points here\n")
    assert heard.news() == []
    store.update(pack.id, lambda known: pointing_at(evolve(known, revision=2), "src/other.py"))
    assert heard.news() == [([URI + pack.id], False)]
    (tmp_path / "src/other.py").unlink()
    assert heard.news() == [([URI + pack.id], False)]
