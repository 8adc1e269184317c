"""Commands made of a tool's own schema: names, types, bounds and help of their arguments.

What only asks something of a tool is a row of a table in the module of its group; the row says which
arguments need no option, what is fixed, and how the answer is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from context_pack.toolkit.arguments import schema_of
from context_pack_adapters.cli.app import REGISTERED, App, Command
from context_pack_adapters.cli.names import TYPES

FILLED_IN = ("action", "expected_revision", "cursor")
"""What the commands of packs know by themselves: the action, the revision of now, all pages."""
OPTIONAL = {"path", "refs", "query", "from_revision", "to_revision"}
BUDGET = "Budget of the answer"


class Minutes(click.ParamType[int]):
    """A time to live, written as 90 (minutes), 12h or 7d."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The minutes."""
        match = re.fullmatch(r"(\d{1,9})([mhd]?)", str(value), re.ASCII)
        if match is None:
            self.fail("it is a number of minutes, or of hours or days as in 12h and 7d", param, ctx)
        return int(match[1]) * {"h": 60, "d": 24 * 60}.get(match[2], 1)


def parameters(
    kind: type,
    words: Sequence[str] = (),
    fixed: Sequence[str] = (),
    defaults: Mapping[str, Any] | None = None,
    spelled: Mapping[str, str] | None = None,
    named: Mapping[str, click.ParamType[Any]] | None = None,
) -> list[click.Parameter]:
    """A parameter for each argument of a tool's command; `words` are those without an option, in order, which
    must be given but for the `OPTIONAL` ones that the tool does not require.

    `fixed` arguments get no parameter, `spelled` ones another option than their name;
    `named` are names of something that a shell completes, other than `TYPES` has it.
    """
    schema, defaults, spelled = schema_of(kind), defaults or {}, spelled or {}
    rules = {
        name: rule
        for name, rule in schema["properties"].items()
        if name not in FILLED_IN and name not in fixed
    }
    kinds = {**TYPES, **(named or {})}
    if "id" in rules and "id" not in (named or {}):  # a pack by its name or by its id
        rules.pop("name", None)
        words = ("id", *words)
    required = {*schema.get("required", ()), *({*words} - OPTIONAL)} - defaults.keys()
    given: dict[str, click.Parameter] = {
        name: _parameter(name, rule, kinds, name in required, defaults.get(name), spelled.get(name))
        for name, rule in rules.items()
    }
    for name in words:
        given[name] = _argument(name, rules[name], kinds, name in required)
    return [*(given[name] for name in words), *(each for name, each in given.items() if name not in words)]


Kinds = Mapping[str, click.ParamType[Any]]


def _type(name: str, rule: Mapping[str, Any], kinds: Kinds) -> Any:
    if name in kinds:
        return kinds[name]
    if name.endswith("_minutes"):
        return Minutes()
    if "enum" in rule:
        return click.Choice([str(each) for each in rule["enum"]])
    low, high = rule.get("minimum"), rule.get("maximum")
    if rule["type"] == "integer":
        return click.IntRange(low, high)
    return click.FloatRange(low, high) if rule["type"] == "number" else click.STRING


def _argument(name: str, rule: Mapping[str, Any], kinds: Kinds, required: bool) -> click.Argument:
    many = rule["type"] == "array"
    shown = {"id": "PACK", "refs": "SECTION/REF"}.get(name, name.upper())
    metavar = f"[{shown}]..." if many else shown if required else f"[{shown}]"
    kind = _type(name, rule["items"] if many else rule, kinds)
    return click.Argument([name], type=kind, nargs=-1 if many else 1, required=required, metavar=metavar)


def _parameter(
    name: str, rule: Mapping[str, Any], kinds: Kinds, required: bool, default: Any, option: str | None
) -> click.Option:
    option = option or "--" + re.sub(r"(?<=[a-z])(?=[A-Z])|_", "-", name.removesuffix("_minutes")).lower()
    about = re.sub("^[a-z]+: ", "", rule["description"])  # the action that it is for
    about = (about[:1].upper() + about[1:]).replace(
        BUDGET, "Most tokens of the answer; without it, all of it"
    )
    if rule["type"] == "boolean":
        return click.Option([option, name], is_flag=True, default=None, help=f"{about}.")
    many = rule["type"] == "array"
    kind = _type(name, rule["items"] if many else rule, kinds)
    shown = "N" if rule["type"] in ("integer", "number") else None
    if isinstance(kind, Minutes):
        shown, about = "TIME", "How long: 90 (minutes), 12h, 7d."
    told = rule.get("default") if default is None and BUDGET not in rule["description"] else default
    if told is not None:
        about += f" [default: {told}]"
    return click.Option(
        [option, name],
        type=kind,
        multiple=many,
        required=required,
        default=default,
        metavar=shown,
        help=about,
    )


def generate(
    name: str,
    about: str,
    params: Sequence[click.Parameter],
    run: Callable[[App, dict[str, Any]], int | None],
    **rules: Any,
) -> None:
    """Register a command of these parameters; `run` gets those that were given."""

    def callback(**given: Any) -> int | None:
        asked = {
            key: list(each) if isinstance(each, tuple) else each
            for key, each in given.items()
            if each is not None and each != ()
        }
        return run(click.get_current_context().ensure_object(App), asked)

    REGISTERED[name] = Command(name.split()[-1], params=list(params), callback=callback, help=about, **rules)
