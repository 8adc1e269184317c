"""Our part of a configuration, put in or taken out: a server, hooks, or a block of Markdown.

TOML keeps its comments, JSON its order. JSON with comments is refused, because they would be lost: `setup`
then shows the part to paste. Pure text: who reads and writes the files is elsewhere.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

_INDENT = re.compile(r"^([ \t]+)\"", re.MULTILINE)
_OURS = re.compile(r"context[-_]pack\b.* hook (start|compact|end)$")
BLOCK_START, BLOCK_END = "<!-- context-pack -->", "<!-- /context-pack -->"
_BLOCK = re.compile(rf"{BLOCK_START}\n.*?{BLOCK_END}\n?", re.DOTALL)


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


def put_hooks(text: str, commands: Mapping[str, str]) -> str:
    """The text with a command for each of these events, beside the hooks that are there."""
    config = _json(drop_hooks(text))
    hooks = config.setdefault("hooks", {})
    for event, command in commands.items():
        groups = hooks.setdefault(event, []) if isinstance(hooks, dict) else None
        if not isinstance(groups, list):
            raise UnreadableConfig("its hooks are no table of lists")
        groups.append({"hooks": [{"type": "command", "command": command}]})
    return _written(config, text)


def drop_hooks(text: str) -> str:
    """The text without the hooks that run us, and without events that are empty then."""
    config = _json(text)
    hooks = config.get("hooks")
    if not isinstance(hooks, dict):
        return text
    before = json.dumps(config)
    for event, groups in list(hooks.items()):
        if isinstance(groups, list) and any(map(_runs_us, groups)):
            hooks[event] = [group for group in groups if not _runs_us(group)]
            if not hooks[event]:
                del hooks[event]
    if not hooks:
        del config["hooks"]
    return _written(config, text) if json.dumps(config) != before else text


def _runs_us(group: Any) -> bool:
    """Whether a group of hooks is one that we wrote."""
    inside = group.get("hooks") if isinstance(group, dict) else None
    commands = [each.get("command") for each in inside or () if isinstance(each, dict)]
    return len(commands) == 1 and bool(_OURS.search(str(commands[0])))


def put_block(text: str, block: str) -> str:
    """A Markdown text with our block at its end, or in the place of an earlier one."""
    marked = f"{BLOCK_START}\n{block.strip()}\n{BLOCK_END}"
    if _BLOCK.search(text):
        return _BLOCK.sub(lambda _: f"{marked}\n", text, count=1)
    return f"{text.rstrip()}\n\n{marked}\n" if text.strip() else f"{marked}\n"


def drop_block(text: str) -> str:
    """A Markdown text without our block."""
    without = _BLOCK.sub("", text)
    return text if without == text else f"{without.rstrip()}\n" if without.strip() else ""


def same_config(name: str, one: str, other: str) -> bool:
    """Whether two texts of a file say the same; empty lists and tables say nothing."""
    if not name.endswith((".toml", ".json")):
        return one.strip() == other.strip()
    read = tomllib.loads if name.endswith(".toml") else _json
    try:
        first, second = (dict(read(text.removeprefix("\ufeff"))) for text in (one, other))
    except ValueError:
        return one == other
    return bool(_said(first) == _said(second))


def _said(value: Any) -> Any:
    """A value without the empty lists and tables in it."""
    if not isinstance(value, dict):
        return value
    parts = {name: _said(each) for name, each in value.items()}
    return {name: each for name, each in parts.items() if each not in ({}, [])}


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
