"""The documents among entries that are listed before they are read: of a repository or a mapping.

Names are foreign: one that is absolute or climbs out fails alone, like a link or a device where a document
should be. Ignore files inside count as on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from context_pack.documents.domain.manifest import MANIFEST_FILE, DocumentManifest
from context_pack.documents.domain.model import Failed, Survey
from context_pack.documents.domain.reading import IGNORED, MAX_DOCUMENT_BYTES, NOT_WANTED, WORDS, marked
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack.retrieval.upkeep import File

V = TypeVar("V")


class TreeItem(NamedTuple):
    """One entry: its signature and size, or why it can be no document."""

    stamp: str
    size: int
    problem: str | None = None


def below(folder: str, found: Mapping[str, V]) -> dict[str, V]:
    """What lies below a folder, whose name is empty or ends in a slash, by path from there."""
    return {path.removeprefix(folder): value for path, value in found.items() if path.startswith(folder)}


def surveyed(
    items: Mapping[str, TreeItem],
    ignores: Callable[[str], bool],
    policy: PathPolicy,
    manifest: DocumentManifest,
    signature: str = "",
    explain: bool = False,
) -> Survey:
    """The documents that the manifest means among all entries of a folder, and what is wrong with others."""
    files: dict[str, File] = {}
    failed, skipped = list(manifest.failed), []
    for path in sorted(items if manifest.files is None else manifest.files):
        item = items.get(path)
        wanted, problem = manifest.wants(path), None
        if item is None:
            failed.append(Failed(path, WORDS[Reason.MISSING]))
            continue
        if wanted:
            problem = _problem(path, item, ignores, policy)
        if problem is not None and _fails(problem, manifest):
            failed.append(Failed(path, problem))
        elif not wanted or problem is not None:
            if explain and path != MANIFEST_FILE:
                skipped.append(Failed(path, problem or NOT_WANTED))
        else:
            files[path] = File(marked(item.stamp, (manifest.files or {}).get(path)), item.size)
    return Survey(manifest.about, files, tuple(failed), signature, tuple(skipped))


def _problem(path: str, item: TreeItem, ignores: Callable[[str], bool], policy: PathPolicy) -> str | None:
    """Why an entry can be no document."""
    try:
        if policy.denies(RelativePath(path)):
            return WORDS[Reason.DENIED]
    except Failure as failure:
        return failure.message
    if ignores(path):
        return IGNORED
    if item.problem is None and item.size > MAX_DOCUMENT_BYTES:
        return WORDS[Reason.TOO_LARGE]
    return item.problem


def _fails(problem: str, manifest: DocumentManifest) -> bool:
    """Whether a problem is a failure; what a glob means although it is hidden is just no document."""
    return manifest.files is not None or problem not in (IGNORED, WORDS[Reason.DENIED])
