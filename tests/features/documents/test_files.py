"""Folders and manifests on disk: what is a document, what fails alone, and that nothing outside is read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from file_trees import lay
from ordinary_user import ordinary_user

from context_pack.documents.model import DocumentText, Failed, Survey
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.collections.sources import DiskCollections
from context_pack_adapters.files.folder import PrivateFolder


def collections(root: Path, url: str = "./docs", deny: tuple[str, ...] = ()) -> DiskCollections:
    lay(root, {"context.json": json.dumps({"collections": {"docs": {"url": url}}})})
    cache = PrivateFolder(root / ".cache")
    return DiskCollections(root, root / ".agents/mcp/context_pack", PathPolicy(deny), cache)


def surveyed(sources: DiskCollections) -> Survey:
    survey = sources.open(sources.catalogue().collections["docs"]).survey()
    assert survey is not None
    return survey


def read(sources: DiskCollections) -> tuple[dict[str, str], dict[str, str]]:
    """Every document's text, and every failed one's reason."""
    source = sources.open(sources.catalogue().collections["docs"])
    survey = source.survey()
    assert survey is not None
    documents = list(source.read(list(survey.files)))
    failed = [*survey.failed, *(one for one in documents if isinstance(one, Failed))]
    texts = {one.document: one.text for one in documents if isinstance(one, DocumentText)}
    return texts, {one.document: one.reason for one in failed}


@pytest.mark.clause("DC-05")
def test_a_plain_folder_holds_its_texts_but_for_hidden_ones_and_ours(tmp_path: Path) -> None:
    names = [
        *("docs/a.md", "docs/x/b.txt", "docs/c.html", "docs/.hidden/d.rst", "docs/drafts/e.md"),
        *("docs/private.md", "docs/node_modules/f.md", "docs/secret.md", "docs/inner/g.md", "outside.md"),
        *("docs/x/c.md", ".agents/mcp/context_pack/packs/pk_aaaaaaaa.md"),
    ]
    lay(tmp_path, dict.fromkeys(names, "text"))
    lay(tmp_path, {"docs/.gitignore": "drafts/\n", ".gitignore": "docs/private.md\n"})
    os.mkfifo(tmp_path / "docs/fifo.md")
    deny = ("secret.md", "docs/inner/**", "x/c.md")
    sources = collections(tmp_path, deny=deny)
    assert sorted(surveyed(sources).files) == [".hidden/d.rst", "a.md", "x/b.txt"]
    whole = surveyed(collections(tmp_path, ".", deny)).files
    assert {"docs/a.md", "outside.md"} <= whole.keys()
    assert not any(".agents" in name for name in whole)


@pytest.mark.clause("DC-03", "DC-05")
def test_a_single_file_is_a_collection_of_one_document(tmp_path: Path) -> None:
    lay(tmp_path, {"README.md": "# Read me", "other.md": "o", ".env": "TOKEN=1"})
    assert read(collections(tmp_path, "./README.md")) == ({"README.md": "# Read me"}, {})
    with pytest.raises(Failure, match="denies"):
        surveyed(collections(tmp_path, "./.env"))


@pytest.mark.clause("DC-06")
def test_a_link_in_a_folder_is_no_document(tmp_path: Path) -> None:
    lay(tmp_path, {"docs/a.md": "inside", "secret.md": "SECRET", "far/x.md": "SECRET"})
    for name, target in (
        ("out.md", tmp_path / "secret.md"),
        ("up.md", "../secret.md"),
        ("in.md", "a.md"),
        ("gone.md", "nowhere.md"),
        ("folder", tmp_path / "far"),
        ("round", "."),
    ):
        (tmp_path / "docs" / name).symlink_to(target)
    texts, failed = read(collections(tmp_path))
    assert (texts, failed) == ({"a.md": "inside"}, {})


@pytest.mark.clause("DC-04", "DC-06")
def test_a_manifest_with_files_fails_entry_by_entry(tmp_path: Path) -> None:
    body = "good\n"
    entries: list[Any] = [
        *("a.md", {"path": "b.md"}, "in.md", "../secret.md", "/etc/passwd", "missing.md", "link.md"),
        *("ignored.md", ".env", "folder"),
    ]
    manifest = {"name": "pkg", "version": "2", "description": "d", "sources": {"files": entries}}
    files = {f"pkg/{name}.md": body for name in ("a", "b", "c", "ignored")}
    lay(tmp_path, {"pkg/manifest.json": json.dumps(manifest), **files, "secret.md": "SECRET"})
    lay(tmp_path, {"pkg/.env": "TOKEN=1", "pkg/.gitignore": "ignored.md", "pkg/folder/x.md": "x"})
    (tmp_path / "pkg/link.md").symlink_to("../secret.md")
    (tmp_path / "pkg/in.md").symlink_to("c.md")
    for place in ("pkg/manifest.json", "pkg"):
        sources = collections(tmp_path, place)
        assert surveyed(sources).about.version == "2"
        texts, failed = read(sources)
        assert texts == {"a.md": body, "b.md": body, "in.md": body}
        assert failed.pop("../secret.md").startswith("outside the collection")
        assert failed.pop("/etc/passwd").startswith("outside the collection")
        assert failed == {
            "missing.md": "there is no such file",
            "link.md": "it leads outside the collection",
            "ignored.md": "ignored by .gitignore",
            ".env": "the path policy denies it",
            "folder": "it is not a regular file",
        }


@pytest.mark.clause("DC-04")
def test_a_manifest_of_ours_is_followed_also_while_it_is_broken(tmp_path: Path) -> None:
    lay(tmp_path, {"docs/a.md": "# A", "docs/drafts/b.md": "# B"})
    manifest = tmp_path / "docs/manifest.json"
    manifest.write_text('{"name": "n", "version": "1", "sources": {"glob": ["**/*.md", "!drafts/**"]}}')
    assert list(surveyed(collections(tmp_path)).files) == ["a.md"]
    manifest.write_text('{"name": "n", "version": "1" "sources": {"glob": ["**/*.md", "!drafts/**"]}}')
    with pytest.raises(Failure, match="not valid JSON"):
        surveyed(collections(tmp_path))
    for another in ("{{ a template of something else }}", '{"manifest_version": 3}'):
        manifest.write_text(another)
        assert sorted(surveyed(collections(tmp_path)).files) == ["a.md", "drafts/b.md"]


@pytest.mark.clause("DC-20")
def test_what_cannot_be_a_document_fails_with_its_reason(tmp_path: Path) -> None:
    deep = "/".join(["d" * 240] * 4)
    lay(
        tmp_path,
        {
            "docs/a.md": "\ufeff# ok",
            "docs/b.md": b"\xff\xfe\xfa",
            "docs/c.md": b"a\0b",
            "docs/d.md": b"x" * (11 << 20),
            "docs/new\nline.md": "n",
            "docs/new\nline.png": "no document anyway",
            "docs/ignored\n.md": "i",
            "docs/odd\x01folder/b.md": "b",
            f"docs/{deep}/{'e' * 100}.md": "e",
            "docs/.gitignore": "ignored*\n",
        },
    )
    texts, failed = read(collections(tmp_path))
    assert texts == {"a.md": "# ok"}
    assert failed == {
        "b.md": "it is not UTF-8",
        "c.md": "it is not text",
        "d.md": "it is larger than 10485760 bytes",
        "new?line.md": "its path must not hold control characters",
        "odd?folder/": "its path must not hold control characters",
        f"{'d' * 80}…": "its path must have at most 1024 bytes",
    }


@pytest.mark.clause("DC-10")
@pytest.mark.parametrize("place", ["./nowhere", "{root}/nowhere", "none/manifest.json", f"./{'x' * 300}"])
def test_a_missing_source_is_reported_without_its_absolute_path(tmp_path: Path, place: str) -> None:
    with pytest.raises(Failure) as refused:
        surveyed(collections(tmp_path, place.format(root=tmp_path)))
    assert refused.value.code is (Code.IO_ERROR if "xxx" in place else Code.NOT_FOUND)
    assert str(tmp_path) not in refused.value.message


@pytest.mark.clause("DC-01")
def test_a_configuration_that_is_not_utf8_is_a_problem_and_is_not_overwritten(tmp_path: Path) -> None:
    sources = collections(tmp_path)
    before = '{"collections": {"größe": {"url": "docs"}}}'.encode("latin-1")
    lay(tmp_path, {"context.json": before})
    assert sources.catalogue().problems[0].startswith("context.json: it is not UTF-8")
    with pytest.raises(Failure, match="not UTF-8"):
        sources.configure("more", {"url": "docs"})
    assert (tmp_path / "context.json").read_bytes() == before


@pytest.mark.clause("DC-20")
def test_a_folder_that_cannot_be_listed_or_entered_is_not_one_without_documents(tmp_path: Path) -> None:
    lay(tmp_path, {"docs/a.md": "# A", "docs/closed/b.md": "# B", "docs/listed/c.md": "# C"})
    sources = collections(tmp_path)
    (tmp_path / "docs/closed").chmod(0)
    (tmp_path / "docs/listed").chmod(0o400)
    with ordinary_user():
        survey = surveyed(sources)
    assert list(survey.files) == ["a.md"]
    assert [(one.document, one.reason) for one in survey.failed] == [
        ("closed/", "the folder cannot be listed"),
        ("listed/c.md", "it cannot be read"),
    ]
    for mode in (0, 0o100):
        (tmp_path / "docs").chmod(mode)
        with ordinary_user(), pytest.raises(Failure, match="permission denied"):
            surveyed(sources)


@pytest.mark.clause("DC-09")
def test_an_id_belongs_to_the_source_and_the_project_and_not_to_its_spelling(tmp_path: Path) -> None:
    ids = list[str]()
    for name, place in (("one", "./docs"), ("one", "docs/"), ("two", "./docs"), ("two", "./other")):
        lay(tmp_path / name, {"docs/a.md": "a", "other/a.md": "a"})
        ids.append(collections(tmp_path / name, place).catalogue().collections["docs"].id)
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3
    assert ids[0].startswith("docs-")
