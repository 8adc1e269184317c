"""Which hit of a search comes first, by what it is called and where it stands."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from context_pack.memory.entries import CODE, DISCOVERY
from context_pack.memory.question_words import QuestionWords
from context_pack.memory.ranking import ranked, shown
from context_pack.retrieval.model import FoundPiece, Ranked


def hit(
    key: str,
    heading: str = "thing",
    *,
    share: float = 0.5,
    lines: int = 10,
    corpus: str = CODE,
    facts: Mapping[str, bool] | None = None,
) -> Ranked:
    language = "python" if "." in key else ""
    found = FoundPiece(1, corpus, key, key, 1, 1, "text", 1, lines, heading, language, facts=facts or {})
    return Ranked(found, 1 - share, share, share, share)


def order(query: str, *hits: Ranked) -> list[str]:
    return [f"{each.found.key} {each.found.heading}" for _, each in ranked(hits, query, 0.2)]


@pytest.mark.clause("ME-38")
@pytest.mark.parametrize(
    ("query", "names", "is_symbol"),
    [
        ("Visitor", {"Visitor"}, True),
        ("Sinatra::Base", {"Base"}, True),
        ("parse_header", {"parse_header"}, True),
        ("router", set(), False),
        ("how EqualsBuilder calls to_json", {"EqualsBuilder", "to_json"}, False),
        ("the HTTP API", set(), False),
    ],
)
def test_a_question_is_a_symbol_or_a_sentence_with_names(
    query: str, names: set[str], is_symbol: bool
) -> None:
    asked = QuestionWords.of(query)
    assert (set(asked.names), asked.is_symbol) == (names, is_symbol)


@pytest.mark.clause("ME-38")
def test_the_definition_that_is_asked_for_by_name_comes_first() -> None:
    use, definition = hit("a.py", "run", share=0.9), hit("b.py", "de.Visitor", share=0.3)
    assert order("Visitor", use, definition) == ["b.py de.Visitor", "a.py run"]
    far = hit("b.py", "de.Visitor", share=0.0)
    assert order("what is done where somebody calls run for a Visitor", use, far)[0] == "a.py run", (
        "in a sentence it is one of several signs"
    )
    assert order("how OptionVisitor works", use, hit("b.py", "OptionVisitor", share=0.7))[0].startswith(
        "b.py"
    )


@pytest.mark.clause("ME-38")
def test_of_two_definitions_of_one_name_that_in_the_file_of_that_name_comes_first() -> None:
    assert order("Request", hit("auth.py", "Request"), hit("request.py", "Request"))[0].startswith(
        "request.py"
    )


@pytest.mark.clause("ME-38")
def test_path_words_and_further_hits_break_ties() -> None:
    assert order("how requests are throttled", hit("log.py"), hit("throttle.py"))[0].startswith("throttle.py")
    assert order("openapi models", hit("a/x.py"), hit("openapi/x.py"))[0].startswith("openapi")
    several = (hit("b.py"), hit("b.py", "other"), hit("b.py", "third"))
    assert order("anything at all", hit("a.py", share=0.51), *several)[0] == "b.py thing"


@pytest.mark.clause("ME-38")
@pytest.mark.parametrize(
    ("worse", "query", "unless"),
    [
        (hit("tests/test_a.py"), "how it retries", "the test of how it retries"),
        (hit("examples/a.py"), "how it retries", ""),
        (hit("v3/a.py"), "how it retries", "how v3 retries"),
        (hit("src/c.py", ""), "how it retries", ""),
        (hit("src/c.py", lines=2), "how it retries", ""),
    ],
)
def test_copies_and_old_versions_rank_behind_the_original(worse: Ranked, query: str, unless: str) -> None:
    better = hit("v4/b.py", share=0.47)
    assert order(query, worse, better)[0].startswith("v4/b.py")
    if unless:
        assert not order(unless, worse, better)[0].startswith("v4/b.py")


@pytest.mark.clause("ME-38")
def test_further_hits_of_a_file_stand_behind_the_first_of_others() -> None:
    hits = [hit("a.py", name, share=0.8) for name in ("one", "two", "three")]
    assert order("anything at all", *hits, hit("b.py", share=0.5)) == [
        "a.py one",
        "a.py two",
        "b.py thing",
        "a.py three",
    ]


@pytest.mark.clause("ME-32")
def test_relevance_never_rises_and_a_named_definition_has_some() -> None:
    hits = [hit("a.py", share=0.9), hit("n", share=0.6, corpus=DISCOVERY), hit("b.py", "Visitor", share=0.0)]
    found = list(shown(ranked(hits, "Visitor", 0.2)))
    assert found[0].found.heading == "Visitor"
    assert [each.relevance for each in found] == sorted((each.relevance for each in found), reverse=True)
    assert found[0].relevance == 0.5
    assert ranked([], "Visitor", 0.2) == []


@pytest.mark.clause("ME-38")
@pytest.mark.parametrize("query", ["Shelf", "how a Shelf is filled"])
def test_code_comes_before_a_declaration_of_its_name(query: str) -> None:
    declared = hit("api.ts", "Shelf", share=0.6, facts={"declares": True})
    assert order(query, declared, hit("shelves.ts", "Shelf"))[0].startswith("shelves.ts")
    assert order("interface Shelf", declared, hit("shelves.ts", "Shelf"))[0].startswith("api.ts")
