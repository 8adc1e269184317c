"""What was generated in contexts, remembered in one JSON file of the storage root.

Scopes are kept under their project's path from the source root, so that the file means the same wherever the
source root stands and may be shared with the project. A file that cannot be read remembers nothing: then
fields are made again only where they look generated. Two processes that remember at once take turns.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from context_pack_adapters.disk.faults import translated
from context_pack_adapters.disk.folder import Folder
from context_pack_adapters.disk.opening import AnyPlace, way_from
from context_pack_adapters.stores.context_seen import SeenFolders

FOLDER, FILE, LOCK = "contexts", "derived.json", ".derived.lock"
FORMAT = 1
MAX_BYTES = 64 * 1024 * 1024
LOCK_SECONDS = 10.0

Digests = dict[str, dict[str, dict[str, str]]]
"""Project, scope, field: digest."""


class FileDerivedMemory:
    """The `DerivedMemory` on disk."""

    def __init__(self, storage_root: AnyPlace, source_root: str, seen: SeenFolders) -> None:
        self._folder = Folder(storage_root).below(FOLDER)
        self._source_root = os.path.realpath(source_root)
        self._known: Digests | None = None
        self._seen = seen

    def recall(self, root: str, scope: str) -> Mapping[str, str]:
        """The digest of each generated field of a scope."""
        if self._known is None:
            self._known = self._load()
        return self._known.get(self._key(root), {}).get(scope, {})

    def remember(self, root: str, digests: Mapping[str, Mapping[str, str]]) -> None:
        """Keep the digests of scopes, in place of older ones of the same scopes.

        Raises:
            Failure: `io_error` or `lock_timeout`.
        """
        with translated(FILE):
            self._folder.make_shared()
            with self._folder.lock(LOCK, LOCK_SECONDS):
                self._folder.sweep()
                known = self._load()
                project = known.setdefault(self._key(root), {})
                before = json.dumps(project, sort_keys=True)
                project.update({scope: dict(fields) for scope, fields in digests.items()})
                if json.dumps(project, sort_keys=True) != before:
                    body = json.dumps({"format": FORMAT, "projects": known}, indent=0, sort_keys=True)
                    self._folder.write(FILE, body.encode())
                self._known = known
        self._seen.save()

    def _key(self, root: str) -> str:
        """A project's name: its path from the source root, if it lies there."""
        real = os.path.realpath(root)
        inside = way_from(self._source_root, real)
        return real if inside is None else "/".join(inside) or "."

    def _load(self) -> Digests:
        """The digests of the file; whatever is not of their shape is not there."""
        projects = self._folder.read_json(FILE, MAX_BYTES, FORMAT).get("projects")
        found: Digests = {}
        for project, scopes in projects.items() if isinstance(projects, dict) else ():
            for scope, fields in scopes.items() if isinstance(scopes, dict) else ():
                if isinstance(fields, dict) and all(isinstance(digest, str) for digest in fields.values()):
                    found.setdefault(project, {})[scope] = fields
        return found
