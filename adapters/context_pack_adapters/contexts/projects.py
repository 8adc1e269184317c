"""Which folders of the machine may be asked about: the source root, and roots that its owner allowed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache, partial

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack_adapters.contexts.project import DiskProject, ScopePolicy
from context_pack_adapters.files.opening import Place, Refused, enter, leave, scan, way_inside
from context_pack_adapters.files.rooted import Rooted

KEPT_PROJECTS = 16


class DiskProjects:
    """`Projects` on disk; safe to share between threads."""

    def __init__(self, source_root: str, allowed: Sequence[str], policy: PathPolicy) -> None:
        self._source_root = os.path.abspath(source_root)
        self._allowed = (self._source_root, *map(os.path.abspath, allowed))
        self._scopes = ScopePolicy(policy.extra)
        # A project knows what was found out about its folders by earlier calls.
        self._project = lru_cache(KEPT_PROJECTS)(partial(DiskProject, policy=policy))

    def open(self, path: str | None) -> DiskProject | Reason:
        """The project at a path, if it lies where it may; what is outside never shows whether it exists."""
        shown = self.shown(path or "")
        try:
            spellings = dict.fromkeys((shown, os.path.realpath(shown)))
        except (OSError, ValueError):
            return Reason.DENIED
        for root in self._allowed:
            for spelled in spellings:
                found = self._inside(root, spelled)
                if isinstance(found, Place):
                    return self._project(shown, found)
                if found is Reason.MISSING:
                    return found
        return Reason.DENIED

    def shown(self, path: str) -> str:
        """A path as callers are shown it: absolute, not resolved."""
        return os.path.normpath(os.path.join(self._source_root, path))

    def _inside(self, root: str, spelled: str) -> Place | Reason:
        """The place of a folder in an allowed root, reached without leaving it."""
        parts = way_inside(root, spelled)
        if parts is None:
            return Reason.DENIED
        try:
            denied = parts and self._scopes.denies(RelativePath("/".join(parts)), True)
        except Failure:  # no path that a project could have
            denied = True
        if denied:
            return Reason.DENIED
        try:
            handle, reached = Rooted(root, self._scopes).reach(tuple(parts) or (".",), enter)
        except Refused:
            return Reason.DENIED
        except OSError:
            return Reason.MISSING
        try:
            scan(handle)
        except OSError:
            return Reason.MISSING
        finally:
            leave(handle)
        return Place(root, tuple(part for part in reached if part != "."))
