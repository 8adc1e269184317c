"""`manifest.json`: what a collection says of itself and which of its files are documents.

Either globs, or files by name, perhaps with the SHA-256 that each must have. A manifest is foreign: it is
read strictly, and what it says of a single file never spoils the others.

A glob is compared with the whole path from the collection's root: `*`, `?` and `[…]` stay inside a segment,
`**` as a segment crosses folders, `{a,b}` are alternatives, a leading `!` excludes. Exclusions win wherever
they stand.

Then from entries and bytes to documents, the same for every kind of source: text, digest, reasons in words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from attrs import field, frozen

from context_pack.documents.model import DocumentText, Failed, SourceDescription, Survey
from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.gitignore import IgnoreFile
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.patterns import MOST_ALTERNATIVES, alternatives
from context_pack.kernel.ports import Reason, decode
from context_pack.kernel.text import sha256_hex
from context_pack.retrieval.upkeep import File

MOST_CHARS = 1000
MOST_BRACES = 16

_PLAIN_ENDING = re.compile(r"\*\*/\*(\.[^*?\[\]/]+)")


class Matcher:
    """Whether paths are wanted by a list of globs."""

    def __init__(self, globs: Sequence[str]) -> None:
        wanted = [body for glob in globs if not glob.startswith("!") for body in expanded(glob)]
        refused = [body for glob in globs if glob.startswith("!") for body in expanded(glob[1:])]
        if len(wanted) + len(refused) > MOST_ALTERNATIVES:
            raise invalid(f"the globs have more than {MOST_ALTERNATIVES} alternatives", "sources")
        endings = [match[1] for body in wanted if (match := _PLAIN_ENDING.fullmatch(body))]
        self._endings = tuple(endings)
        self._wanted = _rules(body for body in wanted if not _PLAIN_ENDING.fullmatch(body))
        self._refused = _rules(refused)

    def wants(self, path: str) -> bool:
        """Whether a path is meant."""
        if not path.endswith(self._endings) and not self._wanted.verdict(path, False):
            return False
        folders = [path[:at] for at, char in enumerate(path) if char == "/"]
        # What excludes a folder excludes what is in it.
        return not self._refused.verdict(path, False) and not any(
            self._refused.verdict(folder, True) for folder in folders
        )


@lru_cache(maxsize=64)
def matcher(globs: tuple[str, ...]) -> Matcher:
    """The matcher of these globs, made once.

    Raises:
        Failure: `invalid_data` for a glob that means nothing.
    """
    return Matcher(globs)


def expanded(glob: str) -> list[str]:
    """The glob without braces, written out, and without a leading `./`.

    Raises:
        Failure: `invalid_data` for braces that do not close, or too many alternatives.
    """
    body = glob.strip().removeprefix("./")
    if not body or len(body) > MOST_CHARS or body.count("{") > MOST_BRACES:
        raise invalid(f"a glob must have 1 to {MOST_CHARS} characters and few braces", "sources")
    return alternatives(body, lambda reason: invalid(f"a glob has {reason}", "sources"))


def leads_out(glob: str) -> bool:
    """Whether a glob speaks of what lies outside the collection: an absolute path, or one that climbs."""
    bodies = [body.replace("\\", "/") for body in expanded(glob.removeprefix("!"))]
    return any(body.startswith("/") or body[1:3] == ":/" or ".." in body.split("/") for body in bodies)


def _rules(bodies: Iterable[str]) -> IgnoreFile:
    """Globs over whole paths as anchored lines of an ignore file, whose matcher is exact and never slow."""
    lines = []
    for body in bodies:
        parts = [part for part in body.replace("\\", "\\\\").split("/") if part not in ("", ".")]
        if "\n" not in body and parts:
            lines.append("/".join(["", *parts, *(["**"] if body.endswith("/") else [])]))
    return IgnoreFile("\n".join(lines))


MANIFEST_FILE = "manifest.json"
PLAIN_GLOBS = ("**/*.{md,mdx,markdown,rst,txt}",)
MAX_BYTES = 4 * 1024 * 1024
MOST_FILES = 200_000
MOST_GLOBS = 200
MOST_SHOWN = 200
MOST_TEXT = 10_000

_HASH = re.compile(r"(?:sha256:)?([0-9a-f]{64})", re.IGNORECASE)


@frozen
class DocumentManifest:
    """A parsed manifest: globs, or named files with the digest each must have, and entries that fail."""

    about: SourceDescription = field(factory=SourceDescription)
    globs: tuple[str, ...] = ()
    files: Mapping[str, str | None] | None = None
    """Path to hex SHA-256, or None where none is given."""
    failed: tuple[Failed, ...] = ()

    @property
    def wants(self) -> Callable[[str], bool]:
        """Whether a path is that of a document."""
        return self.files.__contains__ if self.files is not None else matcher(self.globs).wants


def is_text(path: str) -> bool:
    """Whether a plain folder would have that file among its documents."""
    return matcher(PLAIN_GLOBS).wants(path)


def plain(name: str) -> DocumentManifest:
    """The manifest of a folder that has none."""
    return DocumentManifest(SourceDescription(name), PLAIN_GLOBS)


def manifest_of(text: str | None, name: str) -> DocumentManifest:
    """What a folder's `manifest.json` says; one without, or with one that is about something else, is plain.

    Raises:
        Failure: `invalid_data` for a text that is meant as a manifest and is none.
    """
    return plain(name) if text is None or not _is_ours(text) else parse_manifest(text)


def _is_ours(text: str) -> bool:
    """Whether a file called `manifest.json` speaks of documents; many other things are called so."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        # One that was ours until a comma went missing must not let in what it left out.
        return '"sources"' in text
    return isinstance(value, dict) and isinstance(value.get("sources"), dict)


def parse_manifest(text: str) -> DocumentManifest:
    """The manifest that the JSON text spells.

    Raises:
        Failure: `invalid_data` for a text that is none.
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise _wrong("it is nested too deep") from error
    except ValueError as error:
        raise _wrong(f"it is not valid JSON ({error})") from error
    if not isinstance(value, dict):
        raise _wrong("it is not an object")
    name, version = _text(value, "name", required=True), _text(value, "version", required=True)
    about = SourceDescription(name or "", version, _text(value, "description"))
    sources = value.get("sources")
    if not isinstance(sources, dict) or ("glob" in sources) == ("files" in sources):
        raise _wrong("'sources' must be an object with either 'glob' or 'files'")
    if "glob" in sources:
        globs = _globs(sources["glob"])
        outside = {glob: leads_out(glob) for glob in globs}
        leading_out = (glob for glob in globs if outside[glob] and not glob.startswith("!"))
        failed = tuple(
            Failed(glob[:MOST_SHOWN], "a glob cannot lead outside the collection") for glob in leading_out
        )
        return DocumentManifest(about, tuple(glob for glob in globs if not outside[glob]), failed=failed)
    files, wrong = _files(sources["files"])
    return DocumentManifest(about, files=files, failed=wrong)


def _text(value: Mapping[str, Any], name: str, required: bool = False) -> str | None:
    found = value.get(name)
    if found is None and not required:
        return None
    if not isinstance(found, str) or (required and not found.strip()) or len(found) > MOST_TEXT:
        raise _wrong(f"'{name}' must be a text" + (" that is not blank" if required else ""))
    return found


def _globs(value: Any) -> tuple[str, ...]:
    globs = [value] if isinstance(value, str) else value
    if not isinstance(globs, list) or not globs or len(globs) > MOST_GLOBS:
        raise _wrong(f"'glob' must be a list of 1 to {MOST_GLOBS} globs")
    if not all(isinstance(glob, str) for glob in globs):
        raise _wrong("'glob' must hold texts")
    found = tuple(globs)
    try:
        matcher(found)
    except Failure as failure:
        raise _wrong(failure.message) from failure
    return found


def _files(value: Any) -> tuple[dict[str, str | None], tuple[Failed, ...]]:
    """The named files, and the entries that name none; each fails alone."""
    if not isinstance(value, list) or len(value) > MOST_FILES:
        raise _wrong(f"'files' must be a list of at most {MOST_FILES} files")
    files: dict[str, str | None] = {}
    failed: list[Failed] = []
    for number, entry in enumerate(value):
        spelled = entry.get("path") if isinstance(entry, dict) else entry
        if not isinstance(spelled, str):
            failed.append(Failed(f"files[{number}]", "an entry is a path, or an object with a path"))
            continue
        shown = spelled[:MOST_SHOWN]
        try:
            path = RelativePath.lenient(spelled).value
        except Failure as failure:
            failed.append(Failed(shown, f"outside the collection: {failure.message}"))
            continue
        digest = entry.get("hash") if isinstance(entry, dict) else None
        match = _HASH.fullmatch(digest) if isinstance(digest, str) else None
        if digest is not None and match is None:
            failed.append(Failed(shown, "'hash' is no hex SHA-256"))
        else:
            files[path] = match[1].lower() if match is not None else None
    return files, tuple(failed)


def _wrong(reason: str) -> Failure:
    return invalid(f"{MANIFEST_FILE} cannot be used: {reason}", "manifest")


MAX_DOCUMENT_BYTES = 10 * 1024 * 1024
MOST_NAME = 80

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
        shown = shown if len(shown) <= MOST_NAME else f"{shown[:MOST_NAME]}…"
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
            if explain and (wanted or is_text(path)):
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
