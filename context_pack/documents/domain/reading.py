"""From bytes to a document, the same for every kind of source: size, text, digest, and reasons in words."""

from __future__ import annotations

import re

from context_pack.documents.domain.model import DocumentText, Failed
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import decode, sha256_hex

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
