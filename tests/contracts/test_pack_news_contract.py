"""What every source of news of packs does: one suite, run on a watched folder and on Postgres."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from attrs import define, evolve, field
from context_pack_adapters.stores.pack_news import News, NewsSource, PackNews
from sample_packs import maker
from waiting import until

from context_pack.packs.ports import PackStore
from context_pack_adapters.inmemory import FixedClock, SeededIds
from context_pack_adapters.stores.pack_store import FilePackStore
from context_pack_adapters.system import SystemClock, SystemIds


@define
class Heard:
    """Somebody who listens to a store that others write to."""

    store: PackStore
    source: NewsSource
    news: list[News]
    lose: Callable[[], object] = field(default=lambda: None)

    def settle(self) -> None:
        """Wait until the source listens: make packs until one is heard of."""
        until(lambda: self.store.create(maker(SystemClock().now(), 60), None) and self.news)
        self.news.clear()

    def concerning(self, handle: str) -> list[News]:
        """What was heard of one pack."""
        return [one for one in list(self.news) if one.concerns(handle)]


@pytest.fixture(params=["disk", "postgres"])
def heard(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Heard]:
    """A listener of each kind."""
    news: list[News] = []
    if request.param == "disk":
        store: PackStore = FilePackStore(tmp_path, SystemClock(), SystemIds())
        made = Heard(store, PackNews(tmp_path, SystemClock(), news.append), news)
    else:
        database = request.getfixturevalue("new_database")()
        import psycopg
        from context_pack_adapters.postgres.news import PostgresNews

        from context_pack_adapters.postgres.pack_store import PostgresPackStore

        def lose() -> None:
            ours = "FROM pg_stat_activity WHERE application_name = 'context-pack'"
            with psycopg.connect(request.getfixturevalue("postgres").url) as admin:
                admin.execute(f"SELECT pg_terminate_backend(pid) {ours}".encode())

        store = PostgresPackStore(database, SystemIds())
        made = Heard(store, PostgresNews(database, news.append), news, lose)
    made.source.listen(True)
    made.source.listen(True)
    made.settle()
    yield made
    made.source.listen(False)


@pytest.mark.clause("TM-11")
def test_creating_changing_and_deleting_a_pack_is_reported(heard: Heard) -> None:
    pack = heard.store.create(maker(SystemClock().now(), 60, name="followed"), "followed")
    until(lambda: any(one.listed for one in heard.concerning("followed")))
    heard.news.clear()
    heard.store.update(pack.id, lambda known: evolve(known, revision=2))
    until(lambda: heard.concerning(pack.id))
    assert not any(one.listed for one in heard.concerning(pack.id))
    heard.store.delete(pack.id, lambda _: None)
    until(lambda: any(one.listed for one in heard.concerning("followed")))


@pytest.mark.clause("TM-11")
def test_each_of_many_changes_in_a_row_is_reported(heard: Heard) -> None:
    """One that comes while the source is looking at another must not wait for a third."""
    for turn in range(30):
        last = heard.store.create(maker(SystemClock().now(), 60, title=f"T{turn}"), None)
        until(lambda key=last.id: heard.concerning(key))  # type: ignore[misc]
        for _ in range(2):
            heard.store.update(last.id, lambda known: evolve(known, revision=known.revision + 1))


@pytest.mark.clause("TM-11")
def test_an_expiry_is_reported_when_it_happens(heard: Heard) -> None:
    pack = heard.store.create(maker(SystemClock().now(), 60), None)
    until(lambda: heard.concerning(pack.id))
    heard.news.clear()
    soon = SystemClock().now() + timedelta(seconds=0.5)
    heard.store.update(pack.id, lambda known: evolve(known, revision=2, expires_at=soon))
    until(lambda: any(one.listed for one in heard.concerning(pack.id)))
    assert SystemClock().now() >= soon


@pytest.mark.clause("MCP-88")
def test_the_expiry_of_a_pack_made_before_the_watch_is_reported(tmp_path: Path) -> None:
    clock, news = FixedClock(), list[News]()
    store = FilePackStore(tmp_path, clock, SeededIds())
    pack = store.create(maker(clock.now(), 5), None)
    source = PackNews(tmp_path, clock, news.append)
    source.listen(True)
    try:
        clock.advance(minutes=5)
        store.create(maker(clock.now(), 5), None)  # the watch looks at the clock again
        until(lambda: any(one.listed and one.concerns(pack.id) for one in list(news)))
    finally:
        source.listen(False)


@pytest.mark.clause("TM-11")
def test_changes_missed_while_disconnected_are_reported_later(heard: Heard) -> None:
    heard.lose()
    pack = heard.store.create(maker(SystemClock().now(), 60), None)
    until(lambda: heard.concerning(pack.id))


def test_changes_after_the_watch_ended_are_not_reported(heard: Heard) -> None:
    heard.source.listen(False)
    heard.news.clear()
    pack = heard.store.create(maker(SystemClock().now(), 60), None)
    assert heard.news == []
    heard.source.came_or_went(pack)
    assert [one.listed for one in heard.news] == [True]
