"""What of a project may be asked about by scope: what the path policy allows, and folders of packages."""

from __future__ import annotations

from attrs import frozen

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath

PACKAGES = "node_modules"


@frozen
class ScopePolicy(PathPolicy):
    """The path policy, but a context in a folder of packages is no secret; a scan never goes there."""

    def denies_scope(self, scope: str) -> bool:
        """Whether the folder of a scope must not be looked into, also where no `RelativePath` spells it."""
        try:
            return self.denies(RelativePath(scope))
        except Failure:  # too long, or with characters that are not shown on one line: globs cannot say
            return bool(self._paths) or any(map(self.denies_name, scope.split("/")))

    def denies_name(self, name: str) -> bool:
        """Whether a path with this segment is denied, wherever the segment stands."""
        return name != PACKAGES and super().denies_name(name)
