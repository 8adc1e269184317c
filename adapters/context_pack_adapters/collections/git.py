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
from typing import IO

from context_pack.documents.config import SourceAddress
from context_pack.documents.manifest import (
    MANIFEST_FILE,
    MAX_BYTES,
    MAX_DOCUMENT_BYTES,
    DocumentManifest,
    TreeItem,
    below,
    document,
    manifest_of,
    parse_manifest,
    ruled,
    surveyed,
)
from context_pack.documents.model import DocumentText, Failed, Survey
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.collections.git_process import Git, failed, kill
from context_pack_adapters.files.faults import translated
from context_pack_adapters.files.folder import FOLDER_MODE
from context_pack_adapters.files.walking import MAX_IGNORE_BYTES, IgnoredPaths

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
        if self._is_there():
            self._sweep()
        else:
            self._make()
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

    def _is_there(self) -> bool:
        return (self._folder / "HEAD").exists()

    def _make(self) -> None:
        """Make an empty repository in place of whatever is there."""
        with translated("git"):
            shutil.rmtree(self._folder, ignore_errors=True)
            os.mkdir(self._folder, FOLDER_MODE)
            self.git.run("init", "--quiet", "--bare", "--template=", str(self._folder))

    def _sweep(self) -> None:
        """Remove what a killed git left: locks, which stop every later fetch, and halves of packs."""
        for pattern in _LEFT:
            for path in self._folder.glob(pattern):
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)

    def commit(self) -> str | None:
        """The commit that is here; None before the first fetch."""
        if not self._is_there():
            return None
        try:
            found = self.git.run("rev-parse", "--verify", "--quiet", f"{CURRENT}^{{commit}}")
        except Failure:
            return None
        return found.decode("ascii").strip()


class GitSource:
    """A `Source` in a fetched repository."""

    def __init__(self, store: GitStore, where: SourceAddress, policy: PathPolicy) -> None:
        self._store = store
        self._where = where
        self._policy = policy
        self._blobs: dict[str, str] = {}
        self._manifest: DocumentManifest | None = None

    def survey(self, since: str = "", explain: bool = False) -> Survey | None:
        """What the commit holds; None if it is the one of that signature."""
        commit = self._store.commit()
        if commit is None:
            raise Failure(Code.NOT_FOUND, "it was never fetched; sync it first")
        signature = ruled(f"{commit}:{self._where.manifest}", self._policy)
        if since == signature:
            return None
        items = self._listed(commit)
        self._blobs = {path: item.stamp for path, item in items.items() if item.problem is None}
        root, self._manifest = self._read_manifest()
        self._blobs = below(root, self._blobs)
        ignores = IgnoredPaths(lambda path: self._text(path, MAX_IGNORE_BYTES)).ignores
        return surveyed(below(root, items), ignores, self._policy, self._manifest, signature, explain)

    def read(self, documents: Sequence[str]) -> Iterator[DocumentText | Failed]:
        """The contents of documents."""
        if self._manifest is None:
            self.survey()
        expected = (self._manifest.files if self._manifest is not None else None) or {}
        known = [path for path in documents if path in self._blobs]
        yield from (
            Failed(path, "it is not in the repository") for path in documents if path not in self._blobs
        )
        for path, data in zip(known, self._contents([self._blobs[path] for path in known]), strict=True):
            yield document(path, data, self._blobs[path], expected.get(path))

    def _listed(self, commit: str) -> dict[str, TreeItem]:
        """Every file of the commit; the stamp of one is its object."""
        items: dict[str, TreeItem] = {}
        listing = self._store.git.run("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        for row in listing.split(b"\0")[:-1]:
            head, _, name = row.partition(b"\t")
            mode, kind, blob, size = head.decode("ascii").split()
            if kind != "blob":
                continue
            if len(items) >= MAX_ENTRIES:
                raise failed(f"the repository has more than {MAX_ENTRIES} files")
            problem = "a link in a repository is not followed" if mode == "120000" else None
            items[name.decode("utf-8", "replace")] = TreeItem(blob, int(size), problem)
        return items

    def _read_manifest(self) -> tuple[str, DocumentManifest]:
        """The folder of the manifest, and what it says; without one, all of the repository is a folder."""
        named = self._where.manifest
        text = self._text(named or MANIFEST_FILE, MAX_BYTES)
        if not named:
            return "", manifest_of(text, self._where.name)
        if text is None:
            raise Failure(Code.NOT_FOUND, f"there is no {named} in the repository")
        folder = named.rpartition("/")[0]
        return f"{folder}/" if folder else "", parse_manifest(text)

    def _text(self, path: str, most: int) -> str | None:
        blob = self._blobs.get(path)
        if blob is None:
            return None
        data = next(self._contents([blob], most), b"")
        return data.decode("utf-8", "replace")

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
