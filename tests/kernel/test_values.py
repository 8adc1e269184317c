"""Text, times, ids, cursors, patterns and failures: what features and files agree on."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from growing_patterns import GROWING_PATTERNS
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.errors import Code, Failure, Kind
from context_pack.kernel.languages import language_of
from context_pack.kernel.paging import decode_cursor, encode_cursor, page
from context_pack.kernel.patterns import check_pattern_size
from context_pack.kernel.ports import Reason, decode
from context_pack.kernel.text import (
    PACK_ID_BYTES,
    LineRange,
    canonical_json,
    close,
    is_pack_id,
    pack_id,
    sha256_hex,
    split_lines,
    toml_of,
)
from context_pack.kernel.times import (
    MAX_MINUTES,
    expiry,
    extended,
    format_instant,
    human,
    is_expired,
    parse_instant,
    remaining_seconds,
)
from context_pack.packs.model import Pack, Status

NOW = datetime(2026, 2, 20, 12, tzinfo=UTC)
INSTANTS = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
MINUTES = st.integers(1, MAX_MINUTES)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def refusal_field(work: Any) -> object:
    with pytest.raises(Failure) as caught:
        work()
    assert caught.value.code is Code.INVALID_DATA
    return caught.value.details["field"]


@pytest.mark.clause("KN-10")
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbf\xef\xbb\xbfa\r\n", "\ufeffa\r\n"),
        (b"a" * 8192 + b"\0", "a" * 8192 + "\0"),
        (b"a" * 8191 + b"\0", Reason.BINARY),
        (b"\xff", Reason.NOT_UTF8),
        (b"\xed\xa0\x80", Reason.NOT_UTF8),
    ],
)
def test_a_file_is_text_or_there_is_a_reason(data: bytes, text: str | Reason) -> None:
    assert decode(data) == text


@pytest.mark.clause("KN-10")
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\r\r\n", ["a", "b\r"]),
        ("a\fb\x85c\u2028d\re\n", ["a\fb\x85c\u2028d\re"]),
    ],
)
def test_lines_split_on_line_feeds_only(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@pytest.mark.clause("KN-11")
def test_a_range_of_lines_counts_both_ends_and_a_wrong_one_names_its_field() -> None:
    assert LineRange(3, 2002).count == 2000
    for start, end, field in ((0, 1, "line_start"), (2, 1, "line_end"), (1, 2001, "line_end")):
        assert refusal_field(lambda start=start, end=end: LineRange(start, end)) == field


@pytest.mark.clause("KN-13")
@given(INSTANTS, MINUTES, MINUTES)
def test_a_life_ends_after_its_minutes_and_is_extended_within_the_longest(
    now: datetime, minutes: int, more: int
) -> None:
    end = expiry(now, minutes)
    assert is_expired(end, end)
    assert not is_expired(end, end - timedelta(microseconds=1))
    assert remaining_seconds(end, now + timedelta(microseconds=1)) == minutes * 60 - 1
    assert remaining_seconds(end, end + timedelta(days=1)) == 0
    if minutes + more <= MAX_MINUTES:
        assert extended(end, more, now) == end + timedelta(minutes=more)
    else:
        assert refusal_field(lambda: extended(end, more, now)) == "extend_minutes"


@pytest.mark.clause("KN-13")
@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "<1m"), (59, "<1m"), (60, "1m"), (3599, "59m"), (3600, "1h"), (86_399, "23h"), (86_400, "1d")],
)
def test_a_duration_is_written_in_its_largest_whole_unit(seconds: int, words: str) -> None:
    assert human(seconds) == words


@pytest.mark.clause("KN-16")
@given(INSTANTS, st.integers(-14 * 60, 14 * 60))
def test_an_instant_survives_its_text_in_any_zone(instant: datetime, minutes: int) -> None:
    text = format_instant(instant)
    assert text.endswith("Z")
    assert ("." in text) == (instant.microsecond != 0)
    assert parse_instant(text) == instant
    assert parse_instant(instant.astimezone(timezone(timedelta(minutes=minutes))).isoformat()) == instant


@pytest.mark.clause("KN-16")
@pytest.mark.parametrize(
    "text",
    [
        *("", "2026-02-20", "2026-02-20T12:00:00", "2026-02-20 12:00:00Z", "2026-02-30T12:00:00Z"),
        *("2026-W08-5T12:00:00Z", "20260220T120000Z", "2026-02-20T12:00Z", "2026-02-20T24:00:01Z"),
        *("2026-02-20T12:00:00.Z", "2026-02-20T12:00:00.1234567890Z", "٢٠٢٦-02-20T12:00:00Z", "tomorrow"),
    ],
)
def test_a_text_that_is_no_instant_is_a_value_error(text: str) -> None:
    assert parse_instant("2026-02-20t12:00:00.123456789z") == NOW.replace(microsecond=123_456)
    with pytest.raises(ValueError):
        parse_instant(text)


@pytest.mark.clause("KN-18")
@given(*[st.binary(min_size=PACK_ID_BYTES, max_size=PACK_ID_BYTES)] * 2)
def test_different_bytes_make_different_well_shaped_ids(one: bytes, other: bytes) -> None:
    assert is_pack_id(pack_id(one))
    assert (pack_id(one) == pack_id(other)) == (one == other)
    for wrong in ("", pack_id(one)[:-1], pack_id(one).upper(), pack_id(one) + "\n", "pk_abcdefg1"):
        assert not is_pack_id(wrong)


@pytest.mark.clause("KN-19")
@given(JSON)
def test_equal_values_have_one_canonical_json(value: object) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert canonical_json(json.loads(text)) == text


@pytest.mark.clause("KN-19")
def test_digests_are_of_utf8_and_of_tight_sorted_json() -> None:
    assert sha256_hex("é\n") == hashlib.sha256(b"\xc3\xa9\n").hexdigest()
    assert canonical_json({"b": [1, 2.5], "a": {"é": "☃"}}) == '{"a":{"é":"☃"},"b":[1,2.5]}'
    with pytest.raises(ValueError):
        canonical_json([float("nan")])


@pytest.mark.clause("KN-20")
def test_only_the_latest_revision_may_write() -> None:
    pack = Pack(
        id="pk_aaaaaaaa",
        status=Status.DRAFT,
        tags=(),
        revision=3,
        created_at=NOW,
        updated_at=NOW,
        expires_at=NOW,
    )
    pack.check_revision(3)
    for expected in (2, 4):
        with pytest.raises(Failure) as caught:
            pack.check_revision(expected)
        details = dict(caught.value.details)
        assert (caught.value.kind, caught.value.code) == (Kind.CONFLICT, Code.REVISION_CONFLICT)
        assert "3" in details.pop("hint")
        assert details == {
            "expected_revision": expected,
            "actual_revision": 3,
            "updated_at": "2026-02-20T12:00:00Z",
        }


@pytest.mark.clause("KN-29")
@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3))
def test_a_cursor_carries_its_payload_and_a_cut_or_foreign_one_is_refused(payload: dict[str, Any]) -> None:
    cursor = encode_cursor("packs", payload)
    assert decode_cursor("packs", cursor) == payload
    assert cursor.isascii()
    assert cursor.replace("-", "").replace("_", "").isalnum()
    for kind, wrong in (("other", cursor), ("packs", cursor[:-5]), ("packs", "é")):
        assert refusal_field(lambda kind=kind, wrong=wrong: decode_cursor(kind, wrong)) == "cursor"


@pytest.mark.clause("KN-29")
@given(st.lists(st.integers(), max_size=20), st.integers(1, 7))
def test_pages_one_after_another_give_the_whole_list(items: list[int], limit: int) -> None:
    seen: list[int] = []
    while True:
        part = page(items, len(seen), limit)
        seen += part
        assert (part.total, part.has_more) == (len(items), len(seen) < len(items))
        if not part.has_more:
            break
    assert seen == items
    assert page(items, 100, limit).items == ()


@pytest.mark.clause("KN-31")
@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/app.PY", "python"),
        ("a/Dockerfile", "dockerfile"),
        ("Makefile.in", "makefile"),
        ("x.d.ts", "typescript"),
        ("go.mod", "go"),
        ("a\\b.rs", "rust"),
        ("py", ""),
        (".py", ""),
        ("x.unknown", ""),
    ],
)
def test_a_language_is_known_by_name_or_extension(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.clause("TK-28")
def test_did_you_mean_looks_at_all_names_and_not_at_the_first_of_the_alphabet() -> None:
    names = [f"a{number}.py" for number in range(6_000)]
    assert close("zebra_handlr.py", [*names, "zebra_handler.py"]) == ["zebra_handler.py"]


@pytest.mark.clause("KN-36")
@pytest.mark.parametrize("pattern", GROWING_PATTERNS)
def test_a_pattern_that_would_grow_is_refused_before_it_is_compiled(pattern: str) -> None:
    with pytest.raises(Failure) as caught:
        check_pattern_size(pattern)
    assert caught.value.code is Code.INVALID_DATA


@pytest.mark.clause("KN-36")
@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "",
            "TODO|FIXME",
            r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$",
            "a{,1000}",
            r"\p{L}{1,100}",
        ),
        *("^[A-Za-z0-9+/]{1000,4000}={0,2}$", r"[({]{1000}[)}]\{1000\}\(\)", "[[:alpha:]_]{1,300}"),
        "(?:(?:a{0,1000}){0,1000}){0,1000}",
    ],
)
def test_usual_patterns_pass(pattern: str) -> None:
    check_pattern_size(pattern)


@pytest.mark.clause("KN-36")
def test_a_key_of_too_many_parts_is_no_toml() -> None:
    assert toml_of("a.b = 1") == {"a": {"b": 1}}
    with pytest.raises(ValueError, match="too many parts"):
        toml_of("a." * 20_000 + "b = 1")
