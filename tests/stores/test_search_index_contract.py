"""What the search index does: what was stored comes back, words and vectors find it, states do not mix."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_entries import ToyEmbedder, make_entry

from context_pack.retrieval.model import (
    FoundPiece,
    IndexEntry,
    KnownEntry,
    Piece,
    PieceHit,
    Progress,
    Scope,
)
from context_pack_adapters.index.sqlite_index import SqliteIndex

FRUIT = make_entry("fruit", "apples are red", "pears are green or yellow", kind="note", module="garden")
TREES = make_entry("trees", "an oak grows slowly", "apples grow on trees", kind="page", module="wood")
EVERYTHING = Scope()
CARS = make_entry("cars", "red cars are fast", corpus="other", kind="page", facts={"wheels": 4})


@pytest.fixture
def fast() -> ToyEmbedder:
    return ToyEmbedder()


@pytest.fixture
def index(tmp_path: Path, fast: ToyEmbedder) -> Iterator[SqliteIndex]:
    with closing(SqliteIndex(tmp_path / "derived" / "things.sqlite3", fast, chunker="test/1")) as made:
        yield made


def shown(index: SqliteIndex, hits: Sequence[PieceHit]) -> list[tuple[str, int]]:
    """Hits by name: the key of the entry, and which of its pieces."""
    with index.reading() as snapshot:
        return [(found.key, found.index) for found in snapshot.found([piece for piece, _ in hits])]


def by_words(
    index: SqliteIndex, *words: str, scope: Scope = EVERYTHING, limit: int = 10
) -> list[tuple[str, int]]:
    with index.reading() as snapshot:
        hits = snapshot.keyword(words, scope, limit)
    return shown(index, hits)


def by_vector(
    index: SqliteIndex, embedder: ToyEmbedder, text: str, scope: Scope = EVERYTHING, limit: int = 10
) -> list[tuple[str, int]]:
    with index.reading() as snapshot:
        hits = snapshot.nearest(embedder.id, embedder.one(text), scope, limit)
    return shown(index, hits)


def whole(entry: IndexEntry) -> IndexEntry:
    """The entry as it is read: its text, without its pieces."""
    return attrs.evolve(entry, pieces=())


@pytest.mark.clause("IX-02")
def test_an_entry_comes_back_as_it_was_stored(index: SqliteIndex) -> None:
    odd = attrs.evolve(
        make_entry("odd name/ü", "läuft\x00 日本語", "second"),
        stamp="s", title="Tü", module="mü", facts={"list": [1, "\udc84"], "none": None},
    )  # fmt: skip
    odd = attrs.evolve(odd, pieces=(attrs.evolve(odd.pieces[0], facts={"at": {"x": 1.5}}), odd.pieces[1]))
    empty = IndexEntry("docs", "empty", "0" * 64)
    index.replace([FRUIT, odd, empty])
    with index.reading() as snapshot:
        assert snapshot.entry("docs", "fruit") == whole(FRUIT)
        assert snapshot.entry("docs", odd.key) == whole(odd)
        assert snapshot.entry("docs", "empty") == empty
        assert snapshot.entry("other", "fruit") is None
        (hit,) = snapshot.keyword(["日本"], Scope(), 5)
        (found,) = snapshot.found([hit[0]])
        assert (found.text, found.facts) == (odd.pieces[0].text, odd.pieces[0].facts)
    assert index.known("docs")[odd.key] == KnownEntry(odd.digest, odd.stamp)


@pytest.mark.clause("IX-02")
def test_a_reader_sees_the_state_it_began_with_whatever_is_written(
    index: SqliteIndex, fast: ToyEmbedder
) -> None:
    index.replace([FRUIT])
    with index.reading() as snapshot:
        asked = fast.one("pears are green")
        index.replace([make_entry("fruit", "nothing of it")])
        index.forget("docs", ["fruit"])
        index.replace([TREES])
        index.note("docs", {"new": True})
        assert snapshot.entry("docs", "fruit") == whole(FRUIT)
        assert snapshot.counts() == {"docs": 1}
        assert snapshot.corpus_facts("docs") is None
        assert len(snapshot.keyword(["pear"], Scope(), 5)) == 1
        near = snapshot.nearest(fast.id, asked, Scope(), 5)
        assert [found.text for found in snapshot.found([piece for piece, _ in near])] == [
            "pears are green or yellow",
            "apples are red",
        ]
    with index.reading() as snapshot:
        assert snapshot.keyword(["pear"], Scope(), 5) == []
        newer = snapshot.nearest(fast.id, asked, Scope(), 5)
        assert {found.key for found in snapshot.found([piece for piece, _ in newer])} == {"trees"}
        assert snapshot.found([piece for piece, _ in near]) == []


@pytest.mark.clause("RT-20")
def test_words_rank_by_bm25_with_names_worth_three(index: SqliteIndex) -> None:
    index.replace([
        IndexEntry("c", "a", "d", pieces=(Piece("red red blue", names="green"),)),
        IndexEntry("c", "b", "d", pieces=(Piece("red", names="red blue"),)),
        IndexEntry("c", "c", "d", pieces=(Piece("white sky"),)),
    ])  # fmt: skip
    with index.reading() as snapshot:
        hits = snapshot.keyword(["red"], Scope(), 10)
        ideal = snapshot.ideal(["red"])
        twice = snapshot.keyword(["red", "red"], Scope(), 10)
        assert snapshot.ideal(["red", "red"]) == pytest.approx(2 * ideal)
        assert snapshot.ideal(["red", "nobodi"]) == pytest.approx(2 * ideal), "unknown words count"
        assert snapshot.ideal(["red", "redsky"]) == pytest.approx(ideal), "the whole of a compound does not"
        assert snapshot.keyword(["nobodi"], Scope(), 10) == snapshot.keyword([], Scope(), 10) == []
    idf, usual = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5)), (4 + 3 + 2) / 3

    def score(times: float, length: int) -> float:
        return idf * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / usual))

    assert shown(index, hits) == [("b", 1), ("a", 1)]
    assert [score for _, score in hits] == pytest.approx([score(4, 3), score(2, 4)])
    assert [score for _, score in twice] == pytest.approx([2 * score for _, score in hits])
    assert ideal == pytest.approx(idf * 2.2)


def test_definitions_are_found_by_the_end_of_their_name_within_a_scope(index: SqliteIndex) -> None:
    def entry(corpus: str, key: str, *headings: str) -> IndexEntry:
        pieces = tuple(Piece(heading, heading=heading, names=f"{heading} visitor") for heading in headings)
        return IndexEntry(corpus, key, "d", pieces=pieces)

    index.replace([
        entry("code", "a", "Visitor", "Visitor.visit", "de.Visitor", "OptionVisitor", "visitor"),
        entry("other", "b", "Visitor"),
    ])  # fmt: skip
    with index.reading() as snapshot:

        def named(*names: str, scope: Scope = Scope(("code",)), limit: int = 10) -> list[str]:  # noqa: B008
            return [each.heading for each in snapshot.found(snapshot.named(names, scope, limit))]

        assert named("Visitor") == ["Visitor", "de.Visitor"]
        assert named("Visitor", "visit") == ["Visitor", "Visitor.visit", "de.Visitor"]
        assert named("Visitor", limit=1) == ["Visitor"]
        assert len(named("Visitor", scope=Scope())) == 3
        assert named("nobody", "", "%") == named("Visitor", scope=Scope(corpora=())) == []


def test_notes_stamps_and_facts_are_kept_beside_entries(index: SqliteIndex, fast: ToyEmbedder) -> None:
    index.replace([CARS, FRUIT])
    index.note("empty", {"seen": "today"})
    index.note("empty", {"seen": "now"})
    index.touch("docs", {"fruit": "new", "never there": "x"})
    assert index.known("docs") == {"fruit": KnownEntry(FRUIT.digest, "new")}
    assert index.facts("other") == {"cars": {"wheels": 4}}
    assert index.facts("docs") == {}
    with index.reading() as snapshot:
        assert snapshot.corpus_facts("empty") == {"seen": "now"}
        assert snapshot.counts() == {"docs": 1, "empty": 0, "other": 1}
        (hit,) = snapshot.keyword(["car"], Scope(), 100)
        (found,) = snapshot.found([-1, hit[0]])
        assert found == FoundPiece(
            hit[0], "other", "cars", "Cars", 1, 1, "red cars are fast", 1, 1, "part 1", "page", "", {},
            {"wheels": 4},
        )  # fmt: skip
        middle = fast.embed([f"{p.context} {p.text}" for p in FRUIT.pieces], "document").mean(axis=0)
        assert snapshot.centroid(fast.id, "docs", "fruit") == pytest.approx(middle / (middle @ middle) ** 0.5)
        assert snapshot.centroid(fast.id, "docs", "no such") is None
        for vector in ([1.0, 0.0], fast.one("pears")):
            assert snapshot.nearest("another", vector, Scope(), 5) == []
        assert snapshot.nearest(fast.id, [1.0, 0.0], Scope(), 5) == []
        assert len(snapshot.nearest(fast.id, fast.one("pears"), Scope(), 100)) == 3
    with pytest.raises(TypeError):
        index.replace([attrs.evolve(FRUIT, facts={"x": object()})])
    assert list(index.known("docs")) == ["fruit"]


@pytest.mark.clause("RT-24")
def test_what_has_a_heading_is_embedded_first_then_the_newest(index: SqliteIndex) -> None:
    bare = tuple(attrs.evolve(piece, heading="") for piece in TREES.pieces)
    index.replace([FRUIT])
    index.replace([CARS])
    index.replace([attrs.evolve(TREES, pieces=bare)])
    texts = [text.split(" >")[0] for text in index.lacking("slow", Scope(), 4).values()]
    assert texts == ["cars", "fruit", "fruit", "trees"]
    assert len(index.lacking("slow", Scope(corpora=("other",)), 4)) == 1


@pytest.mark.clause("RT-20")
def test_a_very_long_query_is_answered_by_its_weightiest_words(index: SqliteIndex) -> None:
    index.replace([FRUIT, *(make_entry(f"n{n}", " ".join(f"w{n}x{m}" for m in range(9))) for n in range(20))])
    many = [f"w{n}x{m}" for n in range(20) for m in range(9)]
    with index.reading() as snapshot:
        hits = snapshot.keyword([*many, "pear", "pear"], Scope(), 50)
        assert snapshot.ideal([*many, "pear", "pear"]) >= hits[0][1]
    assert ("fruit", 2) in shown(index, hits)


@pytest.mark.clause("RT-20")
@pytest.mark.parametrize("word", ['"', "a*b", "NOT", "scope : x", "(", "\x00", "^", " ", "x" * 99])
def test_any_text_can_be_asked_for(index: SqliteIndex, word: str) -> None:
    index.replace([FRUIT])
    with index.reading() as snapshot:
        assert snapshot.keyword([word], Scope(), 5) == []
        assert snapshot.keyword([word, "pear"], Scope(), 5) != []


SCOPES = [
    (Scope(corpora=("docs",)), {"fruit", "trees"}),
    (Scope(corpora=("docs", "other", "no such")), {"fruit", "trees", "cars"}),
    (Scope(corpora=()), set()),
    (Scope(kinds=("page",)), {"trees", "cars"}),
    (Scope(kinds=("page",), corpora=("docs",)), {"trees"}),
    (Scope(kinds=()), set()),
    (Scope(module="garden"), {"fruit"}),
    (Scope(module=""), {"fruit", "trees", "cars"}),
    (Scope(module="no such"), set()),
    (Scope(without=("docs", "fruit")), {"trees", "cars"}),
    (Scope(without=("other", "fruit"), kinds=("note",)), {"fruit"}),
]


@pytest.mark.clause("RT-21")
@pytest.mark.parametrize(("scope", "keys"), SCOPES)
def test_a_scope_filters_before_anything_is_ranked(
    index: SqliteIndex, fast: ToyEmbedder, scope: Scope, keys: set[str]
) -> None:
    index.replace([FRUIT, TREES, CARS])
    assert {key for key, _ in by_words(index, "red", "grow", "appl", scope=scope)} == keys
    assert {key for key, _ in by_vector(index, fast, "red apples grow", scope=scope)} == keys
    if keys:
        assert len(by_words(index, "red", "grow", "appl", scope=scope, limit=1)) == 1
        assert len(by_vector(index, fast, "red apples grow", scope=scope, limit=1)) == 1
    pieces = sum(len(entry.pieces) for entry in (FRUIT, TREES, CARS) if entry.key in keys)
    with index.reading() as snapshot:
        assert snapshot.progress(fast.id, scope) == Progress(pieces, pieces)
        assert snapshot.progress("another", scope) == Progress(0, pieces)
    assert len(index.lacking("another", scope, 10)) == pieces


@pytest.mark.clause("RT-21")
def test_cosines_are_true_and_the_same_whichever_way_they_are_asked(
    index: SqliteIndex, fast: ToyEmbedder
) -> None:
    index.replace([FRUIT, TREES, CARS])
    asked = fast.one("apples are red")
    with index.reading() as snapshot:
        hits = snapshot.nearest(fast.id, asked, Scope(), 10)
        pieces = [piece for piece, _ in hits]
        assert len(hits) == 5
        assert snapshot.cosines(fast.id, asked, [*pieces, 7]) == dict(hits)
        assert (
            snapshot.nearest(fast.id, asked, Scope(corpora=("docs",)), 2)
            == [hit for hit in hits if snapshot.found([hit[0]])[0].corpus == "docs"][:2]
        )
        for hit, found in zip(hits, snapshot.found(pieces), strict=True):
            made = fast.one(f"{found.key} > {found.heading} {found.text}")
            assert hit[1] == pytest.approx(float(sum(made * asked)), abs=1e-6)
        assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)


@pytest.mark.clause("IX-13")
def test_a_text_that_was_embedded_once_is_not_embedded_again(index: SqliteIndex, fast: ToyEmbedder) -> None:
    slow = ToyEmbedder(8, "slow")
    index.replace([FRUIT, TREES])
    texts = index.lacking(slow.id, Scope(), 10)
    index.keep(slow.id, dict(zip(texts, slow.embed(list(texts.values()), "document"), strict=True)))
    asked = list(fast.asked)
    longer = attrs.evolve(FRUIT, pieces=(*FRUIT.pieces, Piece("plums", context="fruit > plums")), digest="1")
    index.replace([longer])
    index.forget("docs", ["trees"])
    index.replace([attrs.evolve(TREES, corpus="moved")])
    assert fast.asked == [*asked, "fruit > plums\n\nplums"]
    assert list(index.lacking(slow.id, Scope(), 10).values()) == ["fruit > plums\n\nplums"]
    with index.reading() as snapshot:
        assert snapshot.progress(slow.id, Scope()) == Progress(4, 5)
        assert snapshot.progress(fast.id, Scope()) == Progress(5, 5)
        assert snapshot.progress(slow.id, Scope(corpora=("moved",))) == Progress(2, 2)
    assert by_vector(index, slow, "an oak grows slowly")[0] == ("trees", 1)


ANIMALS = ["ape", "bee", "cat", "dog", "eel", "fox"]
WORDS = st.lists(st.sampled_from(ANIMALS), min_size=0, max_size=6).map(" ".join)
ENTRIES = st.builds(
    lambda key, corpus, texts, kind: make_entry(key, *texts, corpus=corpus, kind=kind),
    st.sampled_from("abcd"),
    st.sampled_from(["x", "y"]),
    st.lists(WORDS, max_size=3),
    st.sampled_from(["", "k"]),
)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("replace"), st.lists(ENTRIES, max_size=3)),
        st.tuples(
            st.just("forget"), st.tuples(st.sampled_from(["x", "y"]), st.sampled_from([None, "a", "b"]))
        ),
    ),
    max_size=6,
)


@pytest.mark.clause("IX-02")
@settings(max_examples=40)
@given(changes=CHANGES, asked=WORDS)
def test_a_changed_index_answers_like_one_made_anew(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, Any]], asked: str
) -> None:
    fast, live = ToyEmbedder(), dict[tuple[str, str], IndexEntry]()
    folder = tmp_path_factory.mktemp("twins")
    with (
        closing(SqliteIndex(folder / "x.sqlite3", fast, chunker="test/1")) as index,
        closing(SqliteIndex(folder / "anew.sqlite3", fast, chunker="test/1")) as anew,
    ):
        for action, value in changes:
            if action == "replace":
                index.replace(value)
                live |= {(each.corpus, each.key): each for each in value}
            else:
                corpus, key = value
                index.forget(corpus, None if key is None else [key])
                gone = {name for name in live if name[0] == corpus and key in (None, name[1])}
                live = {name: each for name, each in live.items() if name not in gone}
        anew.replace(live.values())
        assert answers(index, fast, asked) == answers(anew, fast, asked)


def answers(index: SqliteIndex, fast: ToyEmbedder, asked: str) -> list[Any]:
    """What a reader can ask, with pieces by their names, and scores to nine digits."""
    result: list[Any] = [index.known("x")]
    with index.reading() as snapshot:
        for scope in (Scope(), Scope(kinds=("k",)), Scope(without=("x", "a"))):
            for hits in (
                snapshot.keyword(asked.split(), scope, 99),
                snapshot.nearest(fast.id, fast.one(asked), scope, 99),
            ):
                found = snapshot.found([piece for piece, _ in hits])
                result.append(sorted(
                    (round(hit[1], 9), each.corpus, each.key, each.text, each.total)
                    for hit, each in zip(hits, found, strict=True)
                ))  # fmt: skip
        result += [round(snapshot.ideal(asked.split()), 9), dict(snapshot.counts()), snapshot.entry("y", "b")]
    return result
