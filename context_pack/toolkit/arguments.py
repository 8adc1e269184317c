"""One source of truth for a tool's arguments: a frozen attrs class whose fields carry their JSON Schema.

From the class come the published schema, the validator (compiled once), the structured command and the
reference table in CONTRACT.md, so that they cannot disagree. Schemas stay in the subset that every MCP
client accepts: objects with `properties` and `additionalProperties: false`, no `$ref`, no type arrays, no
top-level alternatives. Types are strict: `null` and `1.0` are not an integer, `true` is not a number.
Loading `jsonschema` and `cattrs` is put off until the first validation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

import attrs
from attrs import frozen

from context_pack.kernel.errors import Code, Failure

C = TypeVar("C")
Schema = dict[str, Any]

_META = "context_pack.argument"
MAX_PROBLEMS = 10


@frozen
class Argument:
    """What a field's metadata holds: its wire name, its schema and its description."""

    name: str | None
    schema: Callable[[], Schema]
    description: str


def arg(schema: Schema | type, description: str, *, name: str | None = None, default: Any = attrs.NOTHING) -> Any:
    """A command field: a schema fragment (or a record class), a description, and perhaps a default.

    A default of None means "may be absent" and is not published.
    """
    make = (lambda: schema_of(schema)) if isinstance(schema, type) else (lambda: dict(schema))
    return attrs.field(default=default, metadata={_META: Argument(name, make, description)})


def text(low: int = 0, high: int = 10_000, pattern: str | None = None, blank: bool = True) -> Schema:
    """A string of `low` to `high` characters; `blank=False` wants something besides white space."""
    schema: Schema = {"type": "string", "maxLength": high}
    if low:
        schema["minLength"] = low
    if pattern is not None:
        schema["pattern"] = pattern
    elif not blank:
        schema["pattern"] = r"\S"
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
    """Each field as (wire name, argument, default); `attrs.NOTHING` marks a required one."""
    for field in attrs.fields(command):
        argument: Argument = field.metadata[_META]
        yield argument.name or field.name, argument, field.default


def schema_of(command: type) -> Schema:
    """The JSON Schema of a command class."""
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for name, argument, default in arguments_of(command):
        schema = argument.schema()
        schema["description"] = argument.description
        if default is attrs.NOTHING:
            required.append(name)
        elif default is not None:
            schema["default"] = list(default) if isinstance(default, tuple) else default
        properties[name] = schema
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    return schema


@frozen
class Problem:
    """One thing wrong with the arguments: where (`$.a[0].b`), which field, which rule, in words."""

    path: str
    field: str
    rule: str
    message: str


def problems(command: type, arguments: Mapping[str, Any]) -> list[Problem]:
    """Everything wrong with `arguments` (the first few), the shallowest first."""
    faults = [_explain(error) for error in _validator(command).iter_errors(arguments)]
    faults.sort(key=lambda problem: (problem.path.count(".") + problem.path.count("["), problem.rule != "additionalProperties"))
    return faults[:MAX_PROBLEMS]


def parse(command: type[C], arguments: Mapping[str, Any]) -> C:
    """The command that `arguments` spell.

    Raises:
        Failure: `invalid_data`; `details.field` names the argument, `details.problems` each fault by path.
    """
    faults = problems(command, arguments)
    if faults:
        first = faults[0]
        details: dict[str, Any] = {"field": first.field, "path": first.path}
        details["problems"] = [{"path": fault.path, "message": fault.message} for fault in faults]
        raise Failure(Code.INVALID_DATA, first.message, details)
    return _converter().structure(arguments, command)  # type: ignore[no-any-return]


@cache
def _converter() -> Any:
    """One cattrs converter that knows the wire names."""
    import cattrs
    from cattrs.gen import make_dict_structure_fn, override

    converter = cattrs.Converter()

    def structure(cls: type) -> Any:
        names = {field.name: field.metadata[_META].name for field in attrs.fields(cls) if _META in field.metadata}
        renames: Any = {ours: override(rename=wire) for ours, wire in names.items() if wire is not None}
        return make_dict_structure_fn(cls, converter, **renames)

    converter.register_structure_hook_factory(attrs.has, structure)
    return converter


@cache
def _validator(command: type) -> Any:
    """A compiled validator with strict numbers."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    def whole(_: object, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", whole)
    return extend(Draft202012Validator, type_checker=checker)(schema_of(command))


_NAMES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def _explain(error: Any) -> Problem:
    """Our own words for a jsonschema error: they never repeat a long or hidden value."""
    path = "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    field = next((str(part) for part in reversed(error.absolute_path) if isinstance(part, str)), "")
    rule, value, schema = error.validator, error.validator_value, error.schema
    if rule == "required":
        field = next((name for name in value if name not in error.instance), "")
        return Problem(f"{path}.{field}", field, rule, f"'{field}' is required")
    if rule == "additionalProperties":
        known = list(schema["properties"])
        field = clip(next((name for name in error.instance if name not in schema["properties"]), ""))
        allowed = ", ".join(known) if known else "none"
        return Problem(f"{path}.{field}", field, rule, f"'{field}' is not supported here; allowed: {allowed}")
    return Problem(path, clip(field), rule, f"{_subject(error, field)} {_demand(rule, value, schema)}")


def _subject(error: Any, field: str) -> str:
    parts = list(error.absolute_path)
    if parts and isinstance(parts[-1], int):
        return f"item {parts[-1]} of '{field}'"
    return f"'{field}'" if field else "the arguments"


def _demand(rule: str, value: Any, schema: Schema) -> str:
    """What a value must be, in words."""
    match rule:
        case "type":
            return f"must be {_NAMES.get(value, value)}{_span(schema)}"
        case "minimum" | "maximum":
            return f"must be {_NAMES.get(schema['type'], 'a number')}{_span(schema)}"
        case "enum":
            return f"must be one of: {', '.join(map(str, value))}"
        case "minLength":
            return f"must have at least {value} character{'' if value == 1 else 's'}"
        case "maxLength":
            return f"must have at most {value} characters"
        case "pattern":
            return "must not be blank" if value == r"\S" else f"must match {value}"
        case "minItems":
            return f"must have at least {value} item{'' if value == 1 else 's'}"
        case "maxItems":
            return f"must have at most {value} items"
    return "is not valid"


def _span(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f" of at least {low}"
    return "" if high is None else f" of at most {high}"


def clip(name: str) -> str:
    """A caller's own word, safe to repeat: one printable line of at most 80 characters."""
    clean = "".join(char if char.isprintable() else "?" for char in name)
    return clean if len(clean) <= 80 else clean[:79] + "…"


def key_of(arguments: Mapping[str, Any]) -> str:
    """A text that is equal only for equal arguments of equal types."""
    return json.dumps(arguments, ensure_ascii=False)
