"""The commands about all tools: list or explain them, and call any."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from context_pack.app import build
from context_pack.kernel.text import first_sentence
from context_pack.toolkit.arguments import schema_of
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.registry import Registry, describe
from context_pack.toolkit.schema_errors import rule_in_words
from context_pack.toolkit.spec import Answer, Tool
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.cli.arguments import TOOL
from context_pack_adapters.cli.output import nearest
from context_pack_adapters.server.jsonrpc import ProtocolError, answer_fields, decode

STDIN_BYTES = 65536
_WORD = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


@command("tools")
@click.argument("name", required=False, type=TOOL, metavar="[TOOL]")
def tools(app: App, name: str | None) -> None:
    """List the tools, or explain one.

    Examples:
      context-pack tools input           its arguments, action by action
      context-pack tools --json          exactly what an MCP client sees
    """
    registry = build(app.cases, report=app.log.finished, alarm=app.log.alarm)
    if name is not None:
        tool = _tool(registry, name)
        app.tell(describe(tool), *_explained(tool))
        return
    rows = [[each.name, each.title, first_sentence(each.description)] for each in registry.tools.values()]
    more = "\n'context-pack tools TOOL' explains one; 'context-pack call TOOL' runs it."
    app.table(registry.describe(), rows, ("TOOL", "TITLE", "WHAT IT DOES"), "", [more])


def _tool(registry: Registry, name: str) -> Tool:
    if name not in registry.tools:
        hint = nearest(name, registry.tools)
        raise click.UsageError(f"unknown tool {name!r}{hint}\nTools: {', '.join(registry.tools)}.")
    return registry.tools[name]


def _explained(tool: Tool) -> Iterator[output.Line]:
    """One tool for a person: what it does, then each command's arguments with their rules."""
    yield [("bold", tool.name), f" — {tool.title}"]
    yield " ".join(tool.description.split())
    for name, kind in tool.commands.items():
        schema = schema_of(kind)
        yield [("bold", f"\naction={name}" if tool.selector is not None else "\narguments")]
        shown = {key: rule for key, rule in schema["properties"].items() if key != "action"}
        for key, rule in shown.items():
            default = f", default {rule['default']}" if "default" in rule else ""
            presence = ", required" if key in schema.get("required", ()) else default
            about = f" — {rule['description']}" if "description" in rule else ""
            yield ["  ", ("cyan", key), f": {rule_in_words(dict(rule))}{presence}{about}"]
        if not shown:
            yield "  (none)"


@command("call")
@click.argument("tool", type=TOOL, metavar="TOOL")
@click.argument("words", nargs=-1, metavar="[JSON | KEY=VALUE]...")
def call(app: App, tool: str, words: tuple[str, ...]) -> int:
    """Run any tool and print its answer.

    Arguments are one JSON object, or key=value words, or - for a JSON object on stdin. A value that reads as
    JSON is taken as JSON (numbers, true, lists, "quoted text"), unless the tool wants text there; anything
    else is text.

    Examples:
      context-pack call input action=create ttl_minutes=60 name=auth title="How login works"
      context-pack call input '{"action": "list", "status": "draft"}'
      echo '{"name": "auth"}' | context-pack call output -
      context-pack call input action=list --json                      the raw MCP result

    Exit code: 0 answered, 1 the tool answered with an error, 2 wrong usage.
    """
    registry = build(app.cases, report=app.log.finished, alarm=app.log.alarm)
    arguments = read_arguments(words, _tool(registry, tool).schema["properties"])
    answer = registry.call(tool, arguments, QuietCall())
    _show(answer, app.json)
    return 1 if answer.is_error else 0


def read_arguments(words: Sequence[str], properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The arguments that the words spell.

    Raises:
        click.UsageError: they are neither one JSON object nor key=value words.
    """
    if words == ("-",):
        return _object(_all_of_stdin(), "stdin")
    if len(words) == 1 and words[0].lstrip()[:1] in {"{", "["}:
        return _object(words[0].encode("utf-8", "surrogateescape"), "the argument")
    arguments: dict[str, Any] = {}
    for word in words:
        match = _WORD.fullmatch(word)
        if match is None:
            raise click.UsageError(f"{word!r} is neither key=value nor, alone, a JSON object")
        name, text = match.groups()
        if name in arguments:
            raise click.UsageError(f"{name!r} is given twice")
        try:
            value = decode(text.encode("utf-8", "surrogateescape"))
        except ProtocolError:
            value = text
        wanted = properties.get(name, {}).get("type")  # where text is wanted, only a quoted one is unwrapped
        arguments[name] = text if wanted == "string" and not isinstance(value, str) else value
    return arguments


def _all_of_stdin() -> bytes:
    """Everything on stdin; read piece by piece, because an interrupt is only noticed between two of them."""
    return b"".join(iter(lambda: os.read(0, STDIN_BYTES), b""))


def _object(body: bytes, where: str) -> dict[str, Any]:
    """The JSON object in `body`."""
    try:
        value = decode(body)
    except ProtocolError as fault:
        words = fault.message.removeprefix("Parse error: ")
        raise click.UsageError(f"{where} is not JSON: {words}") from None
    if not isinstance(value, dict):
        raise click.UsageError(f'{where} must be a JSON object, like \'{{"name": "auth"}}\'')
    return value


def _show(answer: Answer, raw: bool) -> None:
    """Print an answer: as the client would get it, or as its text, laid out where a person reads it."""
    if raw:
        output.value(json.loads(f"{{{answer_fields(answer)}}}"))  # exactly as the server would send it
        return
    try:
        body = json.loads(answer.text)
    except ValueError:
        body = None
    if body is None:
        output.raw(answer.text.rstrip("\n") + "\n")
    elif output.interactive():
        output.value(body)
    else:  # for programs JSON is one line: its own line breaks stand only between values
        output.line(answer.text.replace("\n", ""))
    if answer.is_error and not output.interactive():
        output.complain(answer.text if body is None else output.refusal_in_words(body, coded=True))
