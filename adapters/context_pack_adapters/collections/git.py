"""A git repository as a source of documents, through the `git` command.

One shallow commit is fetched into a bare repository of our own in the user's cache, and read from there
object by object: there is never a working tree, so no link is followed, no hook and no filter runs.

Git works over one protocol, without prompts and for a limited time. For a repository that a project names it
gets none of the user's credentials: no configuration, no credential helper, no netrc, no keys, no agent. What
git says is never repeated: it quotes what it reads, which may be a line of a private file; it is only used to
choose one of our own sentences. A call that is withdrawn kills git with all that it started; of a process
that is killed git is left behind, and gives up when nothing comes for a minute.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from attrs import frozen

from context_pack.documents.manifest import (
    MANIFEST_FILE,
    MAX_BYTES,
    MAX_DOCUMENT_BYTES,
    WORDS,
    DocumentManifest,
    document,
    manifest_of,
    parse_manifest,
)
from context_pack.documents.model import DocumentText, Failed, Survey
from context_pack.documents.places import SourceAddress
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import sha256_hex
from context_pack.retrieval.upkeep import File
from context_pack_adapters.files.faults import translated
from context_pack_adapters.files.folder import FOLDER_MODE

MAX_ENTRIES = 200_000
CURRENT = "refs/context-pack/current"

_LEFT = ("*.lock", "refs/**/*.lock", "objects/tmp_*", "objects/*/tmp_*")
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
FETCH_SECONDS = 300.0
QUICK_SECONDS = 30.0
LOOK_SECONDS = 0.2

_QUIET = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false", "-c", "protocol.allow=never", "-c", "credential.interactive=false"),
    *("-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=60"),
)
_WITHOUT_CREDENTIALS = (
    *("-c", "credential.helper=", "-c", "core.askPass=true", "-c", "http.emptyAuth=false"),
    # An allowed host must not send us to another one.
    *("-c", "http.followRedirects=false"),
)
_SSH = "ssh -oBatchMode=yes -oConnectTimeout=60 -oServerAliveInterval=30"
_ANONYMOUS_SSH = (
    f"{_SSH} -F /dev/null -oIdentitiesOnly=yes -oIdentityFile=none -oIdentityAgent=none "
    "-oPubkeyAuthentication=no -oGSSAPIAuthentication=no -oHostbasedAuthentication=no"
)
_CAUSES: Mapping[str, tuple[str, ...]] = {
    "its host is not found": ("could not resolve host", "name or service not known"),
    "its certificate is not trusted": ("certificate", "ssl_error", "ssl connect"),
    "access was refused": (
        "authentication failed", "could not read username", "permission denied", "terminal prompts disabled",
        "host key verification failed", "error: 40",
    ),
    "its host does not answer": (
        "connection refused", "failed to connect", "couldn't connect", "connection timed out", "unreachable",
        "no route to host",
    ),
    "there is no such branch, tag or commit": ("remote ref", "not our ref", "unadvertised object"),
    "there is no such repository": ("not appear to be a git repository", "not found", "does not exist"),
    "it sends us to another address": ("redirect",),
    "it is too large": ("signal 25", "file too large", "no space left"),
}  # fmt: skip
"""What can be wrong with a fetch, and words by which git tells it; the first that fits."""


_USERS = ("GIT_SSL", "GIT_HTTP", "GIT_SSH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
_OPEN = re.compile(
    r"(?:https?|all|no)_proxy|lang|lc_.*|tmpdir|ssl_cert_(?:file|dir)|git_ssl_(?:no_verify|ca.*)",
    re.IGNORECASE,
)
"""The variables without secrets that a fetch may need."""


def environment(environ: Mapping[str, str], protocol: str, trusted: bool) -> dict[str, str]:
    """The environment of git: nothing that points it elsewhere or makes it ask; secrets only if trusted."""
    if trusted:
        variables = {
            name: value for name, value in environ.items() if name.startswith(_USERS) or name[:4] != "GIT_"
        }
        variables.setdefault("GIT_SSH_COMMAND", _SSH)
    else:
        nowhere = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
        variables = {name: value for name, value in environ.items() if _OPEN.fullmatch(name)}
        variables |= dict.fromkeys(nowhere, os.devnull)
        variables |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_SSH_COMMAND": _ANONYMOUS_SSH}
    return {
        **variables,
        "PATH": _absolute(environ.get("PATH", os.defpath)),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "SSH_ASKPASS": "true",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_ALLOW_PROTOCOL": protocol,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        # Our own repository is as we make it, whatever the user has new ones made like.
        "GIT_DEFAULT_HASH": "sha1",
        "GIT_DEFAULT_REF_FORMAT": "files",
        "LC_ALL": "C",
    }


def _absolute(path: str) -> str:
    """The search path without relative entries: what lies in the project must not be run by accident."""
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if os.path.isabs(folder))


def failed(reason: str) -> Failure:
    """What is said where git could not do its work."""
    return Failure(Code.IO_ERROR, reason)


@frozen(eq=False)
class GitStore:
    """A bare repository that holds one commit of one collection; `trusted` fetches with credentials."""

    folder: Path
    where: SourceAddress
    check: Callable[[], None]
    trusted: bool

    @property
    def _protocol(self) -> str:
        return self.where.place.partition(":")[0]

    def commit(self) -> str | None:
        """The commit (or the tag of it) that is here; None before the first fetch."""
        try:
            return (self.folder / CURRENT).read_text("ascii").strip()
        except OSError:
            return None

    def fetch(self) -> None:
        """Fetch the wanted commit; the caller holds the collection's lock.

        Raises:
            Failure: `io_error`, in our own words.
        """
        if (self.folder / "HEAD").exists():
            self._sweep()
        else:
            with translated("git"):
                shutil.rmtree(self.folder, ignore_errors=True)
                os.mkdir(self.folder, FOLDER_MODE)
                self.run("init", "--quiet", "--bare", "--template=", str(self.folder))
        ref = self.where.ref or "HEAD"
        try:
            self._fetch([f"+{ref}:{CURRENT}"], "--depth=1")
        except Failure:
            if not _COMMIT.fullmatch(ref):
                raise
            # Few servers hand out a commit by a part of its name: fetch what leads to it.
            self._fetch(["+refs/heads/*:refs/all/heads/*", "+refs/tags/*:refs/all/tags/*"])
            commit = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
            self.run("update-ref", CURRENT, commit.decode("ascii").strip())

    def _fetch(self, refs: Sequence[str], *options: str) -> None:
        options = (*options, "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
        code, _, errors = self._finished(["fetch", *options, "--", self.where.place, *refs], FETCH_SECONDS)
        if code:
            text = errors.decode("utf-8", "replace").lower()
            causes = (cause for cause, signs in _CAUSES.items() if any(sign in text for sign in signs))
            words = f"the repository could not be fetched: {next(causes, 'git failed')}"
            is_anonymous = not self.trusted and self._protocol != "file"
            raise failed(words + "; it was asked without your credentials" * is_anonymous)

    def _sweep(self) -> None:
        """Remove what a killed git left: locks, which stop every later fetch, and halves of packs."""
        for path in (path for pattern in _LEFT for path in self.folder.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def run(self, *words: str) -> bytes:
        """The output of a command on the local repository.

        Raises:
            Failure: `io_error` when it fails or takes too long.
        """
        code, out, _ = self._finished(words, QUICK_SECONDS)
        if code:
            raise failed("git cannot read what was fetched")
        return out

    def _finished(self, words: Sequence[str], seconds: float) -> tuple[int, bytes, bytes]:
        """The exit code and both outputs; the process is killed if the call is withdrawn."""
        end = time.monotonic() + seconds
        with self.started(words, subprocess.DEVNULL) as process:
            while True:
                try:
                    out, errors = process.communicate(timeout=LOOK_SECONDS)
                    return process.returncode, out, errors
                except subprocess.TimeoutExpired:
                    self.check()
                    if time.monotonic() > end:
                        raise failed(f"git took longer than {seconds:.0f} s") from None

    @contextmanager
    def started(self, words: Sequence[str], stdin: int) -> Iterator[subprocess.Popen[bytes]]:
        """A command on the local repository; it and the helpers that it started are ended with the block."""
        binary = shutil.which("git", path=_absolute(os.environ.get("PATH", os.defpath)))
        if binary is None:
            raise failed("there is no git command; install git")
        allowed = ("-c", f"protocol.{self._protocol}.allow=always")
        quiet = _QUIET if self.trusted else (*_QUIET, *_WITHOUT_CREDENTIALS)
        try:
            process = subprocess.Popen(
                [binary, f"--git-dir={self.folder}", *quiet, *allowed, *words],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.folder,  # the working directory is the user's project
                env=environment(os.environ, self._protocol, self.trusted),
                start_new_session=True,
                umask=0o777 - FOLDER_MODE,
            )
        except OSError as error:
            raise failed("git could not be started") from error
        with process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)


class _Item(NamedTuple):
    """One file of a commit: its object, its size, and whether it is a link."""

    blob: str
    size: int
    is_link: bool


class GitSource:
    """A `Source` in a fetched repository; what is in it was committed, so its ignore files say nothing."""

    def __init__(self, store: GitStore, where: SourceAddress, policy: PathPolicy) -> None:
        self._store, self._where, self._policy = store, where, policy
        self._items: dict[str, _Item] = {}

    def survey(self, since: str = "") -> Survey | None:
        """What the commit holds; None if it is the one of that signature."""
        commit = self._store.commit()
        if commit is None:
            raise Failure(Code.NOT_FOUND, "it was never fetched; sync it first")
        rules = sha256_hex(repr((self._policy.extra, self._policy.allow)))[:16]
        signature = f"{rules}:{commit}:{self._where.manifest}"  # another policy sees other documents
        if since == signature:
            return None
        items = self._listed(commit)
        root, manifest = self._manifest(items)
        inside = {path.removeprefix(root): item for path, item in items.items() if path.startswith(root)}
        self._items = {}
        failures = list(manifest.failed)
        for path in sorted(filter(manifest.wants, inside) if manifest.files is None else manifest.files):
            item = inside.get(path)
            problem = self._problem(path, item)
            if item is not None and problem is None:
                self._items[path] = item
            elif problem != WORDS[Reason.DENIED] or manifest.files is not None:
                failures.append(Failed(path, problem or ""))
        files = {path: File(item.blob, item.size) for path, item in self._items.items()}
        return Survey(manifest.about, files, tuple(failures), signature)

    def _problem(self, path: str, item: _Item | None) -> str | None:
        """Why a path can be no document."""
        if item is None:
            return WORDS[Reason.MISSING]
        try:
            if self._policy.denies(RelativePath(path)):
                return WORDS[Reason.DENIED]
        except Failure as failure:
            return failure.message
        if item.is_link:
            return "a link in a repository is not followed"
        return WORDS[Reason.TOO_LARGE] if item.size > MAX_DOCUMENT_BYTES else None

    def read(self, documents: Sequence[str]) -> Iterator[DocumentText | Failed]:
        """The contents of documents, which are among those of the last survey."""
        blobs = [self._items[path].blob for path in documents]
        for path, blob, data in zip(documents, blobs, self._contents(blobs), strict=True):
            yield document(path, data, blob)

    def _listed(self, commit: str) -> dict[str, _Item]:
        """Every file of the commit."""
        items: dict[str, _Item] = {}
        listing = self._store.run("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        for row in listing.split(b"\0")[:-1]:
            head, _, name = row.partition(b"\t")
            mode, kind, blob, size = head.decode("ascii").split()
            if kind != "blob":
                continue
            if len(items) >= MAX_ENTRIES:
                raise failed(f"the repository has more than {MAX_ENTRIES} files")
            items[name.decode("utf-8", "replace")] = _Item(blob, int(size), mode == "120000")
        return items

    def _manifest(self, items: Mapping[str, _Item]) -> tuple[str, DocumentManifest]:
        """The folder of the manifest, and what it says; without one, all of the repository is a folder."""
        named, text = self._where.manifest, None
        if item := items.get(named or MANIFEST_FILE):
            data = next(self._contents([item.blob], MAX_BYTES))
            text = data.decode("utf-8", "replace").removeprefix("\ufeff")
        if not named:
            return "", manifest_of(text, self._where.name)
        if text is None:
            raise Failure(Code.NOT_FOUND, f"there is no {named} in the repository")
        folder = named.rpartition("/")[0]
        return f"{folder}/" if folder else "", parse_manifest(text)

    def _contents(self, blobs: Sequence[str], most: int = MAX_DOCUMENT_BYTES) -> Iterator[bytes]:
        """The bytes of objects, one question and one answer at a time."""
        if not blobs:
            return
        with self._store.started(("cat-file", "--batch"), subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for blob in blobs:
                process.stdin.write(blob.encode("ascii") + b"\n")
                process.stdin.flush()
                yield _answer(process.stdout, most)
            process.stdin.close()


def _answer(stream: IO[bytes], most: int) -> bytes:
    """The object that `cat-file --batch` writes: a line with name, kind and size, the bytes, a line break."""
    head = stream.readline().split()
    if len(head) != 3 or head[1] != b"blob" or int(head[2]) > most:
        raise failed("an object of the repository cannot be read")
    data = stream.read(int(head[2]) + 1)
    if len(data) != int(head[2]) + 1:
        raise failed("an object of the repository ends too early")
    return data[:-1]
