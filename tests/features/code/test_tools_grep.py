"""`grep_codebase` as a tool: arguments, answers, errors, budget; over files in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inmemory import FixedClock, MemorySearch

from context_pack.code.grep import FoundLines, LineHit, LineQuery, compiled, hit_in, shown
from context_pack.code.tools import grep_tool
from context_pack.kernel.errors import Failure
from context_pack.toolkit.budget import tokens_of as estimate_tokens
from context_pack.toolkit.call import Call, QuietCall
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS
from context_pack.toolkit.registry import Registry
from context_pack.toolkit.spec import Answer, in_lines

FILES: dict[str, str | bytes] = {
    "src/server/auth.ts": (
        "// Generate JWT token\nfunction generateToken(payload) {\n"
        "  const token = jwt.sign(payload);\n  return token;\n}\n"
    ),
    "src/b.py": "import os\n\ndef handle():\n    pass\n",
    "README.md": "JWT.SIGN is used here",
    ".env": "jwt.sign=secret\n",
    "node_modules/x/index.js": "jwt.sign\n",
    "dist/out.js": "jwt.sign\n",
    "picture.png": b"\x89PNG\0jwt.sign\n",
}


class Fixed:
    """A search that finds what it is told to."""

    def __init__(self, found: FoundLines) -> None:
        self.found = found

    def search(self, query: LineQuery, call: Call) -> FoundLines:
        return self.found


def call(arguments: Mapping[str, Any], search: Any = None) -> Answer:
    clock = FixedClock()
    engine = MemorySearch(FILES) if search is None else search
    found = grep_tool(engine)
    registry = Registry({found.name: found}, list, {}, clock.monotonic)
    return registry.call("grep_codebase", arguments, QuietCall())


def payload(arguments: Mapping[str, Any], search: Any = None) -> dict[str, Any]:
    """The JSON of a successful answer, which is also its structured content."""
    answer = call(arguments, search)
    assert not answer.is_error, answer.text
    record: dict[str, Any] = json.loads(answer.text)
    assert answer.structured == record
    return record


def refusal(arguments: Mapping[str, Any], search: Any = None) -> dict[str, Any]:
    answer = call(arguments, search)
    assert answer.is_error, answer.text
    record: dict[str, Any] = json.loads(answer.text)
    return record


@pytest.mark.clause("CD-50", "CD-53", "CD-62")
def test_an_answer_has_exactly_the_promised_fields() -> None:
    found = payload({"pattern": "jwt\\.sign"})
    assert isinstance(found.pop("searchTime"), int)
    assert found == {
        "matches": [
            {
                "file": "README.md",
                "line": 1,
                "column": 1,
                "text": "JWT.SIGN is used here",
                "context": {"before": [], "after": []},
            },
            {
                "file": "src/server/auth.ts",
                "line": 3,
                "column": 17,
                "text": "  const token = jwt.sign(payload);",
                "context": {
                    "before": ["// Generate JWT token", "function generateToken(payload) {"],
                    "after": ["  return token;", "}"],
                },
            },
        ],
        "pattern": "jwt\\.sign",
        "totalMatches": 2,
        "filesSearched": 3,
    }


@pytest.mark.clause("CD-55")
def test_no_match_is_no_error() -> None:
    assert payload({"pattern": "nonexistent"}) == {
        "matches": [],
        "totalMatches": 0,
        "filesSearched": 3,
        "message": "No matches found for pattern 'nonexistent'",
    }


@pytest.mark.clause("CD-55")
def test_the_total_counts_past_the_limit() -> None:
    found = payload({"pattern": "e", "limit": 2})
    assert len(found["matches"]) == 2
    assert found["totalMatches"] > 2
    assert found["truncated"] is True
    assert "truncated" not in payload({"pattern": "generateToken", "limit": 1})


@pytest.mark.clause("CD-60")
def test_a_file_pattern_chooses_the_files() -> None:
    found = payload({"pattern": "e", "filePattern": "**/*.py"})
    assert found["filesSearched"] == 1
    assert {match["file"] for match in found["matches"]} == {"src/b.py"}
    assert payload({"pattern": "e", "filePattern": ""})["filesSearched"] == 3


@pytest.mark.clause("CD-63")
@pytest.mark.parametrize(
    "pattern",
    [
        "(", ")", "[", "[z-a]", "*", "a**", "a{2}{3}", "{1}", "a{2,1}", "\\", r"\q", r"\x4", r"\1",
        "(?P=x)", "(?z)", "(?", "(?P<1>a)", "(?(1)a)", "(?#", r"\p{Nonsense}", "[[:nope:]]", r"(?&x)",
    ],
)  # fmt: skip
def test_a_pattern_that_means_nothing_is_refused_with_the_reason(pattern: str) -> None:
    found = refusal({"pattern": pattern})
    assert "at position" in found.pop("details")
    assert found == {"error": "Invalid regex pattern", "pattern": pattern}


@pytest.mark.clause("CD-63")
@pytest.mark.parametrize(
    "pattern",
    [
        "a{20001}", "(a{200}){200}", "((((ab|c){100}){100}){100}){100}", "(?:[ab]{500}){500}",
        "(?x)(a{500} ){500}", "(a{1000,}){1000,}",
    ],
)  # fmt: skip
def test_a_pattern_that_grows_is_refused_before_it_is_compiled(pattern: str) -> None:
    assert "repeats too much" in refusal({"pattern": pattern})["details"]


@pytest.mark.clause("CD-51")
@pytest.mark.parametrize("pattern", ["\nfoo", "foo\n", "\n", "a\nfoo", "\n\n"])
def test_no_line_has_a_line_feed_and_a_search_for_one_ends(pattern: str) -> None:
    assert compiled(pattern, case_sensitive=True).find("a\nfoo\n\nfoo\n", lambda: None, 10) == (0, [])
    assert payload({"pattern": pattern}, MemorySearch({"a.txt": "a\nfoo\n\nfoo\n"}))["totalMatches"] == 0


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.booleans())
@pytest.mark.clause("CD-63")
def test_any_text_is_a_pattern_or_is_refused(pattern: str, case_sensitive: bool) -> None:
    try:
        compiled(pattern, case_sensitive)
    except Failure as failure:
        assert failure.message == "Invalid regex pattern"  # noqa: PT017


@pytest.mark.clause("CD-60")
@pytest.mark.parametrize(
    ("glob", "reason"),
    [
        ("{a,b", "not closed"),
        ("*.{ts,{js}", "not closed"),
        ("[ab", "not closed"),
        ("[[:alpha:]", "not closed"),
        ("a}", "closes nothing"),
        ("a\\", "at the end"),
        ("!", "nothing after"),
        ("{a,b}" * 9, "more than 256"),
    ],
)
def test_an_invalid_glob_is_a_wrong_parameter(glob: str, reason: str) -> None:
    found = refusal({"pattern": "a", "filePattern": glob})
    assert found["error"] == "Invalid parameters"
    assert found["details"][0]["path"] == "$.filePattern"
    assert "glob" in found["details"][0]["message"]
    assert reason in found["details"][0]["message"]


@pytest.mark.clause("CD-06")
@pytest.mark.parametrize(
    "arguments, path",
    [
        ({}, "$.pattern"),
        ({"pattern": ""}, "$.pattern"),
        ({"pattern": "a" * 201}, "$.pattern"),
        ({"pattern": "a", "limit": 101}, "$.limit"),
        ({"pattern": "a", "caseSensitive": "yes"}, "$.caseSensitive"),
        ({"pattern": "a", "filePattern": "a" * 1001}, "$.filePattern"),
        ({"pattern": "a", "path": "src"}, "$.path"),
    ],
)
def test_wrong_arguments_are_named_by_path(arguments: dict[str, Any], path: str) -> None:
    found = refusal(arguments)
    assert found["error"] == "Invalid parameters"
    assert [fault["path"] for fault in found["details"]] == [path]


@pytest.mark.clause("CD-55", "CD-68")
def test_an_answer_says_that_the_time_was_over() -> None:
    hit = LineHit("a.py", 1, 1, "x")
    found = payload({"pattern": "x"}, Fixed(FoundLines((hit,), 1, 20, 80)))
    assert (found["truncated"], found["totalMatches"], found["filesSearched"]) == (True, 1, 20)
    assert found["message"].startswith("These are not all matches: the time was over after 20 of 100 files; ")
    found = payload({"pattern": "x"}, Fixed(FoundLines((), 0, 20, 80)))
    assert (found["truncated"], found["matches"]) == (True, [])
    assert "No matches found for pattern 'x' so far: the time was over after 20 of 100" in found["message"]


def wide(count: int, text: str, context: str) -> Fixed:
    """A search with many hits of the given lines."""
    around = (context, context)
    return Fixed(
        FoundLines(
            tuple(LineHit(f"f{n:03}.py", n + 1, 1, text, around, around) for n in range(count)), count, count
        )
    )


@pytest.mark.clause("CD-55")
@pytest.mark.parametrize("letter", ["x", "数"])
def test_matches_that_do_not_fit_are_left_out_and_counted(letter: str) -> None:
    found = payload({"pattern": letter, "limit": 100}, wide(100, letter * 500, "y" * 500))
    assert 0.9 * DEFAULT_MAX_TOKENS < estimate_tokens(in_lines(found)) <= DEFAULT_MAX_TOKENS
    assert 10 < len(found["matches"]) < 100
    assert found["matches"][0]["context"]["before"] == ["y" * 500] * 2
    assert (found["totalMatches"], found["truncated"]) == (100, True)
    assert found["more"] == (
        f"{len(found['matches'])} of 100 matches are here; "
        "ask with context 0, or narrow the pattern or filePattern to see the others"
    )


@pytest.mark.clause("CD-53")
@pytest.mark.parametrize("length", [500, 501, 600, 5000])
@pytest.mark.parametrize("at", [0, 1, 99, 100, 101, 250, 499])
def test_a_long_line_is_cut_around_its_match(length: int, at: int) -> None:
    line = "".join(chr(0x4E00 + index % 4000) for index in range(length))
    for start in (at, length - 1 - at):
        cut = shown(line, start)
        assert len(cut) <= 500
        assert line[start] in cut
        assert cut.strip("…") in line
        assert cut.startswith("…") is not line.startswith(cut.strip("…"))
        assert cut.endswith("…") is not line.endswith(cut.strip("…"))
        if length > 500:
            assert len(cut) == 500


@pytest.mark.clause("CD-53")
def test_lines_around_a_match_are_cut_too_and_end_with_the_file() -> None:
    lines = ["first", "long " * 200, "match", "last"]
    hit = hit_in("a", lines, 2, 0)
    assert (hit.line, hit.column, hit.text) == (3, 1, "match")
    assert hit.before == ("first", ("long " * 200)[:499] + "…")
    assert hit.after == ("last",)


@pytest.mark.clause("CD-53")
def test_without_lines_around_them_matches_come_by_file_and_cost_little() -> None:
    hits = tuple(
        LineHit(
            f"src/package/module_{number // 4}.py", number + 1, 5, f"    result_{number} = compute({number})"
        )
        for number in range(16)
    )
    found = payload({"pattern": "compute", "context": 0}, Fixed(FoundLines(hits, 16, 9)))
    assert found["matches"][0]["lines"][1] == "2:     result_1 = compute(1)"
    assert [match["file"][-4] for match in found["matches"]] == list("0123")
    plain = "".join(f"{hit.path}:{hit.line}:{hit.text}\n" for hit in hits)
    text = call({"pattern": "compute", "context": 0}, Fixed(FoundLines(hits, 16, 9))).text
    assert len(text) <= 2 * len(plain)
    few = payload({"pattern": "compute", "context": 0, "max_tokens": 200}, Fixed(FoundLines(hits, 16, 9)))
    shown = sum(len(match["lines"]) for match in few["matches"])
    assert 0 < shown < 16
    assert (few["truncated"], next(iter(few))) == (True, "more")
    assert f"{shown} of 16 matches" in few["more"]


@pytest.mark.clause("CD-53")
def test_one_line_around_a_match_is_the_nearest() -> None:
    hit = LineHit("a.py", 3, 1, "x", ("far", "near"), ("near", "far"))
    (match,) = payload({"pattern": "x", "context": 1}, Fixed(FoundLines((hit,), 1, 1)))["matches"]
    assert match["context"] == {"before": ["near"], "after": ["near"]}
