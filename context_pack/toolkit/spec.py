"""What a tool is: a name, its commands, its promises (annotations), and the function that serves it.

A tool has one command class, or one per action; the published schema of an action tool is the flat union of
its commands' fields, each as the first action that has it says (so the loosest comes first), and each call is
checked against the command of its own action. A `Family` holds what
several tools share: the contract shape of their errors.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from attrs import field, frozen

from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.arguments import Schema, schema_of
from context_pack.toolkit.call import Call
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS

INVALID_PARAMETERS = "Invalid parameters"
ABOUT_A_PATH = frozenset(
    {
        Code.ABSOLUTE_PATH,
        Code.PATH_TRAVERSAL,
        Code.PERMISSION_DENIED,
        Code.NOT_FOUND,
        Code.NOT_TEXT,
        Code.TOO_LARGE,
    }
)
OUR_OWN_FAULT = frozenset({Code.INTERNAL, Code.IO_ERROR})
SHOWN_PATH_CHARS = 4096

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@frozen
class Answer:
    """What a tool returns: text for the model, the same as an object where the tool's result is JSON.

    Where `structured` is set and `text` begins with a brace, the text is that object as JSON, in lines that
    break only between values.
    """

    text: str
    structured: Mapping[str, Any] | None = None
    is_error: bool = False


def json_answer(value: Mapping[str, Any], *, is_error: bool = False) -> Answer:
    """A JSON result as text and, unless it is an error, as structured content."""
    return Answer(in_lines(value), None if is_error else value, is_error)


def in_lines(value: Any, depth: int = 3) -> str:
    """Compact JSON, a line for each member and each row: of one long line some clients show nothing."""
    if depth and value and isinstance(value, dict):
        members = [f"{_compact(name)}:{in_lines(inner, depth - 1)}" for name, inner in value.items()]
        return "{" + ",\n".join(members) + "}"
    if depth and value and isinstance(value, list | tuple) and isinstance(value[0], dict):
        return "[\n" + ",\n".join(map(_compact, value)) + "]"
    return _compact(value)


KINDS: Mapping[str, Schema] = {
    "text": {"type": "string"},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "object": {"type": "object"},
    "rows": {"type": "array", "items": {"type": "object"}},
    "texts": {"type": "array", "items": {"type": "string"}},
    "any": {},
}


def shape(**fields: str) -> Schema:
    """An object that may have these fields, each of its kind, and others."""
    return {"type": "object", "properties": {name: dict(KINDS[kind]) for name, kind in fields.items()}}


@frozen
class FailedCall:
    """The circumstances of a failure, for the family that words it."""

    tool: str
    request_id: str | int | None
    arguments: Mapping[str, Any]


class ErrorShape(Protocol):
    """Words a failure in a family's contract shape."""

    def __call__(self, failure: Failure, failed: FailedCall) -> Answer: ...


@frozen
class Family:
    """Tools of one feature: its name and the shape of its errors."""

    name: str
    error: ErrorShape


def _hints(
    *, read_only: bool, destructive: bool, idempotent: bool, open_world: bool = False
) -> Mapping[str, bool]:
    """The four MCP hints, always all of them; `open_world` says that a tool uses the network."""
    return {
        "readOnlyHint": read_only,
        "destructiveHint": destructive,
        "idempotentHint": idempotent,
        "openWorldHint": open_world,
    }


READS = _hints(read_only=True, destructive=False, idempotent=True)
WRITES = _hints(read_only=False, destructive=True, idempotent=False)
FETCHES = _hints(read_only=False, destructive=False, idempotent=True, open_world=True)


def _never(_: Mapping[str, Any]) -> bool:
    return False


@frozen
class Tool:
    """One tool of the registry.

    `choose` picks the command class from the raw arguments (an action tool decides here, and may refuse);
    `run` serves the structured command; `mutates` says whether these arguments would change anything, so that
    the server can keep mutations in order. A `slow` tool may take seconds: the server lets quick reads pass
    it. A `tolerant` tool ignores arguments that it does not know. `spelled` gives the arguments as commands
    want them. `budget` is the argument that says how many tokens an answer may have; where it is absent, the
    client's page decides. `search_hint` are words that a client which looks tools up should find this one by.
    """

    name: str
    title: str
    description: str
    family: Family
    annotations: Mapping[str, bool]
    commands: Mapping[str, type]
    choose: Callable[[Mapping[str, Any]], type]
    run: Callable[[Any, Call], Answer]
    output_schema: Schema | None = None
    mutates: Callable[[Mapping[str, Any]], bool] = _never
    spelled: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda arguments: arguments
    long_answers: bool = False
    slow: bool = False
    tolerant: bool = False
    budget: str | None = None
    search_hint: str | None = None
    selector: Schema | None = field(default=None)

    schema: Schema = field(init=False, eq=False, repr=False)
    """The published schema: the command's own, or the union of all actions' fields."""

    @schema.default
    def _schema(self) -> Schema:
        properties: dict[str, Schema] = {}
        required: dict[str, Any] = {}
        if self.selector is None:
            whole = schema_of(next(iter(self.commands.values())))
            properties = whole["properties"]
            required = {"required": whole["required"]} if "required" in whole else {}
        else:
            properties["action"] = dict(self.selector)
            for command in self.commands.values():
                for name, schema in schema_of(command)["properties"].items():
                    if name != "action":
                        schema.pop("default", None)
                        properties.setdefault(name, schema)
        if self.budget is not None and properties[self.budget].get("default") == DEFAULT_MAX_TOKENS:
            del properties[self.budget]["default"]  # the client's page decides
        return {"type": "object", "properties": properties, "additionalProperties": False, **required}


def tool(
    name: str,
    title: str,
    description: str,
    family: Family,
    command: type,
    run: Callable[[Any, Call], Answer],
    annotations: Mapping[str, bool] = READS,
    **options: Any,
) -> Tool:
    """A tool with one command."""
    return Tool(
        name, title, description, family, annotations, {name: command}, lambda _: command, run, **options
    )


def worded_error(failure: Failure, failed: FailedCall) -> Answer:
    """A failure as `{"error": text, …}`, the shape that the families of the code contract share."""
    return json_answer(worded(failure, failed), is_error=True)


def worded(failure: Failure, failed: FailedCall) -> dict[str, Any]:
    """The text in the contract's words; faults of arguments by path; else the details beside it."""
    details = dict(failure.details)
    if failure.code is Code.INVALID_DATA and ("problems" in details or "field" in details):
        return {"error": INVALID_PARAMETERS, "details": _faults(failure)}
    if failure.code in ABOUT_A_PATH:
        details.pop("field", None)
        given = _given(failed.arguments)
        return {"error": failure.message, **given, **details, **given}
    if failure.code is Code.RATE_LIMITED:
        details.pop("limit", None)
    if failure.code in OUR_OWN_FAULT:
        return {"error": failure.message, "tool": failed.tool, **details}
    return {"error": failure.message, **details}


def _faults(failure: Failure) -> list[dict[str, Any]]:
    """The faults of the arguments, each with its path."""
    problems = failure.details.get("problems")
    if problems:
        return [dict(problem) for problem in problems]
    return [{"path": f"$.{failure.details['field']}", "message": failure.message}]


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The path as the caller wrote it."""
    path = arguments.get("path")
    return {"path": path[:SHOWN_PATH_CHARS]} if isinstance(path, str) else {}
