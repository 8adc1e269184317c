"""Commands made from tools: the arguments are those of the tool's schema, the answer is printed as it is."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from context_pack.toolkit.arguments import schema_of
from context_pack.toolkit.spec import Answer
from context_pack_adapters.cli.arguments import Command
from context_pack_adapters.cli.places import in_project
from context_pack_adapters.cli.shell import Shell, body_of, refusal_in_words

TOKEN_BUDGET = "Budget of the answer"
_TYPES = {"integer": int, "number": float, "string": str}


Ask = Callable[[Shell, Mapping[str, Any]], Answer]
_NOTICE = re.compile(r"\[.*\]|No definitions.*|Not parsed, with matching lines: .*")
"""The lines of a list that are about it; they are told on stderr."""


def from_tool(tool: str, arguments: str, first: str, about: str, ask: Ask | None = None) -> Command:
    """A command that prints what a tool answers, whole; `ask` gets that where calling the tool would not.

    `arguments` is where the tool's command class is (module:name in the code feature), which is loaded
    when the command is; `first` is the argument that needs no option.
    """
    names: dict[str, str] = {}

    def spelled(notice: str) -> str:
        """A notice of the tool with the options of the command."""
        options = {
            name: name.upper() if name == first else f"--{each.replace('_', '-')}"
            for name, each in names.items()
        }
        return re.sub(rf"\b({'|'.join(options)})\b", lambda match: options[match[0]], notice.strip("[]"))

    def add(parser: Any) -> None:
        module, _, name = arguments.partition(":")
        schema = schema_of(getattr(import_module(f"context_pack.code.{module}"), name))
        for name, rule in schema["properties"].items():
            option = re.sub(r"(?<=[a-z])(?=[A-Z])|_", "-", name).lower()
            names[name] = option.replace("-", "_")
            said = _words(rule)
            if rule["type"] == "boolean":
                parser.add_argument(f"--{option}", action="store_true", default=None, help=said)
                continue
            rules: dict[str, Any] = {"type": _TYPES[rule["type"]], "help": said, "choices": rule.get("enum")}
            number = rule["type"] != "string"
            if name == first:
                needed = name in schema.get("required", ())
                parser.add_argument(option, metavar=option.upper(), nargs=None if needed else "?", **rules)
            else:
                parser.add_argument(f"--{option}", metavar="N" if number else "TEXT", **rules)

    def run(options: Namespace, shell: Shell) -> int:
        notices: dict[str, None] = {}
        asked = {name: getattr(options, given) for name, given in names.items()}
        if asked.get("path"):
            asked["path"] = in_project(asked["path"], shell.settings.source_root)
        given = {name: value for name, value in asked.items() if value is not None}
        answer = shell.call(tool, **given) if ask is None else ask(shell, given)
        if answer.is_error:
            shell.terminal.complain(refusal_in_words(body_of(answer)))
            return 1
        for line in answer.text.split("\n"):
            if _NOTICE.fullmatch(line):
                notices[spelled(line)] = None
            else:
                shell.terminal.line(line)
        for notice in notices:
            shell.terminal.note(notice)
        return 0

    return Command(run, (add,), about)


def _words(rule: dict[str, Any]) -> str:
    """The help of an argument: its purpose, bounds and default."""
    said = str(rule["description"])
    bounds = f", {rule['minimum']} to {rule['maximum']}" if "minimum" in rule and "maximum" in rule else ""
    default = f" (default {rule['default']})" if rule.get("default") not in (None, False) else ""
    if said == TOKEN_BUDGET:
        default = " (default: no limit)"
    return f"{said[0].lower()}{said[1:]}{bounds}{default}".replace("%", "%%")
