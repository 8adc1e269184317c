"""Where collections come from: every shape of a place, and what is refused."""

from __future__ import annotations

import pytest

from context_pack.documents.config import PlaceKind, SourceAddress, entry_of, parse_where
from context_pack.kernel.errors import Failure


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
        "   ",
        "http://host/docs",
        "https://host/docs.tar.gz",
        "ftp://host/x",
        "file://host/x",
        "file://docs",
        "git+http://host/a",
        "git+ext::sh -c id",
        "git+https://",
        "git+ssh://-oProxyCommand=id/x",
        "git+ssh://git@-oProxyCommand=id/x",
        "git+https://host/a#--upload-pack=id",
        "git+https://host/a#a..b",
        "git+https://host/a#x y",
        "git+https://host/a#main?manifest=../m.json",
        "git+https://host/a#main?manifest=/etc/passwd",
        "git+https://host/a?depth=1",
        "git+https://me:pass/word@host/a",
        "git+https://me:p@ss@host/a",
        "git+https://me:pass#word@host/a",
        "docs\x00evil",
        "d" * 3000,
    ],
)
def test_a_url_that_is_no_place_or_looks_like_an_option_is_refused(url: str) -> None:
    with pytest.raises(Failure) as refused:
        parse_where(url)
    assert "'url' is not a place for documents" in refused.value.message


@pytest.mark.parametrize(
    "url, name",
    [
        ("./docs", "docs"),
        (".", "documents"),
        ("pkg/manifest.json", "pkg"),
        ("git+https://h/x/repo.git#main", "repo"),
    ],
)
def test_a_place_has_a_name_for_people(url: str, name: str) -> None:
    assert parse_where(url).name == name


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
    assert "hidden" not in repr(where) + repr(entry_of("x", {"url": url}))


def test_a_bare_repository_address_suggests_the_git_spelling() -> None:
    with pytest.raises(Failure, match=r"a repository is git\+https://…"):
        parse_where("https://example.org/library.git")
