"""`context.json`: which collections there are, in the project and user-wide.

Both files have one shape, `{"collections": {"<alias>": {"url", "description"?, "shared"?}}}`. The project's
entries win over the user's. An entry that cannot be used is told and leaves the others alone; what else
stands in the file is somebody else's, and editing keeps it. The user's file also holds permits
(`domain.permits`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

from context_pack.documents.domain.permits import ALLOWED, permits_in
from context_pack.documents.domain.source_address import SourceAddress, parse_where, without_login
from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.text import is_single_line

CONFIG_FILE = "context.json"
MAX_BYTES = 1024 * 1024
MAX_ALIAS_CHARS = 200


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
    except RecursionError:
        return Config(problems=(f"{name}: it is nested too deep",))
    except ValueError as error:
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
    if not isinstance(body, dict) or not isinstance(body.get("url"), str):
        raise invalid("'url' must be a text", "url")
    description = body.get("description")
    if description is not None and not isinstance(description, str):
        raise invalid("'description' must be a text", "description")
    shared = body.get("shared", False)
    if not isinstance(shared, bool):
        raise invalid("'shared' must be true or false", "shared")
    return ConfiguredCollection(alias, body["url"], parse_where(body["url"]), description, shared)


def check_alias(alias: str) -> None:
    """Return only for a name that people can write and results can show.

    Raises:
        Failure: `invalid_data`, field `alias`.
    """
    if not alias or alias != alias.strip() or len(alias) > MAX_ALIAS_CHARS or not is_single_line(alias):
        words = "must have 1 to 200 characters, none of them a control character, no blank at either end"
        raise invalid(f"the name of a collection {words}", "alias")


def merged(project: Config, user: Config) -> dict[str, tuple[ConfiguredCollection, bool]]:
    """Every alias with its entry and whether it is the user's; the project's win."""
    found = {entry.alias: (entry, False) for entry in project.entries}
    for entry in user.entries:
        found.setdefault(entry.alias, (entry, True))
    return found


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
