"""What every `PackStore` does: one suite, run on files and on Postgres."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import attrs
import pytest
from attrs import frozen
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from inmemory import FixedClock, SeededIds
from sample_packs import maker
from waiting import PATIENCE

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ports import IdSource
from context_pack.packs.model import Pack
from context_pack.packs.ports import PackStore
from context_pack_adapters.packs.store import FilePackStore


@frozen
class Shelf:
    """A store with the clock it looks at."""

    store: PackStore
    clock: FixedClock

    def put(self, name: str | None = None, minutes: float = 60) -> Pack:
        return self.store.create(maker(self.clock.now(), minutes, name=name), name)


KINDS = ["disk", "postgres"]


def opener(
    kind: str, root: Path, request: pytest.FixtureRequest
) -> Callable[[FixedClock, IdSource, float], PackStore]:
    if kind == "postgres":
        new_database = request.getfixturevalue("new_database")
        from context_pack_adapters.postgres.packs import PostgresPackStore

        return lambda clock, ids, timeout: PostgresPackStore(new_database(), ids, timeout, clock=clock)
    return lambda clock, ids, timeout: FilePackStore(root, clock, ids, timeout)


@pytest.fixture(params=KINDS)
def open_shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Shelf]:
    def start(ids: IdSource | None = None, timeout: float = PATIENCE) -> Shelf:
        clock = FixedClock()
        open_store = opener(request.param, tmp_path, request)
        return Shelf(open_store(clock, ids or SeededIds(), timeout), clock)

    return start


@pytest.fixture
def shelf(open_shelf: Callable[..., Shelf]) -> Shelf:
    return open_shelf()


def raised(revision: Pack) -> Pack:
    """A change that counts."""
    return attrs.evolve(revision, revision=revision.revision + 1)


@contextmanager
def writing(shelf: Shelf, pack: Pack) -> Iterator[Future[Pack]]:
    """A writer that holds the lock of a pack until the block ends; its result counts as a change."""
    inside, go_on = threading.Event(), threading.Event()

    def slow(known: Pack) -> Pack:
        inside.set()
        assert go_on.wait(PATIENCE)
        return raised(known)

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(shelf.store.update, pack.id, slow)
        try:
            assert inside.wait(PATIENCE)
            yield writer
        finally:
            go_on.set()
        assert writer.result(PATIENCE).revision == pack.revision + 1


@pytest.mark.clause("ST-16")
def test_an_exception_in_a_change_is_raised_and_nothing_is_stored(shelf: Shelf) -> None:
    made = shelf.put()

    def refuse(pack: Pack) -> Pack:
        pack.check_revision(7)
        return pack

    with pytest.raises(Failure) as told:
        shelf.store.update(made.id, refuse)
    assert told.value.code is Code.REVISION_CONFLICT
    with pytest.raises(ZeroDivisionError):
        shelf.store.update(made.id, lambda pack: attrs.evolve(pack, revision=1 // 0))
    assert shelf.store.get(made.id) == made
    assert shelf.store.update(made.id, raised).revision == 2


@pytest.mark.clause("ST-16")
def test_a_delete_asks_first_and_then_removes(shelf: Shelf) -> None:
    made = shelf.put("going away")

    def refuse(pack: Pack) -> None:
        pack.check_revision(9)

    with pytest.raises(Failure):
        shelf.store.delete(made.id, refuse)
    assert shelf.store.get(made.id) == made
    shelf.store.delete(made.id, lambda pack: None)
    assert list(shelf.store.all()) == []
    with pytest.raises(Failure) as told:
        shelf.store.delete(made.id, lambda pack: None)
    assert told.value.code is Code.NOT_FOUND
    assert shelf.put("going away").name == "going away"


@pytest.mark.clause("ST-22")
def test_a_name_is_unique_among_live_packs_and_case_counts(shelf: Shelf) -> None:
    made = shelf.put("the name")
    with pytest.raises(Failure) as told:
        shelf.put("the name")
    assert told.value.code is Code.NAME_CONFLICT
    assert told.value.details == {"name": "the name", "id": made.id}
    assert shelf.put("The name").name == "The name"
    assert shelf.put().name is None
    assert shelf.put().name is None
    assert len(shelf.store.all()) == 4


@pytest.mark.clause("ST-22")
def test_of_concurrent_creates_with_one_name_one_succeeds(shelf: Shelf) -> None:
    start = threading.Barrier(8)

    def want(_: int) -> str:
        start.wait()
        try:
            return shelf.put("wanted").id
        except Failure as failure:
            return failure.code

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(want, range(8)))
    assert results.count(Code.NAME_CONFLICT) == 7
    assert [pack.id for pack in shelf.store.all()] == [one for one in results if one != Code.NAME_CONFLICT]


@pytest.mark.clause("ST-23")
def test_an_expired_pack_is_invisible_from_its_last_instant_on(shelf: Shelf) -> None:
    made = shelf.put("short lived", minutes=5)
    shelf.clock.advance(minutes=5, microseconds=-1)
    assert shelf.store.get(made.id) == made
    shelf.clock.advance(microseconds=1)
    for act in (
        lambda: shelf.store.get(made.id),
        lambda: shelf.store.find("short lived"),
        lambda: shelf.store.update(made.id, raised),
        lambda: shelf.store.delete(made.id, lambda _: None),
    ):
        with pytest.raises(Failure) as told:
            act()
        assert told.value.code is Code.NOT_FOUND
    assert list(shelf.store.all()) == []


@pytest.mark.clause("ST-23")
def test_a_pack_that_expires_while_its_writer_waits_is_not_written(shelf: Shelf) -> None:
    made = shelf.put(minutes=5)
    inside, go_on = threading.Event(), threading.Event()

    def slow(pack: Pack) -> Pack:
        inside.set()
        assert go_on.wait(PATIENCE)
        return pack

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(shelf.store.update, made.id, slow)
        assert inside.wait(PATIENCE)
        second = pool.submit(shelf.store.update, made.id, raised)
        shelf.clock.advance(minutes=5)
        go_on.set()
        assert first.result(PATIENCE) == made
        with pytest.raises(Failure) as told:
            second.result(PATIENCE)
    assert told.value.code is Code.NOT_FOUND


@pytest.mark.clause("ST-64")
def test_an_expired_pack_is_kept_and_comes_back_by_name_or_id(shelf: Shelf) -> None:
    first = shelf.put("same name", minutes=5)
    shelf.clock.advance(minutes=5)
    second = shelf.put("same name", minutes=5)
    other = shelf.put(minutes=5)
    assert list(shelf.store.expired()) == [first]
    shelf.clock.advance(minutes=5)
    assert {pack.id for pack in shelf.store.expired()} == {first.id, second.id, other.id}
    later = shelf.clock.now() + timedelta(hours=1)

    def longer(pack: Pack) -> Pack:
        return attrs.evolve(pack, expires_at=later, revision=pack.revision + 1)

    assert shelf.store.restore("same name", longer).id == second.id
    assert shelf.store.find("same name").revision == 2
    for handle, code in (
        (first.id, Code.NAME_CONFLICT),
        ("none", Code.NOT_FOUND),
        (second.id, Code.NOT_FOUND),
    ):
        with pytest.raises(Failure) as told:
            shelf.store.restore(handle, longer)
        assert told.value.code is code
    assert shelf.store.restore(other.id, longer) == shelf.store.get(other.id)
    assert shelf.store.discard(first.id).id == first.id
    for handle in (first.id, second.id, "none"):
        with pytest.raises(Failure) as told:
            shelf.store.discard(handle)
        assert told.value.code is Code.NOT_FOUND
    assert list(shelf.store.expired()) == []


@pytest.mark.clause("ST-19")
def test_a_writer_that_waits_too_long_gives_up_while_reads_and_other_writes_go_on(
    open_shelf: Callable[..., Shelf],
) -> None:
    shelf = open_shelf(timeout=0.2)
    made, other = shelf.put("busy"), shelf.put("idle")
    with writing(shelf, made):
        for act in (
            lambda: shelf.store.update(made.id, raised),
            lambda: shelf.store.delete(made.id, lambda _: None),
        ):
            with pytest.raises(Failure) as told:
                act()
            assert told.value.code is Code.LOCK_TIMEOUT
            assert told.value.details["lock"] == f"{made.id}.lock"
            assert told.value.details["timeout_seconds"] == 0.2
            assert "retry" in told.value.details["hint"]
        assert shelf.store.get(made.id) == shelf.store.find("busy") == made
        assert len(shelf.store.all()) == 2
        assert shelf.store.update(other.id, raised).revision == 2
        assert shelf.put("another").revision == 1
    assert shelf.store.update(made.id, raised).revision == 3


class StoreAgainstDictionary(RuleBasedStateMachine):
    """Any series of actions leaves a store as it leaves a dictionary."""

    kind = "disk"
    root = Path()
    request: pytest.FixtureRequest

    @initialize()
    def begin(self) -> None:
        self.clock = FixedClock()
        self.root.mkdir(exist_ok=True)
        fresh = self.root / str(len(list(self.root.iterdir())))
        fresh.mkdir()
        self.store = opener(self.kind, fresh, self.request)(self.clock, SeededIds(len(str(fresh))), 5.0)
        self.known: dict[str, Pack] = {}

    def live(self) -> dict[str, Pack]:
        """What a reader may see."""
        return {key: pack for key, pack in self.known.items() if pack.expires_at > self.clock.now()}

    @rule(name=st.sampled_from([None, "first", "second"]), minutes=st.integers(1, 9))
    def create(self, name: str | None, minutes: int) -> None:
        """A taken name is refused, any other pack is there afterwards."""
        if name is not None and any(pack.name == name for pack in self.live().values()):
            with pytest.raises(Failure) as told:
                self.store.create(maker(self.clock.now(), minutes, name=name), name)
            assert told.value.code is Code.NAME_CONFLICT
        else:
            made = self.store.create(maker(self.clock.now(), minutes, name=name), name)
            self.known[made.id] = made

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def update(self, data: st.DataObject) -> None:
        """A live pack takes the change, an expired one is not there."""
        key = data.draw(st.sampled_from(sorted(self.known)))
        if key in self.live():
            self.known[key] = self.store.update(key, raised)
        else:
            with pytest.raises(Failure) as told:
                self.store.update(key, raised)
            assert told.value.code is Code.NOT_FOUND

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """A live pack goes, an expired one is not there."""
        key = data.draw(st.sampled_from(sorted(self.known)))
        if key in self.live():
            self.store.delete(key, lambda _: None)
            del self.known[key]
        else:
            with pytest.raises(Failure) as told:
                self.store.delete(key, lambda _: None)
            assert told.value.code is Code.NOT_FOUND

    @rule(seconds=st.integers(1, 400))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds=seconds)

    @invariant()
    def same(self) -> None:
        """The store shows what the dictionary has."""
        live = self.live()
        assert {pack.id: pack for pack in self.store.all()} == live
        for pack in live.values():
            assert self.store.get(pack.id) == pack
            assert pack.name is None or self.store.find(pack.name) == pack


@pytest.mark.parametrize("which", KINDS)
def test_any_series_of_actions_leaves_a_store_as_it_leaves_a_dictionary(
    which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    given = {"kind": which, "root": tmp_path / "stores", "request": request}
    machine = type("Machine", (StoreAgainstDictionary,), given)
    case = machine.TestCase()  # type: ignore[attr-defined]
    case.settings = settings(max_examples=10, stateful_step_count=15, deadline=None)
    case.runTest()


class Withdrawn(Exception):
    """The caller has gone."""


@pytest.mark.clause("ST-19")
def test_a_cancelled_writer_stops_waiting_for_the_lock_at_once(shelf: Shelf) -> None:
    """The store waits ten seconds by itself; the callers below are gone at the first question."""
    made = shelf.put("busy")

    def withdraw() -> None:
        raise Withdrawn

    with writing(shelf, made) as writer:
        with pytest.raises(Withdrawn):
            shelf.store.update(made.id, raised, withdraw)
        with pytest.raises(Withdrawn):
            shelf.store.delete(made.id, lambda _: None, withdraw)
        assert not writer.done()
