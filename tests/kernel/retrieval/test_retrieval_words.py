"""Tokens: identifiers whole and in parts, folded, stemmed; scripts without spaces by pairs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.retrieval.words import LONGEST, STOP_WORDS, split_identifier, tokens


@pytest.mark.clause("RT-01")
@pytest.mark.parametrize(
    "name, parts",
    [
        ("parse_http_header", {"pars", "http", "header"}),
        ("parseHTTPHeader", {"pars", "http", "header"}),
        ("foo-bar.baz", {"foo", "bar", "baz"}),
        ("std::vector", {"std", "vector"}),
        ("response->status_code", {"respons", "status", "code"}),
        ("src/http/retry.py", {"src", "http", "retri", "py"}),
        ("sha256sum", {"sha", "256", "sum"}),
    ],
)
def test_a_name_is_found_whole_and_by_its_parts(name: str, parts: set[str]) -> None:
    found = tokens(name)
    assert parts < set(found)
    assert len(set(found) - parts) >= 1, "the whole is missing"
    for part in parts:
        assert part in found


@pytest.mark.clause("RT-01")
def test_snake_camel_and_dashed_names_share_their_whole() -> None:
    wholes = [
        set(tokens(name)) - {"retri", "count"}
        for name in ("retry_count", "retryCount", "RetryCount", "retry-count", "RETRY_COUNT")
    ]
    assert all(whole == wholes[0] for whole in wholes)
    assert wholes[0]


@pytest.mark.clause("RT-01")
def test_plural_acronyms_lose_their_s_and_single_letters_of_names_are_dropped() -> None:
    assert set(tokens("getURLsFor")) >= {"get", "url"}
    assert tokens("URLs") == tokens("URL") == tokens("url")
    assert split_identifier("parseHTTPHeaders2") == ["parse", "HTTP", "Headers", "2"]
    assert split_identifier("APIs") == ["API"]
    assert "x" not in tokens("x_axis")
    assert tokens("C") == ["c"]


@pytest.mark.clause("RT-01")
def test_languages_whose_names_end_in_signs_are_not_the_language_c() -> None:
    assert tokens("C") == ["c"]
    assert tokens("C++") == tokens("c++") == tokens("cplusplus")
    assert tokens("C#") == tokens("(c#)") == tokens("csharp")
    assert tokens("F#, C#.") == ["fsharp", "csharp"]
    assert tokens("C++17") == [*tokens("C++"), "17"]
    assert "csharp" in tokens(".NET/C#, größer")
    assert "csharp" in tokens("CSharp")
    assert tokens("## C ##") == ["c"]
    assert tokens("c#x c+++d abc#") == tokens("c x c d abc")


@pytest.mark.clause("RT-01")
def test_numbers_with_points_are_not_the_number_without_them() -> None:
    assert not set(tokens("1.2.3")) & set(tokens("123"))
    assert set(tokens("3.11")) & set(tokens("Python 3.11"))
    assert tokens("v2") == ["v2"]


@pytest.mark.clause("RT-02")
def test_case_accents_and_endings_do_not_matter() -> None:
    assert tokens("Naïve CAFÉ") == tokens("naive cafe")
    assert tokens("Łódź Straße") == tokens("lodz strasse")
    assert tokens("cafe\u0301") == tokens("café")
    assert tokens("ﬁle １２３") == tokens("file 123")
    assert tokens("indexing indexed indexes") == ["index"] * 3
    assert tokens("ΜΟΥΣΙΚΉ") == tokens("μουσικη")


@pytest.mark.clause("RT-02")
def test_stop_words_are_dropped_and_repeats_are_kept() -> None:
    assert tokens("what is the of and to") == []
    assert tokens("don't it's") == ["don"]
    assert tokens("cache cache the cache") == ["cach"] * 3
    assert 40 <= len(STOP_WORDS) <= 90


@pytest.mark.clause("RT-03")
def test_scripts_without_spaces_are_cut_into_pairs() -> None:
    assert {"東京", "京都"} <= set(tokens("東京都"))
    assert set(tokens("検索")) <= set(tokens("全文検索エンジン"))
    assert set(tokens("ひらがな")) == {"ひら", "らが", "がな"}
    assert set(tokens("ｶﾀｶﾅ")) == set(tokens("カタカナ"))
    assert set(tokens("한국어")) == {"한국", "국어"}
    assert set(tokens("猫")) <= set(tokens("黒猫が好き"))
    assert "python" in tokens("Pythonで書く")


@pytest.mark.clause("RT-03")
def test_words_of_other_scripts_are_kept_whole() -> None:
    assert tokens("поиск документов") == ["поиск", "документов"]
    assert tokens("हिन्दी में") == ["हिन्दी", "में"]
    assert len(tokens("שָׁלוֹם עולם")) == 2
    assert set(tokens("МояФункция")) >= {"моя", "функция"}


@pytest.mark.clause("RT-01")
@given(st.text())
def test_tokens_are_letters_and_digits_that_spaces_part(text: str) -> None:
    found = tokens(text)
    for token in found:
        assert 0 < len(token) <= LONGEST
        assert all(char.isdigit() or char.isalpha() or ord(char) > 127 for char in token), token
        assert not any(char.isspace() for char in token)
    assert " ".join(found).split() == found


@pytest.mark.clause("RT-01")
def test_a_run_too_long_to_be_a_word_is_one_token_of_its_beginning() -> None:
    blob = "aB3" * 40_000
    assert len(tokens(blob)) == 1
    assert tokens(blob) == tokens(blob + "zz")
    assert len(tokens(blob)[0]) == LONGEST
    assert max(map(len, tokens("verylong" * 15))) == LONGEST
