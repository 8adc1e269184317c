"""What a collection's `url` means: a folder, a manifest or a repository, and how an address may be shown.

A folder, a file or a `manifest.json` is a path or `file://…`; a repository is
`git+file|https|ssh://…[#ref][?manifest=path]`. What a path is relative to, and whether anything is there, is
not known here. Nothing that git could take for an option, and no other protocol, gets through. A login in an
address is for git alone and never shown.
"""

from __future__ import annotations

import re
from enum import StrEnum
from urllib.parse import parse_qsl, unquote, urlsplit

from attrs import field, frozen

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import is_single_line

MAX_CHARS = 2048
GIT = "git+"
FAR_PROTOCOLS = ("https", "ssh")
GIT_PROTOCOLS = ("file", *FAR_PROTOCOLS)
ESCAPES = "in a user name and a password, / ? # and @ are written %2F %3F %23 and %40"
SHAPES = "a folder, a manifest.json, file://… or git+file|https|ssh://…"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)", re.DOTALL)
_LOGIN = re.compile(r"(?P<protocol>[a-z]+)://(?P<user>[^/:]*)(?P<password>:[^/]*)?@", re.IGNORECASE)
# What git allows in a name of a ref (git-check-ref-format), and no dash in front, which would be an option.
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
        return last.removesuffix(".git").removesuffix(".json") or "documents"


def parse_where(url: str) -> SourceAddress:
    """The place that `url` spells.

    Raises:
        Failure: `invalid_data` for anything that is no place.
    """
    text = url.strip()
    if not text or len(text) > MAX_CHARS or not is_single_line(unquote(text)):
        raise _wrong("it is empty, too long or holds control characters")
    if text.lower().startswith(GIT):
        return _repository(text[len(GIT) :])
    scheme = _SCHEME.fullmatch(text)
    if scheme is None:
        return SourceAddress(_kind(text), text)
    protocol = scheme[1].lower()
    if protocol != "file":
        git = f"; a repository is {GIT}{protocol}://…" if protocol in FAR_PROTOCOLS else ""
        raise _wrong(f"{protocol}:// is not supported{git}")
    host, slash, path = scheme[2].partition("/")
    if host not in ("", "localhost") or not slash:
        raise _wrong("file:// wants an absolute path, as in file:///srv/docs")
    decoded = "/" + unquote(path)
    return SourceAddress(_kind(decoded), decoded)


def _kind(path: str) -> PlaceKind:
    return PlaceKind.MANIFEST if path.rstrip("/").lower().endswith(".json") else PlaceKind.FOLDER


def _repository(address: str) -> SourceAddress:
    """A git address; the ref may stand before or after the question mark."""
    try:
        url = urlsplit(address)
        _ = url.port
    except ValueError:  # what stands in the place of a port is a password with a / ? or # in it
        raise _wrong(ESCAPES) from None
    if "@" in url.netloc.rpartition("@")[0]:
        raise _wrong(ESCAPES)
    if url.scheme not in GIT_PROTOCOLS:
        raise _wrong(f"git+ works with {', '.join(GIT_PROTOCOLS)}")
    base = url.netloc + url.path
    # Without the slashes nothing tells where a login ends, and with nobody behind them nobody is asked.
    is_complete = _SCHEME.fullmatch(address) and (url.hostname or url.scheme == "file")
    if not is_complete or not base.strip("/") or base.startswith("-") or re.search(r"\s|@-", base):
        raise _wrong("the address of the repository is not complete")
    ref, _, later = url.fragment.partition("?")
    ref = unquote(ref)
    if ref and not _REF.fullmatch(ref):
        raise _wrong("what follows the # is no branch, tag or commit")
    return SourceAddress(PlaceKind.GIT, f"{url.scheme}://{base}", ref, _manifest(url.query, later))


def _manifest(*queries: str) -> str:
    """The `manifest=` of a query."""
    given = parse_qsl("&".join(queries), keep_blank_values=True)
    if any(name != "manifest" for name, _ in given):
        raise _wrong("after the ? only manifest=path is understood")
    try:
        return RelativePath.lenient(given[-1][1]).value if given else ""
    except Failure as failure:
        raise _wrong("manifest= must be a path inside the repository") from failure


def _wrong(reason: str) -> Failure:
    return invalid(f"'url' is not a place for documents: {reason}; it may be {SHAPES}", "url")


def address_of(place: str) -> str:
    """The address that a repository's place (`https://…`) has whatever user it names and however it ends."""
    protocol, _, rest = place.partition("://")
    host, _, path = rest.partition("/")
    path = path.rstrip("/").removesuffix(".git").rstrip("/")
    return f"{protocol}://{host.rpartition('@')[2].lower()}/{path}"


def address_in(url: str) -> str:
    """The address that a user means: as `context.json` spells it, or without the `git+`.

    Raises:
        Failure: `invalid_data` if it is none that can be fetched from elsewhere.
    """
    text = url.strip()
    where = parse_where(text if text.lower().startswith(GIT) else GIT + text)
    if where.place.partition(":")[0] not in FAR_PROTOCOLS:
        words = "only repositories behind https:// or ssh:// are allowed by address; one on this disk is for "
        raise invalid(words + "your own configuration (context-pack docs add NAME PLACE --user)", "url")
    return address_of(where.place)
