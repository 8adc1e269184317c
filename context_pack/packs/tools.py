"""The tools `input` and `output`: from JSON arguments to commands, from values to JSON and Markdown.

Everything that names an action or a tool is here. What a call means is decided in the use cases; which
arguments an action takes is in `commands`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import frozen

from context_pack.kernel.errors import Failure, clip, invalid
from context_pack.kernel.ports import Clock
from context_pack.kernel.text import close
from context_pack.packs import commands
from context_pack.packs.answers import (
    PackUseCases,
    Payload,
    answer_of,
    diagram_faults,
    fitted,
    verified_lines,
)
from context_pack.packs.commands import PackAtRevision, ttl_required
from context_pack.packs.operations import OPERATIONS, touch_required
from context_pack.packs.write import for_each
from context_pack.toolkit.arguments import command_schema, parse, respelled
from context_pack.toolkit.call import Call
from context_pack.toolkit.spec import READS, WRITES, Answer, FailedCall, Family, Tool, json_answer, shape

INPUT_ABOUT = """\
Build a context pack: prose, anchored code references and diagrams that hand knowledge to an agent or a \
human. Without arguments: list packs. Best: write(text, name, ttl_minutes), Markdown whose claims name code, \
`src/a.py#Class.method` or `src/a.py:10-20`; with expected_revision it replaces a pack. \
Every change needs expected_revision and answers the new one. \
Other actions, with what they need besides id or name: create(ttl_minutes); get; list; \
upsert_section(section_key, section_title); upsert_ref(section_key, ref_key, path, line_start, line_end; \
or symbol in place of lines); \
upsert_diagram(section_key, diagram_key, title, mermaid); delete_section, delete_ref, delete_diagram(keys); \
set_meta(title, brief or tags); set_status(status); touch_ttl(ttl_minutes or extend_minutes); \
batch(operations); draft(ttl_minutes; query, diff or trace), for a question, changes, a stack trace; \
verify; repair, follow moved code; accept(refs), anchor changed refs anew; diff, between revisions; \
delete_pack."""
OUTPUT_ABOUT = """\
Read a context pack as Markdown, with the current code of every reference. Without arguments: list packs. \
With id or name: the pack; a long one comes in pages, continue with cursor."""

READ_ACTIONS = frozenset({"list", "get", "verify", "diff"})
CLEARED: Mapping[str, Sequence[str]] = {
    "upsert_ref": ("ref_title", "ref_why", "group"),
    "upsert_diagram": ("diagram_why",),
}
"""Texts of an existing part that stay if they are not given, and that null clears."""


def _on_a_pack(operation: type) -> type:
    """An operation as an action of its own: with the pack it is for."""
    name, bases = f"{operation.__name__}OnPack", (operation, PackAtRevision)
    return frozen(type(name, bases, {}), kw_only=True, slots=False)


COMMANDS: Mapping[str, type] = commands.by_action(
    commands.Create,
    commands.Get,
    commands.ListPacks,
    commands.Write,
    commands.Draft,
    *map(_on_a_pack, OPERATIONS.values()),
    commands.SetStatus,
    commands.DeletePack,
    commands.Batch,
    commands.Verify,
    commands.Diff,
    commands.Repair,
    commands.Accept,
)
ANSWER_SCHEMA = shape(
    action="text", payload="object", error="flag", kind="text", code="text", message="text", details="object"
)


def pack_error(failure: Failure, failed: FailedCall) -> Answer:
    """A failure in the shape that both tools share."""
    body = {
        "error": True,
        "kind": failure.kind.value,
        "code": failure.code.value,
        "message": failure.message,
        "request_id": failed.request_id,
        "details": dict(failure.details),
    }
    return json_answer(body, is_error=True)


FAMILY = Family("packs", pack_error)


def build(cases: PackUseCases, clock: Clock) -> tuple[Tool, ...]:
    """`input` and `output` over these use cases."""
    selector = {"type": "string", "enum": list(COMMANDS), "description": "list when absent"}
    return (
        Tool(
            name="input",
            title="Build context packs",
            description=INPUT_ABOUT,
            family=FAMILY,
            annotations=WRITES,
            commands=COMMANDS,
            choose=choose_input,
            run=lambda command, call: _input(cases, clock, command, call),
            output_schema=ANSWER_SCHEMA,
            mutates=mutates,
            spelled=spelled,
            long_answers=True,
            selector=selector,
            search_hint="context pack: create, hand over, hand off or save code references and notes",
        ),
        Tool(
            name="output",
            title="Read context packs",
            description=OUTPUT_ABOUT,
            family=FAMILY,
            annotations=READS,
            commands={"output": commands.Output},
            choose=choose_output,
            spelled=without_empty_cursor,
            run=partial(_output, cases),
            long_answers=True,
            budget="max_tokens",
            search_hint="context pack: read, take over or list what another agent handed over",
        ),
    )


def spelled(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments with an empty text for a null that clears: schemas have no text that may be null."""
    clearing = CLEARED.get(str(arguments.get("action")), ())
    given: Payload = {name: "" for name in clearing if name in arguments and arguments[name] is None}
    operations = arguments.get("operations")
    if isinstance(operations, list):
        given["operations"] = [spelled(each) if isinstance(each, dict) else each for each in operations]
    return {**arguments, **given} if given else arguments


def without_empty_cursor(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of `output`; some clients send an empty text for a cursor that is not there."""
    return {name: value for name, value in arguments.items() if name != "cursor" or value != ""}


def mutates(arguments: Mapping[str, Any]) -> bool:
    """Whether these arguments of `input` would change a pack."""
    action = arguments.get("action", "list")
    return isinstance(action, str) and action in COMMANDS and action not in READ_ACTIONS


def choose_input(arguments: Mapping[str, Any]) -> type:
    """The command class of the action; what the page words in its own way is refused here.

    Raises:
        Failure: `invalid_data` or `ttl_required`.
    """
    command = _known(arguments.get("action", "list"), COMMANDS)
    if "action" not in arguments and (strange := arguments.keys() - command_schema(command)["properties"]):
        words = (
            f"'action' is missing: with '{clip(min(strange))}' it must say what to do; output reads a pack"
        )
        raise invalid(words, "action", allowed=list(COMMANDS))
    _check_life(arguments)
    operations = arguments.get("operations")
    if command is commands.Batch and isinstance(operations, list):
        _operations(operations[: commands.MOST_OPERATIONS])
    return command


def choose_output(arguments: Mapping[str, Any]) -> type:
    """Rendering when a pack is named, else the list.

    Raises:
        Failure: `invalid_data` for `format`.
    """
    if "format" in arguments:
        raise invalid("'format' is not supported: output is always markdown; leave it out", "format")
    if any(name in arguments for name in ("id", "name", "cursor")):
        return commands.RenderPack
    if "mode" in arguments:
        raise invalid("'mode' says how a pack is rendered; say which one with 'id' or 'name'", "mode")
    # An argument that nobody knows is told all that there are, and not only those of a list.
    known = command_schema(commands.ListText)["properties"]
    return commands.ListText if arguments.keys() <= known.keys() else commands.Output


def _known(action: object, allowed: Mapping[str, type]) -> type:
    if isinstance(action, str) and action in allowed:
        return allowed[action]
    shown = f"'{clip(action)}'" if isinstance(action, str) else f"of type {type(action).__name__}"
    wrong, near = f"unknown input action {shown}", close(action, allowed) if isinstance(action, str) else []
    if isinstance(action, str) and action in COMMANDS:
        wrong, near = f"{shown} is not allowed in a batch", []
    advice = f"did you mean '{near[0]}'?" if near else f"use one of: {', '.join(allowed)}"
    raise invalid(f"{wrong}; {advice}", "action", allowed=list(allowed))


def _check_life(arguments: Mapping[str, Any]) -> None:
    """Refuse a missing time to live in the contract's own words."""
    action = arguments.get("action", "list")
    if action in ("create", "draft") and "ttl_minutes" not in arguments:
        raise ttl_required("say how many minutes the pack is to live")
    if action == "touch_ttl" and not {"ttl_minutes", "extend_minutes"} & arguments.keys():
        raise touch_required()


def _operations(given: Sequence[Any]) -> list[Any]:
    """The operations of a batch, each checked like an action of its own."""

    def parsed(operation: Any) -> Any:
        if not isinstance(operation, Mapping):
            raise invalid("it must be an object with an 'action'", "operations")
        command = _known(operation.get("action"), OPERATIONS)
        operation = respelled(command_schema(command), dict(operation))
        _check_life(operation)
        return parse(command, operation)

    return for_each(given, parsed)


def _output(cases: PackUseCases, command: Any, call: Call) -> Answer:
    """The Markdown of `output`."""
    if isinstance(command, commands.RenderPack):
        return Answer(cases.reader.render(command, call.check).text)
    return Answer(cases.lister.list_text(command))


def _input(cases: PackUseCases, clock: Clock, command: Any, call: Call) -> Answer:
    """The answer to one action of `input`, within what the client shows."""
    if isinstance(command, commands.Verify):
        verified = cases.verifier.verify(command, call.check)
        payload = verified_lines(verified, diagram_faults(cases, verified.pack))
    else:
        payload = payload_of(cases, clock, command, call.check)
    return json_answer({"action": command.action, "payload": fitted(command, payload, call.page_tokens)})


def payload_of(cases: PackUseCases, clock: Clock, command: Any, check: Callable[[], None]) -> Payload:
    """The whole payload of an action; only a client's answer is cut to a page, never that of a command."""
    operations = _operations(command.operations) if isinstance(command, commands.Batch) else ()
    return answer_of(cases, clock, command, operations, check)
