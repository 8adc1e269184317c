"""What a project may name, what only its user may, and what git is given when it goes out for a project."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from document_trees import lay
from stdio_client import environment
from waiting import is_alive, until

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.collections.sources import DiskCollections
from context_pack_adapters.files.private import PrivateFolder

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


def documents(sources: DiskCollections, fetch: bool = False) -> list[str]:
    survey = sources.open(sources.catalogue().collections["it"], fetch).survey()
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


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", "-C", str(folder), *named, *words], check=True, capture_output=True)


def repository(folder: Path) -> Path:
    lay(folder, {"a.md": "# Far"})
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    return folder


@pytest.mark.clause("DC-14")
@pytest.mark.parametrize("planted", ["shallow", "packed-refs", "objects/info/alternates", None])
def test_git_never_opens_a_repository_inside_the_project(
    project: Path, planted: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought = repository(project / "brought")
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


@pytest.mark.clause("DC-14")
def test_a_repository_outside_may_be_named_where_the_user_allows_its_folder(project: Path) -> None:
    far = repository(project.parent / "far")
    refused(collections(project, f"git+file://{far}"), fetch=True)
    assert documents(collections(project, f"git+file://{far}", (str(far),)), fetch=True) == ["a.md"]


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


FETCHING = """
import sys
from pathlib import Path
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.files.private import PrivateFolder
from context_pack_adapters.collections.sources import DiskCollections

project, user = map(Path, sys.argv[1:])
cache = PrivateFolder(project.parent / "cache")
sources = DiskCollections(project, project / ".s", PathPolicy(), cache, user)
sources.open(sources.catalogue().collections["it"], True)
"""


@pytest.mark.clause("DC-16")
def test_git_and_its_helpers_die_with_a_killed_process(project: Path, ssh: Path) -> None:
    (ssh / "ssh").write_text(f"#!/bin/sh\necho $$ $PPID > {ssh}/pids.new\nmv {ssh}/pids.new {ssh}/pids\n"
                             "exec sleep 1000\n")  # fmt: skip
    address = "ssh://example.invalid/team/docs"
    collections(project, f"git+{address}", allow={address: True})
    user = project.parent / "config/context.json"
    process = subprocess.Popen(
        [sys.executable, "-c", FETCHING, str(project), str(user)],
        env=environment(PATH=os.environ["PATH"]),
        stdin=subprocess.DEVNULL,
    )
    try:
        until((ssh / "pids").exists)
        pids = [int(word) for word in (ssh / "pids").read_text().split()]
        assert all(map(is_alive, pids))
    finally:
        process.kill()
        process.wait()
    until(lambda: not any(map(is_alive, pids)))
