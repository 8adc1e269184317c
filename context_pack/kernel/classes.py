"""What classes are made with: attrs, but classes that are made in half the time.

attrs compiles `__eq__`, `__hash__` and `__repr__` anew for each class, and the first call of a server makes
up to a hundred classes. Here they are plain functions over the names of the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

import attrs
from attrs import Attribute as Attribute
from attrs import evolve as evolve
from attrs import field as field

if TYPE_CHECKING:
    from attrs import define as define
    from attrs import frozen as frozen
else:

    def define(cls: type | None = None, /, **options: Any) -> Any:
        """attrs' `define`."""
        return _made(cls, False, **options)

    def frozen(cls: type | None = None, /, **options: Any) -> Any:
        """attrs' `frozen`."""
        return _made(cls, True, **options)


def _made(cls: type | None, fixed: bool, *, eq: bool = True, **options: Any) -> Any:
    if cls is None:
        return lambda cls: _made(cls, fixed, eq=eq, **options)
    rare = "order" in options or "cache_hash" in options  # attrs makes these together with `__eq__`
    made: Any = attrs.define(cls, frozen=fixed, repr=False, eq=eq and rare, **options)
    fields = attrs.fields(made)
    if "__repr__" not in vars(cls):
        made.__repr__ = _showing(
            {each.name: repr if each.repr is True else each.repr for each in fields if each.repr}
        )
    if eq and not rare and "__eq__" not in vars(cls):
        made.__eq__, made.__hash__ = _comparing([each.name for each in fields if each.eq])
        if not fixed:
            made.__hash__ = None
    return made


def _showing(fields: Mapping[str, Callable[[Any], str]]) -> Any:
    """`__repr__` over these fields, each with what shows it."""

    @recursive_repr("...")
    def __repr__(self: Any) -> str:
        shown = ", ".join(f"{name}={show(getattr(self, name))}" for name, show in fields.items())
        return f"{type(self).__qualname__.rpartition('>.')[2]}({shown})"

    return __repr__


def _comparing(names: list[str]) -> Any:
    """`__eq__` and `__hash__` over these fields; only one class's own instances are equal."""
    values = attrgetter(*names) if names else lambda _: ()

    def __eq__(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __eq__, __hash__
