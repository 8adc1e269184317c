"""`manifest.json`: globs with exclusions, named files, and entries that fail alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from context_pack.documents.manifest import PLAIN_GLOBS, matcher, parse_manifest
from context_pack.kernel.errors import Failure


def manifest(sources: Any, **more: Any) -> str:
    return json.dumps({"name": "guide", "version": "1.0", "sources": sources, **more})


@pytest.mark.clause("DC-06")
def test_a_glob_that_leads_out_fails_alone() -> None:
    bad = ["../**/*.md", "/etc/*.md", "a/../../*.md", "{b,..}/*.md", "C:/x/*.md", "..\\*.md"]
    found = parse_manifest(manifest({"glob": ["**/*.md", "!../drafts/**", *bad]}))
    assert [one.document for one in found.failed] == bad
    assert all("outside the collection" in one.reason for one in found.failed)
    assert found.wants("a.md")
    assert not parse_manifest(manifest({"glob": bad})).wants("a.md")


@pytest.mark.clause("DC-04")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        json.dumps({"name": "x", "sources": {"glob": ["*"]}}),
        json.dumps({"name": 3, "version": "1", "sources": {"glob": ["*"]}}),
        manifest({}),
        manifest({"glob": ["a"], "files": []}),
        manifest({"glob": []}),
        manifest({"glob": ["{a"]}),
        manifest({"glob": ["{a,b}" * 9]}),
        manifest({"glob": ["{a,b,c}{d,e,f}*.md"] * 30}),
        manifest({"files": "a.md"}),
        "[" * 100_000,
    ],
)
def test_a_text_that_is_no_manifest_is_an_error_message(text: str) -> None:
    with pytest.raises(Failure) as refused:
        parse_manifest(text)
    assert refused.value.message.startswith("manifest.json cannot be used: ")


@pytest.mark.clause("DC-04")
@pytest.mark.parametrize(
    "globs, wanted, unwanted",
    [
        (["*.md"], ["a.md"], ["x/a.md", "a.mdx"]),
        (["**/*.md"], ["a.md", "x/a.md", "x/y/.hidden/a.md"], ["a.md/x"]),
        (["docs/**"], ["docs/a.md", "docs/x/y.txt"], ["docs", "other/a.md"]),
        (["docs/**/*.md"], ["docs/a.md", "docs/x/b.md"], ["a.md", "docs/c.txt"]),
        (["docs/**/index.md"], ["docs/index.md", "docs/a/b/index.md"], ["index.md"]),
        (["./a?c.md", "x[0-9].md"], ["abc.md", "x7.md"], ["ac.md", "xy.md"]),
        (["{a,b/{c,d}}.md"], ["a.md", "b/c.md", "b/d.md"], ["c.md"]),
        (["**/*.md", "!**/draft-*.md", "!old"], ["a.md"], ["x/draft-1.md", "old/a.md", "old/x/b.md"]),
        (["!a.md", "**/*.md"], ["b.md"], ["a.md"]),
        (["docs/"], ["docs/a.md"], ["docs"]),
        (list(PLAIN_GLOBS), ["a.md", "b.mdx", "c.markdown", "d.rst", "x/e.txt"], ["a.html", "md"]),
    ],
)
def test_globs_mean_what_people_expect(globs: list[str], wanted: list[str], unwanted: list[str]) -> None:
    wants = matcher(tuple(globs))
    assert [path for path in [*wanted, *unwanted] if wants(path)] == wanted
