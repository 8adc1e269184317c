"""Patterns of published schemas: valid for a reader that compiles them as `new RegExp(pattern, "u")`.

With the `u` flag only some characters may stand behind a backslash, and brackets must be in pairs; a client
that compiles strictly could otherwise never call the tool. Checked by those rules, and by node where it is.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

_ESCAPE = re.compile(
    r"""[\^$\\.*+?()\[\]{}|/]         # syntax characters stand for themselves
    |[dDsSwWbB]|[fnrtv]|0(?![0-9])        # classes, borders, control characters
    |c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}
    |[pP]\{[A-Za-z_=]+\}|[1-9]|k<[A-Za-z_]+>""",
    re.VERBOSE,
)
COMPILE = "for (const p of JSON.parse(require('fs').readFileSync(0, 'utf8'))) new RegExp(p, 'u')"


def fault_of(pattern: str) -> str | None:
    """Why a strict reader refuses a pattern, if it does."""
    at, in_class = 0, False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            escape = _ESCAPE.match(pattern, at + 1)
            if escape is None and not (in_class and pattern[at + 1 : at + 2] == "-"):
                return f"\\{pattern[at + 1 : at + 2]} is no escape"
            at += 1 + (1 if escape is None else len(escape[0]))
            continue
        if in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "]}" or (char == "{" and not re.match(r"\{\d+(,\d*)?\}", pattern[at:])):
            return f"{char} stands alone"
        elif char == "{":
            at = pattern.index("}", at)
        at += 1
    return "a class is not closed" if in_class else None


def patterns(schema: Any) -> Iterator[str]:
    """Every pattern in a schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        for value in schema.values():
            yield from patterns(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from patterns(value)


@pytest.mark.clause("PG-04")
def test_every_published_pattern_is_valid_with_the_unicode_flag(listed_tools: list[dict[str, Any]]) -> None:
    published = sorted(set(patterns(listed_tools)))
    assert published
    assert {pattern: why for pattern in published if (why := fault_of(pattern)) is not None} == {}
    if node := shutil.which("node"):
        done = subprocess.run(
            [node, "-e", COMPILE], input=json.dumps(published), text=True, capture_output=True
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.clause("PG-04")
@pytest.mark.parametrize(
    ("pattern", "valid"),
    [
        (r"^[^\s\"'`()]+$", False),
        ("^[^\\s\"'`()]+$", True),
        (r"\S", True),
        (r"^[a-z0-9][a-z0-9_-]{1,63}$", True),
        (r"a{", False),
        (r"a]", False),
        (r"\-", False),
        (r"[\-a]", True),
        (r"\u{1F600}\p{L}", True),
        (r"[a", False),
    ],
)
def test_the_rules_are_those_of_a_strict_reader(pattern: str, valid: bool) -> None:
    assert (fault_of(pattern) is None) is valid
    if node := shutil.which("node"):
        done = subprocess.run(
            [node, "-e", COMPILE], input=json.dumps([pattern]), text=True, capture_output=True
        )
        assert (done.returncode == 0) is valid
