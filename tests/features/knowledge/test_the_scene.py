"""A rule about one function: told where the code is met, doubted when it changed, settled once read."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

RULE = "An expiry is never in the past: callers sort by it"
TTL = '''"""Times to live."""


def expiry(now, minutes):
    """When something ends that lives so many minutes."""
    return now + minutes
'''


@pytest.fixture
def run(tmp_path: Path) -> CommandLine:
    """Commands in a project with the rule."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/ttl.py").write_text(TTL)
    run = CommandLine(tmp_path)
    arguments = ("type=rule", f"content={RULE}", "path=src/ttl.py", "symbol=expiry")
    assert run("call", "context_record", *arguments).code == 0
    return run


@pytest.mark.clause("KW-06")
@pytest.mark.parametrize(
    "words",
    [
        ("about", "src/ttl.py"),
        ("about", "src/ttl.py:5"),
        ("about", "src/ttl.py#expiry"),
        ("call", "read_file", "path=src/ttl.py"),
        ("call", "code_outline", "path=src/ttl.py"),
        ("call", "context_for", "symbol=expiry"),
        ("call", "context_search", "query=expiry callers sort"),
    ],
)
def test_the_rule_is_told_where_the_code_is_met(run: CommandLine, words: tuple[str, ...]) -> None:
    done = run(*words)
    assert (done.code, RULE in done.out) == (0, True), done


@pytest.mark.clause("KW-07", "KW-09", "KW-11")
def test_a_change_fails_the_gate_with_its_diff_until_the_rule_is_accepted(
    run: CommandLine, tmp_path: Path
) -> None:
    assert run("verify").code == 0
    (tmp_path / "src/ttl.py").write_text(TTL.replace("now + minutes", "now + 60 * minutes"))
    failed = run("verify", "--diff")
    assert failed.code == 1
    assert "+    return now + 60 * minutes" in failed.out
    assert "::error file=src/ttl.py,line=4" in run("verify", "--github").out
    assert "read again" in run("about", "src/ttl.py").out
    (row,) = run("verify", "--json").json["rows"]
    assert run("memory", "accept", row["from"].removeprefix("discovery ")).code == 0
    assert run("verify").code == 0
