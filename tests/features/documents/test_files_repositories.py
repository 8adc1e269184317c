"""What a project may name, what only its user may, and what git is given when it goes out for either."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from file_trees import committed, git, lay, modes

from context_pack.documents.model import DocumentText, Survey
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.collections.sources import DiskCollections
from context_pack_adapters.files.folder import PrivateFolder

SECRET = "TOKEN=only-for-the-user"


def collections(
    project: Path, url: str, allowed_roots: tuple[str, ...] = (), allow: dict[str, bool] | None = None
) -> DiskCollections:
    """A project that names one place, and beside it the user's own configuration."""
    lay(project, {"context.json": json.dumps({"collections": {"it": {"url": url}}})})
    permits = {address: {"credentials": given} for address, given in (allow or {}).items()}
    user = project.parent / "config/context.json"
    lay(user.parent, {"context.json": json.dumps({"allowed": permits})})
    cache = PrivateFolder(project.parent / "cache")
    return DiskCollections(project, project / ".s", PathPolicy(), cache, user, allowed_roots)


def documents(sources: DiskCollections, fetch: bool = False, name: str = "it") -> list[str]:
    survey = sources.open(sources.catalogue().collections[name], fetch).survey()
    assert survey is not None
    return sorted(survey.files)


def refused(sources: DiskCollections, fetch: bool = False) -> Failure:
    with pytest.raises(Failure) as caught:
        documents(sources, fetch)
    return caught.value


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with documents, beside a home with a note that is none of its business."""
    home = tmp_path / "home"
    lay(home, {"notes/private.md": SECRET})
    monkeypatch.setenv("HOME", str(home))
    lay(tmp_path / "project", {"docs/a.md": "# A", "docs/manifest.json": "{}"})
    (tmp_path / "project/way-out").symlink_to(home / "notes")
    (tmp_path / "project/deep").mkdir()
    (tmp_path / "project/deep/home").symlink_to(home)
    (tmp_path / "project/way-in").symlink_to("docs")
    return tmp_path / "project"


OUTSIDE = [
    "~",
    "~/notes",
    "../home/notes",
    "docs/../../home/notes",
    "{home}/notes",
    "file://{home}/notes",
    "way-out",
    "deep/home/notes",
    "way-out/private.md/../manifest.json",
]


@pytest.mark.clause("DC-14")
@pytest.mark.parametrize("place", OUTSIDE)
def test_a_place_outside_that_a_project_names_is_refused_with_what_to_do(project: Path, place: str) -> None:
    failure = refused(collections(project, place.format(home=project.parent / "home")))
    assert failure.code is Code.PERMISSION_DENIED
    assert "docs add NAME PLACE --user" in failure.message
    assert "CONTEXT_PACK_ALLOWED_ROOTS" in failure.message
    assert str(project.parent) not in failure.message


@pytest.mark.clause("DC-14")
@pytest.mark.parametrize("place", ["docs", "./docs/", "way-in", "file://{project}/docs", "docs/../docs"])
def test_a_place_inside_may_be_named_in_any_way(project: Path, place: str) -> None:
    assert documents(collections(project, place.format(project=project))) == ["a.md"]


@pytest.mark.clause("DC-14")
def test_folders_that_the_user_allows_may_be_named(project: Path) -> None:
    notes = str(project.parent / "home/notes")
    for place in ("~/notes", notes, "../home/notes"):
        assert documents(collections(project, place, (notes,))) == ["private.md"]
    for place in ("~", "way-out"):  # a link in the project leads nowhere, whatever is allowed
        refused(collections(project, place, (notes,)))


@pytest.mark.clause("DC-01", "DC-10")
def test_the_user_s_own_file_may_name_any_place_that_is_not_denied(project: Path) -> None:
    home = project.parent / "home"
    lay(home, {".ssh/notes.md": "key"})
    (home / "way").symlink_to(home / ".ssh")
    sources = collections(project, "docs")
    for place in ("../home/notes", str(home / "notes"), f"file://{home}/notes"):
        sources.configure("mine", {"url": place}, user_wide=True)
        assert documents(sources, name="mine") == ["private.md"]
    for place in ("../home/.ssh", "../home/way", "../project/way-out"):
        sources.configure("mine", {"url": place}, user_wide=True)
        with pytest.raises(Failure):
            documents(sources, name="mine")
    sources.configure("it", {"url": "../home/notes"}, user_wide=True)
    assert sources.catalogue().collections["it"].where.place == str(project / "docs"), "the project's wins"


@pytest.mark.clause("DC-14")
def test_a_configuration_that_is_a_link_out_is_neither_read_nor_written(project: Path) -> None:
    sources = collections(project, "docs")
    target = project.parent / "home/other.json"
    (project / "context.json").rename(target)
    before = target.read_bytes()
    (project / "context.json").symlink_to(target)
    assert "a link, perhaps" in sources.catalogue().problems[0]
    assert sources.catalogue().collections == {}
    with pytest.raises(Failure, match="link"):
        sources.configure("more", {"url": "docs"})
    assert target.read_bytes() == before


@pytest.mark.clause("DC-14")
@pytest.mark.parametrize("planted", ["shallow", "packed-refs", "objects/info/alternates", None])
def test_git_never_opens_a_repository_inside_the_project(
    project: Path, planted: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought = committed(project / "brought", {"a.md": "# Far"})
    if planted is not None:
        lay(project.parent / "home", {"secret": SECRET})
        (brought / ".git" / planted).unlink(missing_ok=True)
        (brought / ".git" / planted).symlink_to(project.parent / "home/secret")
    trace = project.parent / "trace"
    monkeypatch.setenv("GIT_TRACE", str(trace))
    roots = (str(project.parent),)  # even where the user allows the folder around it
    failure = refused(collections(project, f"git+file://{brought}", roots), fetch=True)
    assert failure.code is Code.PERMISSION_DENIED
    assert "repository on this disk" in failure.message
    assert not trace.exists(), "git was started"


@pytest.mark.clause("DC-15")
@pytest.mark.parametrize(
    ("url", "command"),
    [
        ("git+https://example.invalid/team/docs.git#main", "https://example.invalid/team/docs"),
        ("git+https://someone@EXAMPLE.invalid/team/docs/", "https://example.invalid/team/docs"),
        ("git+ssh://git@example.invalid/team/docs", "ssh://example.invalid/team/docs"),
        ("git+https://example.invalid/a;$(rm)`x`", "'https://example.invalid/a;$(rm)`x`'"),
        ("git+https://example.invalid/it's", "'https://example.invalid/it'\"'\"'s'"),
    ],
)
def test_a_repository_that_was_not_allowed_is_refused_with_the_command_to_run(
    project: Path, url: str, command: str
) -> None:
    for fetch in (False, True):
        failure = refused(collections(project, url), fetch)
        assert failure.code is Code.PERMISSION_DENIED
        assert failure.message.endswith(f"if you trust it, run: context-pack docs allow {command}")


@pytest.mark.clause("DC-15")
@pytest.mark.parametrize(
    "other",
    [
        "https://example.invalid/team/other",
        "https://example.invalid/team/docs/more",
        "https://example.invalid/team/docs/../other",
        "https://example.invalid:444/team/docs",
        "https://sub.example.invalid/team/docs",
        "ssh://example.invalid/team/docs",
    ],
)
def test_a_permit_covers_one_address_and_is_ignored_in_project_files(project: Path, other: str) -> None:
    sources = collections(project, f"git+{other}", allow={"https://example.invalid/team/docs": True})
    assert "not allowed yet" in refused(sources).message
    text = {"collections": {"it": {"url": f"git+{other}"}}, "allowed": {other: {"credentials": True}}}
    lay(project, {"context.json": json.dumps(text)})
    assert "not allowed yet" in refused(sources).message


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A decoy `ssh` that keeps what it was given and says a secret; the folder that it keeps it in."""
    folder = tmp_path / "decoy"
    folder.mkdir()
    script = folder / "ssh"
    script.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder}/words\nenv > {folder}/environment\n'
        f'echo "fatal: {SECRET}: permission denied" >&2\nexit 255\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    monkeypatch.delenv("GIT_SSH_COMMAND", raising=False)
    return folder


def given(folder: Path) -> tuple[list[str], dict[str, str]]:
    rows = (row.partition("=") for row in (folder / "environment").read_text().splitlines())
    return (folder / "words").read_text().splitlines(), {name: value for name, _, value in rows}


@pytest.mark.clause("DC-15")
def test_ssh_gets_no_keys_and_no_agent_unless_it_was_allowed_with_credentials(
    project: Path, ssh: Path
) -> None:
    address = "ssh://example.invalid/team/docs"
    failure = refused(collections(project, f"git+{address}", allow={address: False}), fetch=True)
    words, variables = given(ssh)
    assert failure.message == (
        "the repository could not be fetched: access was refused; it was asked without your credentials"
    )
    assert {"-F", "/dev/null", "-oIdentitiesOnly=yes", "-oIdentityAgent=none"} <= set(words)
    assert "SSH_AUTH_SOCK" not in variables
    assert variables["HOME"] == "/dev/null"
    failure = refused(collections(project, f"git+{address}", allow={address: True}), fetch=True)
    words, variables = given(ssh)
    assert failure.message == "the repository could not be fetched: access was refused"
    assert "-F" not in words
    assert variables["HOME"] == str(project.parent / "home")
    assert "SSH_AUTH_SOCK" in variables


@pytest.fixture
def https(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that wants a password; its address, and the headers of every request it got."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", *words, *files], check=True, capture_output=True)
    seen: list[dict[str, Any]] = []

    class Wants(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(dict(self.headers))
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Wants)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("GIT_SSL_NO_VERIFY", "1")
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    yield f"https://localhost:{server.server_port}/docs", seen
    server.shutdown()
    server.server_close()


@pytest.mark.clause("DC-15")
def test_https_gets_no_password_unless_it_was_allowed_with_credentials(
    project: Path, https: tuple[str, list[dict[str, Any]]]
) -> None:
    address, seen = https
    home = project.parent / "home"
    helper = "!f() { echo username=me; echo password=secret; }; f"
    lay(
        home,
        {
            ".netrc": "machine localhost login me password secret\n",
            ".gitconfig": f'[credential]\n\thelper = "{helper}"\n[http]\n\textraHeader = "X-Key: secret"\n',
        },
    )
    failure = refused(collections(project, f"git+{address}", allow={address: False}), fetch=True)
    assert failure.message.startswith("the repository could not be fetched: access was refused")
    assert seen
    assert [headers for headers in seen if "Authorization" in headers or "X-Key" in headers] == []
    seen.clear()
    refused(collections(project, f"git+{address}", allow={address: True}), fetch=True)
    assert [headers for headers in seen if "Authorization" in headers and "X-Key" in headers]


@pytest.mark.clause("DC-15")
def test_a_git_in_the_project_is_not_run(project: Path, ssh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = project / "git"
    planted.write_text(f"#!/bin/sh\ntouch {project.parent}/ran\n")
    planted.chmod(0o755)
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")
    address = "ssh://example.invalid/team/docs"
    refused(collections(project, f"git+{address}", allow={address: False}), fetch=True)
    assert not (project.parent / "ran").exists()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "docs").mkdir(parents=True)
    os.symlink("/nowhere/else", folder / "docs/evil.md")
    manifest = {"name": "repo docs", "version": "7", "sources": {"glob": ["**/*.md"]}}
    files: dict[str, str | bytes] = {
        "README.md": "# Read me",
        "docs/guide.md": "# Guide one",
        "docs/.env": "TOKEN=1",
        "docs/draft.md": "draft",
        "docs/.gitignore": "draft.md\n",
        "docs/manifest.json": "\ufeff" + json.dumps(manifest),
    }
    committed(folder, files)
    git(folder, "tag", "v1")
    return folder


def sources(tmp_path: Path, url: str) -> DiskCollections:
    """The repository as the user's own configuration names it."""
    found = collections(tmp_path / "empty", "docs")
    found.configure("r", {"url": url}, user_wide=True)
    return found


def looked(
    found: DiskCollections, fetch: bool = True, since: str = ""
) -> tuple[Survey | None, dict[str, str]]:
    source = found.open(found.catalogue().collections["r"], fetch)
    survey = source.survey(since)
    names = [] if survey is None else list(survey.files)
    return survey, {one.document: one.text for one in source.read(names) if isinstance(one, DocumentText)}


@pytest.mark.clause("DC-13")
def test_a_repository_is_fetched_and_read_without_a_working_tree(tmp_path: Path, repository: Path) -> None:
    found = sources(tmp_path, f"git+file://{repository}")
    survey, texts = looked(found)
    assert survey is not None
    assert texts == {"README.md": "# Read me", "docs/guide.md": "# Guide one", "docs/draft.md": "draft"}
    assert {one.document: one.reason for one in survey.failed} == {
        "docs/evil.md": "a link in a repository is not followed"
    }
    assert os.listdir(tmp_path / "cache/git") == [f"{found.catalogue().collections['r'].id}.git"]
    assert list((tmp_path / "cache").rglob("guide.md")) == []
    assert modes(tmp_path / "cache/git") == {}


@pytest.mark.clause("DC-13")
def test_a_manifest_in_a_folder_is_the_root_of_the_documents(tmp_path: Path, repository: Path) -> None:
    survey, texts = looked(sources(tmp_path, f"git+file://{repository}#v1?manifest=docs/manifest.json"))
    assert survey is not None
    assert (survey.about.name, survey.about.version) == ("repo docs", "7")
    assert texts == {"guide.md": "# Guide one", "draft.md": "draft"}


@pytest.mark.clause("DC-13")
def test_only_a_fetch_sees_new_commits_and_refs_stay_where_they_are(tmp_path: Path, repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    moving, fixed = sources(tmp_path, f"git+file://{repository}#main"), f"git+file://{repository}#{first}"
    survey, _ = looked(moving)
    assert survey is not None
    assert looked(moving, since=survey.signature)[0] is None
    (repository / "docs/guide.md").write_text("# Guide two")
    git(repository, "commit", "--quiet", "-am", "two")
    assert looked(moving, fetch=False, since=survey.signature)[0] is None
    assert looked(moving)[1]["docs/guide.md"] == "# Guide two"
    assert looked(sources(tmp_path, fixed))[1]["docs/guide.md"] == "# Guide one"
    assert looked(sources(tmp_path, fixed[:-30]))[1]["docs/guide.md"] == "# Guide one"


@pytest.mark.clause("PV-04", "DC-13")
def test_lock_files_of_a_killed_git_do_not_block_the_next_fetch(tmp_path: Path, repository: Path) -> None:
    found = sources(tmp_path, f"git+file://{repository}#main")
    looked(found)
    (store,) = (tmp_path / "cache/git").iterdir()
    left = ["shallow.lock", "refs/context-pack/current.lock", "objects/pack/tmp_pack_a1"]
    for name in left:
        (store / name).touch()
    (store / "objects/tmp_objdir-incoming-a1/pack").mkdir(parents=True)
    (repository / "docs/guide.md").write_text("# Guide two")
    git(repository, "commit", "--quiet", "-am", "two")
    assert looked(found)[1]["docs/guide.md"] == "# Guide two"
    assert [name for name in [*left, "objects/tmp_objdir-incoming-a1"] if (store / name).exists()] == []


@pytest.mark.clause("DC-13")
@pytest.mark.parametrize(
    "tail, words",
    [
        ("-nowhere", "the repository could not be fetched: there is no such repository"),
        ("#nobranch", "the repository could not be fetched: there is no such branch, tag or commit"),
        ("?manifest=x.json", "there is no x.json in the repository"),
    ],
)
def test_a_failed_fetch_is_an_error_message(tmp_path: Path, repository: Path, tail: str, words: str) -> None:
    with pytest.raises(Failure) as refused:
        looked(sources(tmp_path, f"git+file://{repository}{tail}"))
    assert refused.value.message == words


@pytest.mark.clause("DC-13")
def test_git_runs_without_inherited_variables_and_hooks(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.hooksPath")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path))
    hook = tmp_path / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    assert looked(sources(tmp_path, f"git+file://{repository}"))[1]["README.md"] == "# Read me"
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "elsewhere").exists()
