"""Which repositories that projects name the user lets be fetched, by address.

Kept in the user's own `context.json`, as `{"allowed": {"https://host/path": {"credentials": false}}}`; what a
project says there does not count. An address means one repository: its protocol, host and path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from context_pack.documents.domain.source_address import PlaceKind, parse_where
from context_pack.kernel.errors import Failure, invalid

ALLOWED = "allowed"
CREDENTIALS = "credentials"
PROTOCOLS = ("https", "ssh")

_ADDRESS = re.compile(r"([a-z]+)://(?:[^/]*@)?([^/]+)(?:/(.*))?", re.DOTALL)


def address_of(place: str) -> str:
    """The address that a repository's place (`https://…`) has whatever user it names and however it ends."""
    found = _ADDRESS.fullmatch(place)
    if found is None:
        return place
    path = (found[3] or "").rstrip("/").removesuffix(".git").rstrip("/")
    return f"{found[1]}://{found[2].lower()}/{path}"


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
    before = value.get(ALLOWED)
    known = before.items() if isinstance(before, dict) else ()
    kept = {url: body for url, body in known if not _means(url, address)}
    if credentials is not None:
        kept[address] = {CREDENTIALS: credentials}
    value[ALLOWED] = kept


def _means(url: str, address: str) -> bool:
    try:
        return address_in(url) == address
    except Failure:
        return False
