"""Methods whose arguments are those of a tool: the names, types, defaults and words of its command.

A method is written with the command that it gets; callers give the command's fields instead. So a call has
one spelling, whether a client, a shell or a program makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from attrs import fields

from context_pack.composition import UseCases
from context_pack.toolkit.arguments import arguments_of

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
        @wraps(method)
        def asking(self: S, /, *args: P.args, **given: P.kwargs) -> R:
            return method(self, command(*args, **given))

        describe(asking, command)
        return asking

    return make


def describe(method: Any, command: Any, **ours: str) -> None:
    """Show the fields of a command as the arguments of a method, after `ours`, with their words."""
    words = dict(ours)
    for field, (_, argument, _) in zip(fields(command), arguments_of(command), strict=True):
        words[field.name] = argument.description
    parameters = [Parameter(own, Parameter.POSITIONAL_ONLY) for own in ("self", *ours)]
    parameters += [field for field in signature(command).parameters.values() if field.name not in OURS]
    lines = [f"    {parameter.name}: {words[parameter.name]}" for parameter in parameters[1:]]
    method.__doc__ = "\n".join([method.__doc__, "", "Args:", *lines])
    method.__signature__ = signature(method).replace(parameters=parameters)
