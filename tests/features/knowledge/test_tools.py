"""A rule anchored to code is told wherever that code is met, with its state."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inmemory import FixedClock, SeededIds
from inmemory.ports import memory_ports

from context_pack.app import build
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.registry import Registry

TTL = '''"""Times to live."""

LIMIT = 10


def expiry(now, minutes):
    """When something ends that lives so many minutes."""
    if minutes > LIMIT:
        raise ValueError("too long")
    return now + minutes


def left(now, end):
    """How much is left."""
    return max(0, end - now)
'''
RULE = "An expiry is never in the past: callers sort by it"
CONTEXT = """version: 1
last_updated: "2026-01-01T00:00:00Z"
fingerprint: "00000000"
scope: src
summary: Times.
maintenance: By hand.
constraints:
  - No wall clock below this folder
decisions:
  - what: Minutes everywhere
    why: Agents think in minutes
"""


class Desk:
    """A project with a rule about one function, and every tool over it."""

    def __init__(self) -> None:
        self.files: dict[str, str | bytes] = {"src/ttl.py": TTL, "src/.context.yaml": CONTEXT}
        ports = memory_ports(self.files, FixedClock(), SeededIds(), ())
        self.registry: Registry = build(ports)
        self.call("context_record", type="rule", content=RULE, path="src/ttl.py", symbol="expiry")

    def call(self, tool: str, **arguments: Any) -> str:
        answer = self.registry.call(tool, arguments, QuietCall())
        assert not answer.is_error, answer.text
        return answer.text

    def known(self, **arguments: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(self.call("context_for", **arguments))["known"]
        return rows


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.mark.clause("KW-01")
@pytest.mark.parametrize(
    "asked",
    [
        {"path": "src/ttl.py"},
        {"path": "src/ttl.py", "lines": "8"},
        {"symbol": "expiry"},
        {"path": "src/ttl.py", "symbol": "expiry"},
        {"path": "src"},
        {"trace": 'File "/x/src/ttl.py", line 9, in expiry'},
        {"diff": "--- a/src/ttl.py\n+++ b/src/ttl.py\n@@ -10 +10 @@\n-x\n+y\n"},
    ],
)
def test_the_rule_is_told_of_its_place_however_that_is_named(desk: Desk, asked: dict[str, str]) -> None:
    (row,) = [each for each in desk.known(**asked) if each["kind"] == "rule"]
    assert (row["text"], row["state"], row["at"]) == (RULE, "exact", "src/ttl.py:6-10")


@pytest.mark.clause("KW-01")
@pytest.mark.parametrize(
    "asked",
    [
        {"path": "src/ttl.py", "lines": "13-15"},
        {"symbol": "left"},
        {"diff": "--- a/src/ttl.py\n+++ b/src/ttl.py\n@@ -15 +15 @@\n-x\n+y\n"},
    ],
)
def test_of_another_place_it_is_not_told(desk: Desk, asked: dict[str, str]) -> None:
    assert [each for each in desk.known(**asked) if each["kind"] == "rule"] == []


@pytest.mark.clause("KW-04")
def test_the_constraints_and_decisions_of_its_folder_are_told_first(desk: Desk) -> None:
    rows = desk.known(path="src/ttl.py")
    assert [(row["kind"], row["text"]) for row in rows] == [
        ("constraint", "No wall clock below this folder"),
        ("rule", RULE),
        ("decision", "Minutes everywhere: Agents think in minutes"),
    ]


@pytest.mark.clause("KW-05")
def test_a_ref_of_a_pack_is_told_with_why_it_is_there(desk: Desk) -> None:
    desk.call("input", action="create", ttl_minutes=60, name="times")
    section = {"section_key": "one", "section_title": "One"}
    desk.call("input", action="upsert_section", name="times", expected_revision=1, **section)
    ref = {"section_key": "one", "ref_key": "left", "path": "src/ttl.py", "symbol": "left"}
    desk.call(
        "input", action="upsert_ref", name="times", expected_revision=2, ref_why="Never negative", **ref
    )
    assert {key: value for key, value in desk.known(symbol="left")[-1].items() if key != "from"} == {
        "kind": "ref",
        "text": "Never negative",
        "state": "exact",
        "at": "src/ttl.py:13-15",
    }


@pytest.mark.clause("KW-05")
def test_a_pack_is_found_by_the_name_of_a_file_that_it_is_about(desk: Desk) -> None:
    text = "# Times\n\n## Ends\n\nIt ends once: src/ttl.py#expiry.\n"
    desk.call("input", action="write", text=text, name="times", ttl_minutes=60)
    assert "Times" in desk.call("output", query="ttl.py")
    assert "No context packs" in desk.call("output", query="tls.py")
    (claim,) = [row for row in desk.known(symbol="expiry") if row["kind"] == "claim"]
    assert claim["text"] == "It ends once: src/ttl.py#expiry."


@pytest.mark.clause("KW-06")
@pytest.mark.parametrize(
    "tool, asked",
    [
        ("read_file", {"path": "src/ttl.py", "startLine": 5, "endLine": 8}),
        ("code_outline", {"path": "src/ttl.py"}),
        ("context_search", {"query": "expiry callers sort"}),
    ],
)
def test_the_rule_is_told_where_the_code_is_met(desk: Desk, tool: str, asked: dict[str, Any]) -> None:
    assert RULE in desk.call(tool, **asked)
    assert RULE not in desk.call("read_file", path="src/ttl.py", startLine=13, endLine=15)


@pytest.mark.clause("KW-06")
def test_of_much_knowledge_the_most_binding_comes_along_and_the_rest_is_counted(desk: Desk) -> None:
    for number in range(40):
        content = f"Pattern number {number} is about how an expiry is worked out, in quite some words"
        desk.call("context_record", type="pattern", content=content, path="src/ttl.py", symbol="expiry")
    known = json.loads(desk.call("read_file", path="src/ttl.py", startLine=5, endLine=8))["known"]
    assert RULE in "".join(known)
    assert len(json.dumps(known)) <= 300 * 2.5
    assert known[-1].startswith("and ")


@pytest.mark.clause("KW-08")
@pytest.mark.parametrize(
    "asked, words",
    [
        ({}, "say where"),
        ({"path": "src/ttl.py", "lines": "5", "symbol": "left"}, "leave one out"),
        ({"trace": "nothing happened"}, "names no file of this project"),
        ({"diff": "main"}, "give the text of the diff"),
        ({"symbol": "expiri"}, "expiry"),
        ({"path": "src/tll.py"}, "did you mean src/ttl.py?"),
        ({"path": "elsewhere", "lines": "3"}, "does not exist"),
        (
            {"path": "src/ttl.py", "lines": "9000-9001"},
            "lines 9000-9001 do not exist, and nothing is written",
        ),
    ],
)
def test_a_place_that_is_none_is_refused_with_what_to_do(
    desk: Desk, asked: dict[str, str], words: str
) -> None:
    answer = desk.registry.call("context_for", asked, QuietCall())
    assert answer.is_error
    assert words in answer.text
