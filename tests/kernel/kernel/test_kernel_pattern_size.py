"""Patterns are measured before they are compiled."""

from __future__ import annotations

import pytest
from growing_patterns import GROWING_PATTERNS

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.patterns import MAX_PATTERN_SIZE, check_pattern_size, pattern_size

USUAL = (
    "",
    "TODO|FIXME",
    r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$",
    "^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
    r"^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$",
    "^[A-Za-z0-9+/]{1000,4000}={0,2}$",
    r"[({]{1000}[)}]\{1000\}\(\)",
    "[[:alpha:]_]{1,300}",
    r"\p{L}{1,100}",
    "a{,1000}",
    "(?:(?:a{0,1000}){0,1000}){0,1000}",
)


@pytest.mark.clause("KN-36")
@pytest.mark.parametrize("pattern", GROWING_PATTERNS)
def test_a_pattern_that_would_grow_is_refused_before_it_is_compiled(pattern: str) -> None:
    with pytest.raises(Failure) as caught:
        check_pattern_size(pattern)
    assert caught.value.code is Code.INVALID_DATA


@pytest.mark.clause("KN-36")
@pytest.mark.parametrize("pattern", USUAL)
def test_usual_patterns_pass(pattern: str) -> None:
    check_pattern_size(pattern)


@pytest.mark.clause("KN-36")
@pytest.mark.parametrize(
    ("pattern", "size"),
    [("abc", 3), ("a{1000}", 1000), ("(a{10}){10}", 110), ("((ab){3}c){2}", 22), ("[(]{5}", 5)],
)
def test_the_size_is_what_is_there_with_repeats_written_out(pattern: str, size: int) -> None:
    assert pattern_size(pattern) == size <= MAX_PATTERN_SIZE
