"""One source of truth for a tool's arguments: a frozen attrs class whose fields carry their JSON Schema.

From the class come the published schema, the check of a call, the structured command and the
reference table in the contract, so that they cannot disagree. Schemas stay in the subset that every MCP
client accepts: objects with `properties` and `additionalProperties: false`, no `$ref`, no type arrays, no
top-level alternatives.

A command that exists is valid: each field checks its own schema when a command is made, whether by `parse`
from the arguments of a call or by hand in a program. Whoever gets a command checks nothing of it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

import attrs
from attrs import NOTHING, field, fields, frozen

from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.schema_errors import Problem as Problem
from context_pack.toolkit.schema_errors import Schema as Schema
from context_pack.toolkit.schema_errors import problems_of, problems_with, validator_of

C = TypeVar("C")

_META = "context_pack.argument"
_CHECKED = ContextVar("checked", default=False)
"""Whether the fields of the command that is being made have been checked as a whole."""


@frozen
class Argument:
    """What a field's metadata holds: its wire name, its schema and its description."""

    name: str | None
    schema: Callable[[], Schema]
    description: str


def arg(schema: Schema | type, description: str, *, name: str | None = None, default: Any = NOTHING) -> Any:
    """A command field: a schema fragment (or a record class), a description, and perhaps a default.

    A default of None means "may be absent" and is not published.
    """
    make = (lambda: schema_of(schema)) if isinstance(schema, type) else (lambda: dict(schema))
    argument = Argument(name, make, description)
    return field(default=default, metadata={_META: argument}, validator=_fits)


def text(low: int = 0, high: int = 10_000, pattern: str | None = None, blank: bool = True) -> Schema:
    """A string of `low` to `high` characters; `blank=False` wants something besides white space."""
    schema: Schema = {"type": "string", "maxLength": high}
    if pattern is not None:
        schema["pattern"] = pattern
    elif not blank:
        schema["pattern"] = r"\S"
    if low > (not blank):  # something besides white space is one character at least
        schema["minLength"] = low
    return schema


def integer(low: int | None = None, high: int | None = None) -> Schema:
    """A whole number, never a fraction or a boolean."""
    return _bounded({"type": "integer"}, low, high)


def number(low: float | None = None, high: float | None = None) -> Schema:
    """Any finite number."""
    return _bounded({"type": "number"}, low, high)


def boolean() -> Schema:
    """True or false."""
    return {"type": "boolean"}


def choice(*values: str) -> Schema:
    """One of the given strings."""
    return {"type": "string", "enum": list(values)}


def array(items: Schema | type, low: int = 0, high: int = 1000) -> Schema:
    """A list of `low` to `high` items."""
    schema: Schema = {"type": "array", "items": schema_of(items) if isinstance(items, type) else dict(items)}
    if low:
        schema["minItems"] = low
    schema["maxItems"] = high
    return schema


def _bounded(schema: Schema, low: float | None, high: float | None) -> Schema:
    if low is not None:
        schema["minimum"] = low
    if high is not None:
        schema["maximum"] = high
    return schema


def arguments_of(command: type) -> Iterator[tuple[str, Argument, Any]]:
    """Each field as (wire name, argument, default); `NOTHING` marks a required one."""
    for each in fields(command):
        argument: Argument = each.metadata[_META]
        yield argument.name or each.name, argument, each.default


def schema_of(command: type) -> Schema:
    """The JSON Schema of a command class."""
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for name, argument, default in arguments_of(command):
        schema = argument.schema()
        schema["description"] = argument.description
        if default is NOTHING:
            required.append(name)
        elif default is not None:
            schema["default"] = list(default) if isinstance(default, tuple) else default
        properties[name] = schema
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    return schema


def parse(command: type[C], arguments: Mapping[str, Any], absent: Mapping[str, Any] | None = None) -> C:
    """The command that `arguments` spell; `absent` are values that need no check, for what they leave out.

    Raises:
        Failure: `invalid_data`; `details.field` names the argument, `details.problems` each fault by path.
    """
    kind: type = command
    _refuse(problems_with(_validator_of(kind), arguments))
    checked = _CHECKED.set(True)
    try:
        made: C = _converter().structure({**(absent or {}), **arguments}, command)
        return made
    finally:
        _CHECKED.reset(checked)


def respelled(schema: Schema, value: Any) -> Any:
    """The arguments as the schema spells their names, where they were `snake_case` for `camelCase`, or so."""
    if isinstance(value, list) and "items" in schema:
        return [respelled(schema["items"], each) for each in value]
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    fields = schema["properties"]
    is_spelled = value.keys() <= fields.keys()
    spellings: dict[str, str] = {} if is_spelled else {_snake(name): name for name in fields}
    result: dict[str, Any] = {}
    name: str
    for name, inner in value.items():
        meant = spellings.get(_snake(name), name)
        meant = name if name in fields or meant in value else meant
        result[meant] = respelled(fields.get(meant, {}), inner)
    return result


def _snake(name: str) -> str:
    return re.sub("(?<=[a-z0-9])[A-Z]", lambda capital: f"_{capital[0].lower()}", name)


def _fits(_: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Check a field of a command that is made by hand; a default, and what `parse` makes, is right."""
    if value is attribute.default or _CHECKED.get():
        return
    argument: Argument = attribute.metadata[_META]
    name = argument.name or attribute.name
    _refuse(problems_of({"type": "object", "properties": {name: argument.schema()}}, {name: _plain(value)}))


def _refuse(problems: list[Problem]) -> None:
    if problems:
        first = problems[0]
        details: dict[str, Any] = {"field": first.field, "path": first.path}
        details["problems"] = [{"path": each.path, "message": each.message} for each in problems]
        raise Failure(Code.INVALID_DATA, first.message, details)


def _plain(value: Any) -> Any:
    """The value of a field as JSON would have it."""
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if attrs.has(type(value)):
        named = [(name, getattr(value, each.name)) for each, (name, _, _) in _with_names(type(value))]
        return {name: _plain(inner) for name, inner in named if inner is not None}
    return value


def _with_names(record: type) -> Iterator[tuple[attrs.Attribute[Any], tuple[str, Argument, Any]]]:
    return zip(fields(record), arguments_of(record), strict=True)


@cache
def _validator_of(command: type) -> Any:
    """What checks a command's arguments, made once."""
    return validator_of(command_schema(command))


@cache
def command_schema(command: type) -> Schema:
    """The schema of a command, made once."""
    return schema_of(command)


@cache
def _converter() -> Any:
    """What makes commands of their arguments by wire names; loaded with the first call of a tool."""
    from cattrs import Converter, gen

    converter = Converter(detailed_validation=False)

    def structured(cls: type) -> Any:
        named = {each.name: each.metadata[_META].name for each in fields(cls)}
        renames: Any = {ours: gen.override(rename=wire) for ours, wire in named.items() if wire is not None}
        return gen.make_dict_structure_fn(cls, converter, **renames)

    converter.register_structure_hook_factory(attrs.has, structured)
    return converter
