"""A source tree in a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import FileNames, Reason, SourceFile, Unreadable, decode

_POLICY = PathPolicy()


class MemorySourceTree:
    """A `SourceTree` of path and content; it has no links, no pipes and no ignore files.

    The mapping is looked at on every call, so that a caller may edit the tree by changing it.
    """

    def __init__(
        self, files: Mapping[str, str | bytes], policy: PathPolicy = _POLICY, modified_ns: int = 0
    ) -> None:
        self._files = files
        self._policy = policy
        self._modified_ns = modified_ns

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
        """The text of one file."""
        found = self._bytes(path)
        if isinstance(found, Reason):
            return Unreadable(path, found)
        if len(found) > max_bytes:
            return Unreadable(path, Reason.TOO_LARGE)
        text = decode(found)
        if isinstance(text, Reason):
            return Unreadable(path, text)
        return SourceFile(path, text, len(found), self._modified_ns)

    def names(self, _: Callable[[], bool] | None = None, /) -> FileNames:
        """Where files of each name are."""
        found: dict[str, list[str]] = {}
        for path in sorted(self._files):
            if not self._policy.denies(RelativePath(path)):
                found.setdefault(path.rpartition("/")[2], []).append(path)
        return FileNames(found, complete=True)

    def is_file(self, path: RelativePath) -> bool:
        """Whether there is a file that the policy allows."""
        return path.value in self._files and not self._policy.denies(path)

    def is_folder(self, path: RelativePath) -> bool:
        """Whether something is below a path, which the policy allows."""
        inside = f"{path.value}/"
        return any(key.startswith(inside) for key in self._files) and not self._policy.denies(path, True)

    def _bytes(self, path: RelativePath) -> bytes | Reason:
        if self._policy.denies(path):
            return Reason.DENIED
        content = self._files.get(path.value)
        if content is None:
            inside = path.value + "/"
            return Reason.NOT_A_FILE if any(key.startswith(inside) for key in self._files) else Reason.MISSING
        return content.encode("utf-8") if isinstance(content, str) else content
