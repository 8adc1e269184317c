"""The files of one bundle as parsed values, parsed again only when they may have changed.

Files and folders are opened through `files.rooted`: no path and no link leads out of the bundle. A file is
known by its stat signature, once that is old enough to show any later write; until then it is read again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator

from context_pack.bundles.ports import Document, Flaw
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.yaml_documents import Malformed, load, load_json
from context_pack_adapters.files.opening import AnyPlace, Handle, Opened, Refused, read_opened, scan
from context_pack_adapters.files.rooted import Rooted
from context_pack_adapters.files.signature import FileCache, signature

YAML_SUFFIXES = (".yaml", ".yml")
MAX_FILE_BYTES = 8 * 1024 * 1024
_NO_FILE = {
    Reason.MISSING: "there is no such file",
    Reason.OUTSIDE: "it leads out of the bundle and is not read",
    Reason.DENIED: "its name is on the list of what is never read",
    Reason.NOT_A_FILE: "it is not a regular file",
    Reason.TOO_LARGE: f"it is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB",
    Reason.IO: "it cannot be read; check its permissions",
}
_NO_FOLDER = {
    Reason.MISSING: "there is no such folder, so the type has no entities",
    Reason.OUTSIDE: "the folder leads out of the bundle and is not read",
    Reason.DENIED: _NO_FILE[Reason.DENIED],
    Reason.IO: "the folder cannot be read; check its permissions",
}


class DiskBundleFiles:
    """A `BundleFiles` on disk; one thread at a time loads a bundle, any may read single documents."""

    def __init__(self, root: AnyPlace, policy: PathPolicy) -> None:
        self._rooted = Rooted(root, policy)
        self._parsed: FileCache[Document | Flaw] = FileCache()

    def folder(self, path: RelativePath | None) -> Iterator[Document | Flaw] | Flaw:
        """The YAML files of a folder, by name; hidden ones (`.context.yaml`) are of other tools."""
        names: list[str] | Reason
        with self._rooted.folder(path) as folder:
            try:
                names = folder if isinstance(folder, Reason) else sorted(_yaml_names(folder))
            except OSError:
                names = Reason.IO
        if isinstance(names, Reason):
            return self._no_folder(path, names)
        return self._files(names, "" if path is None else f"{path.value}/")

    def _no_folder(self, path: RelativePath | None, reason: Reason) -> Flaw:
        shown, absent = "." if path is None else path.value, reason is Reason.MISSING
        if absent and path is not None and not isinstance(self._rooted.status(path), Reason):
            return Flaw(shown, "it is not a folder")
        words = _NO_FOLDER.get(reason, _NO_FOLDER[Reason.IO])
        return Flaw(shown, words, "warning" if absent else "error", absent)

    def _files(self, names: Iterable[str], prefix: str) -> Iterator[Document | Flaw]:
        for name in names:
            try:
                yield self.document(RelativePath(prefix + name))
            except Failure as failure:
                yield Flaw(prefix + name, f"its name cannot be used: {failure.message}")

    def document(self, path: RelativePath) -> Document | Flaw:
        """One JSON or YAML file; it is parsed unless it is the remembered one."""
        before = time.time_ns()
        opened = self._rooted.open(path)
        if isinstance(opened, Reason):
            return Flaw(
                path.value, _NO_FILE.get(opened, _NO_FILE[Reason.IO]), absent=opened is Reason.MISSING
            )
        try:
            file = self._parsed.get(path.value, signature(opened.status))
            if file is None:
                file = _parse(path, opened)
                self._parsed.put(path.value, opened.status, before, file)
            return file
        except OSError:
            return Flaw(path.value, _NO_FILE[Reason.IO])
        finally:
            os.close(opened.descriptor)


def _parse(path: RelativePath, opened: Opened) -> Document | Flaw:
    """The value of an opened file, or what is wrong with it."""
    try:
        data = read_opened(opened, MAX_FILE_BYTES)
        value = load(data) if path.name.endswith(YAML_SUFFIXES) else load_json(data)
    except Malformed as malformed:
        return Flaw(path.value, str(malformed))
    except Refused:
        return Flaw(path.value, _NO_FILE[Reason.TOO_LARGE])
    return Document(path.value, value, opened.status.st_mtime_ns)


def _yaml_names(folder: Handle) -> Iterator[str]:
    for entry in scan(folder):
        if entry.name.endswith(YAML_SUFFIXES) and not entry.name.startswith("."):
            yield entry.name
