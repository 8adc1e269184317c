"""A folder on disk as a source of documents, with a manifest or without.

Files are opened through `files.rooted`, so nothing outside the folder can be read, whatever links there are.
Ignore files count from the source root down to the folder and inside it. The folder itself is the choice of
whoever configured it: that it is ignored or a link does not matter. Inside, a link is no document: what it
leads to is one by its own name, where it is in the collection.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection as Container
from collections.abc import Iterator, Sequence
from contextlib import suppress

from attrs import evolve, frozen

from context_pack.documents.manifest import (
    IGNORED,
    MAX_DOCUMENT_BYTES,
    WORDS,
    DocumentManifest,
    document,
    unspeakable,
)
from context_pack.documents.model import DocumentText, Failed, Survey
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack.retrieval.upkeep import File
from context_pack_adapters.files.opening import Place
from context_pack_adapters.files.rooted import Rooted
from context_pack_adapters.files.signature import stamp_of
from context_pack_adapters.files.walking import (
    IGNORE_FILES,
    NO_RULES,
    IgnoredPaths,
    IgnoreRules,
    ignore_text_at,
    ignore_texts,
    visit,
)


@frozen(eq=False)
class FolderSource:
    """A `Source` in a folder.

    `above` are the folders whose ignore files hold too, the outermost first, each with the way from it to
    the folder; `except_for` are folders inside that never count.
    """

    folder: Place
    manifest: DocumentManifest
    policy: PathPolicy
    above: Sequence[tuple[Place, str]]
    except_for: Container[str]

    def survey(self, since: str = "") -> Survey | None:  # noqa: ARG002
        """What the folder holds now; always a new survey, because a folder has no signature."""
        failed = list(self.manifest.failed)
        named = self.manifest.files
        files = self._listed(failed) if named is None else self._named(sorted(named), failed)
        return Survey(self.manifest.about, files, tuple(failed))

    def read(self, documents: Sequence[str]) -> Iterator[DocumentText | Failed]:
        """The contents of documents."""
        rooted = Rooted(self.folder, self.policy)
        for path in documents:
            now = time.time_ns()
            file = rooted.read(RelativePath(path), MAX_DOCUMENT_BYTES)
            if isinstance(file, Reason):
                yield Failed(path, WORDS[file], passing=file is Reason.IO)
            else:
                data, status = file
                yield document(path, data, stamp_of(status, now))

    def _listed(self, failed: list[Failed]) -> dict[str, File]:
        """Every file that the globs mean."""
        files: dict[str, File] = {}
        now = time.time_ns()

        def note_file(path: str, entry: os.DirEntry[str]) -> None:
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # it has gone meanwhile
                return
            except OSError:  # as in a folder that may be listed and not entered
                failed.append(Failed(path, WORDS[Reason.IO], passing=True))
                return
            files[path] = File(stamp_of(status, now), status.st_size)

        def check_name(path: str, is_folder: bool, ignored: bool) -> None:
            hidden = ignored or self.policy.denies_name(path.rpartition("/")[2])
            problem = None if hidden else unspeakable(path)
            if problem is not None:
                failed.append(evolve(problem, document=problem.document + "/") if is_folder else problem)

        def note_closed(prefix: str, error: OSError) -> None:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):  # it has gone meanwhile
                failed.append(Failed(prefix, "the folder cannot be listed", passing=True))

        visit(
            self.folder,
            self.policy,
            note_file,
            wants=self.manifest.wants,
            rules=self._rules(),
            except_for=self.except_for,
            passed=check_name,
            shut=note_closed,
        )
        failed.sort(key=lambda one: one.document)
        return files

    def _named(self, paths: Sequence[str], failed: list[Failed]) -> dict[str, File]:
        """The files that the manifest names."""
        files: dict[str, File] = {}
        now, rooted = time.time_ns(), Rooted(self.folder, self.policy)
        inside = IgnoredPaths(lambda path: ignore_text_at(self.folder, path), self._rules())
        for path in paths:
            status = rooted.status(RelativePath(path))
            if inside.ignores(path):
                failed.append(Failed(path, IGNORED))
            elif isinstance(status, Reason):
                failed.append(Failed(path, WORDS[status]))
            elif not stat.S_ISREG(status.st_mode):
                failed.append(Failed(path, WORDS[Reason.NOT_A_FILE]))
            else:
                files[path] = File(stamp_of(status, now), status.st_size)
        return files

    def _rules(self) -> IgnoreRules:
        """The rules of the ignore files above the folder."""
        rules = NO_RULES
        for folder, lead in self.above:
            with suppress(OSError), folder.held() as handle:
                rules = rules.entered("", ignore_texts(handle, IGNORE_FILES), lead)
        return rules
