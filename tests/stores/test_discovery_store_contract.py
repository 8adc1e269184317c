"""What every `DiscoveryStore` does: one suite, run on files and on Postgres."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attrs import evolve

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange
from context_pack.memory.discovery import CodePlace, Discovery, id_of, uuid_of
from context_pack.memory.ports import DiscoveryStore
from context_pack_adapters.memory.discoveries import DiscoveryFiles

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.fixture(params=["disk", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> DiscoveryStore:
    """An empty store of each kind."""
    if request.param == "postgres":
        new_database = request.getfixturevalue("new_database")
        from context_pack_adapters.postgres.discoveries import PostgresDiscoveryStore

        return PostgresDiscoveryStore(new_database())
    return DiscoveryFiles(tmp_path)


def found_out(content: str, minutes: int = 0, **changes: object) -> Discovery:
    at = NOW + timedelta(minutes=minutes)
    given: dict[str, object] = {"id": id_of(content), "type": "rule", "content": content}
    given |= {"session": uuid_of(bytes(16)), "date": at, "last_seen": at, **changes}
    return Discovery(**given)  # type: ignore[arg-type]


@pytest.mark.clause("ME-01", "ME-03", "TM-01")
def test_discoveries_are_listed_oldest_first(store: DiscoveryStore) -> None:
    later = found_out("Größe:\n--- is *not* a `fence`: {a: 1}\n- item", 5, module="auth")
    earlier = found_out("The first thing that was found", 1)
    assert not store.record(later).merged
    assert not store.record(earlier).merged
    assert list(store.all()) == [earlier, later]


@pytest.mark.clause("ME-03", "ME-08")
def test_the_code_that_a_discovery_is_about_is_kept_with_it(store: DiscoveryStore) -> None:
    anchor = {"digest": "0" * 64, "lines": 2, "before": [], "symbol": {"name": "größe"}, "rolling": None}
    place = CodePlace(RelativePath("src/a b.py"), LineRange(3, 4), "Store.get", anchor)
    kept = store.record(found_out("Never log tokens anywhere", code=place)).discovery
    assert store.record(found_out("never log tokens anywhere!")).discovery.code == place
    (found,) = store.all()
    assert (found.id, found.code) == (kept.id, place)


@pytest.mark.clause("ME-07")
def test_a_discovery_is_changed_under_its_id(store: DiscoveryStore) -> None:
    kept = store.record(found_out("Never log tokens anywhere")).discovery
    said = found_out("Never log tokens or keys", 9, type="issue")
    changed = store.change(kept.id, lambda known: known.corrected(said))
    assert list(store.all()) == [changed]
    assert (changed.id, changed.date, changed.times) == (kept.id, kept.date, kept.times)
    assert (changed.content, changed.type, changed.last_seen) == (said.content, said.type, said.date)
    marked = store.change(kept.id, lambda known: evolve(known, superseded_by=said.id))
    assert list(store.all()) == [marked]
    assert marked.superseded_by == said.id


@pytest.mark.clause("ME-02")
def test_the_same_words_are_merged_under_one_id(store: DiscoveryStore) -> None:
    first = store.record(found_out("Never log tokens anywhere"))
    again = store.record(found_out("never  log TOKENS anywhere.", 9, type="issue", module="auth"))
    assert (first.merged, again.merged) == (False, True)
    assert again.discovery.id == first.discovery.id
    (kept,) = store.all()
    assert kept == again.discovery
    assert (kept.content, kept.type, kept.module, kept.times) == (
        "Never log tokens anywhere",
        "issue",
        "auth",
        2,
    )


@pytest.mark.clause("ME-01", "ME-07")
def test_a_forgotten_discovery_is_gone_and_can_be_recorded_again(store: DiscoveryStore) -> None:
    kept = store.record(found_out("Never log tokens anywhere")).discovery
    assert store.forget(kept.id) == kept
    assert list(store.all()) == []
    for gone in (kept.id, "../../etc/passwd", ""):
        with pytest.raises(Failure) as caught:
            store.forget(gone)
        assert caught.value.code is Code.NOT_FOUND
        with pytest.raises(Failure) as caught:
            store.change(gone, lambda known: known)
        assert caught.value.code is Code.NOT_FOUND
    assert not store.record(kept).merged


@pytest.mark.clause("ME-02")
def test_threads_recording_the_same_discovery_are_merged(store: DiscoveryStore) -> None:
    said = [found_out(f"Everybody says thing number {number}") for number in range(5)] * 4
    with ThreadPoolExecutor(4) as pool:
        merged = [kept.merged for kept in pool.map(store.record, said)]
    assert merged.count(False) == 5
    assert sorted(one.times for one in store.all()) == [4] * 5
