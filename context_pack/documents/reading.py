"""From entries and bytes to documents, the same for every kind of source: text, digest, reasons in words.

Names in a listed tree (of a repository or a mapping) are foreign: one that is absolute or climbs out fails
alone, like a link or a device where a document should be. Ignore files inside count as on disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from context_pack.documents.manifest import MANIFEST_FILE, DocumentManifest
from context_pack.documents.model import DocumentText, Failed, Survey
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason, decode
from context_pack.kernel.text import sha256_hex
from context_pack.retrieval.upkeep import File

MAX_DOCUMENT_BYTES = 10 * 1024 * 1024
MOST_SHOWN = 80

WORDS = {
    Reason.MISSING: "there is no such file",
    Reason.OUTSIDE: "it leads outside the collection",
    Reason.DENIED: "the path policy denies it",
    Reason.NOT_A_FILE: "it is not a regular file",
    Reason.TOO_LARGE: f"it is larger than {MAX_DOCUMENT_BYTES} bytes",
    Reason.BINARY: "it is not text",
    Reason.NOT_UTF8: "it is not UTF-8",
    Reason.IO: "it cannot be read",
}
IGNORED = "ignored by .gitignore"
NOT_WANTED = "not among the sources"
UNLISTED = "the folder cannot be listed"
_LONE_CR = re.compile(r"\r(?!\n)")


def marked(stamp: str, expected: str | None) -> str:
    """A stamp that also changes with the digest that a manifest demands."""
    return stamp if expected is None else f"{stamp}:{expected[:16]}"


def failure(path: str, reason: Reason) -> Failed:
    """A document that cannot be had for that reason."""
    return Failed(path, WORDS[reason], passing=reason is Reason.IO)


def unspeakable(path: str) -> Failed | None:
    """Why a path on disk cannot be a document id; None if it can."""
    try:
        RelativePath(path)
    except Failure as failure:
        # Its name cannot be given back to us: what is shown of it is one short line.
        shown = "".join(char if char.isprintable() else "?" for char in path)
        shown = shown if len(shown) <= MOST_SHOWN else f"{shown[:MOST_SHOWN]}…"
        return Failed(shown, failure.message.replace("'path'", "its path"))
    return None


def ruled(signature: str, policy: PathPolicy) -> str:
    """The signature of a source that was looked at under a policy: another policy sees other documents."""
    rules = (*policy.extra, "", *policy.allow) if policy.allow else policy.extra
    return signature if not rules else f"{sha256_hex(repr(rules))[:16]}:{signature}"


def document(path: str, data: bytes, stamp: str, expected: str | None) -> DocumentText | Failed:
    """The document that the bytes are; `expected` is the digest that a manifest demands.

    A lone carriage return is the end of a line, and becomes the usual one.
    """
    digest = sha256_hex(data)
    if expected is not None and digest != expected:
        return Failed(path, f"hash mismatch: the manifest says {expected}, the file has {digest}")
    text = decode(data)
    if isinstance(text, Reason):
        return Failed(path, WORDS[text])
    return DocumentText(path, _LONE_CR.sub("\n", text), digest, marked(stamp, expected))


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
