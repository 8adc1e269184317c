"""What every adapter of `CollectionSources` does alike: over files on disk, and in a mapping."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from document_trees import lay
from inmemory.collections import MemoryCollections

from context_pack.documents.model import DocumentText, Failed, Survey
from context_pack.documents.ports import CollectionLocks, CollectionSources
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.collections.locks import FileLocks, ThreadLocks
from context_pack_adapters.collections.sources import DiskCollections
from context_pack_adapters.files.ignore import IgnoredPaths
from context_pack_adapters.files.private import PrivateFolder

Files = dict[str, str | bytes]
Make = Callable[[Files], CollectionSources]


@pytest.fixture(params=["disk", "memory"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    policy = PathPolicy(("hidden.md",))

    def disk(files: Files) -> CollectionSources:
        lay(tmp_path, files)
        return DiskCollections(tmp_path, tmp_path / ".store", policy, PrivateFolder(tmp_path / ".cache"))

    def memory(files: Files) -> CollectionSources:
        return MemoryCollections(dict(files), policy, lambda read: IgnoredPaths(read).ignores)

    return disk if request.param == "disk" else memory


def config(**places: str) -> str:
    return json.dumps({"collections": {alias: {"url": place} for alias, place in places.items()}})


def looked(sources: CollectionSources, alias: str = "docs", **options: Any) -> tuple[Survey, dict[str, Any]]:
    source = sources.open(sources.catalogue().collections[alias])
    survey = source.survey(**options)
    assert survey is not None
    found = list(source.read(sorted(survey.files)))
    texts: dict[str, Any] = {one.document: one.text for one in found if isinstance(one, DocumentText)}
    return survey, {**texts, **{one.document: one for one in found if isinstance(one, Failed)}}


@pytest.mark.clause("DC-05", "DC-08", "DC-20")
def test_a_folder_is_listed_and_read(make: Make) -> None:
    sources = make(
        {
            "context.json": config(docs="./docs"),
            "docs/a.md": "\ufeff# A",
            "docs/x/b.txt": "b",
            "docs/c.html": "c",
            "docs/bad.md": b"\xff",
            "docs/hidden.md": "h",
            "docs/drafts/d.md": "d",
            "docs/.gitignore": "drafts/\n",
            ".gitignore": "/docs/x/no.md\n",
            "docs/x/no.md": "n",
            "other/e.md": "e",
        }
    )
    survey, found = looked(sources, explain=True)
    assert sorted(survey.files) == ["a.md", "bad.md", "x/b.txt"]
    assert (found["a.md"], found["x/b.txt"], found["bad.md"].reason) == ("# A", "b", "it is not UTF-8")
    assert {"c.html", "hidden.md", "x/no.md"} <= {one.document for one in survey.skipped}
    assert looked(sources)[0].skipped == ()


@pytest.mark.clause("DC-04", "DC-06", "DC-07")
def test_a_manifest_is_followed_and_bad_entries_fail_alone(make: Make) -> None:
    digest = hashlib.sha256(b"good").hexdigest()
    files = [
        "a.md",
        {"path": "b.md", "hash": digest},
        {"path": "c.md", "hash": digest},
        "../up.md",
        "gone.md",
    ]
    manifest = {"name": "n", "version": "1", "description": "d", "sources": {"files": files}}
    sources = make(
        {
            "context.json": config(docs="pkg/manifest.json", same="pkg"),
            "pkg/manifest.json": json.dumps(manifest),
            **{f"pkg/{name}.md": text for name, text in (("a", "any"), ("b", "good"), ("c", "evil"))},
            "up.md": "SECRET",
        }
    )
    for alias in ("docs", "same"):
        survey, found = looked(sources, alias)
        assert (survey.about.name, survey.about.version, survey.about.description) == ("n", "1", "d")
        assert (found["a.md"], found["b.md"]) == ("any", "good")
        assert found["c.md"].reason.startswith("hash mismatch")
        assert [one.document for one in survey.failed] == ["../up.md", "gone.md"]


@pytest.mark.clause("DC-21")
def test_a_state_is_the_same_until_the_content_changes(make: Make, tmp_path: Path) -> None:
    sources = make({"context.json": config(docs="docs"), "docs/a.md": "one"})
    first = looked(sources)[0].files["a.md"].stamp
    if isinstance(sources, MemoryCollections):
        sources = make({"context.json": config(docs="docs"), "docs/a.md": "two"})
    else:
        lay(tmp_path, {"docs/a.md": "two"})
    assert looked(sources)[0].files["a.md"].stamp != first


@pytest.mark.clause("DC-01", "DC-30", "DC-10")
def test_the_configuration_is_read_and_edited_and_its_faults_are_listed(make: Make) -> None:
    sources = make({"context.json": config(docs="./docs", bad="ftp://x"), "docs/a.md": "a"})
    assert list(sources.catalogue().collections) == ["docs"]
    assert len(sources.catalogue().problems) == 1
    sources.configure("new", {"url": "./new"})
    sources.configure("bad", None)
    assert list(sources.catalogue().collections) == ["docs", "new"]
    assert sources.catalogue().problems == ()
    known = sources.catalogue().collections["docs"]
    assert sources.resolve("docs", "./docs/").id == known.id
    assert sources.resolve("docs", "./other").id != known.id
    with pytest.raises(Failure):
        sources.resolve("docs", "ftp://x")
    with pytest.raises(Failure) as missing:
        sources.open(sources.catalogue().collections["new"])
    assert missing.value.code is Code.NOT_FOUND
    assert missing.value.message == "there is no folder ./new"


@pytest.mark.parametrize("kind", ["disk", "memory"])
def test_collection_locks_admit_one_holder_at_a_time(kind: str, tmp_path: Path) -> None:
    from threading import Thread

    locks: CollectionLocks = FileLocks(PrivateFolder(tmp_path / "cache")) if kind == "disk" else ThreadLocks()
    inside = most = done = 0

    def work() -> None:
        nonlocal inside, most, done
        for _ in range(20):
            with locks.across_processes("a", lambda: None):
                inside += 1
                most = max(most, inside)
                inside -= 1
            with locks.in_process("b"):
                done += 1

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, done) == (1, 80)
    answers = iter([False, False, True])
    checks: list[int] = []
    locks.wait_until(lambda: next(answers), lambda: checks.append(1))
    assert len(checks) == 2
