"""One source of truth for a tool's arguments: a frozen attrs class whose fields carry their JSON Schema.

From the class come the published schema, the check of a call, the structured command and the
reference table in the contract, so that they cannot disagree. Schemas stay in the subset that every MCP
client accepts: objects with `properties` and `additionalProperties: false`, no `$ref`, no type arrays, no
top-level alternatives. Types are strict: `null` and `1.0` are not an integer, `true` is not a number.
`cattrs` is loaded with the first command that holds records.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from context_pack.kernel.classes import NOT_GIVEN, field, fields, frozen
from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.faults import MAX_PROBLEMS as MAX_PROBLEMS
from context_pack.toolkit.faults import Problem as Problem
from context_pack.toolkit.faults import Schema as Schema
from context_pack.toolkit.faults import problems_of

C = TypeVar("C")

_META = "context_pack.argument"
_WITHOUT_REFERENCES = 2
"""The version of `marshal` that spells equal values equally, whoever else holds them."""


@frozen
class Argument:
    """What a field's metadata holds: its wire name, its schema and its description."""

    name: str | None
    schema: Callable[[], Schema]
    description: str


def arg(schema: Schema | type, description: str, *, name: str | None = None, default: Any = NOT_GIVEN) -> Any:
    """A command field: a schema fragment (or a record class), a description, and perhaps a default.

    A default of None means "may be absent" and is not published.
    """
    make = (lambda: schema_of(schema)) if isinstance(schema, type) else (lambda: dict(schema))
    return field(default=default, metadata={_META: Argument(name, make, description)})


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
    """Each field as (wire name, argument, default); `NOT_GIVEN` marks a required one."""
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
        if default is NOT_GIVEN:
            required.append(name)
        elif default is not None:
            schema["default"] = list(default) if isinstance(default, tuple) else default
        properties[name] = schema
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    return schema


def with_whole_numbers(schema: Schema, value: Any) -> Any:
    """A value with `5.0` as 5 wherever an integer is wanted; JSON does not tell the two apart."""
    kind = schema.get("type")
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind == "object" and isinstance(value, Mapping):
        inner = schema.get("properties", {})
        return {name: with_whole_numbers(inner.get(name, {}), each) for name, each in value.items()}
    if kind == "array" and isinstance(value, list):
        return [with_whole_numbers(schema.get("items", {}), each) for each in value]
    return value


def parse(command: type[C], arguments: Mapping[str, Any], lenient: bool = False) -> C:
    """The command that `arguments` spell; `lenient` takes `5.0` for a whole number.

    Raises:
        Failure: `invalid_data`; `details.field` names the argument, `details.problems` each fault by path.
    """
    kind: type = command
    schema = command_schema(kind)
    faults = problems_of(schema, arguments)
    if faults and lenient:
        arguments = with_whole_numbers(schema, arguments)
        faults = problems_of(schema, arguments)
    if faults:
        first = faults[0]
        details: dict[str, Any] = {"field": first.field, "path": first.path}
        details["problems"] = [{"path": fault.path, "message": fault.message} for fault in faults]
        raise Failure(Code.INVALID_DATA, first.message, details)
    plain = _plain_fields(kind)
    if plain is None:
        return _converter().structure(arguments, command)  # type: ignore[no-any-return]
    given = {}
    for name, value in arguments.items():
        attribute, make = plain[name]
        given[attribute] = value if make is None else make(value)
    return command(**given)


@cache
def _plain_fields(command: type) -> Mapping[str, tuple[str, Callable[[Any], Any] | None]] | None:
    """The fields by wire name, each with its attribute and what makes its value, if anything does.

    None for records.

    Without it the first call of a server loads `cattrs`, 40 of the 150 milliseconds that it may take.
    """
    found: dict[str, tuple[str, Callable[[Any], Any] | None]] = {}
    for each, (name, argument, _) in zip(fields(command), arguments_of(command), strict=True):
        schema = argument.schema()
        if schema.get("items", {}).get("properties") and schema["items"]["additionalProperties"] is False:
            return None
        found[name] = (each.alias, _MAKERS.get(schema["type"]))
    return found


_MAKERS: Mapping[str, Callable[[Any], Any]] = {"array": tuple, "number": float}


@cache
def _converter() -> Any:
    """One cattrs converter that knows the wire names."""
    import attrs
    import cattrs
    from cattrs.gen import make_dict_structure_fn, override

    converter = cattrs.Converter()

    def structure(cls: type) -> Any:
        named = [
            (each.name, each.metadata[_META].name) for each in attrs.fields(cls) if _META in each.metadata
        ]
        renames: Any = {ours: override(rename=wire) for ours, wire in named if wire is not None}
        return make_dict_structure_fn(cls, converter, **renames)

    converter.register_structure_hook_factory(attrs.has, structure)
    return converter


@cache
def command_schema(command: type) -> Schema:
    """The schema of a command, made once."""
    return schema_of(command)


def key_of(arguments: Any) -> bytes | None:
    """Bytes that are equal only for equal arguments of equal types; None for what is not plain data.

    A tenth of the time that JSON takes, which is made anew for each call.
    """
    try:
        return marshal.dumps(arguments, _WITHOUT_REFERENCES)
    except ValueError:
        return None
