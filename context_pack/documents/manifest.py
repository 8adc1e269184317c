"""`manifest.json`: what a collection says of itself and which of its files are documents.

Either globs, or files by name. A manifest is foreign: it is checked by its schema, and what it says of a
single file never spoils the others.

A glob is compared with the whole path from the collection's root: `*`, `?` and `[…]` stay inside a segment,
`**` as a segment crosses folders, `{a,b}` are alternatives, a leading `!` excludes. Exclusions win wherever
they stand.

Then from bytes to documents, the same for every kind of source: text, digest, reasons in words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from attrs import field, frozen

from context_pack.documents.model import DocumentText, Failed, SourceDescription
from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.gitignore import IgnoreFile
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.patterns import MOST_ALTERNATIVES, alternatives
from context_pack.kernel.ports import Reason, decode
from context_pack.kernel.text import sha256_hex
from context_pack.toolkit.schema_errors import problems_of

MOST_CHARS = 1000
MOST_BRACES = 16
_BY_ENDING = re.compile(r"^/\*\*/(?=\*\.[^/]*$)")


@lru_cache(maxsize=64)
def matcher(globs: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a path is wanted by these globs; made once.

    They are written as lines of an ignore file, whose matcher is exact and never slow: the last line that
    matches decides, so exclusions stand last and take back.

    Raises:
        Failure: `invalid_data` for a glob that means nothing.
    """
    wanted = [body for glob in globs if not glob.startswith("!") for body in expanded(glob)]
    refused = [body for glob in globs if glob.startswith("!") for body in expanded(glob[1:])]
    if len(wanted) + len(refused) > MOST_ALTERNATIVES:
        raise invalid(f"the globs have more than {MOST_ALTERNATIVES} alternatives", "sources")
    # `/**/*.md` without what is in front of the star is looked up by the ending alone, which is quick: every
    # file is asked for before every answer.
    lines = [_BY_ENDING.sub("", line) for line in _lines(wanted)]
    # What excludes a folder excludes what is in it.
    lines += [f"!{each}" for line in _lines(refused) for each in (line, f"{line}/**")]
    rules = IgnoreFile("\n".join(lines))
    return lambda path: rules.verdict(path, is_folder=False) is True


def _lines(bodies: Iterable[str]) -> Iterator[str]:
    """Globs over whole paths as anchored lines."""
    for body in bodies:
        parts = [part for part in body.replace("\\", "\\\\").split("/") if part not in ("", ".")]
        if "\n" not in body and parts:
            yield "/".join(["", *parts, *(["**"] if body.endswith("/") else [])])


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


MANIFEST_FILE = "manifest.json"
PLAIN_GLOBS = ("**/*.{md,mdx,markdown,rst,txt}",)
MAX_BYTES = 4 * 1024 * 1024
MOST_SHOWN = 200
_TEXT = {"type": "string", "maxLength": 10_000}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["name", "version", "sources"],
    "properties": {
        "name": {**_TEXT, "pattern": r"\S"},
        "version": {**_TEXT, "pattern": r"\S"},
        "description": {**_TEXT, "type": ["string", "null"]},
        "sources": {
            "type": "object",
            "oneOf": [{"required": ["glob"]}, {"required": ["files"]}],
            "properties": {
                "glob": {
                    "type": ["string", "array"], "minItems": 1, "maxItems": 200, "items": {"type": "string"},
                },
                "files": {"type": "array", "maxItems": 200_000},
            },
        },
    },
}  # fmt: skip


@frozen
class DocumentManifest:
    """A parsed manifest: globs, or named files, and entries that fail."""

    about: SourceDescription = field(factory=SourceDescription)
    globs: tuple[str, ...] = ()
    files: frozenset[str] | None = None
    failed: tuple[Failed, ...] = ()

    @property
    def wants(self) -> Callable[[str], bool]:
        """Whether a path is that of a document."""
        return self.files.__contains__ if self.files is not None else matcher(self.globs)


def manifest_of(text: str | None, name: str) -> DocumentManifest:
    """What a folder's `manifest.json` says; one without, or with one that is about something else, is plain.

    Raises:
        Failure: `invalid_data` for a text that is meant as a manifest and is none.
    """
    if text is None or not _is_ours(text):
        return DocumentManifest(SourceDescription(name), PLAIN_GLOBS)
    return parse_manifest(text)


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
    if problems := problems_of(_SCHEMA, value):
        raise _wrong(f"{problems[0].path}: {problems[0].message}")
    about = SourceDescription(value["name"], value["version"], value.get("description"))
    sources = value["sources"]
    if "files" in sources:
        files, wrong = _files(sources["files"])
        return DocumentManifest(about, files=files, failed=wrong)
    globs = (sources["glob"],) if isinstance(sources["glob"], str) else tuple(sources["glob"])
    try:
        matcher(globs)
    except Failure as failure:
        raise _wrong(failure.message) from failure
    outside = {glob: leads_out(glob) for glob in globs}
    failed = tuple(
        Failed(glob[:MOST_SHOWN], "a glob cannot lead outside the collection")
        for glob in globs
        if outside[glob] and not glob.startswith("!")
    )
    return DocumentManifest(about, tuple(glob for glob in globs if not outside[glob]), failed=failed)


def _files(entries: Sequence[Any]) -> tuple[frozenset[str], tuple[Failed, ...]]:
    """The named files, and the entries that name none; each fails alone."""
    files: set[str] = set()
    failed: list[Failed] = []
    for number, entry in enumerate(entries):
        spelled = entry.get("path") if isinstance(entry, dict) else entry
        if not isinstance(spelled, str):
            failed.append(Failed(f"files[{number}]", "an entry is a path, or an object with a path"))
            continue
        try:
            files.add(RelativePath.lenient(spelled).value)
        except Failure as failure:
            failed.append(Failed(spelled[:MOST_SHOWN], f"outside the collection: {failure.message}"))
    return frozenset(files), tuple(failed)


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
_LONE_CR = re.compile(r"\r(?!\n)")


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


def document(path: str, data: bytes, stamp: str) -> DocumentText | Failed:
    """The document that the bytes are; a lone carriage return ends a line, and becomes the usual one."""
    text = decode(data)
    if isinstance(text, Reason):
        return Failed(path, WORDS[text])
    return DocumentText(path, _LONE_CR.sub("\n", text), sha256_hex(data), stamp)
