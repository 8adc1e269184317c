"""`context.json`: what it configures, its faults, and edits that keep the rest; globs of `manifest.json`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from context_pack.documents.config import check_entry, edited, parse_config, set_collection
from context_pack.documents.manifest import PLAIN_GLOBS, matcher, parse_manifest
from context_pack.documents.model import Collection
from context_pack.documents.places import PlaceKind, SourceAddress, parse_where
from context_pack.kernel.errors import Failure


def collection(alias: str, body: Any) -> Collection:
    """The collection that an entry configures."""
    return Collection(alias, "id", check_entry(alias, body))


def edit(text: str | None, alias: str, entry: dict[str, str] | None) -> Any:
    """What a file holds after a collection was set or removed."""
    return json.loads(edited(text, lambda value: set_collection(value, alias, entry)))


def config(**collections: object) -> str:
    return json.dumps({"collections": collections})


@pytest.mark.clause("DC-01")
def test_a_bad_entry_is_reported_and_the_others_load() -> None:
    good = {"url": "a", "description": "ours", "shared": True}
    wrong: dict[str, object] = {
        "number": {"url": 3},
        "text": "x",
        "far": {"url": "https://x/y"},
        "told": {"url": "a", "description": 3},
        "team": {"url": "a", "shared": "yes"},
        "line\nbreak": {"url": "a"},
    }
    catalogue = parse_config(config(good=good, **wrong), "context.json", collection)
    (entry,) = catalogue.collections.values()
    assert (entry.alias, entry.where.place) == ("good", "a")
    assert len(catalogue.problems) == len(wrong)
    assert all(problem.startswith("context.json: collection '") for problem in catalogue.problems)
    assert "a repository is git+https://…" in catalogue.problems[2]


@pytest.mark.clause("DC-01")
@pytest.mark.parametrize("text", ["", "{", "[]", '{"collections": []}', "[" * 100_000])
def test_a_file_that_is_no_configuration_is_a_problem_and_is_not_overwritten(text: str) -> None:
    catalogue = parse_config(text, "context.json", collection)
    assert catalogue.collections == {}
    assert len(catalogue.problems) == 1
    assert catalogue.problems[0].startswith("context.json: ")
    if text:
        with pytest.raises(Failure, match="mend it first"):
            edit(text, "a", {"url": "x"})


@pytest.mark.clause("DC-30")
def test_an_edit_keeps_everything_else() -> None:
    before = json.dumps({"theme": "dark", "collections": {"a": {"url": "x", "mine": 1}}})
    added = edit(before, "b", {"url": "y"})
    assert added == {"theme": "dark", "collections": {"a": {"url": "x", "mine": 1}, "b": {"url": "y"}}}
    changed = edit(before, "a", {"url": "z"})
    assert changed["collections"]["a"] == {"url": "z", "mine": 1}
    assert edit(before, "a", None) == {"theme": "dark", "collections": {}}
    assert edit(None, "a", {"url": "x"}) == {"collections": {"a": {"url": "x"}}}
    with pytest.raises(Failure):
        edit(None, "x" * 201, {"url": "x"})


@pytest.mark.clause("DC-03")
@pytest.mark.parametrize(
    "url, expected",
    [
        ("./docs", SourceAddress(PlaceKind.FOLDER, "./docs")),
        (" docs/ ", SourceAddress(PlaceKind.FOLDER, "docs/")),
        ("pkg/manifest.json", SourceAddress(PlaceKind.MANIFEST, "pkg/manifest.json")),
        ("file:///srv/my%20docs", SourceAddress(PlaceKind.FOLDER, "/srv/my docs")),
        ("file://localhost/srv/a", SourceAddress(PlaceKind.FOLDER, "/srv/a")),
        ("git+file:///srv/repo", SourceAddress(PlaceKind.GIT, "file:///srv/repo")),
        ("git+https://host/a/b.git#v1.2", SourceAddress(PlaceKind.GIT, "https://host/a/b.git", "v1.2")),
        (
            "git+ssh://git@host/a/b.git#main?manifest=docs/manifest.json",
            SourceAddress(PlaceKind.GIT, "ssh://git@host/a/b.git", "main", "docs/manifest.json"),
        ),
        (
            "git+https://me:secret@[::1]:8443/a",
            SourceAddress(PlaceKind.GIT, "https://me:secret@[::1]:8443/a"),
        ),
        (
            "git+https://host/a?manifest=./m.json#feature/x",
            SourceAddress(PlaceKind.GIT, "https://host/a", "feature/x", "m.json"),
        ),
    ],
)
def test_every_shape_of_a_place_is_understood(url: str, expected: SourceAddress) -> None:
    assert parse_where(url) == expected


@pytest.mark.clause("DC-03")
@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://host/docs",
        "https://host/docs.tar.gz",
        "file://host/x",
        "git+http://host/a",
        "git+ext::sh -c id",
        "git+https://",
        "git+ssh://-oProxyCommand=id/x",
        "git+https://host/a#--upload-pack=id",
        "git+https://host/a#a..b",
        "git+https://host/a#x y",
        "git+https://host/a#main?manifest=../m.json",
        "git+https://host/a?depth=1",
        "git+https://me:pass/word@host/a",
        "git+https://me:pass#word@host/a",
        "git+https:me:pass/word@host/a",
        "git+https:host/a",
        "git+https:///host/a",
        "git+https://me@/a",
        "docs\x00evil",
        "d" * 3000,
    ],
)
def test_a_url_that_is_no_place_or_looks_like_an_option_is_refused(url: str) -> None:
    with pytest.raises(Failure) as refused:
        parse_where(url)
    assert "'url' is not a place for documents" in refused.value.message


@pytest.mark.clause("DC-36")
@pytest.mark.parametrize(
    "url, shown, name",
    [
        ("git+https://me:hidden@host/a/b.git", "https://host/a/b.git", "b"),
        ("git+https://hidden@host:8443/@scope/b", "https://host:8443/@scope/b", "b"),
        ("git+https://me:hidden@host", "https://host", "host"),
        ("git+ssh://git:hidden@host/a", "ssh://git@host/a", "a"),
        ("git+ssh://git@host/a", "ssh://git@host/a", "a"),
        ("git+file:///srv/a@b/c", "file:///srv/a@b/c", "c"),
        ("./me:some@folder", "./me:some@folder", "me:some@folder"),
    ],
)
def test_a_place_is_shown_without_its_credentials(url: str, shown: str, name: str) -> None:
    where = parse_where(url)
    assert (where.shown, where.name) == (shown, name)
    assert "hidden" not in repr(collection("x", {"url": url}))


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
