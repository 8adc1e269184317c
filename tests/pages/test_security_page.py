"""The page on security names its proofs, and they are there."""

from __future__ import annotations

import ast
import re

from pages import ROOT, contract

PAGE = (ROOT / "docs/security.md").read_text("utf-8")


def test_every_promise_of_the_security_page_names_tests_that_exist() -> None:
    promised = PAGE.partition("## What is promised\n")[2].partition("\n## ")[0]
    for promise in re.split(r"\n(?=\*\*)", promised.strip()):
        named = re.findall(r"^- `(tests/\S+\.py)::(\w+)`$", promise, re.MULTILINE)
        assert named, promise
        assert len(named) == len(re.findall(r"^- ", promise, re.MULTILINE)), promise
        missing = [f"{file}::{test}" for file, test in named if test not in names_in(file)]
        assert not missing


def names_in(file: str) -> set[str]:
    """The names of the tests in a file; none where there is no such file."""
    path = ROOT / file
    tree = ast.parse(path.read_text("utf-8") if path.is_file() else "")
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_security_page_names_promises_of_the_contract() -> None:
    promised = contract()
    named = re.findall(r"\b[A-Z]{2,4}-\d{2}\b", PAGE)
    assert named
    assert not [one for one in named if f"- **{one}**" not in promised]


def test_the_readme_leads_to_the_security_page() -> None:
    assert "(docs/security.md)" in (ROOT / "README.md").read_text("utf-8")
