"""A folder on disk as a source of documents, with a manifest or without.

Files are opened through `disk.rooted`, so nothing outside the folder can be read, whatever links there are.
Ignore files count from the source root down to the folder and inside it. The folder itself is the choice of
whoever configured it: that it is ignored or a link does not matter. A link inside is followed where it stays
inside; a link that leads out fails alone.
"""

from __future__ import annotations

import os
from collections.abc import Collection as Container
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from attrs import evolve

from context_pack.documents.domain.manifest import Manifest
from context_pack.documents.domain.model import Failed, File, Survey, Text
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack_adapters.disk.atomic import read_whole
from context_pack_adapters.disk.ignore import IGNORE_FILES, MAX_IGNORE_BYTES, IgnoreRules, visit
from context_pack_adapters.disk.rooted import Rooted
from context_pack_adapters.stores.collection_reading import (
    IGNORED,
    MAX_DOCUMENT_BYTES,
    NOT_WANTED,
    UNLISTED,
    WORDS,
    document,
    failure,
    marked,
    now_ns,
    stamp_of,
    unspeakable,
)

MOST_SKIPPED = 10_000


class FolderSource:
    """A `Source` in a folder.

    `above` are the folders whose ignore files hold too, the outermost first, each with the way from it to
    the folder; `except_for` are folders inside that never count.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        policy: PathPolicy,
        above: Sequence[tuple[Path, str]] = (),
        except_for: Container[str] = (),
    ) -> None:
        self._folder = folder
        self._manifest = manifest
        self._policy = policy
        self._rooted = Rooted(folder, policy)
        self._above = tuple(above)
        self._except_for = tuple(except_for)

    def survey(self, since: str = "", explain: bool = False) -> Survey | None:  # noqa: ARG002
        """What the folder holds now; it has no signature, so there is always something to tell."""
        failed = list(self._manifest.failed)
        files = self._listed(failed) if self._manifest.files is None else self._named(failed)
        skipped = tuple(islice(self._skipped(files, failed), MOST_SKIPPED)) if explain else ()
        return Survey(self._manifest.about, files, tuple(failed), skipped=skipped)

    def read(self, documents: Sequence[str]) -> Iterator[Text | Failed]:
        """The contents of documents."""
        expected = self._manifest.files or {}
        for path in documents:
            found = self.raw(path)
            if isinstance(found, Failed):
                yield found
            else:
                data, stamp = found
                yield document(path, data, stamp, expected.get(path))

    def raw(self, path: str) -> tuple[bytes, str] | Failed:
        """The bytes of one document and its stamp."""
        now = now_ns()
        found = self._rooted.read(RelativePath(path), MAX_DOCUMENT_BYTES)
        if isinstance(found, Reason):
            return failure(path, found)
        data, status = found
        return data, stamp_of(status, now)

    def _listed(self, failed: list[Failed]) -> dict[str, File]:
        """Every file that the globs mean."""
        files: dict[str, File] = {}
        now = now_ns()

        def seen(path: str, entry: os.DirEntry[str]) -> None:
            if entry.is_symlink():
                self._link(path, entry, files, failed, now)
                return
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                return
            files[path] = File(stamp_of(status, now), status.st_size)

        def passed(path: str, is_folder: bool, ignored: bool) -> None:
            problem = (
                None if ignored or self._policy.denies_name(path.rpartition("/")[2]) else unspeakable(path)
            )
            if problem is not None:
                failed.append(evolve(problem, document=problem.document + "/") if is_folder else problem)

        def shut(prefix: str) -> None:
            failed.append(Failed(prefix, UNLISTED, passing=True))

        wants = self._manifest.wants
        visit(self._folder, self._policy, self._rules(), wants, seen, self._except_for, passed, shut)
        failed.sort(key=lambda one: one.document)
        return files

    def _link(
        self, path: str, entry: os.DirEntry[str], files: dict[str, File], failed: list[Failed], now: int
    ) -> None:
        """A link counts as the file it leads to; one to a folder is not entered."""
        try:
            is_folder = entry.is_dir()
        except OSError:
            is_folder = False
        if is_folder:
            real, inside = os.path.realpath(self._folder / path), os.path.realpath(self._folder)
            if real != inside and not real.startswith(os.path.join(inside, "")):
                failed.append(Failed(path, WORDS[Reason.OUTSIDE]))
        elif self._manifest.wants(path):
            self._open(path, files, failed, now)

    def _open(self, path: str, files: dict[str, File], failed: list[Failed], now: int) -> None:
        found = self._rooted.open(RelativePath(path))
        if isinstance(found, Reason):
            failed.append(failure(path, found))
            return
        os.close(found.descriptor)
        expected = (self._manifest.files or {}).get(path)
        files[path] = File(marked(stamp_of(found.status, now), expected), found.status.st_size)

    def _named(self, failed: list[Failed]) -> dict[str, File]:
        """The files that the manifest names."""
        files: dict[str, File] = {}
        now, inside = now_ns(), _InsideRules(self._folder, self._rules())
        for path in sorted(self._manifest.files or ()):
            if inside.ignores(path):
                failed.append(Failed(path, IGNORED))
            else:
                self._open(path, files, failed, now)
        return files

    def _rules(self) -> IgnoreRules:
        """What the ignore files above the folder say."""
        found = IgnoreRules()
        for folder, lead in self._above:
            found = found.entered("", tuple(_ignore_text(folder / name) for name in IGNORE_FILES), lead)
        return found

    def _skipped(self, files: Container[str], failed: Sequence[Failed]) -> Iterator[Failed]:
        """Files of the folder that are no documents, and why."""
        told = {one.document for one in failed}
        for folder, folders, names in os.walk(self._folder):
            inside = os.path.relpath(folder, self._folder).replace(os.sep, "/")
            prefix = "" if inside == "." else f"{inside}/"
            denied = [name for name in folders if self._policy.denies_name(name)]
            yield from (Failed(f"{prefix}{name}/", WORDS[Reason.DENIED]) for name in sorted(denied))
            gone = {*denied, *(name for name in folders if prefix + name in self._except_for)}
            folders[:] = sorted(set(folders) - gone)
            for name in sorted(names):
                path = prefix + name
                why = unspeakable(path) or Failed(path, self._why_not(path))
                if path not in files and why.document not in told:
                    yield why

    def _why_not(self, path: str) -> str:
        if self._policy.denies(RelativePath(path)):
            return WORDS[Reason.DENIED]
        if not self._manifest.wants(path):
            return NOT_WANTED
        found = self._folder / path
        return IGNORED if found.is_symlink() or found.is_file() else WORDS[Reason.NOT_A_FILE]


class _InsideRules:
    """Whether single paths in a folder are ignored, reading each ignore file on the way once."""

    def __init__(self, folder: Path, rules: IgnoreRules) -> None:
        self._folder = folder
        self._known: dict[str, IgnoreRules] = {"": self._entered("", rules)}

    def ignores(self, path: str) -> bool:
        """Whether the path or a folder on the way is ignored."""
        rules, at = self._known[""], path.find("/")
        while at >= 0:
            prefix = path[: at + 1]
            if rules.ignores(path[:at], True):
                return True
            if prefix not in self._known:
                self._known[prefix] = self._entered(prefix, rules)
            rules, at = self._known[prefix], path.find("/", at + 1)
        return rules.ignores(path, False)

    def _entered(self, prefix: str, rules: IgnoreRules) -> IgnoreRules:
        texts = tuple(_ignore_text(self._folder / prefix / name) for name in IGNORE_FILES)
        return rules.entered(prefix, texts)


def _ignore_text(path: Path) -> str | None:
    try:
        return read_whole(str(path), MAX_IGNORE_BYTES)[0].decode("utf-8", "surrogateescape")
    except OSError:
        return None
