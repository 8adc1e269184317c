"""Which folders of the machine may be asked about: the source root, and roots that its owner allowed."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence

from context_pack.contexts.ports import ContextFormat, Refusal
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack_adapters.stores.context_policy import ScopePolicy
from context_pack_adapters.stores.context_project import DiskProject
from context_pack_adapters.stores.context_seen import SeenFolders

KEPT_PROJECTS = 16


class DiskProjects:
    """`Projects` on disk; safe to share between threads."""

    def __init__(
        self,
        source_root: str,
        allowed: Sequence[str],
        policy: PathPolicy,
        form: ContextFormat,
        seen: SeenFolders,
    ) -> None:
        self._source_root = os.path.abspath(source_root)
        self._allowed = (self._source_root, *map(os.path.abspath, allowed))
        self._policy, self._scopes = policy, ScopePolicy(policy.extra)
        self._format, self._seen = form, seen
        self._open: OrderedDict[tuple[str, str], DiskProject] = OrderedDict()

    def open(self, path: str | None) -> DiskProject | Refusal:
        """The project at a path, if it lies where it may; what is outside never shows whether it exists."""
        shown = self.shown(path or "")
        try:
            real = os.path.realpath(shown)
        except (OSError, ValueError):
            return Refusal.NOT_ALLOWED
        if not any(self._covers(os.path.realpath(root), real) for root in self._allowed):
            return Refusal.NOT_ALLOWED
        try:
            os.scandir(real).close()
        except OSError:
            return Refusal.NOT_A_FOLDER
        return self._kept(shown, real)

    def shown(self, path: str) -> str:
        """A path as callers are shown it: absolute, not resolved."""
        return os.path.normpath(os.path.join(self._source_root, path))

    def _covers(self, root: str, real: str) -> bool:
        """Whether a resolved place is in a root and not denied there."""
        if real == root:
            return True
        inside = os.path.join(root, "")
        if not real.startswith(inside):
            return False
        try:
            return not self._scopes.denies(RelativePath(real.removeprefix(inside).replace(os.sep, "/")))
        except Failure:
            return False

    def _made(self, shown: str, real: str) -> DiskProject:
        return DiskProject(shown, real, self._policy, self._format, self._seen)

    def _kept(self, shown: str, real: str) -> DiskProject:
        """The project with what is known of it from earlier calls."""
        key = (shown, real)
        project = self._open.get(key)
        if project is None:
            project = self._open.setdefault(key, self._made(shown, real))
            while len(self._open) > KEPT_PROJECTS:
                self._open.popitem(last=False)
        return project
