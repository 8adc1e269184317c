"""Searching an index in memory: which embedder answers, true distances, budgets, failures, relatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from inmemory.search_index import MemoryIndex

from context_pack.retrieval.chunking import chunks
from context_pack.retrieval.model import IndexEntry, Progress, Question, Ranking, Scope
from context_pack.retrieval.ports import OTHER_VECTORS, EmbedderFailed, Kind, TextRefused
from context_pack.retrieval.searching import Searching
from context_pack_adapters.embed.hashed import HashedEmbedder

DOCUMENTS = {
    "retry.md": "# Retries\n\nA request that failed is sent again with exponential backoff (`max_retries`).",
    "cache.md": "# Caching\n\nAnswers are kept in an LRU cache and evicted after a time to live.",
    "auth.md": "# Signing in\n\nA user proves who they are with a password and a token.",
    "deploy.md": "# Deployment\n\nContainers are built, pushed and rolled out by the pipeline.",
    "network.md": "# Network\n\nConnections time out and are opened anew; see `max_retries` and the backoff.",
}
THEMES = (
    "fail again retry retries backoff",
    "cache evicted lru kept",
    "password user token login",
    "container ship",
)


class Themes:
    """A semantic embedder of four themes: it knows that login is signing in, and shipping is deployment."""

    id = "themes-5/1"
    dimension = 5
    weight = 0.7

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []
        self.failing: str | None = None

    def embed(self, texts: Sequence[str], kind: Kind) -> Sequence[Any]:
        self.calls.append((kind, len(texts)))
        if self.failing is not None:
            raise EmbedderFailed(self.failing)
        rows = [
            [0.1] + [sum(word in text.lower() for word in theme.split()) for theme in THEMES]
            for text in texts
        ]
        return [np.array(row, np.float32) / np.linalg.norm(row) for row in rows]

    @property
    def embedded(self) -> int:
        return sum(count for kind, count in self.calls if kind != "query")


def entry(key: str, text: str, corpus: str = "docs") -> IndexEntry:
    return IndexEntry(corpus, key, digest=key, title=key, pieces=chunks(text, key, key).pieces)


@pytest.fixture
def index() -> MemoryIndex:
    made = MemoryIndex(HashedEmbedder())
    made.replace(entry(key, text) for key, text in DOCUMENTS.items())
    return made


def ticking(step: float = 0.0) -> Iterator[float]:
    now = 0.0
    while True:
        now += step
        yield now


def searching(index: MemoryIndex, semantic: Themes | None = None, step: float = 0.0) -> Searching:
    clock = ticking(step)
    return Searching(index, HashedEmbedder(), semantic, monotonic=lambda: next(clock))


def keys(answer: Ranking) -> list[str]:
    return [hit.found.key for hit in answer.hits]


def ask(search: Searching, query: str, **more: Any) -> Ranking:
    (answer,) = search.ask([Question(query, **more)])
    return answer


@pytest.mark.clause("RT-20", "RT-22")
def test_keyword_and_vector_search_find_the_passage(index: MemoryIndex) -> None:
    answer = ask(searching(index), "maxRetries with exponential backoff")
    assert keys(answer)[:2] == ["retry.md", "network.md"]
    assert answer.embedder == HashedEmbedder.id
    assert answer.mode == "hybrid"
    assert answer.semantic is None
    relevances = [hit.relevance for hit in answer.hits]
    assert relevances == sorted(relevances, reverse=True)
    assert 0 <= relevances[-1] <= relevances[0] <= 1
    assert answer.total >= 2


@pytest.mark.clause("RT-22")
def test_a_query_without_common_words_finds_nothing() -> None:
    index = MemoryIndex(HashedEmbedder())
    index.replace(entry(f"{word}.md", f"{word}\n") for word in ("install", "zzzz", "configuration"))
    assert ask(searching(index), "qqqq").hits == ()
    assert ask(searching(index), "the of and").hits == ()
    assert keys(ask(searching(index), "instalation"))[0] == "install.md", (
        "a slip of the pen shares its beginning"
    )
    assert len(ask(searching(index), "qqqq", hybrid=False).hits) == 3


@pytest.mark.clause("RT-21")
@pytest.mark.parametrize("query", ["max_retries", "backoff and eviction", "user password"])
def test_every_distance_is_the_true_one_of_the_embedder_that_is_named(index: MemoryIndex, query: str) -> None:
    themes = Themes()
    search = searching(index, themes)
    for semantic in (False, True):
        if semantic:
            search.fill(Scope(), lambda: False, lambda progress: None)
        answer = ask(search if semantic else searching(index), query)
        embedder = themes if semantic else HashedEmbedder()
        assert answer.embedder == embedder.id
        (vector,) = embedder.embed([query], "query")
        with index.reading() as snapshot:
            pieces = [hit.found.piece for hit in answer.hits]
            cosines = snapshot.cosines(embedder.id, vector, pieces)
        assert [hit.distance for hit in answer.hits] == pytest.approx(
            [1 - cosines[piece] for piece in pieces]
        )


@pytest.mark.clause("RT-21")
def test_max_distance_applies_to_keyword_and_vector_hits(index: MemoryIndex) -> None:
    search = searching(index)
    every = ask(search, "max_retries backoff")
    middle = sorted(hit.distance for hit in every.hits)[1]
    for hybrid in (True, False):
        near = ask(search, "max_retries backoff", max_distance=middle, hybrid=hybrid)
        assert near.hits
        assert all(hit.distance <= middle for hit in near.hits)
    assert ask(search, "max_retries", max_distance=0.0).hits == ()


@pytest.mark.clause("RT-20")
def test_without_hybrid_the_vectors_alone_decide(index: MemoryIndex) -> None:
    search = searching(index)
    answer = ask(search, "max_retries", hybrid=False)
    distances = [hit.distance for hit in answer.hits]
    assert distances == sorted(distances)
    assert len(distances) == len(DOCUMENTS)
    assert answer.mode == "vector"
    assert [hit.relevance for hit in answer.hits] == pytest.approx([max(0, 1 - one) for one in distances])


@pytest.mark.clause("RT-24")
def test_the_semantic_embedder_answers_once_the_scope_is_complete(index: MemoryIndex) -> None:
    themes = Themes()
    search = searching(index, themes)
    reports: list[Progress] = []
    assert search.fill(Scope(), lambda: False, reports.append) == Progress(5, 5)
    assert reports[-1] == Progress(5, 5)
    answer = ask(search, "login")
    assert answer.embedder == themes.id
    assert answer.semantic is None
    assert keys(answer)[0] == "auth.md", "only the semantic embedder knows what a login is"


@pytest.mark.clause("RT-24")
def test_until_embedded_the_fast_embedder_answers_and_reports_progress() -> None:
    index = MemoryIndex(HashedEmbedder())
    index.replace(entry(f"{number}.md", f"# Number {number}\n\nbackoff {number}") for number in range(160))
    themes = Themes()
    steps = ticking(0.1)
    search = Searching(index, HashedEmbedder(), themes, monotonic=lambda: next(steps))
    answer = ask(search, "backoff", limit=3)
    assert answer.embedder == HashedEmbedder.id
    assert answer.semantic is not None
    assert 0 < answer.semantic.done < 160, "some were embedded, and the clock ended it"
    assert themes.embedded == answer.semantic.done
    with index.reading() as snapshot:
        assert snapshot.progress(themes.id, Scope()) == answer.semantic


@pytest.mark.clause("RT-24")
def test_an_answer_that_completes_its_scope_is_semantic(index: MemoryIndex) -> None:
    themes = Themes()
    answer = ask(searching(index, themes), "login")
    assert answer.embedder == themes.id
    assert answer.semantic is None
    assert keys(answer)[0] == "auth.md"
    assert themes.embedded == len(DOCUMENTS)
    ask(searching(index, themes), "login")
    assert themes.embedded == len(DOCUMENTS), "nothing is embedded twice"


@pytest.mark.clause("RT-24")
def test_each_scope_has_its_own_embedder(index: MemoryIndex) -> None:
    index.replace(entry(f"{number}.md", f"# N\n\nbackoff {number}", "big") for number in range(60))
    themes = Themes()
    search = searching(index, themes, step=10.0)
    search.fill(Scope(corpora=("docs",)), lambda: False, lambda progress: None)
    small, large = search.ask(
        [Question("backoff", Scope(corpora=("docs",))), Question("backoff", Scope(corpora=("big",)))]
    )
    assert (small.embedder, large.embedder) == (themes.id, HashedEmbedder.id)
    assert small.semantic is None
    assert large.semantic is not None


@pytest.mark.clause("RT-25")
def test_a_failed_semantic_embedder_is_a_warning(index: MemoryIndex) -> None:
    themes = Themes()
    search = searching(index, themes)
    themes.failing = "the endpoint is away"
    before = ask(search, "max_retries")
    assert before.warning == "the endpoint is away"
    assert before.embedder == HashedEmbedder.id
    assert keys(before)[0] in ("retry.md", "network.md")
    themes.failing = None
    search.fill(Scope(), lambda: False, lambda progress: None)
    assert ask(search, "max_retries").warning is None
    themes.failing = "the endpoint is away"
    after = ask(search, "max_retries")
    assert (after.embedder, after.warning) == (HashedEmbedder.id, "the endpoint is away")
    assert keys(after) == keys(before)


@pytest.mark.clause("RT-25")
def test_without_a_working_embedder_keywords_are_searched(index: MemoryIndex) -> None:
    broken = Themes()
    broken.failing = "out of order"
    clock = ticking()
    search = Searching(index, broken, monotonic=lambda: next(clock))
    for hybrid in (True, False):
        answer = ask(search, "max_retries", hybrid=hybrid)
        assert set(keys(answer)) == {"retry.md", "network.md"}
        assert (answer.mode, answer.warning) == ("keyword", "out of order")
    assert ask(search, "max_retries", max_distance=0.5).hits == ()


@pytest.mark.clause("DC-46")
def test_a_batch_is_embedded_together_and_answered_like_single_questions(index: MemoryIndex) -> None:
    themes = Themes()
    search = searching(index, themes)
    search.fill(Scope(), lambda: False, lambda progress: None)
    themes.calls.clear()
    questions = [Question(query) for query in ("login", "max_retries", "evicted", "ship it")]
    batch = search.ask(questions)
    assert themes.calls == [("query", 4)]
    assert batch == [search.ask([question])[0] for question in questions]
    assert search.ask([]) == []


@pytest.mark.clause("RT-26")
def test_what_an_entry_says_twice_in_the_same_words_is_shown_once() -> None:
    index = MemoryIndex(HashedEmbedder())
    index.replace(
        [entry("t.md", "# Turbines\n\nBlades.\n\n# Turbines\n\nBlades.\n\n# Rotors\n\nTurbine blades.\n")]
    )
    answer = ask(searching(index), "turbine blades", limit=20)
    assert sorted(hit.found.text for hit in answer.hits) == [
        "# Rotors\n\nTurbine blades.",
        "# Turbines\n\nBlades.",
    ]


@pytest.mark.clause("RT-28")
def test_related_is_the_nearest_passage_of_each_other_entry(index: MemoryIndex) -> None:
    long = "# Retry handbook\n\n" + "\n\n".join(
        f"## Rule {n}\n\nbackoff and max_retries {n}" for n in range(30)
    )
    index.replace([entry("handbook.md", long), entry("away.md", DOCUMENTS["retry.md"], "elsewhere")])
    search = searching(index)
    answer = search.related("docs", "retry.md", limit=3)
    assert len(keys(answer)) == len(set(keys(answer))) == 3
    assert set(keys(answer)[:2]) == {"network.md", "handbook.md"}
    assert "retry.md" not in keys(answer)
    assert "away.md" not in keys(answer)
    assert [hit.relevance for hit in answer.hits] == sorted(
        (hit.relevance for hit in answer.hits), reverse=True
    )
    with_self = search.related("docs", "retry.md", limit=10, same_document=True)
    assert keys(with_self)[0] == "retry.md"
    assert len(with_self.hits) == 6
    assert search.related("docs", "missing.md").hits == ()


@pytest.mark.clause("RT-28")
def test_related_to_a_passage_leaves_the_passage_itself_out(index: MemoryIndex) -> None:
    text = "# Two\n\nAbout the cache that is evicted.\n\n## Other\n\nAbout backoff and max_retries.\n"
    index.replace([entry("two.md", text)])
    search = searching(index)
    passage = "# Two\n\nAbout the cache that is evicted."
    answer = search.related("docs", "two.md", passage, limit=2)
    assert keys(answer)[0] == "cache.md"
    inside = search.related("docs", "two.md", passage, limit=10, same_document=True)
    assert [hit.found.heading for hit in inside.hits if hit.found.key == "two.md"] == ["Other"]


@pytest.mark.clause("RT-28")
def test_related_uses_the_semantic_embedder_when_the_collection_is_complete(index: MemoryIndex) -> None:
    themes = Themes()
    search = searching(index, themes)
    first = search.related("docs", "retry.md")
    assert (first.embedder, first.semantic) == (HashedEmbedder.id, Progress(0, 5))
    search.fill(Scope(), lambda: False, lambda progress: None)
    second = search.related("docs", "retry.md")
    assert (second.embedder, second.semantic) == (themes.id, None)
    themes.failing = "away"
    third = search.related("docs", "retry.md", "backoff")
    assert (third.embedder, third.warning) == (HashedEmbedder.id, "away")


@pytest.mark.clause("RT-29")
def test_filling_stops_on_request_and_resumes_there() -> None:
    index = MemoryIndex(HashedEmbedder())
    index.replace(entry(f"{number}.md", f"# N\n\nbackoff {number}") for number in range(100))
    themes = Themes()
    search = searching(index, themes)
    asked = iter([False, False, False, True, True, True])
    first = search.fill(Scope(), lambda: next(asked), lambda progress: None)
    assert first is not None
    assert 0 < first.done < 100
    assert search.fill(Scope(), lambda: False, lambda progress: None) == Progress(100, 100)
    assert themes.embedded == 100


class Grown(Themes):
    """The same endpoint after its model was exchanged: one dimension more, under the same id."""

    def embed(self, texts: Sequence[str], kind: Kind) -> Sequence[Any]:
        return [np.append(row, np.float32(0)) for row in super().embed(texts, kind)]


@pytest.mark.clause("RT-24", "RT-21")
def test_a_changed_vector_dimension_warns_and_embeds_again(index: MemoryIndex) -> None:
    before = ask(searching(index, Themes()), "login")
    slow = searching(index, Grown(), step=10.0)
    index.replace([entry(f"{at}.md", f"# Page {at}\n\nabout a password") for at in range(60)])
    slow.fill(Scope(), lambda: False, lambda _: None)
    assert index.notices() == [OTHER_VECTORS]

    shrunk = ask(searching(index, Themes(), step=10.0), "login")
    assert (shrunk.embedder, shrunk.warning) == (HashedEmbedder.id, OTHER_VECTORS)
    next_one = ask(searching(index, Themes(), step=10.0), "login")
    assert (next_one.warning, next_one.semantic) == (None, Progress(0, 65))
    index.forget("docs", [f"{at}.md" for at in range(60)])
    after = ask(searching(index, Themes()), "login")
    assert [hit.distance for hit in after.hits] == [hit.distance for hit in before.hits]


class Narrow(Themes):
    """An endpoint whose model takes short texts only, and none with a poisoned word."""

    def embed(self, texts: Sequence[str], kind: Kind) -> Sequence[Any]:
        if any(len(text) > 200 or "poison" in text for text in texts):
            raise TextRefused("answered with status 400: the text is too long")
        return super().embed(texts, kind)


@pytest.mark.clause("RT-29")
def test_one_text_that_is_refused_keeps_no_collection_from_being_complete(index: MemoryIndex) -> None:
    index.replace([entry(f"{at}.md", f"# Page {at}\n\nabout backoff {at}") for at in range(60)])
    index.replace([entry("long.md", "password " * 100), entry("worst.md", "poison")])
    narrow = Narrow()
    search = Searching(index, HashedEmbedder(), narrow, monotonic=lambda: 0.0, budget=0.0)
    assert search.fill(Scope(), lambda: False) == Progress(67, 67)
    answer = ask(search, "login")
    assert (answer.embedder, answer.semantic) == (narrow.id, None)
    assert {"long.md", "auth.md"} <= set(keys(answer)), "a long text is found by its beginning"
    assert "worst.md" not in keys(answer)
    assert keys(ask(search, "poisonous"))[0] == "worst.md", "by its words"


@pytest.mark.clause("RT-29")
def test_an_embedder_that_refuses_everything_marks_nothing_as_embedded(index: MemoryIndex) -> None:
    class Refusing(Themes):
        def embed(self, texts: Sequence[str], kind: Kind) -> Sequence[Any]:
            raise TextRefused("answered with status 400: no such model")

    search = searching(index, Refusing())
    with pytest.raises(EmbedderFailed, match="no such model"):
        search.fill(Scope(), lambda: False)
    assert ask(search, "login").semantic == Progress(0, 5)
