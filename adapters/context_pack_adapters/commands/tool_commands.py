"""Commands made from tools: the arguments are those of the tool's schema, the answer is printed as it is."""

from __future__ import annotations

import re
from argparse import Namespace
from importlib import import_module
from typing import Any

from context_pack_adapters.commands.arguments import Command
from context_pack_adapters.commands.places import in_project
from context_pack_adapters.commands.shell import Shell, body_of, refusal_in_words

_TYPES = {"integer": int, "number": float, "string": str}


def from_tool(tool: str, arguments: str, first: str, about: str) -> Command:
    """A command that prints what a tool answers.

    `arguments` is where the tool's command class is (module:name below the code's use cases), which is loaded
    when the command is; `first` is the argument that needs no option.
    """
    names: dict[str, str] = {}

    def add(parser: Any) -> None:
        from context_pack.toolkit.arguments import schema_of

        module, _, name = arguments.partition(":")
        schema = schema_of(getattr(import_module(f"context_pack.code.usecases.{module}"), name))
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
        asked = {name: getattr(options, given) for name, given in names.items()}
        if asked.get("path"):
            asked["path"] = in_project(asked["path"], shell.settings.source_root)
        answer = shell.call(tool, **asked)
        if answer.is_error:
            shell.terminal.complain(refusal_in_words(body_of(answer)))
            return 1
        shell.terminal.line(answer.text)
        return 0

    return Command(run, (add,), about)


def _words(rule: dict[str, Any]) -> str:
    """The help of an argument: its purpose, bounds and default."""
    said = str(rule["description"])
    bounds = f", {rule['minimum']} to {rule['maximum']}" if "minimum" in rule and "maximum" in rule else ""
    default = f" (default {rule['default']})" if rule.get("default") not in (None, False) else ""
    return f"{said[0].lower()}{said[1:]}{bounds}{default}".replace("%", "%%")
