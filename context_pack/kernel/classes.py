"""What classes are made with: classes as attrs makes them, without loading attrs.

The first call of a server makes up to a hundred classes and uses a few. attrs compiles methods for each and
takes as long again to load; here a class costs little until it is first called. To whoever looks at one with
attrs (`attrs.asdict`, cattrs), it is an attrs class: `tests/unit/kernel/test_kernel_classes.py`.
A method of a class with slots cannot use `super()` without arguments: the class is made anew.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

NOT_GIVEN: Any = type("NotGiven", (), {"__repr__": lambda _: "NOT_GIVEN"})()
"""The default of a field that has none."""
_put = object.__setattr__


class ClassField:
    """What is known of a field; `name` and `type` come from the annotation in its class."""

    def __init__(
        self,
        default: Any = NOT_GIVEN,
        factory: Callable[[], Any] | None = None,
        init: bool = True,
        kw_only: bool = False,
        eq: bool = True,
        hash: bool | None = None,  # noqa: A002
        repr: bool | Callable[[Any], str] = True,  # noqa: A002
        converter: Callable[[Any], Any] | None = None,
        validator: Callable[[Any, Any, Any], None] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = self.alias = self.type = ""
        self.default, self.factory, self.init, self.kw_only = default, factory, init, kw_only
        self.eq, self.hash, self.repr = eq, eq if hash is None else hash, repr
        self.converter, self.validator, self.metadata = converter, validator, metadata or {}


if TYPE_CHECKING:
    from attrs import Attribute as Attribute
    from attrs import define as define
    from attrs import evolve as evolve
    from attrs import field as field
    from attrs import fields as fields
    from attrs import frozen as frozen
else:
    Attribute = field = ClassField

    def define(cls: type | None = None, /, **options: Any) -> Any:
        """Like attrs' `define`, but faster to create."""
        return _made(cls, False, **options)

    def frozen(cls: type | None = None, /, **options: Any) -> Any:
        """Like attrs' `frozen`, but faster to create."""
        return _made(cls, True, **options)

    def fields(cls: Any) -> tuple[ClassField, ...]:
        """The fields of a class, those of the classes that it is made of first."""
        return cls.__fields__

    def evolve(value: Any, /, **changes: Any) -> Any:
        """A value like another one, but for these changes; what stays has been checked already."""
        made, changed = object.__new__(type(value)), list[ClassField]()
        for each in value.__fields__:
            if not each.init:
                if each.factory is None and each.default is NOT_GIVEN:
                    continue  # set by whoever is called at the end
                given = each.default if each.factory is None else each.factory()
            elif each.alias in changes:
                given = changes.pop(each.alias)
                given = given if each.converter is None else each.converter(given)
                changed.append(each)
            else:
                given = getattr(value, each.name)
            _put(made, each.name, given)
        if changes:
            raise TypeError(f"{type(value).__qualname__} has no {', '.join(changes)}")
        for each in changed:
            if each.validator is not None:
                each.validator(made, each, getattr(made, each.name))
        if hasattr(made, "__attrs_post_init__"):
            made.__attrs_post_init__()
        return made


def _made(
    cls: type | None,
    fixed: bool,
    *,
    eq: bool = True,
    kw_only: bool = False,
    slots: bool = True,
    order: bool = False,
    cache_hash: bool = False,
) -> Any:
    if cls is None:
        return lambda cls: _made(
            cls, fixed, eq=eq, kw_only=kw_only, slots=slots, order=order, cache_hash=cache_hash
        )
    own = _own_fields(cls, kw_only)
    given = {
        name: value
        for name, value in vars(cls).items()
        if name not in own and name not in ("__dict__", "__weakref__")
    }
    every = _with_inherited(cls, own)
    body: dict[str, Any] = {
        "__qualname__": cls.__qualname__,
        "__fields__": every,
        "__attrs_attrs__": _SEEN_BY_ATTRS,
        "__match_args__": tuple(each.name for each in every if each.init and not each.kw_only),
        "__init__": _init_later(fixed),
        "__repr__": _shown,
    }
    if fixed:
        body["__setattr__"] = body["__delattr__"] = _refuse
    if eq and "__eq__" not in given:
        body |= _comparing([each.name for each in every if each.eq], order)
        hashed = [each.name for each in every if each.hash]
        body["__hash__"] = _hashing(hashed, cache_hash) if fixed else None
    if slots:
        extra = ("_kept_hash",) if cache_hash else ()
        body |= {"__slots__": (*_slots(cls, own), *extra), "__getstate__": _state, "__setstate__": _set_state}
    return type(cls)(cls.__name__, cls.__bases__, body | given)


def _own_fields(cls: type, kw_only: bool) -> dict[str, ClassField]:
    """The fields that a class itself has, by name: whatever is annotated."""
    found = {}
    for name, kind in cls.__annotations__.items():
        if not str(kind).startswith(("ClassVar", "typing.ClassVar")):
            given = vars(cls).get(name, NOT_GIVEN)
            each = given if isinstance(given, ClassField) else ClassField(given)
            each.name, each.alias, each.type = name, name.lstrip("_"), kind
            each.kw_only = each.kw_only or kw_only
            found[name] = each
    return found


def _with_inherited(cls: type, own: dict[str, ClassField]) -> tuple[ClassField, ...]:
    """Every field, those of the bases first; one that a class has anew comes where that class has it."""
    found: dict[str, ClassField] = {}
    for base in reversed(cls.__mro__[1:]):
        for each in vars(base).get("__fields__", ()):
            if found.get(each.name) is not each:
                found.pop(each.name, None)
                found[each.name] = each
    return (*(each for each in found.values() if each.name not in own), *own.values())


def _slots(cls: type, own: Collection[str]) -> Iterator[str]:
    """What instances have besides what their bases give them; a cached property needs a dictionary."""
    yield from (name for name in own if not any(name in vars(base) for base in cls.__mro__[1:]))
    if not any(base.__weakrefoffset__ for base in cls.__bases__):
        yield "__weakref__"
    caches = any(isinstance(each, cached_property) for each in vars(cls).values())
    if caches and not any(base.__dictoffset__ for base in cls.__bases__):
        yield "__dict__"


def _init_later(fixed: bool) -> Any:
    """An `__init__` that compiles the real one when it is first called, and puts it in its place."""

    def __init__(self: Any, *values: Any, **named: Any) -> None:
        cls: Any = next(each for each in type(self).__mro__ if vars(each).get("__init__") is __init__)
        cls.__init__ = init = _compiled_init(cls, fixed)
        init(self, *values, **named)

    return __init__


def _compiled_init(cls: Any, fixed: bool) -> Any:
    """Every value is made and set in the order of the fields, and then checked."""
    known: dict[str, Any] = {"_put": _put, "_NOT_GIVEN": NOT_GIVEN}
    plain, named, sets, checks = ["self"], list[str](), list[str](), list[str]()
    for each in cls.__fields__:
        name = value = each.alias
        if each.factory is not None:
            known[f"_make_{name}"] = each.factory
            value = f"_make_{name}() if {name} is _NOT_GIVEN else {name}" if each.init else f"_make_{name}()"
        elif not each.init:
            value = f"_default_{name}"
        if each.default is not NOT_GIVEN:
            known[f"_default_{name}"] = each.default
        elif each.factory is None and not each.init:
            continue  # set by whoever is called at the end
        if each.init:
            default = f"_default_{name}" if each.factory is None else "_NOT_GIVEN"
            wanted = each.default is NOT_GIVEN and each.factory is None
            (named if each.kw_only else plain).append(name if wanted else f"{name}={default}")
        if each.converter is not None:
            known[f"_convert_{name}"] = each.converter
            value = f"_convert_{name}({value})"
        sets.append(f"_put(self, {each.name!r}, {value})" if fixed else f"self.{each.name} = {value}")
        if each.validator is not None:
            known |= {f"_check_{name}": each.validator, f"_field_{name}": each}
            checks.append(f"_check_{name}(self, _field_{name}, self.{each.name})")
    if hasattr(cls, "__attrs_post_init__"):
        checks.append("self.__attrs_post_init__()")
    head = ", ".join([*plain, "*", *named] if named else plain)
    lines = "\n    ".join([f"def __init__({head}):", *sets, *checks, "return None"])
    exec(lines, known)
    init = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


@recursive_repr("...")
def _shown(self: Any) -> str:
    """`__repr__` over the fields, each with what shows it."""
    parts = []
    for each in self.__fields__:
        if each.repr:
            show = repr if each.repr is True else each.repr
            parts.append(f"{each.name}={show(getattr(self, each.name))}")
    return f"{type(self).__qualname__.rpartition('>.')[2]}({', '.join(parts)})"


def _values_of(names: list[str]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else lambda _: ()


def _comparing(names: list[str], order: bool) -> dict[str, Any]:
    """`__eq__` over these fields, and what orders by them; only one class's own instances are compared."""
    values = _values_of(names)

    def by(compare: Callable[[Any, Any], bool]) -> Any:
        def compared(self: Any, other: object) -> Any:
            return (
                compare(values(self), values(other)) if other.__class__ is self.__class__ else NotImplemented
            )

        return compared

    def __eq__(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return {"__eq__": __eq__} | {
        f"__{each.__name__}__": by(each)
        for each in (operator.lt, operator.le, operator.gt, operator.ge)
        if order
    }


def _hashing(names: list[str], keep: bool) -> Any:
    """`__hash__` over these fields, perhaps kept."""
    values = _values_of(names)

    def __hash__(self: Any) -> int:
        return hash(values(self))

    def kept(self: Any) -> int:
        try:
            return self._kept_hash  # type: ignore[no-any-return]
        except AttributeError:
            found = hash(values(self))
            _put(self, "_kept_hash", found)
            return found

    return kept if keep else __hash__


def _refuse(*_: Any) -> None:
    """`__setattr__` and `__delattr__` of what does not change."""
    from attrs.exceptions import FrozenInstanceError

    raise FrozenInstanceError


def _state(self: Any) -> dict[str, Any]:
    return {each.name: getattr(self, each.name) for each in self.__fields__}


def _set_state(self: Any, state: Mapping[str, Any]) -> None:
    for name, value in state.items():
        _put(self, name, value)


class _SeenByAttrs:
    """The fields of a class as those of attrs, made when they are first asked for."""

    def __get__(self, _: object, cls: Any) -> Any:
        import attrs

        same = ("init", "kw_only", "eq", "repr", "converter", "validator", "metadata", "type")
        made: dict[str, Any] = {}
        for each in cls.__fields__:
            default = {"factory": each.factory} if each.factory else {}
            if each.default is not NOT_GIVEN:
                default = {"default": each.default}
            made[each.name] = attrs.field(**default, **{name: getattr(each, name) for name in same})
        cls.__attrs_attrs__ = attrs.fields(attrs.make_class(cls.__name__, made))
        return cls.__attrs_attrs__


_SEEN_BY_ATTRS = _SeenByAttrs()
