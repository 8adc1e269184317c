"""`context.json`: which collections there are, and which repositories projects may name.

The project's file and the user's have one shape, `{"collections": {"<alias>": {"url", "description"?,
"shared"?}}}`; the project's entries win. An entry that cannot be used is told and leaves the others alone;
what else stands in the file is somebody else's, and editing keeps it.

The user's file alone holds permits, `{"allowed": {"https://host/path": {"credentials": false}}}`: the
repositories that projects may name. An address means one repository: its protocol, host and path.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from context_pack.documents.model import Catalogue, Collection
from context_pack.documents.places import SourceAddress, address_in, parse_where
from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.text import is_single_line
from context_pack.toolkit.schema_errors import problems_of

CONFIG_FILE = "context.json"
COLLECTIONS, ALLOWED, CREDENTIALS = "collections", "allowed", "credentials"
MAX_BYTES = 1024 * 1024
MAX_ALIAS_CHARS = 200
_ENTRY: dict[str, Any] = {
    "type": "object",
    "required": ["url"],
    "properties": {
        "url": {"type": "string"}, "description": {"type": ["string", "null"]}, "shared": {"type": "boolean"},
    },
}  # fmt: skip


def parse_config(text: str, name: str, collection_of: Callable[[str, Any], Collection]) -> Catalogue:
    """The usable entries of one file, and what is wrong with the others; problems begin with its name."""
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        return Catalogue(problems=(f"{name}: it is not valid JSON ({error})",))
    entries = value.get(COLLECTIONS, {}) if isinstance(value, dict) else None
    if not isinstance(entries, dict):
        return Catalogue(problems=(f'{name}: it must hold {{"collections": {{"<alias>": {{"url": "…"}}}}}}',))
    collections: dict[str, Collection] = {}
    problems: list[str] = []
    for alias, body in entries.items():
        try:
            collections[alias] = collection_of(alias, body)
        except Failure as failure:
            problems.append(f"{name}: collection {alias[:MAX_ALIAS_CHARS]!r}: {failure.message}")
    allowed, wrong = _permits(value.get(ALLOWED, {}))
    return Catalogue(collections, (*problems, *(f"{name}: {words}" for words in wrong)), allowed)


def check_entry(alias: str, body: Any) -> SourceAddress:
    """The place that an entry of the file names; return only for a usable entry.

    Raises:
        Failure: `invalid_data`.
    """
    _check_alias(alias)
    if problems := problems_of(_ENTRY, body):
        raise invalid(problems[0].message, problems[0].field or "url")
    return parse_where(body["url"])


def _check_alias(alias: str) -> None:
    """Return only for a name that people can write and results can show."""
    if not alias or alias != alias.strip() or len(alias) > MAX_ALIAS_CHARS or not is_single_line(alias):
        words = "must have 1 to 200 characters, none of them a control character, no blank at either end"
        raise invalid(f"the name of a collection {words}", "alias")


def edited(text: str | None, change: Callable[[dict[str, Any]], None]) -> str:
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
    if not isinstance(value, dict) or not isinstance(value.get(COLLECTIONS, {}), dict):
        raise invalid(f"{CONFIG_FILE} does not hold collections; mend it first", "file")
    change(value)
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def set_collection(value: dict[str, Any], alias: str, entry: Mapping[str, Any] | None) -> None:
    """Set a collection in a configuration or, without an entry, remove it."""
    collections = value.setdefault(COLLECTIONS, {})
    before = collections.get(alias)
    if entry is None:
        collections.pop(alias, None)
    else:
        _check_alias(alias)
        collections[alias] = {**(before if isinstance(before, dict) else {}), **entry}


def set_permit(value: dict[str, Any], address: str, credentials: bool | None) -> None:
    """Allow an address in a configuration or, with None, allow it no more."""
    permits, _ = _permits(value.get(ALLOWED, {}))
    permits.pop(address, None)
    if credentials is not None:
        permits[address] = credentials
    value[ALLOWED] = {url: {CREDENTIALS: given} for url, given in permits.items()}


def _permits(value: Any) -> tuple[dict[str, bool], list[str]]:
    """The allowed addresses, each with whether credentials may be used, and what is wrong with others."""
    permits: dict[str, bool] = {}
    if not isinstance(value, dict):
        return permits, [f"'{ALLOWED}' must be an object of addresses"]
    problems: list[str] = []
    for url, body in value.items():
        try:
            permits[address_in(url)] = isinstance(body, dict) and body.get(CREDENTIALS) is True
        except Failure as failure:
            problems.append(f"'{ALLOWED}': {failure.message}")
    return permits, problems
