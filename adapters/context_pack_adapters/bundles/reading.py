"""The files of one bundle as parsed values, parsed again only when they may have changed.

Files and folders are opened through `files.rooted`: no path and no link leads out of the bundle. A file is
known by its stat signature, once that is old enough to show any later write; until then it is read again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from context_pack.bundles.ports import Document, Flaw
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.yaml_documents import Malformed, load, load_json
from context_pack_adapters.files.opening import AnyPlace, Handle, Refused, read_opened, scan
from context_pack_adapters.files.rooted import Rooted
from context_pack_adapters.files.signature import Signature, settled_signature, signature

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
        self._seen: dict[str, tuple[Signature | None, Document | Flaw]] = {}

    def folder(self, path: RelativePath | None) -> Iterator[Document | Flaw] | Flaw:
        """The YAML files of a folder, by name; hidden ones (`.context.yaml`) are of other tools."""
        shown = "." if path is None else path.value
        names: set[str] | Reason
        with self._rooted.folder(path) as folder:
            try:
                names = folder if isinstance(folder, Reason) else set(_yaml_names(folder))
            except OSError:
                names = Reason.IO
        if isinstance(names, Reason):
            if (
                names is Reason.MISSING
                and path is not None
                and not isinstance(self._rooted.status(path), Reason)
            ):
                return Flaw(shown, "it is not a folder")
            absent = names is Reason.MISSING
            words = _NO_FOLDER.get(names, _NO_FOLDER[Reason.IO])
            return Flaw(shown, words, "warning" if absent else "error", absent)
        return self._files(names, "" if path is None else f"{path.value}/")

    def _files(self, names: set[str], prefix: str) -> Iterator[Document | Flaw]:
        for name in sorted(names):
            try:
                yield self.document(RelativePath(prefix + name))
            except Failure as failure:
                yield Flaw(prefix + name, f"its name cannot be used: {failure.message}")

    def document(self, path: RelativePath) -> Document | Flaw:
        """One JSON or YAML file; it is parsed unless it is the remembered one."""
        before = time.time_ns()
        opened = self._rooted.open(path)
        if isinstance(opened, Reason):
            self._seen.pop(path.value, None)
            words = _NO_FILE.get(opened, _NO_FILE[Reason.IO])
            return Flaw(path.value, words, absent=opened is Reason.MISSING)
        found: Document | Flaw
        try:
            seen = self._seen.get(path.value)
            if seen is not None and seen[0] == signature(opened.status):
                return seen[1]
            data = read_opened(opened, MAX_FILE_BYTES)
            value = load(data) if path.name.endswith(YAML_SUFFIXES) else load_json(data)
            found = Document(path.value, value, opened.status.st_mtime_ns)
        except Malformed as malformed:
            found = Flaw(path.value, str(malformed))
        except Refused:
            found = Flaw(path.value, _NO_FILE[Reason.TOO_LARGE])
        except OSError:
            return Flaw(path.value, _NO_FILE[Reason.IO])
        finally:
            os.close(opened.descriptor)
        self._seen[path.value] = (settled_signature(opened.status, before), found)
        return found


def _yaml_names(folder: Handle) -> Iterator[str]:
    for entry in scan(folder):
        if entry.name.endswith(YAML_SUFFIXES) and not entry.name.startswith("."):
            yield entry.name


def is_missing(found: Document | Flaw) -> bool:
    """Whether there simply is no such file."""
    return isinstance(found, Flaw) and found.absent
