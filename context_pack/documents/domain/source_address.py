"""Where a collection comes from, as `context.json` spells it.

A folder or a `manifest.json`, each as a path or as `file://…`; or a repository,
`git+file|https|ssh://…[#ref][?manifest=path]`. What a path is relative to, and whether anything is there, is
not known here. Nothing that git could take for an option, and no other protocol, gets through.
"""

from __future__ import annotations

import re
from enum import StrEnum
from urllib.parse import unquote

from attrs import field, frozen

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import is_single_line

MAX_CHARS = 2048
GIT = "git+"
GIT_PROTOCOLS = ("file", "https", "ssh")
SHAPES = "a folder, a manifest.json, file://… or git+file|https|ssh://…"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)", re.DOTALL)
_LOGIN = re.compile(r"(?P<protocol>[a-z]+)://(?P<user>[^/:]*)(?P<password>:[^/]*)?@", re.IGNORECASE)
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::[0-9]*)?")
_REF = re.compile(r"(?!.*\.\.)(?!.*@\{)(?!.*//)[A-Za-z0-9_][^\s~^:?*\[\\]{0,254}")


def without_login(url: str) -> str:
    """An address as it may be shown: without password, and without user (a token, perhaps) but for ssh."""
    return _LOGIN.sub(_bare, url, count=1)


def _bare(login: re.Match[str]) -> str:
    user = f"{login['user']}@" if login["protocol"].lower() == "ssh" else ""
    return f"{login['protocol']}://{user}"


class PlaceKind(StrEnum):
    """The kind of a place: folder, manifest or git repository."""

    FOLDER = "folder"
    MANIFEST = "manifest"
    GIT = "git"


@frozen
class SourceAddress:
    """A parsed place: a path as written, or the address of a repository with what is wanted of it."""

    kind: PlaceKind
    place: str = field(repr=without_login)
    ref: str = ""
    manifest: str = ""

    @property
    def shown(self) -> str:
        """The place without what only git is to know."""
        return self.place if self.is_local else without_login(self.place)

    @property
    def is_local(self) -> bool:
        """Whether edits can be seen by looking at the disk."""
        return self.kind is not PlaceKind.GIT

    @property
    def name(self) -> str:
        """The last part of the place that says something, for people."""
        parts = [part for part in re.split(r"[/\\]", self.shown) if part not in ("", ".", "..")]
        if self.kind is PlaceKind.MANIFEST and len(parts) > 1:
            parts.pop()
        last = parts[-1] if parts else "documents"
        for ending in (".git", ".json"):
            last = last.removesuffix(ending)
        return last or "documents"


def parse_where(url: str) -> SourceAddress:
    """The place that `url` spells.

    Raises:
        Failure: `invalid_data` for anything that is no place.
    """
    text = url.strip()
    if not text:
        raise _wrong("it is empty")
    if len(text) > MAX_CHARS or not is_single_line(text):
        raise _wrong("it is too long or holds control characters")
    if text.lower().startswith(GIT):
        return _repository(text[len(GIT) :])
    scheme = _SCHEME.fullmatch(text)
    if scheme is None:
        return SourceAddress(_kind(text), text)
    if scheme[1].lower() != "file":
        git = (
            f"; a repository is {GIT}{scheme[1].lower()}://…" if scheme[1].lower() in ("https", "ssh") else ""
        )
        raise _wrong(f"{scheme[1].lower()}:// is not supported{git}")
    host, slash, path = scheme[2].partition("/")
    if host not in ("", "localhost") or not slash:
        raise _wrong("file:// wants an absolute path, as in file:///srv/docs")
    decoded = "/" + unquote(path)
    if not is_single_line(decoded):
        raise _wrong("it holds control characters")
    return SourceAddress(_kind(decoded), decoded)


def _kind(path: str) -> PlaceKind:
    return PlaceKind.MANIFEST if path.rstrip("/").lower().endswith(".json") else PlaceKind.FOLDER


def _repository(address: str) -> SourceAddress:
    """A git address; the ref may stand before or after the question mark."""
    scheme = _SCHEME.fullmatch(address)
    if scheme is None or scheme[1].lower() not in GIT_PROTOCOLS:
        raise _wrong(f"git+ works with {', '.join(GIT_PROTOCOLS)}")
    base, _, fragment = address.partition("#")
    base, _, query = base.partition("?")
    ref, _, later = fragment.partition("?")
    ref = unquote(ref)
    if ref and not _REF.fullmatch(ref):
        raise _wrong("what follows the # is no branch, tag or commit")
    rest = _SCHEME.fullmatch(base)
    if rest is None or not rest[2].strip("/") or rest[2].startswith("-") or re.search(r"\s|@-", base):
        raise _wrong("the address of the repository is not complete")
    user, _, host = rest[2].partition("/")[0].rpartition("@")
    if rest[1].lower() != "file" and ("@" in user or _HOST.fullmatch(host) is None):
        raise _wrong("in a user name and a password, / ? # and @ are written %2F %3F %23 and %40")
    return SourceAddress(PlaceKind.GIT, f"{rest[1].lower()}://{rest[2]}", ref, _manifest(query, later))


def _manifest(*queries: str) -> str:
    """The `manifest=` of a query."""
    found = ""
    for item in "&".join(filter(None, queries)).split("&"):
        name, _, value = item.partition("=")
        if not item:
            continue
        if name != "manifest":
            raise _wrong("after the ? only manifest=path is understood")
        try:
            found = RelativePath.lenient(unquote(value)).value
        except Failure as failure:
            raise _wrong("manifest= must be a path inside the repository") from failure
    return found


def _wrong(reason: str) -> Failure:
    return invalid(f"'url' is not a place for documents: {reason}; it may be {SHAPES}", "url")
