"""`context.json`: which collections there are, where each comes from, and which repositories are allowed.

The project's file and the user's have one shape, `{"collections": {"<alias>": {"url", "description"?,
"shared"?}}}`; the project's entries win. An entry that cannot be used is told and leaves the others alone;
what else stands in the file is somebody else's, and editing keeps it.

A url is a folder or a `manifest.json`, each as a path or as `file://…`; or a repository,
`git+file|https|ssh://…[#ref][?manifest=path]`. What a path is relative to, and whether anything is there, is
not known here. Nothing that git could take for an option, and no other protocol, gets through.

The user's file alone holds permits, `{"allowed": {"https://host/path": {"credentials": false}}}`: the
repositories that projects may name. An address means one repository: its protocol, host and path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qsl, unquote

from attrs import field, frozen

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import is_single_line
from context_pack.toolkit.schema_errors import problems_of

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
    if not text or len(text) > MAX_CHARS or not is_single_line(unquote(text)):
        raise _wrong("it is empty, too long or holds control characters")
    if text.lower().startswith(GIT):
        return _repository(text[len(GIT) :])
    scheme = _SCHEME.fullmatch(text)
    if scheme is None:
        return SourceAddress(_kind(text), text)
    protocol = scheme[1].lower()
    if protocol != "file":
        git = f"; a repository is {GIT}{protocol}://…" if protocol in ("https", "ssh") else ""
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
    given = parse_qsl("&".join(queries), keep_blank_values=True)
    if any(name != "manifest" for name, _ in given):
        raise _wrong("after the ? only manifest=path is understood")
    try:
        return RelativePath.lenient(given[-1][1]).value if given else ""
    except Failure as failure:
        raise _wrong("manifest= must be a path inside the repository") from failure


def _wrong(reason: str) -> Failure:
    return invalid(f"'url' is not a place for documents: {reason}; it may be {SHAPES}", "url")


ALLOWED = "allowed"
CREDENTIALS = "credentials"
PROTOCOLS = ("https", "ssh")


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
    where = parse_where(text if text.lower().startswith("git+") else f"git+{text}")
    if where.kind is not PlaceKind.GIT or where.place.partition(":")[0] not in PROTOCOLS:
        words = "only repositories behind https:// or ssh:// are allowed by address; one on this disk is for "
        raise invalid(words + "your own configuration (context-pack docs add NAME PLACE --user)", "url")
    return address_of(where.place)


def permits_in(value: Any) -> tuple[dict[str, bool], list[str]]:
    """The allowed addresses, each with whether credentials may be used, and what is wrong with others."""
    permits: dict[str, bool] = {}
    problems: list[str] = []
    if not isinstance(value, dict):
        return permits, [f"'{ALLOWED}' must be an object of addresses"]
    for url, body in value.items():
        try:
            address = address_in(url)
        except Failure as failure:
            problems.append(f"'{ALLOWED}': {failure.message}")
            continue
        permits[address] = isinstance(body, Mapping) and body.get(CREDENTIALS) is True
    return permits, problems


def with_permit(value: dict[str, Any], address: str, credentials: bool | None) -> None:
    """Allow an address in a configuration or, with None, allow it no more."""
    permits, _ = permits_in(value.get(ALLOWED, {}))
    permits.pop(address, None)
    if credentials is not None:
        permits[address] = credentials
    value[ALLOWED] = {url: {CREDENTIALS: given} for url, given in permits.items()}


CONFIG_FILE = "context.json"
MAX_BYTES = 1024 * 1024
MAX_ALIAS_CHARS = 200
_ENTRY: dict[str, Any] = {
    "type": "object",
    "required": ["url"],
    "properties": {
        "url": {"type": "string"}, "description": {"type": ["string", "null"]}, "shared": {"type": "boolean"},
    },
}  # fmt: skip


@frozen
class ConfiguredCollection:
    """One configured collection."""

    alias: str
    url: str = field(repr=without_login)
    where: SourceAddress
    description: str | None = None
    shared: bool = False
    """Whether a team that has a database indexes it there, once for everybody."""


@frozen
class Config:
    """The usable entries of one file, and what is wrong with the others."""

    entries: tuple[ConfiguredCollection, ...] = ()
    problems: tuple[str, ...] = ()
    allowed: Mapping[str, bool] = field(factory=dict)
    """The repositories that may be fetched for projects, with whether credentials may be used."""


def parse_config(text: str, name: str = CONFIG_FILE) -> Config:
    """Parse a `context.json`; problems begin with the file's name."""
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        return Config(problems=(f"{name}: it is not valid JSON ({error})",))
    collections = value.get("collections", {}) if isinstance(value, dict) else None
    if not isinstance(collections, dict):
        return Config(problems=(f'{name}: it must hold {{"collections": {{"<alias>": {{"url": "…"}}}}}}',))
    entries: list[ConfiguredCollection] = []
    problems: list[str] = []
    for alias, body in collections.items():
        try:
            entries.append(entry_of(alias, body))
        except Failure as failure:
            problems.append(f"{name}: collection {alias[:MAX_ALIAS_CHARS]!r}: {failure.message}")
    allowed, wrong = permits_in(value.get(ALLOWED, {}))
    return Config(tuple(entries), (*problems, *(f"{name}: {words}" for words in wrong)), allowed)


def entry_of(alias: str, body: Any) -> ConfiguredCollection:
    """The collection that an alias and what stands under it configure.

    Raises:
        Failure: `invalid_data`.
    """
    check_alias(alias)
    if problems := problems_of(_ENTRY, body):
        raise invalid(problems[0].message, problems[0].field or "url")
    url = body["url"]
    return ConfiguredCollection(
        alias, url, parse_where(url), body.get("description"), body.get("shared", False)
    )


def check_alias(alias: str) -> None:
    """Return only for a name that people can write and results can show.

    Raises:
        Failure: `invalid_data`, field `alias`.
    """
    if not alias or alias != alias.strip() or len(alias) > MAX_ALIAS_CHARS or not is_single_line(alias):
        words = "must have 1 to 200 characters, none of them a control character, no blank at either end"
        raise invalid(f"the name of a collection {words}", "alias")


def edited(text: str | None, alias: str, entry: Mapping[str, str] | None) -> str:
    """The file's text with one collection set or, without an entry, removed; all else stays.

    Raises:
        Failure: `invalid_data` for a file that cannot be edited, `not_found` is for the caller to see.
    """

    def change(value: dict[str, Any]) -> None:
        collections = value.setdefault("collections", {})
        if entry is None:
            collections.pop(alias, None)
        else:
            check_alias(alias)
            before = collections.get(alias)
            collections[alias] = {**(before if isinstance(before, dict) else {}), **entry}

    return changed(text, change)


def changed(text: str | None, change: Callable[[dict[str, Any]], None]) -> str:
    """The file's text after a change to what it holds; what the change does not touch stays.

    Raises:
        Failure: `invalid_data` for a file that cannot be edited.
    """
    value: Any = {}
    if text is not None and text.strip():
        try:
            value = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            raise invalid(f"{CONFIG_FILE} is not valid JSON; mend it first ({error})", "file") from error
    if not isinstance(value, dict) or not isinstance(value.get("collections", {}), dict):
        raise invalid(f"{CONFIG_FILE} does not hold collections; mend it first", "file")
    change(value)
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
