"""Methods that are a tool's own command: its arguments, rules and words, spelled once."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature, signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from context_pack.toolkit.arguments import arguments_of

P = ParamSpec("P")
S = TypeVar("S")
C = TypeVar("C")
R = TypeVar("R")
_OF_A_CLIENT = ("action", "max_tokens")
"""What only a client says: which action of a tool it means, and how large an answer may be."""


def asked(command: Callable[P, C], answer: Callable[[S, C], R], about: str) -> Callable[Concatenate[S, P], R]:
    """The method that answers a command; it takes what the command takes."""

    def method(self: S, /, *args: P.args, **fields: P.kwargs) -> R:
        return answer(self, command(*args, **fields))

    describe(method, command, about)
    return method


def describe(method: Any, command: Any, about: str, **first: str) -> None:
    """Give a method the signature and the words of its command, after arguments of its own."""
    taken = signature(command).parameters.values()
    about_each = (argument.description for _, argument, _ in arguments_of(command))
    theirs = [pair for pair in zip(taken, about_each, strict=True) if pair[0].name not in _OF_A_CLIENT]
    own = [each for each in signature(method).parameters.values() if each.name in ("self", *first)]
    words = [*first.items(), *((each.name, words) for each, words in theirs)]
    method.__doc__ = "\n".join([about, "", "Args:", *(f"    {name}: {text}." for name, text in words)])
    method.__signature__ = Signature([*own, *(each for each, _ in theirs)])
