"""Arguments: one class gives schema, strict check and command, and every fault has a path and words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.arguments import (
    arg,
    array,
    boolean,
    choice,
    command_schema,
    integer,
    number,
    parse,
    respelled,
    schema_of,
    text,
)
from context_pack.toolkit.schema_errors import Problem, problems_of


def problems(command: type, arguments: Any) -> list[Problem]:
    """What is wrong with the arguments of a command."""
    return problems_of(command_schema(command), arguments)


@frozen
class Step:
    """A record inside a command."""

    kind: str = arg(choice("add", "drop"), "What to do.")
    place: int | None = arg(integer(0, 9), "Where.", name="atPlace", default=None)


@frozen
class Order:
    """A command with a field of every kind."""

    title: str = arg(text(2, 10, blank=False), "A title.")
    count: int = arg(integer(1, 500), "How many.", default=50)
    share: float | None = arg(number(0, 1), "How much.", default=None)
    dry_run: bool = arg(boolean(), "Only try.", name="dryRun", default=False)
    key: str | None = arg(text(1, 64, pattern="^[a-z]+$"), "A key.", default=None)
    tags: tuple[str, ...] = arg(array(text(1, 5), 0, 3), "Tags.", default=())
    steps: tuple[Step, ...] = arg(array(Step, 1, 4), "Steps.", default=())
    step: Step | None = arg(Step, "One step.", default=None)


VALID: dict[str, Any] = {"title": "hello"}


def refused(arguments: dict[str, Any], command: type = Order) -> Failure:
    with pytest.raises(Failure) as caught:
        parse(command, arguments)
    assert caught.value.code is Code.INVALID_DATA
    return caught.value


@pytest.mark.clause("TK-24")
@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("title", lambda: Order("a")),
        ("count", lambda: Order("hello", 501)),
        ("count", lambda: Order("hello", True)),
        ("dryRun", lambda: Order("hello", dry_run=1)),  # type: ignore[arg-type]
        ("tags", lambda: Order("hello", tags=("a", "b" * 6))),
        ("steps", lambda: Order("hello", steps=(Step("add"),) * 5)),
        ("kind", lambda: Order("hello", step=Step("mend"))),
    ],
)
def test_a_command_that_was_built_by_hand_meets_its_schema(field: str, make: Callable[[], Order]) -> None:
    with pytest.raises(Failure) as caught:
        make()
    assert (caught.value.code, caught.value.details["field"]) == (Code.INVALID_DATA, field)
    assert Order("hello", steps=(Step("add", 1),), step=Step("drop")).steps == (Step("add", 1),)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.clause("TK-02")
@given(
    st.dictionaries(st.sampled_from(["title", "count", "share", "dryRun", "key", "tags", "steps", "x"]), JSON)
)
def test_any_arguments_are_a_command_or_a_failure_with_a_field(arguments: dict[str, Any]) -> None:
    faults = problems(Order, arguments)
    if faults:
        assert refused(arguments).details["field"] == faults[0].field
    else:
        made = parse(Order, arguments)
        assert type(made.count) is int
        assert type(made.dry_run) is bool
        assert made.title == arguments["title"]


@pytest.mark.clause("TK-02")
def test_every_field_reaches_the_command_under_its_own_name() -> None:
    assert parse(Order, VALID) == Order("hello", 50, None, False, None, (), (), None)
    arguments = {
        "title": "hello",
        "count": 5.0,
        "share": 1,
        "dryRun": True,
        "key": "abc",
        "tags": ["a", "b"],
        "steps": [{"kind": "add", "atPlace": 3.0}, {"kind": "drop"}],
        "step": {"kind": "drop", "atPlace": 0},
    }
    steps = (Step("add", 3), Step("drop", None))
    made = parse(Order, arguments)
    assert made == Order("hello", 5, 1.0, True, "abc", ("a", "b"), steps, Step("drop", 0))
    assert [type(made.count), type(made.steps[0].place)] == [int, int]


@pytest.mark.clause("TK-02", "TK-03")
@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("count", [1, 500], [0, 501, 10**400, True, "1", [1], 1.5, float("inf"), None]),
        ("share", [0, 1, 0.5], [-0.1, 1.1, True, "0.5", float("nan"), float("inf"), None]),
        ("dryRun", [True, False], [0, 1, "true", 1.0, None]),
        (
            "title",
            ["ab", "é" * 10, " a"],
            ["", "a" * 11, "   ", "\u00a0\u2003", 1, ["ab"], b"ab", "ab\ud800"],
        ),
        ("key", ["a", "a" * 64], ["", "A", "a\n", "a b", "a" * 65, None]),
        ("tags", [[], ["a", "b", "c"]], [["a"] * 4, [""], ["a" * 6], [1], [None], "a", ("a",), ["\udfff"]]),
        ("steps", [[{"kind": "add"}] * 4], [[], [{"kind": "add"}] * 5, [{"kind": "mend"}], [{}], [1], "add"]),
        ("step", [{"kind": "add"}], ["add", [{"kind": "add"}], {"kind": "add", "atPlace": 10}, None]),
    ],
)
def test_types_are_strict_and_bounds_exact(field: str, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        parse(Order, {**VALID, field: value})
    for value in bad:
        failure = refused({**VALID, field: value})
        assert failure.details["path"].startswith(f"$.{field}")
        assert "' must be: " in failure.message or "' is required" in failure.message
        failure.message.encode("utf-8")


@pytest.mark.clause("TK-03")
@pytest.mark.parametrize(
    ("arguments", "path", "words"),
    [
        ({}, "$.title", "'title' is required"),
        ({**VALID, "count": 0}, "$.count", "'count' must be: integer, 1 to 500"),
        ({**VALID, "share": None}, "$.share", "'share' must be: number, 0 to 1"),
        ({**VALID, "dryRun": 1}, "$.dryRun", "'dryRun' must be: true or false"),
        ({**VALID, "key": "A"}, "$.key", "'key' must be: string, 1 to 64 characters, matching `^[a-z]+$`"),
        ({"title": "  "}, "$.title", "'title' must be: string, 2 to 10 characters, not blank"),
        ({**VALID, "tags": ["a", 2]}, "$.tags[1]", "'tags[1]' must be: string, 1 to 5 characters"),
        ({**VALID, "steps": ["add"]}, "$.steps[0]", "'steps[0]' must be: object"),
        ({**VALID, "steps": [{"kind": "add"}, {}]}, "$.steps[1].kind", "'kind' is required"),
        ({**VALID, "steps": [{"kind": "x"}]}, "$.steps[0].kind", "'kind' must be: one of `add`, `drop`"),
        ({**VALID, "steps": []}, "$.steps", "'steps' must be: list of 1 to 4 × object"),
        (
            {**VALID, "tags": ["a"] * 4},
            "$.tags",
            "'tags' must be: list of at most 3 × string, 1 to 5",
        ),
        ({**VALID, "titl": 1}, "$.titl", "share, dryRun, key, tags, steps, step; did you mean 'title'?"),
        ({**VALID, "my_count": 1}, "$.my_count", "; did you mean 'count'?"),
        ({**VALID, "\n" * 500: 1}, "$." + "?" * 79 + "…", "is not supported here; allowed: title, count, "),
    ],
)
def test_a_fault_has_a_path_and_words(arguments: dict[str, Any], path: str, words: str) -> None:
    failure = refused(arguments)
    assert words in failure.message
    assert failure.details["path"] == path
    assert failure.details["problems"][0] == {"path": path, "message": failure.message}


@pytest.mark.clause("TK-03")
def test_the_shallowest_faults_come_first_and_ten_at_most() -> None:
    faults = problems(Order, {"steps": [{"kind": 1, "ab": 2}], "count": "x", "zz": 1})
    assert {fault.path for fault in faults[:3]} == {"$.zz", "$.count", "$.title"}
    assert {fault.path for fault in faults[3:]} == {"$.steps[0].ab", "$.steps[0].kind"}
    assert len(problems(Order, {**VALID, **{f"x{index}": 1 for index in range(100)}})) == 10
    (fault,) = problems(Order, [])
    assert (fault.path, fault.message) == ("$", "'arguments' must be: object")


@pytest.mark.clause("TK-03")
@pytest.mark.parametrize("secret", ["hunter2-hunter2", 987654321987, [["hunter2"]]])
def test_a_message_never_repeats_a_value(secret: Any) -> None:
    for field in ("title", "count", "key", "tags", "step"):
        failure = refused({**VALID, field: secret})
        words = failure.message + json.dumps(dict(failure.details))
        assert "hunter2" not in words
        assert "987654321987" not in words


@pytest.mark.clause("TK-25")
def test_the_other_spelling_of_a_name_is_accepted() -> None:
    given = {"title": "hello", "dry_run": True, "steps": [{"kind": "add", "at_place": 3}]}
    made = parse(Order, respelled(schema_of(Order), given))
    assert (made.dry_run, made.steps) == (True, (Step("add", 3),))
    both = {"dry_run": True, "dryRun": False}
    assert respelled(schema_of(Order), both) == both
