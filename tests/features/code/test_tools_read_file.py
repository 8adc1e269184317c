"""`read_file` through the registry, as a client calls it: every field, every refusal, every bound."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from inmemory import (
    FixedClock,
    MemoryActivity,
    MemoryPackStore,
    MemorySourceTree,
    SeededIds,
)
from jsonschema import Draft202012Validator

from context_pack.app import build
from context_pack.code.reading import (
    MAX_BYTES,
    numbered_lines,
)
from context_pack.code.tools import READ_SCHEMA
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.syntax import NoSyntax, Syntax
from context_pack.ports import Ports
from context_pack.toolkit.budget import tokens_of as estimate_tokens
from context_pack.toolkit.call import Cancelled, QuietCall
from context_pack.toolkit.registry import Registry
from context_pack_adapters.syntax import shared_syntax

Files = dict[str, str | bytes]
MODIFIED = 1_736_931_600_123_456_789


class Reading:
    """A registry over files in memory, and the log of what was read."""

    def __init__(
        self, files: Files, deny: tuple[str, ...] = (), syntax: Syntax | None = None, **limits: int
    ) -> None:
        self.clock = FixedClock()
        self.access = MemoryActivity(self.clock)
        tree = MemorySourceTree(files, PathPolicy(deny), MODIFIED / 10**9)
        packs = MemoryPackStore(self.clock, SeededIds())
        self.registry: Registry = build(
            Ports(self.clock, tree, packs, syntax or shared_syntax(), access=self.access), rate_limits=limits
        )

    def call(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
        answer = self.registry.call("read_file", arguments, QuietCall())
        assert answer.structured is None if answer.is_error else answer.structured == json.loads(answer.text)
        body: dict[str, Any] = json.loads(answer.text)
        return body, answer.is_error

    def read(self, path: str, **arguments: Any) -> dict[str, Any]:
        body, failed = self.call({"path": path, **arguments})
        assert not failed, body
        Draft202012Validator(READ_SCHEMA).validate(body)
        return body

    def refused(self, path: object, **arguments: Any) -> dict[str, Any]:
        body, failed = self.call({"path": path, **arguments})
        assert failed, body
        return body


@pytest.mark.clause("CD-01")
def test_a_file_comes_with_its_size_lines_language_and_place() -> None:
    text = "export const größe = 1;\nlast"
    assert Reading({"src/server/auth/AuthService.ts": text}).read("src/server/auth/AuthService.ts") == {
        "file": {
            "path": "src/server/auth/AuthService.ts",
            "content": text,
            "size": len(text.encode()),
            "lines": 2,
            "language": "typescript",
        },
        "dependencies": [],
        "metadata": {"module": "auth", "role": "core", "lastModified": "2025-01-15T09:00:00Z"},
    }


@pytest.mark.clause("CD-01")
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", 0),
        ("\n", 1),
        ("a", 1),
        ("a\n", 1),
        ("a\nb", 2),
        ("a\n\n", 2),
        ("a\r\nb\r\n", 2),
        ("a\rb\fc\x85", 1),
    ],
)
def test_a_final_newline_adds_no_line(text: str, lines: int) -> None:
    file = Reading({"f.txt": text}).read("f.txt")["file"]
    assert (file["lines"], file["content"]) == (lines, text)


@pytest.mark.clause("CD-02")
@pytest.mark.parametrize(
    "written", ["./src/a.py", "src//a.py", "src/./a.py", "src\\a.py", ".\\src\\a.py", "src/a.py/"]
)
def test_a_path_is_normalised_before_it_is_read(written: str) -> None:
    assert Reading({"src/a.py": "x"}).read(written)["file"]["path"] == "src/a.py"


@pytest.mark.clause("CD-03")
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("nothing.ts", "File not found"),
        ("src", "File not found"),
        ("src/a.py/below", "File not found"),
        ("/etc/passwd", "Absolute paths not allowed"),
        ("\\etc\\passwd", "Absolute paths not allowed"),
        ("C:\\x", "Absolute paths not allowed"),
        ("../x", "Path traversal not allowed"),
        ("src/../src/a.py", "Path traversal not allowed"),
        ("../" * 1000 + "etc/passwd", "Path traversal not allowed"),
        (".env", "Permission denied"),
        ("src/.git/config", "Permission denied"),
        ("node_modules/x/index.js", "Permission denied"),
        ("keys/id_rsa.pub", "Permission denied"),
        ("secret.pem", "Permission denied"),
        ("private/x", "Permission denied"),
        ("binary.bin", "Not a text file"),
        ("latin.txt", "Not a text file"),
    ],
)
def test_an_unreadable_file_is_refused_with_the_given_path(path: str, text: str) -> None:
    files: Files = {"src/a.py": "", ".env": "S", "binary.bin": b"a\0b", "latin.txt": b"\xe9", "private/x": ""}
    body = Reading(files, deny=("private",)).refused(path)
    body.pop("hint", None)
    assert body == {"error": text, "path": path}


@pytest.mark.clause("CD-03")
def test_a_mebibyte_is_read_and_one_byte_more_is_not() -> None:
    reading = Reading({"most.txt": "é" * (MAX_BYTES // 2), "more.txt": "x" * (MAX_BYTES + 1)})
    most = reading.read("most.txt", max_tokens=MAX_BYTES)["file"]
    assert (most["size"], len(most["content"])) == (1_048_576, 524_288)
    assert reading.refused("more.txt") == {
        "error": "File too large",
        "path": "more.txt",
        "maxBytes": 1_048_576,
    }


@pytest.mark.clause("CD-03")
def test_a_byte_order_mark_is_counted_and_not_shown() -> None:
    file = Reading({"bom.txt": b"\xef\xbb\xbfhi\n"}).read("bom.txt")["file"]
    assert (file["content"], file["size"], file["lines"]) == ("hi\n", 6, 1)


@pytest.mark.clause("CD-06")
@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({}, "$.path"),
        ({"path": ""}, "$.path"),
        ({"path": "x" * 4097}, "$.path"),
        ({"path": "a\nb"}, "$.path"),
        ({"path": "."}, "$.path"),
        ({"path": "a.py", "includeDeps": "yes"}, "$.includeDeps"),
        ({"path": "a.py", "maxDepth": 2}, "$.maxDepth"),
        ({"path": "a.py", "startLine": 0}, "$.startLine"),
        ({"path": "a.py", "startLine": 3, "endLine": 2}, "$.startLine"),
        ({"path": "a.py", "encoding": "utf-8"}, "$.encoding"),
    ],
)
def test_bad_arguments_are_invalid_parameters_with_the_place_of_each_fault(
    arguments: dict[str, Any], path: str
) -> None:
    body, failed = Reading({"a.py": "1\n2\n3\n"}).call(arguments)
    assert failed
    assert body["error"] == "Invalid parameters"
    assert set(body) == {"error", "details"}
    assert path in [each["path"] for each in body["details"]]
    assert all(each["message"] for each in body["details"])


TEN = "".join(f"line {number}\n" for number in range(1, 11))


@pytest.mark.clause("CD-07")
@pytest.mark.parametrize(
    ("asked", "given_range"),
    [
        ({"startLine": 3, "endLine": 5}, (3, 5)),
        ({"startLine": 3, "endLine": 3}, (3, 3)),
        ({"startLine": 9}, (9, 10)),
        ({"endLine": 2}, (1, 2)),
        ({"startLine": 1, "endLine": 10}, (1, 10)),
        ({"startLine": 8, "endLine": 99}, (8, 10)),
    ],
)
def test_a_range_is_cut_out_with_its_line_ends_and_clamped_to_the_file(
    asked: dict[str, int], given_range: tuple[int, int]
) -> None:
    start, end = given_range
    assert Reading({"ten.txt": TEN}).read("ten.txt", **asked) == {
        "file": {
            "path": "ten.txt",
            "content": "".join(TEN.splitlines(keepends=True)[start - 1 : end]),
            "lines": 10,
            "range": {"startLine": start, "endLine": end},
        }
    }


@pytest.mark.clause("CD-07")
@pytest.mark.parametrize("asked", [{"startLine": 11}, {"startLine": 50, "endLine": 10**30}])
def test_a_range_beyond_the_end_gives_the_last_line_and_says_so(asked: dict[str, int]) -> None:
    answer = Reading({"ten.txt": TEN}).read("ten.txt", **asked)
    start = asked["startLine"]
    assert answer["more"] == f"startLine {start} is beyond the end: the file has 10 lines; this is the last"
    assert (answer["file"]["content"], answer["file"]["range"]["startLine"]) == ("line 10\n", 10)


@pytest.mark.clause("CD-07")
def test_a_range_of_an_empty_file_is_empty() -> None:
    answer = Reading({"empty": ""}).read("empty", startLine=4, endLine=9)
    assert answer["more"] == "startLine 4 is beyond the end: the file has 0 lines"
    file = answer["file"]
    assert (file["content"], file["range"]) == ("", {"startLine": 1, "endLine": 0})


PYTHON = {
    "app/__init__.py": "",
    "app/main.py": "import os\nimport app.b\nfrom app import a\nfrom app.b import x\nimport app.main\n",
    "app/a.py": "A = 1\n",
    "app/b.py": "B = 2",
}


@pytest.mark.clause("CD-10")
def test_dependencies_come_with_their_contents_once_each_and_by_path() -> None:
    read = Reading({**PYTHON}).read("app/main.py", includeDeps=True, maxDepth=1)
    shared = {"type": "import", "level": 1, "language": "python", "lines": 1}
    assert read["dependencies"] == [
        {"path": "app/a.py", **shared, "size": 6, "content": "A = 1\n"},
        {"path": "app/b.py", **shared, "size": 5, "content": "B = 2"},
    ]
    assert read["metadata"]["external"] == ["os"]
    assert Reading({**PYTHON}).read("app/main.py", includeDeps=True) == read


@pytest.mark.clause("CD-10")
@pytest.mark.parametrize(
    "asked", [{}, {"includeDeps": False}, {"includeDeps": True, "maxDepth": 0}, {"maxDepth": 1}]
)
def test_dependencies_are_omitted_unless_asked_for(asked: dict[str, Any]) -> None:
    read = Reading({**PYTHON}).read("app/main.py", **asked)
    assert read["dependencies"] == []
    assert "external" not in read["metadata"]


@pytest.mark.clause("CD-12")
def test_dependencies_have_eighty_thousand_characters_or_what_the_page_leaves() -> None:
    files: Files = {"main.py": "import a, b\n#" + "x" * 200_000, "a.py": "#" * 80_000, "b.py": "#"}

    def missing(**arguments: Any) -> list[bool]:
        found = Reading(files).read("main.py", includeDeps=True, **arguments)["dependencies"]
        omitted = [each["content"] is None for each in found]
        assert [each.get("omitted") == "budget" for each in found] == omitted
        return omitted

    assert missing(max_tokens=MAX_BYTES) == [False, True]
    assert missing() == [True, True]
    files["a.py"] = "#" * 80_001
    assert missing(max_tokens=MAX_BYTES) == [True, False]
    files["main.py"] = "import a, b\n"
    files["a.py"] = "#" * 9_000
    assert missing(max_tokens=2_000) == [True, False]


@pytest.mark.clause("CD-10")
def test_non_text_dependencies_have_no_content_and_denied_ones_are_omitted() -> None:
    files: Files = {
        "main.ts": 'import "./logo.png", "./big.json", "./.env", "./key.pem", "./a"'.replace(",", "; import"),
        "logo.png": b"\x89PNG\0",
        "big.json": "x" * (MAX_BYTES + 1),
        ".env": "SECRET",
        "key.pem": "SECRET",
        "a.ts": "",
    }
    read = Reading(files).read("main.ts", includeDeps=True)
    assert [(each["path"], each["content"], each.get("omitted")) for each in read["dependencies"]] == [
        ("a.ts", "", None),
        ("big.json", None, "size"),
        ("logo.png", None, "not text"),
    ]
    assert read["metadata"]["external"] == ["./.env", "./key.pem"]
    assert "SECRET" not in json.dumps(read)


@pytest.mark.clause("CD-26")
def test_unparsable_python_is_reported_with_its_line_and_a_hint() -> None:
    reading = Reading({"file.py": "x = 1\n" * 14 + "def f(:\n"})
    body = reading.refused("file.py", includeDeps=True)
    assert body["hint"]
    assert {name: body[name] for name in body if name != "hint"} == {
        "error": "Failed to parse imports",
        "path": "file.py",
        "details": "Syntax error at line 15",
    }
    assert reading.read("file.py")["file"]["lines"] == 15
    assert reading.read("file.py", includeDeps=True, maxDepth=0)["dependencies"] == []


@pytest.mark.clause("CD-26")
def test_a_file_without_a_grammar_is_read_without_imports_and_says_so() -> None:
    reading = Reading({"a.py": "import b\n"}, syntax=NoSyntax())
    body = reading.refused("a.py", includeDeps=True)
    assert (body["error"], body["details"]) == ("Failed to parse imports", "there is no grammar for python")
    assert reading.read("a.py")["file"]["lines"] == 1


@pytest.mark.clause("CD-06")
def test_a_call_over_the_rate_limit_says_when_to_come_back() -> None:
    reading = Reading({"a": ""}, read_file=2)
    reading.read("a")
    reading.read("a")
    body = reading.refused("a")
    assert body["error"] == "Rate limit exceeded for read_file"
    assert set(body) == {"error", "retryAfterMs", "hint"}
    assert 0 < body["retryAfterMs"] <= 60_000


@pytest.mark.clause("CD-43")
def test_a_read_is_recorded_and_a_refusal_is_not() -> None:
    reading = Reading({"a.py": ""})
    reading.read("a.py")
    reading.clock.advance(days=15)
    reading.read("./a.py")
    reading.refused("b.py")
    (item,) = reading.access.items()
    assert (item.path, item.count, item.last_access) == (RelativePath("a.py"), 2, reading.clock.now())


@pytest.mark.clause("CD-09")
def test_a_cancelled_call_stops_between_dependencies() -> None:
    class Withdrawn(QuietCall):
        asked = 0

        def check(self) -> None:
            Withdrawn.asked += 1
            if Withdrawn.asked > 2:
                raise Cancelled("read_file")

    with pytest.raises(Cancelled):
        Reading({**PYTHON}).registry.call(
            "read_file", {"path": "app/main.py", "includeDeps": True}, Withdrawn()
        )


@pytest.mark.clause("CD-10")
def test_an_edit_of_a_file_or_of_what_it_imports_is_in_the_next_answer() -> None:
    files: Files = {"a.py": "import b\n", "b.py": "x = 1\n"}
    reading = Reading(files)
    arguments: dict[str, Any] = {"path": "a.py", "includeDeps": True}
    assert reading.read(**arguments)["dependencies"][0]["content"] == "x = 1\n"
    files["b.py"] = "x = 2\n"
    assert reading.read(**arguments)["dependencies"][0]["content"] == "x = 2\n"
    files["a.py"] = "x = 0\n"
    assert reading.read(**arguments)["dependencies"] == []


@pytest.mark.clause("CD-03")
def test_a_file_that_is_not_there_names_files_that_are_near_and_no_secret_one() -> None:
    reading = Reading({"src/login.py": "", "src/views.py": "", "web/.env": "", "old/login.py": ""})
    assert reading.refused("src/logn.py")["hint"] == "did you mean src/login.py or old/login.py?"
    assert reading.refused("login.py")["hint"] == "did you mean old/login.py or src/login.py?"
    assert "hint" not in reading.refused("web/.envv.txt")
    assert "hint" not in reading.refused("nothing-like-it.rs")


@pytest.mark.clause("CD-29")
@pytest.mark.parametrize("numbered", [False, True])
def test_a_long_file_comes_in_pages_that_together_are_the_file(numbered: bool) -> None:
    whole = "".join(f'line {number} says "something"\n' for number in range(3000))
    reading = Reading({"long.txt": whole, "small.txt": "one\n"})
    assert not {"more", "next"} & reading.read("small.txt").keys()
    pages, start = [], 1
    while True:
        page = reading.read("long.txt", startLine=start, max_tokens=2_500, numbered=numbered)
        assert len(json.dumps(page, ensure_ascii=False, separators=(",", ":")).encode()) <= 10_000
        pages.append(page["file"]["content"])
        span = page["file"]["range"]
        assert span["startLine"] == start
        if "next" not in page:
            break
        start = page["next"]["startLine"]
        assert next(iter(page)) == "more"
        assert (
            page["more"]
            == f"lines {span['startLine']}-{span['endLine']} of 3000; continue with startLine {start}"
        )
        assert span["endLine"] == start - 1
    assert len(pages) > 5
    assert "".join(pages) == (numbered_lines(whole, 1) if numbered else whole)


@pytest.mark.clause("CD-29")
def test_the_pages_of_a_range_end_with_the_range() -> None:
    lines = [f"line {number}\n" for number in range(1, 3001)]
    reading = Reading({"long.txt": "".join(lines)})
    page = reading.read("long.txt", startLine=11, endLine=900, max_tokens=1_000)
    pages = [page["file"]["content"]]
    assert page["more"].endswith(f"continue with startLine {page['next']['startLine']} and endLine 900")
    while (following := page.get("next")) is not None:
        assert following["endLine"] == 900
        page = reading.read(**following, max_tokens=1_000)
        pages.append(page["file"]["content"])
    assert "".join(pages) == "".join(lines[10:900])


@pytest.mark.clause("CD-12", "CD-29")
@pytest.mark.parametrize("most", [200, 500, 2_500])
@pytest.mark.parametrize("wanted", [False, True])
def test_imports_never_take_the_place_of_the_text_nor_more_than_the_page(most: int, wanted: bool) -> None:
    text = "".join(f"import m{number}\nimport other{number}\n" for number in range(60))
    files: Files = {f"m{number}.py": f"v = {number}\n" for number in range(60)}
    reading = Reading({**files, "main.py": text})
    pages, start = [], 1
    while start:
        page = reading.read("main.py", startLine=start, includeDeps=wanted, max_tokens=most)
        assert estimate_tokens(json.dumps(page, ensure_ascii=False)) <= most * 1.1
        named = len(page.get("dependencies", ())) + len(page.get("metadata", {}).get("external", ()))
        assert (f"{120 - named} imports are not named" in page.get("more", "")) == (wanted and named < 120)
        pages.append(page["file"]["content"])
        start = page.get("next", {}).get("startLine")
    assert "".join(pages) == text


def test_a_line_longer_than_a_page_is_shown_in_part_and_says_so() -> None:
    reading = Reading({"min.js": "é" * 100_000 + "\nlast\n"})
    page = reading.read("min.js", max_tokens=500)
    content = page["file"]["content"]
    assert 0 < len(content.encode()) <= 2_000
    start = content.removesuffix("…")
    assert content == "é" * len(start) + "…"
    assert f"line 1 is too long and lacks its last {100_000 - len(start)} characters" in page["more"]
    assert reading.read("min.js", startLine=page["next"]["startLine"])["file"]["content"] == "last\n"
