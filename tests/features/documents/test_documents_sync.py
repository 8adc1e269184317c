"""Bringing collections up to date: what is counted, what is kept, what is tried again, who does it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from attrs import evolve
from inmemory.collections import MemoryCollections, MemorySource
from inmemory.search_index import MemoryIndex

from context_pack.documents import commands
from context_pack.documents.model import Collection, DocumentText, Failed, Survey
from context_pack.documents.ports import DocumentPorts
from context_pack.documents.search import Finder
from context_pack.documents.shelf import DocumentShelf, sync_all, under_every_name
from context_pack.documents.sync import Syncing, entry_of
from context_pack.kernel.errors import Failure
from context_pack.retrieval.model import IndexEntry
from context_pack_adapters.collections.locks import ThreadLocks
from context_pack_adapters.embed.hashed import HashedEmbedder

Files = dict[str, str | bytes]


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Worker:
    """A worker that only remembers what it was asked for."""

    def __init__(self, works: bool = True) -> None:
        self.asked: list[str] = []
        self.works = works

    def start(self, task: str) -> bool:
        self.asked.append(task)
        return self.works

    def running(self, task: str) -> bool:
        return self.works and task in self.asked

    def trouble(self, task: str) -> str | None:
        return None

    def wait(self, task: str, seconds: float) -> bool:
        """Nothing is ever under way."""
        return True


class Watched(MemoryCollections):
    """Collections that count what is read, and may refuse to read."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self.read: list[str] = []
        self.unreadable: set[str] = set()

    def open(self, collection: Collection, *args: Any, **more: Any) -> Any:
        return _WatchedSource(self, super().open(collection, *args, **more))


class _WatchedSource:
    def __init__(self, owner: Watched, source: MemorySource) -> None:
        self._owner, self._source = owner, source

    def survey(self, since: str = "", explain: bool = False) -> Survey | None:
        return self._source.survey(since, explain)

    def read(self, documents: Sequence[str]) -> Iterator[DocumentText | Failed]:
        for found in self._source.read(documents):
            self._owner.read.append(found.document)
            unreadable = found.document in self._owner.unreadable
            yield Failed(found.document, "it cannot be read", passing=True) if unreadable else found


class Setting:
    """A shelf over files in memory, with everything that a test looks at."""

    def __init__(self, files: Files, worker: Worker | None = None) -> None:
        self.files = files
        self.files.setdefault("context.json", json.dumps({"collections": {"docs": {"url": "docs"}}}))
        self.sources, self.clock, fast = Watched(self.files), Clock(), HashedEmbedder()
        self.index = MemoryIndex(fast)
        ports = DocumentPorts(self.sources, ThreadLocks(), self.index, fast, background=worker)
        self.shelf = DocumentShelf(ports, self.clock)

    @property
    def collection(self) -> Collection:
        return self.shelf.find("docs")

    def sync(self, **options: Any) -> tuple[int, int, int, dict[str, str]]:
        (done,) = sync_all(self.shelf, [self.collection], **options)
        return done.added, done.updated, done.removed, {one.document: one.reason for one in done.failed}

    def texts(self) -> dict[str, str]:
        with self.index.reading() as snapshot:
            keys = [one.key for one in snapshot.summaries(self.collection.id)]
            entries = [snapshot.entry(self.collection.id, key) for key in keys]
        return {one.key: one.text for one in entries if one is not None}


@pytest.mark.clause("DC-21", "DC-20")
def test_only_what_changed_is_read_and_counted() -> None:
    setting = Setting({"docs/a.md": "# A", "docs/b.md": "# B", "docs/bad.md": b"\xff"})
    assert setting.sync() == (2, 0, 0, {"bad.md": "it is not UTF-8"})
    setting.sources.read.clear()
    assert setting.sync() == (0, 0, 0, {"bad.md": "it is not UTF-8"})
    assert setting.sources.read == ["bad.md"]
    setting.files["docs/a.md"] = "# A2"
    del setting.files["docs/b.md"]
    setting.files["docs/c.md"] = "# C"
    setting.files["docs/bad.md"] = "good"
    setting.sources.read.clear()
    assert setting.sync() == (2, 1, 1, {})
    assert sorted(setting.sources.read) == ["a.md", "bad.md", "c.md"]
    assert setting.texts() == {"a.md": "# A2", "bad.md": "good", "c.md": "# C"}


@pytest.mark.clause("DC-20")
def test_the_old_version_stays_only_if_the_new_one_cannot_be_read() -> None:
    setting = Setting({"docs/a.md": "# A", "docs/b.md": "# B"})
    setting.sync()
    setting.files["docs/a.md"] = b"\xff\xff"
    setting.files["docs/b.md"] = "# B2"
    setting.sources.unreadable = {"b.md"}
    assert setting.sync() == (0, 0, 0, {"a.md": "it is not UTF-8", "b.md": "it cannot be read"})
    assert setting.texts() == {"b.md": "# B"}
    setting.sources.unreadable = set()
    assert setting.sync() == (0, 1, 0, {"a.md": "it is not UTF-8"})


@pytest.mark.clause("DC-22")
def test_a_sync_that_is_stopped_goes_on_from_there() -> None:
    setting = Setting({f"docs/{number:03}.md": f"# {number}" for number in range(100)})
    seen: list[str] = []
    done = setting.sync(report=lambda _, __, name: seen.append(name), stop=lambda: len(seen) >= 40)
    assert done[0] == 40
    setting.sources.read.clear()
    assert setting.sync()[0] == 60
    assert len(setting.sources.read) == 60


@pytest.mark.clause("DC-23")
def test_a_small_change_is_indexed_before_the_answer_at_most_every_two_seconds() -> None:
    worker = Worker()
    setting = Setting({"docs/a.md": "# A"}, worker)
    assert setting.shelf.bring_up_to_date([setting.collection]).stale is False
    setting.files["docs/b.md"] = "# B"
    setting.clock.now = 1.9
    setting.shelf.bring_up_to_date([setting.collection])
    assert list(setting.texts()) == ["a.md"]
    setting.clock.now = 2.0
    setting.shelf.bring_up_to_date([setting.collection])
    assert list(setting.texts()) == ["a.md", "b.md"]
    assert worker.asked == []


@pytest.mark.slow
@pytest.mark.clause("DC-23")
@pytest.mark.parametrize(
    "files", [{f"docs/{n}.md": "x" for n in range(101)}, {"docs/a.md": f"{'x' * 59}\n" * 20_000}]
)
def test_a_large_change_is_left_to_the_worker_and_answers_are_stale(files: Files) -> None:
    worker = Worker()
    setting = Setting(dict(files), worker)
    assert setting.shelf.bring_up_to_date([setting.collection]).stale is True
    assert worker.asked == ["documents"]
    assert setting.texts() == {}
    alone = Setting(dict(files), Worker(works=False))
    assert alone.shelf.bring_up_to_date([alone.collection]).stale is False
    assert len(alone.texts()) == len(files)


@pytest.mark.clause("DC-10", "DC-24")
def test_a_source_that_is_gone_leaves_what_was_indexed_and_a_warning() -> None:
    setting = Setting({"docs/a.md": "# A"})
    setting.shelf.bring_up_to_date([setting.collection])
    del setting.files["docs/a.md"]
    setting.clock.now = 5
    freshness = setting.shelf.bring_up_to_date([setting.collection])
    assert freshness.warnings == ('collection "docs": there is no folder ./docs',)
    assert list(setting.texts()) == ["a.md"]
    setting.files["context.json"] = json.dumps({"collections": {"far": {"url": "git+https://example.org/x"}}})
    far = setting.shelf.bring_up_to_date([setting.shelf.find("far")])
    assert "documents_sync" in far.warnings[0]


@pytest.mark.clause("DC-32")
def test_removed_collections_are_dropped_unless_the_file_is_broken() -> None:
    setting = Setting({"docs/a.md": "# A"})
    setting.sync()
    kept = setting.collection.id
    setting.files["context.json"] = "{"
    sync_all(setting.shelf, [])
    with setting.index.reading() as snapshot:
        assert snapshot.counts()[kept] == 1
    setting.files["context.json"] = "{}"
    sync_all(setting.shelf, [])
    with setting.index.reading() as snapshot:
        assert kept not in snapshot.counts()


@pytest.mark.clause("DC-49")
def test_two_names_of_one_source_are_searched_once() -> None:
    both = {"collections": {"one": {"url": "docs"}, "two": {"url": "./docs/"}}}
    setting = Setting({"docs/a.md": "# Zebra", "context.json": json.dumps(both)})
    finder = Finder(setting.shelf, setting.clock)
    found = finder.search(commands.SearchDocuments(query="zebra"))
    assert [hit.collection.alias for hit in found.answers[0].hits] == ["one"]
    only = finder.search(commands.SearchDocuments(query="zebra", collections=("two",)))
    assert [hit.collection.alias for hit in only.answers[0].hits] == ["two"]
    with pytest.raises(Failure):
        finder.search(commands.SearchDocuments(query="zebra", collections=("three",)))


@pytest.mark.clause("DC-48")
def test_two_names_of_one_source_are_synced_once_and_both_listed() -> None:
    three = {"collections": {"one": {"url": "docs"}, "other": {"url": "more"}, "two": {"url": "./docs/"}}}
    files: Files = {"docs/a.md": "# Zebra", "docs/bad.md": b"\xff", "more/b.md": "# B"}
    setting = Setting({**files, "context.json": json.dumps(three)})
    done = under_every_name(setting.shelf, sync_all(setting.shelf, setting.shelf.chosen(())))
    assert [(one.collection, one.added, len(one.failed)) for one in done] == [
        ("one", 1, 1),
        ("other", 1, 0),
        ("two", 1, 1),
    ]
    assert sorted(setting.sources.read) == ["a.md", "b.md", "bad.md"]


@pytest.mark.clause("DC-48", "DC-23")
def test_a_large_sync_is_left_to_the_worker_and_counted_all_the_same() -> None:
    files: Files = {f"docs/{number}.md": f"# {number}" for number in range(150)}
    files["docs/bad.md"] = b"\xff"
    setting = Setting(files)

    class Diligent(Worker):
        """A worker that has done its work when it is looked at."""

        def start(self, task: str) -> bool:
            alone = DocumentShelf(evolve(setting.shelf.ports, background=None), setting.clock)
            sync_all(alone, [setting.collection])
            return super().start(task)

    worker = Diligent()
    shelf = DocumentShelf(evolve(setting.shelf.ports, background=worker), setting.clock)
    (done,) = sync_all(shelf, [setting.collection])
    assert worker.asked == ["documents"]
    assert (done.added, done.updated, done.removed) == (150, 0, 0)
    assert [one.document for one in done.failed] == ["bad.md"]
    (again,) = sync_all(shelf, [setting.collection])
    assert (again.added, len(again.failed), worker.asked) == (0, 1, ["documents"])


@pytest.mark.clause("DC-20")
def test_a_document_that_cannot_be_split_fails_alone() -> None:
    setting = Setting({"docs/a.md": "# A", "docs/odd.md": "# Odd"})

    def make(corpus: str, found: DocumentText) -> IndexEntry:
        if found.document == "odd.md":
            raise RecursionError
        return entry_of(corpus, found)

    done = Syncing(setting.shelf.ports, make).sync(setting.collection)
    assert (done.added, list(setting.texts())) == (1, ["a.md"])
    assert done.failed == (Failed("odd.md", "it cannot be taken apart (RecursionError)"),)


class Choking(HashedEmbedder):
    """An embedder that fails inside on one word."""

    def embed(self, texts: Any, kind: Any) -> Any:
        given = list(texts)
        if any("odd" in words.lower() for words in given):
            raise FloatingPointError
        return super().embed(given, kind)


@pytest.mark.clause("DC-20")
def test_a_document_that_cannot_be_embedded_fails_and_is_removed() -> None:
    setting = Setting({"docs/a.md": "# A", "docs/odd.md": "# Even"})
    index = MemoryIndex(Choking())
    syncing = Syncing(evolve(setting.shelf.ports, index=index))
    assert syncing.sync(setting.collection).added == 2
    setting.files |= {"docs/b.md": "# B", "docs/odd.md": "# Odd"}
    done = syncing.sync(setting.collection)
    assert (done.added, done.updated) == (1, 0)
    assert done.failed == (Failed("odd.md", "it cannot be indexed (FloatingPointError)"),)
    assert list(index.known(setting.collection.id)) == ["a.md", "b.md"]


@pytest.mark.clause("DC-26")
def test_an_index_that_was_lost_is_built_again_before_the_next_answer() -> None:
    setting = Setting({"docs/a.md": "# A"})
    setting.shelf.bring_up_to_date([setting.collection])
    setting.index.forget(setting.collection.id)
    assert setting.texts() == {}
    setting.shelf.bring_up_to_date([setting.collection])
    assert list(setting.texts()) == ["a.md"]


@pytest.mark.clause("DC-25")
def test_entries_another_process_adds_during_a_survey_are_kept() -> None:
    setting = Setting({"docs/a.md": "# A"})

    class Raced(_WatchedSource):
        """A source to which another process adds a document after the first look, and indexes it."""

        def survey(self, since: str = "", explain: bool = False) -> Survey | None:
            found = super().survey(since, explain)
            if "docs/b.md" not in setting.files:
                setting.files["docs/b.md"] = "# B"
                setting.sync()
            return found

    class Racing(Watched):
        def open(self, collection: Collection, *args: Any, **more: Any) -> Any:
            return Raced(self, MemoryCollections.open(self, collection, *args, **more))

    shelf = DocumentShelf(evolve(setting.shelf.ports, sources=Racing(setting.files)), setting.clock)
    shelf.bring_up_to_date([setting.collection])
    assert list(setting.texts()) == ["a.md", "b.md"]
