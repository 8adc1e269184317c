"""Classes of `kernel.classes` behave as those that attrs makes itself."""

from __future__ import annotations

import re
from copy import copy, deepcopy
from functools import cached_property
from typing import Any, ClassVar
from weakref import ref

import attrs
import pytest

from context_pack.kernel import classes


def made(frozen: Any, define: Any, field: Any) -> dict[str, Any]:
    """The same classes, with the decorators of either side."""

    @frozen
    class Point:
        x: int
        y: int = field(default=0, repr=lambda value: f"<{value}>")
        seen: int = field(default=0, eq=False, repr=False)

    @frozen(slots=False)
    class Base:
        x: int

    @frozen(kw_only=True)
    class Derived(Base):
        y: int

    @frozen
    class Again(Derived):
        x: int = 7
        z: ClassVar[int] = 8

    @frozen
    class Nothing:
        pass

    @frozen(order=True)
    class Ordered:
        x: int

    @frozen(cache_hash=True)
    class Kept:
        x: int

    @frozen
    class Shown:
        x: int

        def __repr__(self) -> str:
            return "shown"

    @frozen(eq=False)
    class Single:
        x: int

    @define
    class Changing:
        parts: list[Any]

    @frozen
    class Checked:
        _text: str = field(converter=str.strip, validator=_not_empty)
        parts: list[Any] = field(factory=list, kw_only=True)
        length: int = field(init=False, eq=False)
        known: tuple[int, ...] = field(default=(1,), init=False)

        def __attrs_post_init__(self) -> None:
            object.__setattr__(self, "length", len(self._text))

        @cached_property
        def words(self) -> list[str]:
            return self._text.split()

    return {**locals()}


def _not_empty(_: Any, attribute: Any, value: str) -> None:
    if not value:
        raise ValueError(attribute.name)


OURS = made(classes.frozen, classes.define, classes.field)
THEIRS = made(attrs.frozen, attrs.define, attrs.field)


@pytest.mark.parametrize(
    "name, values, others",
    [
        ("Point", {"x": 1, "y": 2}, {"x": 1, "y": 3}),
        ("Point", {"x": 1, "seen": 1}, {"x": 1, "seen": 2}),
        ("Derived", {"x": 1, "y": 2}, {"x": 2, "y": 2}),
        ("Again", {"y": 2}, {"y": 2, "x": 1}),
        ("Nothing", {}, {}),
        ("Ordered", {"x": 1}, {"x": 2}),
        ("Kept", {"x": 1}, {"x": 2}),
        ("Shown", {"x": 1}, {"x": 1}),
        ("Single", {"x": 1}, {"x": 1}),
        ("Changing", {"parts": [1]}, {"parts": [2]}),
        ("Checked", {"text": " a b "}, {"text": "a b", "parts": [1]}),
    ],
)
def test_values_are_equal_and_shown_as_those_of_attrs(
    name: str, values: dict[str, Any], others: dict[str, Any]
) -> None:
    ours, theirs = OURS[name], THEIRS[name]
    for given in (values, others):
        assert (ours(**values) == ours(**given)) is (theirs(**values) == theirs(**given))
        assert (ours(**values) != ours(**given)) is (theirs(**values) != theirs(**given))
    assert ours(**values) != theirs(**values)
    assert repr(ours(**values)) == repr(theirs(**values))
    assert ours.__match_args__ == theirs.__match_args__


@pytest.mark.parametrize("name", [name for name in OURS if name[0].isupper()])
def test_attrs_sees_in_a_class_what_it_sees_in_its_own(name: str) -> None:
    def seen(cls: Any) -> list[Any]:
        known = ("name", "alias", "init", "kw_only", "eq", "type", "metadata", "validator", "converter")
        return [[getattr(each, part) for part in known] for each in attrs.fields(cls)]

    assert attrs.has(OURS[name])
    assert seen(OURS[name]) == seen(THEIRS[name])


@pytest.mark.parametrize(
    "name, values",
    [("Checked", ("",)), ("Checked", ()), ("Checked", ("a", [])), ("Again", (1,)), ("Nothing", (1,))],
)
def test_wrong_arguments_are_refused_in_the_words_of_attrs(name: str, values: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, ValueError)) as theirs:
        THEIRS[name](*values)
    for _ in range(2):  # compiled, and when it is first compiled
        with pytest.raises(theirs.type, match=f"^{re.escape(str(theirs.value))}$"):
            OURS[name](*values)


def test_every_value_is_made_converted_and_checked_as_by_attrs() -> None:
    for sides in (OURS, THEIRS):
        one, other = sides["Checked"](" a b "), sides["Checked"]("c", parts=[1])
        assert (one._text, one.parts, one.length, one.known, one.words) == ("a b", [], 3, (1,), ["a", "b"])
        assert one.parts is not other.parts
    for evolve in (classes.evolve, attrs.evolve):
        changed = evolve(OURS["Checked"]("a", parts=[1]), text=" c ")
        assert (changed._text, changed.parts, changed.length) == ("c", [1], 1)


def test_ordered_values_are_ordered_among_themselves_only() -> None:
    first, second = OURS["Ordered"](1), OURS["Ordered"](2)
    assert first < second
    assert first <= second
    assert second > first
    assert second >= first
    with pytest.raises(TypeError):
        assert first < THEIRS["Ordered"](2)


def test_equal_values_share_a_hash_and_mutable_ones_have_none() -> None:
    assert hash(OURS["Point"](1, seen=1)) == hash(OURS["Point"](1, seen=2))
    assert [hash(value := OURS["Kept"](1)), hash(value)] == [hash(OURS["Kept"](1))] * 2
    assert len({OURS["Single"](1), OURS["Single"](1)}) == 2
    with pytest.raises(TypeError):
        hash(OURS["Changing"]([]))


def test_values_can_be_copied_and_have_no_room_for_more() -> None:
    value = OURS["Kept"](1)
    assert deepcopy(value) == copy(value) == value
    assert ref(value)() is value
    with pytest.raises(AttributeError):
        OURS["Changing"]([]).other = 1


def test_a_value_that_contains_itself_has_a_repr() -> None:
    ours, theirs = OURS["Changing"]([]), THEIRS["Changing"]([])
    ours.parts.append(ours)
    theirs.parts.append(theirs)
    assert repr(ours) == repr(theirs)


def test_a_frozen_value_does_not_change() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        OURS["Point"](1).x = 2
