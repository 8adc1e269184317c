"""A git repository as a source of documents, through the `git` command.

One shallow commit is fetched into a bare repository of our own in the user's cache, and read from there
object by object: there is never a working tree, so no link is followed, no hook and no filter runs. How git
is run, and with what, is in `git_process`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from context_pack.documents.config import SourceAddress
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
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import sha256_hex
from context_pack.retrieval.upkeep import File
from context_pack_adapters.collections.git_process import Git, failed, kill
from context_pack_adapters.files.faults import translated
from context_pack_adapters.files.folder import FOLDER_MODE

MAX_ENTRIES = 200_000
CURRENT = "refs/context-pack/current"

_LEFT = ("*.lock", "refs/**/*.lock", "objects/tmp_*", "objects/*/tmp_*")
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")


class GitStore:
    """A bare repository that holds one commit of one collection; `trusted` fetches with credentials."""

    def __init__(
        self,
        folder: Path,
        where: SourceAddress,
        check: Callable[[], None] = lambda: None,
        trusted: bool = True,
    ) -> None:
        self._folder = folder
        self._where = where
        self.git = Git(folder, where.place.partition(":")[0], trusted, check)

    def fetch(self) -> None:
        """Fetch the wanted commit; the caller holds the collection's lock.

        Raises:
            Failure: `io_error`, in our own words.
        """
        if (self._folder / "HEAD").exists():
            self._sweep()
        else:
            with translated("git"):
                shutil.rmtree(self._folder, ignore_errors=True)
                os.mkdir(self._folder, FOLDER_MODE)
                self.git.run("init", "--quiet", "--bare", "--template=", str(self._folder))
        ref = self._where.ref or "HEAD"
        shallow = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
        try:
            self.git.fetch(*shallow, "--depth=1", "--", self._where.place, f"+{ref}:{CURRENT}")
        except Failure:
            if not _COMMIT.fullmatch(ref):
                raise
            # Few servers hand out a commit by its name: fetch what leads to it.
            branches = ("+refs/heads/*:refs/all/heads/*", "+refs/tags/*:refs/all/tags/*")
            self.git.fetch(*shallow, "--", self._where.place, *branches)
            commit = self.git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
            self.git.run("update-ref", CURRENT, commit.decode("ascii").strip())

    def _sweep(self) -> None:
        """Remove what a killed git left: locks, which stop every later fetch, and halves of packs."""
        for pattern in _LEFT:
            for path in self._folder.glob(pattern):
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)

    def commit(self) -> str | None:
        """The commit (or the tag of it) that is here; None before the first fetch."""
        try:
            return (self._folder / CURRENT).read_text("ascii").strip()
        except OSError:
            return None


class _Item(NamedTuple):
    """One file of a commit: its object, its size, and whether it is a link."""

    blob: str
    size: int
    is_link: bool


class GitSource:
    """A `Source` in a fetched repository; what is in it was committed, so its ignore files say nothing."""

    def __init__(self, store: GitStore, where: SourceAddress, policy: PathPolicy) -> None:
        self._store = store
        self._where = where
        self._policy = policy
        self._blobs: dict[str, str] = {}

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
        root, manifest = self._manifest({path: item.blob for path, item in items.items()})
        inside = {path.removeprefix(root): item for path, item in items.items() if path.startswith(root)}
        self._blobs = {path: item.blob for path, item in inside.items()}
        files: dict[str, File] = {}
        problems = list(manifest.failed)
        for path in sorted(filter(manifest.wants, inside) if manifest.files is None else manifest.files):
            item = inside.get(path)
            problem = WORDS[Reason.MISSING] if item is None else self._problem(path, item)
            if item is not None and problem is None:
                files[path] = File(item.blob, item.size)
            elif problem != WORDS[Reason.DENIED] or manifest.files is not None:
                problems.append(Failed(path, problem or ""))
        return Survey(manifest.about, files, tuple(problems), signature)

    def _problem(self, path: str, item: _Item) -> str | None:
        """Why a file can be no document."""
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
        blobs = [self._blobs[path] for path in documents]
        for path, blob, data in zip(documents, blobs, self._contents(blobs), strict=True):
            yield document(path, data, blob)

    def _listed(self, commit: str) -> dict[str, _Item]:
        """Every file of the commit."""
        items: dict[str, _Item] = {}
        listing = self._store.git.run("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        for row in listing.split(b"\0")[:-1]:
            head, _, name = row.partition(b"\t")
            mode, kind, blob, size = head.decode("ascii").split()
            if kind != "blob":
                continue
            if len(items) >= MAX_ENTRIES:
                raise failed(f"the repository has more than {MAX_ENTRIES} files")
            items[name.decode("utf-8", "replace")] = _Item(blob, int(size), mode == "120000")
        return items

    def _manifest(self, blobs: dict[str, str]) -> tuple[str, DocumentManifest]:
        """The folder of the manifest, and what it says; without one, all of the repository is a folder."""
        named = self._where.manifest
        blob = blobs.get(named or MANIFEST_FILE)
        text = None if blob is None else next(self._contents([blob], MAX_BYTES)).decode("utf-8", "replace")
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
        with self._store.git.started(("cat-file", "--batch"), subprocess.PIPE) as process:
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                for blob in blobs:
                    process.stdin.write(blob.encode("ascii") + b"\n")
                    process.stdin.flush()
                    yield _answer(process.stdout, most)
                process.stdin.close()
            finally:
                kill(process)


def _answer(stream: IO[bytes], most: int) -> bytes:
    head = stream.readline().split()
    if len(head) != 3 or head[1] != b"blob" or int(head[2]) > most:
        raise failed("an object of the repository cannot be read")
    data = stream.read(int(head[2]) + 1)
    if len(data) != int(head[2]) + 1:
        raise failed("an object of the repository ends too early")
    return data[:-1]
