"""Methods whose arguments are those of a tool: the names, types, defaults and words of its command.

A method is written with the command that it gets; callers give the command's fields instead. So a call has
one spelling, whether a client, a shell or a program makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter, signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from attrs import fields

from context_pack.composition import UseCases
from context_pack.toolkit.arguments import Argument, arguments_of

P = ParamSpec("P")
S = TypeVar("S")
C = TypeVar("C")
R = TypeVar("R")
OURS = ("action", "max_tokens")
"""Fields of commands that choose a use case, or cut the answer to a client: they are not shown."""


class Feature:
    """A part of the library: some use cases as methods."""

    def __init__(self, cases: UseCases) -> None:
        self.cases = cases


def asks(command: Callable[P, C]) -> Callable[[Callable[[S, C], R]], Callable[Concatenate[S, P], R]]:
    """Make a method that takes a command one that takes the command's fields."""

    def make(method: Callable[[S, C], R]) -> Callable[Concatenate[S, P], R]:
        def asking(self: S, /, *args: P.args, **given: P.kwargs) -> R:
            return method(self, command(*args, **given))

        asking.__annotations__["return"] = method.__annotations__["return"]
        describe(asking, command, method.__name__, method.__doc__ or "")
        return asking

    return make


def describe(method: Any, command: Any, name: str, about: str, ours: Mapping[str, str] | None = None) -> None:
    """Give a method its name, and show the fields of a command as its arguments, after `ours`."""
    words = {**(ours or {}), **{name: argument.description for name, argument in _fields(command)}}
    theirs = [each for each in signature(command).parameters.values() if each.name not in OURS]
    own = [Parameter(each, Parameter.POSITIONAL_ONLY) for each in ("self", *(ours or ()))]
    shown = [*own, *theirs]
    lines = [f"    {each.name}: {words[each.name]}" for each in shown[1:]]
    method.__name__ = name
    method.__doc__ = "\n".join([about, "", "Args:", *lines])
    method.__signature__ = signature(method).replace(parameters=shown)


def _fields(command: type) -> Iterator[tuple[str, Argument]]:
    for each, (_, argument, _) in zip(fields(command), arguments_of(command), strict=True):
        yield each.name, argument
