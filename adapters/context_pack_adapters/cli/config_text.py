"""One entry of a client's configuration, put in or taken out: TOML keeps its comments, JSON its order.

JSON with comments is refused, because they would be lost: `setup` then shows the entry to paste. Pure text:
who reads and writes the files is elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

_INDENT = re.compile(r"^([ \t]+)\"", re.MULTILINE)


class UnreadableConfig(ValueError):
    """The configuration file is not plain JSON or TOML."""


def put_json(text: str, section: str, name: str, entry: Mapping[str, Any]) -> str:
    """The text with an entry of that name in a section."""
    config = _json(text)
    _servers(config, section)[name] = dict(entry)
    return _written(config, text)


def drop_json(text: str, section: str, name: str) -> str:
    """The text without that entry, and without a section that is empty then."""
    config = _json(text)
    return _written(config, text) if _drop(config, section, name) else text


def put_toml(text: str, section: str, name: str, entry: Mapping[str, Any]) -> str:
    """The text with a table of that name in a section."""
    config = _toml(text)
    if section not in config:
        config[section] = tomlkit.table(is_super_table=True)
    servers = _servers(config, section)
    table = tomlkit.inline_table() if isinstance(servers, tomlkit.items.InlineTable) else tomlkit.table()
    for key, value in entry.items():
        if isinstance(value, Mapping):
            inline = tomlkit.inline_table()
            inline.update(value)
            table[key] = inline
        else:
            table[key] = value
    servers[name] = table
    return tomlkit.dumps(config)


def drop_toml(text: str, section: str, name: str) -> str:
    """The text without that table, and without a section that is empty then."""
    config = _toml(text)
    return tomlkit.dumps(config) if _drop(config, section, name) else text


def _servers(config: Any, section: str) -> Any:
    servers = config.setdefault(section, {})
    if not isinstance(servers, dict):
        raise UnreadableConfig(f"its {section} are no table of servers")
    return servers


def _drop(config: Any, section: str, name: str) -> bool:
    servers = config.get(section)
    if not isinstance(servers, dict) or name not in servers:
        return False
    del servers[name]
    if not servers:
        del config[section]
    return True


def _json(text: str) -> Any:
    try:
        config = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        raise UnreadableConfig("it has comments, or is no JSON") from None
    if not isinstance(config, dict):
        raise UnreadableConfig("it is no JSON object")
    return config


def _written(config: Any, text: str) -> str:
    indent = _INDENT.search(text)
    return json.dumps(config, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"


def _toml(text: str) -> Any:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as fault:
        raise UnreadableConfig(f"it is not TOML: {fault}") from None
