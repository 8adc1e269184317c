"""Changes one entry in the text of a client's configuration and leaves every other byte as it is.

JSON may have comments and trailing commas, as the clients allow. TOML is changed by whole tables, and only
where the values of the result are those of the text with that change. Pure text: who reads and writes the
files is elsewhere.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}/]+")
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


class UnreadableConfig(ValueError):
    """The configuration file is not valid JSON or TOML."""


class Member(NamedTuple):
    """A member of an object: where its key begins, and where its value begins and ends."""

    name: str
    start: int
    value: int
    end: int


def put_json(text: str, path: Sequence[str], value: Any) -> str:
    """The text with `value` at `path`; objects on the way are made where they are missing.

    Raises:
        Unreadable: it is no JSON object, or something else is in the way.
    """
    if not text.strip():
        return json.dumps(_nested(path, value), indent=2, ensure_ascii=False) + "\n"
    at = _skip(text, 0)
    for depth, name in enumerate(path):
        members, close = _members(text, at)
        found = next((member for member in reversed(members) if member.name == name), None)
        if found is None:
            return _inserted(text, at, members, close, name, _nested(path[depth + 1 :], value))
        if depth == len(path) - 1:
            spelled = _spelled(value, _indent(text, found.start))
            return text[: found.value] + spelled + text[found.end :]
        at = found.value
    return text


def drop_json(text: str, path: Sequence[str]) -> str:
    """The text without what is at `path`, and without the objects around it that are empty then."""
    if not text.strip():
        return text
    at = _skip(text, 0)
    spans: list[tuple[int, list[Member], int]] = []
    for name in path:
        members, _ = _members(text, at)
        places = [index for index, member in enumerate(members) if member.name == name]
        if not places:
            return text
        spans.append((at, members, places[-1]))
        at = members[places[-1]].value
    while len(spans) > 1 and len(spans[-1][1]) == 1:
        spans.pop()
    opening, members, index = spans[-1]
    gone = members[index]
    if index:
        return text[: members[index - 1].end] + text[gone.end :]
    after = _skip(text, gone.end)
    if text[after : after + 1] == ",":
        return text[: gone.start] + text[_skip(text, after + 1) :]
    return text[: opening + 1] + text[after:]


def put_toml(text: str, table: str, values: Mapping[str, Any]) -> str:
    """The text with a table of these values, where it was or at the end.

    Raises:
        Unreadable: it is no TOML, or says the same in another way than by a table.
    """
    return _proved(text, _with_table(text, table, values), table, dict(values))


def drop_toml(text: str, table: str) -> str:
    """The text without a table and the tables inside it, and without the empty line before it."""
    return _proved(text, _without_table(text, table), table, None)


def _proved(text: str, changed: str, table: str, value: Mapping[str, Any] | None) -> str:
    """The changed text, if that value, or its absence, is all that changed."""
    section, _, name = table.partition(".")
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise UnreadableConfig(f"it is not TOML: {fault}") from None
    servers = expected.setdefault(section, {})
    if isinstance(servers, dict):
        servers.pop(name, None)
        servers.update({} if value is None else {name: value})
        try:
            if {section: {}, **tomllib.loads(changed)} == expected:
                return changed
        except tomllib.TOMLDecodeError:
            pass
    raise UnreadableConfig(f"its {section} are not written as tables")


def _with_table(text: str, table: str, values: Mapping[str, Any]) -> str:
    lines = "".join(f"{name} = {_toml(value)}\n" for name, value in values.items())
    block = f"[{table}]\n{lines}"
    rest = _without_table(text, table)
    start = _table_start(text, table)
    if start is not None and rest[:start] == text[:start]:
        tail = rest[start:]
        return rest[:start] + block + ("\n" if tail else "") + tail
    return rest + ("" if not rest or rest.endswith("\n") else "\n") + ("\n" if rest.strip() else "") + block


def _without_table(text: str, table: str) -> str:
    while (start := _table_start(text, table)) is not None:
        following = _TABLE.search(text, start + 1)
        while following and _is_ours(text, following.start(), table):
            following = _TABLE.search(text, following.start() + 1)
        before = text[:start]
        if following is None:
            text = before.removesuffix("\n") if before.endswith("\n\n") else before
        else:
            text = before + text[following.start() :]
    return text


def _table_start(text: str, table: str) -> int | None:
    found = (match.start() for match in _TABLE.finditer(text) if _is_ours(text, match.start(), table))
    return next(found, None)


def _is_ours(text: str, at: int, table: str) -> bool:
    header = text[at:].partition("\n")[0].strip().replace('"', "").replace(" ", "")
    return header == f"[{table}]" or header.startswith(f"[{table}.")


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_toml(each)}" for name, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def _nested(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _inserted(text: str, at: int, members: Sequence[Member], close: int, name: str, value: Any) -> str:
    outer = _indent(text, at)
    if not members:
        entry = f"\n{outer}  {json.dumps(name)}: {_spelled(value, outer + '  ')}\n{outer}"
        return text[: at + 1] + entry + text[close:]
    last = members[-1]
    inner = _indent(text, last.start)
    after = _skip(text, last.end)
    comma = text[after : after + 1] == ","
    place = after + 1 if comma else last.end
    entry = f"\n{inner}{json.dumps(name)}: {_spelled(value, inner)}"
    return text[:place] + ("" if comma else ",") + entry + text[place:]


def _spelled(value: Any, indent: str) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", f"\n{indent}")


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _members(text: str, at: int) -> tuple[list[Member], int]:
    """The members of the object that begins there, and where its brace closes."""
    if text[at : at + 1] != "{":
        raise UnreadableConfig("an object was expected")
    members: list[Member] = []
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        key = _STRING.match(text, at)
        if key is None:
            raise UnreadableConfig("a name was expected")
        colon = _skip(text, key.end())
        if text[colon : colon + 1] != ":":
            raise UnreadableConfig("a colon was expected")
        value = _skip(text, colon + 1)
        end = _value_end(text, value)
        members.append(Member(json.loads(key[0]), at, value, end))
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "}":
            raise UnreadableConfig("a comma was expected")
    return members, at


def _value_end(text: str, at: int) -> int:
    opening = text[at : at + 1]
    if opening == "{":
        return _members(text, at)[1] + 1
    if opening == "[":
        at = _skip(text, at + 1)
        while text[at : at + 1] != "]":
            at = _skip(text, _value_end(text, at))
            at = _skip(text, at + 1) if text[at : at + 1] == "," else at
        return at + 1
    found = _STRING.match(text, at) if opening == '"' else _SCALAR.match(text, at)
    if found is None:
        raise UnreadableConfig("a value was expected")
    return found.end()
