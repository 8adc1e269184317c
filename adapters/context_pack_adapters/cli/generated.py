"""Commands made of a tool's own schema: names, types, bounds and help of their arguments.

`tool_command` stands above a function as `command` does, and says which class of arguments it is made of;
the function gets those that were given. What only asks an action of packs is a row of `packs_write.ACTIONS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any

import click

from context_pack.toolkit.arguments import schema_of
from context_pack_adapters.cli.app import App, F, command
from context_pack_adapters.cli.names import TYPES, Minutes

FILLED_IN = ("action", "expected_revision", "cursor")
"""What the commands of packs know by themselves: the action, the revision of now, all pages."""
OPTIONAL = {"path", "refs", "query"}
"""Words that need not be given, unless the tool requires them."""
SHOWN = {"id": "PACK", "refs": "SECTION/REF", "section_key": "SECTION"}
BUDGET = "Budget of the answer"
WHOLE = "Most tokens of the answer; without it, all of it"
Kinds = Mapping[str, click.ParamType[Any]]


def tool_command(
    name: str,
    kind: type,
    *words: str,
    fixed: Collection[str] = (),
    defaults: Mapping[str, Any] | None = None,
    spelled: Mapping[str, str] | None = None,
    named: Kinds | None = None,
    **rules: Any,
) -> Callable[[F], F]:
    """Make a command of a function whose arguments are those of a class, but for the `fixed` ones.

    `words` are those without an option, in order; a default of None makes an argument optional; `spelled`
    gives options another name, `named` what a shell completes them with, other than `TYPES` has it.
    """
    schema, defaults, spelled = schema_of(kind), defaults or {}, spelled or {}
    properties = {
        each: rule for each, rule in schema["properties"].items() if each not in (*FILLED_IN, *fixed)
    }
    if "id" in properties and "id" not in (named or {}):  # a pack by its name or by its id
        properties.pop("name", None)
        words = ("id", *words)
    required = {*schema.get("required", ()), *({*words} - OPTIONAL)} - defaults.keys()
    kinds = {**TYPES, **(named or {})}
    params: list[click.Parameter] = [
        _argument(each, properties.pop(each), kinds, each in required) for each in words
    ]
    for each, rule in properties.items():
        params.append(_option(each, rule, kinds, each in required, defaults.get(each), spelled.get(each)))

    def register(run: F) -> F:
        @wraps(run)
        def with_given(app: App, **values: Any) -> int | None:
            given = {each: value for each, value in values.items() if value is not None and value != ()}
            lists = {each: list(value) for each, value in given.items() if isinstance(value, tuple)}
            return run(app, **{**given, **lists})

        command(name, params, **rules)(with_given)
        return run

    return register


def _type(name: str, rule: Mapping[str, Any], kinds: Kinds) -> Any:
    if name in kinds:
        return kinds[name]
    if name.endswith("_minutes"):
        return Minutes()
    if "enum" in rule:
        return click.Choice([str(value) for value in rule["enum"]])
    low, high = rule.get("minimum"), rule.get("maximum")
    if rule["type"] == "integer":
        return click.INT if low is high is None else click.IntRange(low, high)
    return click.FloatRange(low, high) if rule["type"] == "number" else click.STRING


def _argument(name: str, rule: Mapping[str, Any], kinds: Kinds, required: bool) -> click.Argument:
    many = rule["type"] == "array"
    shown = SHOWN.get(name, name.upper())
    metavar = f"[{shown}]..." if many else shown if required else f"[{shown}]"
    kind = _type(name, rule["items"] if many else rule, kinds)
    return click.Argument(
        ["pack" if name == "id" else name],
        type=kind,
        nargs=-1 if many else 1,
        required=required,
        metavar=metavar,
    )


def _option(
    name: str, rule: Mapping[str, Any], kinds: Kinds, required: bool, default: Any, option: str | None
) -> click.Option:
    option = option or "--" + re.sub(r"(?<=[a-z])(?=[A-Z])|_", "-", name.removesuffix("_minutes")).lower()
    about = re.sub("^[a-z]+: ", "", rule["description"])  # the action that it is for
    about = (about[:1].upper() + about[1:]).replace(BUDGET, WHOLE)
    if rule["type"] == "boolean":
        return click.Option([option, name], is_flag=True, default=None, help=f"{about}.")
    many = rule["type"] == "array"
    kind = _type(name, rule["items"] if many else rule, kinds)
    metavar = "N" if rule["type"] in ("integer", "number") else None
    if isinstance(kind, Minutes):
        metavar, about = "TIME", "How long: 90 (minutes), 12h, 7d."
    shown = rule.get("default") if default is None and BUDGET not in rule["description"] else default
    if shown is not None:
        about += f" [default: {shown}]"
    return click.Option(
        [option, name],
        type=kind,
        multiple=many,
        required=required,
        default=default,
        metavar=metavar,
        help=about,
    )
