"""Turns arguments of library calls into the commands of the tools, with the same error messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from context_pack.toolkit.arguments import command_schema, parse, respelled

C = TypeVar("C")


def given(**arguments: Any) -> dict[str, Any]:
    """The arguments that are there: None stands for one that is not."""
    return {name: value for name, value in arguments.items() if value is not None}


def listed(texts: Sequence[str]) -> Sequence[str]:
    """A list, as the tools take one; one text stays one, though type checkers take it for a sequence."""
    return texts if isinstance(texts, str) else [*texts]


def spelled(command: type[C], **arguments: Any) -> C:
    """The command that the arguments which are there spell.

    Raises:
        Failure: `invalid_data`, as the tool would answer it.
    """
    kind: type = command
    return parse(command, respelled(command_schema(kind), given(**arguments)))
