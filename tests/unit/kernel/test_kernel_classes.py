"""Classes of `kernel.classes` behave as those that attrs makes itself."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from context_pack.kernel import classes


def made(frozen: Any, define: Any) -> dict[str, Any]:
    """The same classes, with the decorators of either side."""

    @frozen
    class Point:
        x: int
        y: int = attrs.field(default=0, repr=lambda value: f"<{value}>")
        seen: int = attrs.field(default=0, eq=False, repr=False)

    @frozen(slots=False)
    class Base:
        x: int

    @frozen(kw_only=True)
    class Derived(Base):
        y: int

    @frozen
    class Nothing:
        pass

    @frozen(order=True)
    class Ordered:
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

    return {**locals()}


OURS, THEIRS = made(classes.frozen, classes.define), made(attrs.frozen, attrs.define)


@pytest.mark.parametrize(
    "name, values, others",
    [
        ("Point", {"x": 1, "y": 2}, {"x": 1, "y": 3}),
        ("Point", {"x": 1, "seen": 1}, {"x": 1, "seen": 2}),
        ("Derived", {"x": 1, "y": 2}, {"x": 2, "y": 2}),
        ("Nothing", {}, {}),
        ("Ordered", {"x": 1}, {"x": 2}),
        ("Shown", {"x": 1}, {"x": 1}),
        ("Single", {"x": 1}, {"x": 1}),
        ("Changing", {"parts": [1]}, {"parts": [2]}),
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


def test_equal_values_share_a_hash_and_mutable_ones_have_none() -> None:
    assert hash(OURS["Point"](1, seen=1)) == hash(OURS["Point"](1, seen=2))
    assert len({OURS["Single"](1), OURS["Single"](1)}) == 2
    with pytest.raises(TypeError):
        hash(OURS["Changing"]([]))


def test_a_value_that_contains_itself_has_a_repr() -> None:
    ours, theirs = OURS["Changing"]([]), THEIRS["Changing"]([])
    ours.parts.append(ours)
    theirs.parts.append(theirs)
    assert repr(ours) == repr(theirs)


def test_a_frozen_value_does_not_change() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        OURS["Point"](1).x = 2
