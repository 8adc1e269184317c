"""A folder on disk as a source of documents, with a manifest or without.

Files are opened through `disk.rooted`, so nothing outside the folder can be read, whatever links there are.
Ignore files count from the source root down to the folder and inside it. The folder itself is the choice of
whoever configured it: that it is ignored or a link does not matter. A link inside is followed where it stays
inside; a link that leads out fails alone.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection as Container
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

from attrs import evolve

from context_pack.documents.manifest import (
    IGNORED,
    MAX_DOCUMENT_BYTES,
    NOT_WANTED,
    UNLISTED,
    WORDS,
    DocumentManifest,
    document,
    failure,
    is_text,
    marked,
    unspeakable,
)
from context_pack.documents.model import DocumentText, Failed, Survey
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack.retrieval.upkeep import File
from context_pack_adapters.files.opening import AnyPlace, Place
from context_pack_adapters.files.rooted import Rooted
from context_pack_adapters.files.signature import stamp_of
from context_pack_adapters.files.walking import (
    IGNORE_FILES,
    NO_RULES,
    IgnoredPaths,
    IgnoreRules,
    Level,
    ignore_text_at,
    ignore_texts,
    visit,
    walk,
)

MOST_SKIPPED = 10_000


class FolderSource:
    """A `Source` in a folder.

    `above` are the folders whose ignore files hold too, the outermost first, each with the way from it to
    the folder; `except_for` are folders inside that never count.
    """

    def __init__(
        self,
        folder: AnyPlace,
        manifest: DocumentManifest,
        policy: PathPolicy,
        above: Sequence[tuple[Place, str]] = (),
        except_for: Container[str] = (),
    ) -> None:
        self._manifest = manifest
        self._policy = policy
        self._rooted = Rooted(folder, policy)
        self._above = tuple(above)
        self._except_for = tuple(except_for)

    def survey(self, since: str = "", explain: bool = False) -> Survey | None:  # noqa: ARG002
        """What the folder holds now; always a new survey, because a folder has no signature."""
        failed = list(self._manifest.failed)
        files = self._listed(failed) if self._manifest.files is None else self._named(failed)
        skipped = tuple(islice(self._skipped(files, failed), MOST_SKIPPED)) if explain else ()
        return Survey(self._manifest.about, files, tuple(failed), skipped=skipped)

    def read(self, documents: Sequence[str]) -> Iterator[DocumentText | Failed]:
        """The contents of documents."""
        expected = self._manifest.files or {}
        for path in documents:
            now = time.time_ns()
            found = self._rooted.read(RelativePath(path), MAX_DOCUMENT_BYTES)
            if isinstance(found, Reason):
                yield failure(path, found)
            else:
                data, status = found
                yield document(path, data, stamp_of(status, now), expected.get(path))

    def _listed(self, failed: list[Failed]) -> dict[str, File]:
        """Every file that the globs mean."""
        files: dict[str, File] = {}
        now = time.time_ns()

        def seen(path: str, entry: os.DirEntry[str]) -> None:
            if entry.is_symlink():
                self._link(path, files, failed, now)
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

        def shut(prefix: str, error: OSError) -> None:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):  # it has gone meanwhile
                failed.append(Failed(prefix, UNLISTED, passing=True))

        visit(
            self._rooted.root,
            self._policy,
            seen,
            wants=self._manifest.wants,
            rules=self._rules(),
            except_for=self._except_for,
            passed=passed,
            shut=shut,
        )
        failed.sort(key=lambda one: one.document)
        return files

    def _link(self, path: str, files: dict[str, File], failed: list[Failed], now: int) -> None:
        """A link counts as its target file; links to folders are not entered, links out are failures."""
        found = self._rooted.status(RelativePath(path))
        if found is Reason.OUTSIDE or (self._manifest.wants(path) and not _is_folder(found)):
            self._take(path, found, files, failed, now)

    def _take(
        self,
        path: str,
        found: os.stat_result | Reason,
        files: dict[str, File],
        failed: list[Failed],
        now: int,
    ) -> None:
        if isinstance(found, Reason) or not stat.S_ISREG(found.st_mode):
            failed.append(failure(path, found if isinstance(found, Reason) else Reason.NOT_A_FILE))
            return
        expected = (self._manifest.files or {}).get(path)
        files[path] = File(marked(stamp_of(found, now), expected), found.st_size)

    def _named(self, failed: list[Failed]) -> dict[str, File]:
        """The files that the manifest names."""
        files: dict[str, File] = {}
        now, root = time.time_ns(), self._rooted.root
        inside = IgnoredPaths(lambda path: ignore_text_at(root, path), self._rules())
        for path in sorted(self._manifest.files or ()):
            if inside.ignores(path):
                failed.append(Failed(path, IGNORED))
            else:
                self._take(path, self._rooted.status(RelativePath(path)), files, failed, now)
        return files

    def _rules(self) -> IgnoreRules:
        """The rules of the ignore files above the folder."""
        found = NO_RULES
        for folder, lead in self._above:
            with suppress(OSError), folder.held() as handle:
                found = found.entered("", ignore_texts(handle, IGNORE_FILES), lead)
        return found

    def _skipped(self, files: Container[str], failed: Sequence[Failed]) -> Iterator[Failed]:
        """Texts of the folder that are no documents, and why; other files nobody would take for one."""
        reported = {one.document for one in failed}
        found: list[Failed] = []

        def look(level: Level, _: None) -> Iterator[tuple[str, None]]:
            for entry in sorted(level.entries, key=lambda entry: entry.name):
                path = level.prefix + entry.name
                if not entry.is_dir(follow_symlinks=False):
                    why = unspeakable(path) or self._why_not(path, entry)
                    if why is not None and path not in files and why.document not in reported:
                        found.append(why)
                elif path not in self._except_for and not self._policy.denies_name(entry.name):
                    yield entry.name, None

        if self._manifest.files is None:
            walk(self._rooted.root, look, None)
        return iter(found)

    def _why_not(self, path: str, entry: os.DirEntry[str]) -> Failed | None:
        if not self._manifest.wants(path):
            return Failed(path, NOT_WANTED) if is_text(path) else None
        if self._policy.denies(RelativePath(path)):
            return Failed(path, WORDS[Reason.DENIED])
        is_file = entry.is_symlink() or entry.is_file(follow_symlinks=False)
        return Failed(path, IGNORED if is_file else WORDS[Reason.NOT_A_FILE])


def _is_folder(found: os.stat_result | Reason) -> bool:
    return not isinstance(found, Reason) and stat.S_ISDIR(found.st_mode)
