"""Arguments: one class gives schema, strict check and command, and every fault has a path and words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from context_pack.kernel.errors import Code, Failure, clip
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


@frozen
class Nothing:
    """A command without arguments."""


NO_INTEGERS: list[Any] = [True, "1", [1], {}, 1.5, float("inf")]
NO_NUMBERS: list[Any] = [True, "0.5", [], float("nan"), float("inf")]
NO_BOOLEANS: list[Any] = [0, 1, "true", 1.0, []]
VALID: dict[str, Any] = {"title": "hello"}


def refused(arguments: dict[str, Any], command: type = Order) -> Failure:
    with pytest.raises(Failure) as caught:
        parse(command, arguments)
    assert caught.value.code is Code.INVALID_DATA
    return caught.value


@pytest.mark.clause("TK-01")
def test_absent_fields_get_their_defaults() -> None:
    assert parse(Order, VALID) == Order("hello", 50, None, False, None, (), (), None)


@pytest.mark.clause("TK-01")
def test_every_field_reaches_the_command_under_its_own_name() -> None:
    arguments = {
        "title": "hello",
        "count": 1,
        "share": 1,
        "dryRun": True,
        "key": "abc",
        "tags": ["a", "b"],
        "steps": [{"kind": "add", "atPlace": 3}, {"kind": "drop"}],
        "step": {"kind": "drop", "atPlace": 0},
    }
    steps = (Step("add", 3), Step("drop", None))
    assert parse(Order, arguments) == Order("hello", 1, 1.0, True, "abc", ("a", "b"), steps, Step("drop", 0))


@pytest.mark.clause("TK-02")
@pytest.mark.parametrize("field", ["title", "count", "share", "dryRun", "key", "tags", "steps", "step"])
def test_null_is_never_a_value(field: str) -> None:
    assert refused({**VALID, field: None}).details["field"] == field


@pytest.mark.clause("TK-02")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("count", wrong) for wrong in NO_INTEGERS],
        *[("share", wrong) for wrong in NO_NUMBERS],
        *[("dryRun", wrong) for wrong in NO_BOOLEANS],
        *[("title", wrong) for wrong in (1, True, ["hello"], {"a": 1}, b"hello")],
        *[("tags", wrong) for wrong in ("a", {"0": "a"}, ("a",))],
        *[("steps", wrong) for wrong in ("add", {"kind": "add"})],
        *[("step", wrong) for wrong in ("add", [{"kind": "add"}], 1)],
    ],
)
def test_a_wrong_type_is_refused_by_the_name_of_its_field(field: str, value: Any) -> None:
    failure = refused({**VALID, field: value})
    assert (failure.details["field"], failure.details["path"]) == (field, f"$.{field}")
    assert f"'{field}' must be: " in failure.message


@pytest.mark.clause("TK-02")
@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("count", [1, 500], [0, 501, -1, 10**400]),
        ("share", [0, 1, 0.5], [-0.1, 1.1, 2]),
        ("title", ["ab", "a" * 10, "é" * 10, " a"], ["", "a", "a" * 11, "   ", "\u00a0\u2003", "\n\t"]),
        ("key", ["a", "a" * 64], ["", "A", "a\n", "a b", "\nabc", "a" * 65, "A" * 64]),
        ("tags", [[], ["a", "b", "c"], ["a" * 5]], [["a"] * 4, [""], ["a" * 6], [1], [None], ["a", "b", ""]]),
        ("steps", [[{"kind": "add"}] * 4], [[], [{"kind": "add"}] * 5, [{"kind": "mend"}], [{}], [1]]),
    ],
)
def test_bounds_are_inclusive_and_exact(field: str, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        parse(Order, {**VALID, field: value})
    for value in bad:
        assert refused({**VALID, field: value}).details["path"].startswith(f"$.{field}")


@pytest.mark.clause("TK-02")
def test_a_whole_float_is_the_integer() -> None:
    made = parse(Order, {**VALID, "count": 5.0, "steps": [{"kind": "add", "atPlace": 3.0}]})
    assert (made.count, made.steps[0].place) == (5, 3)
    assert [type(made.count), type(made.steps[0].place)] == [int, int]


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


@pytest.mark.clause("TK-25")
def test_the_other_spelling_of_a_name_is_accepted() -> None:
    given = {"title": "hello", "dry_run": True, "steps": [{"kind": "add", "at_place": 3}]}
    made = parse(Order, respelled(schema_of(Order), given))
    assert (made.dry_run, made.steps) == (True, (Step("add", 3),))
    both = {"dry_run": True, "dryRun": False}
    assert respelled(schema_of(Order), both) == both
    assert respelled(schema_of(Order), {"Title": 1, "x_y": 2}) == {"Title": 1, "x_y": 2}


@pytest.mark.clause("TK-03")
@pytest.mark.parametrize(
    ("arguments", "path", "field", "words"),
    [
        ({}, "$.title", "title", "'title' is required"),
        ({**VALID, "count": 0}, "$.count", "count", "'count' must be: integer, 1 to 500"),
        ({**VALID, "key": "A"}, "$.key", "key", "matching `^[a-z]+$`"),
        ({"title": "  "}, "$.title", "title", "'title' must be: string, 2 to 10 characters, not blank"),
        ({**VALID, "tags": ["a", 2]}, "$.tags[1]", "tags", "'tags' must be: string, 1 to 5 characters"),
        (
            {**VALID, "steps": ["add"]},
            "$.steps[0]",
            "steps",
            "'steps' must be: object",
        ),
        ({**VALID, "steps": [{"kind": "add"}, {}]}, "$.steps[1].kind", "kind", "'kind' is required"),
        (
            {**VALID, "steps": [{"kind": "x"}]},
            "$.steps[0].kind",
            "kind",
            "'kind' must be: one of `add`, `drop`",
        ),
        ({**VALID, "step": {"kind": "add", "place": 1}}, "$.step.place", "place", "'place' is not supported"),
        ({**VALID, "step": {"kind": "add", "atPlace": 10}}, "$.step.atPlace", "atPlace", "integer, 0 to 9"),
        (
            {**VALID, "dry_run": True},
            "$.dry_run",
            "dry_run",
            "'dry_run' is not supported here; allowed: title, ",
        ),
        ({"title": "a" * 11}, "$.title", "title", "'title' must be: string, 2 to 10 characters"),
        ({**VALID, "steps": []}, "$.steps", "steps", "'steps' must be: list of 1 to 4 × object"),
        ({**VALID, "tags": ["a"] * 4}, "$.tags", "tags", "'tags' must be: list of at most 3 × string"),
    ],
)
def test_a_fault_has_a_path_and_a_message(
    arguments: dict[str, Any], path: str, field: str, words: str
) -> None:
    failure = refused(arguments)
    assert words in failure.message
    assert (failure.details["path"], failure.details["field"]) == (path, field)
    assert failure.details["problems"][0] == {"path": path, "message": failure.message}


@pytest.mark.clause("TK-04")
@pytest.mark.parametrize(
    ("written", "meant"),
    [("line_strt", "line_start"), ("pth", "path"), ("file_path", "path"), ("x", "")],
)
def test_an_unknown_field_suggests_the_nearest_one(written: str, meant: str) -> None:
    fields = {"path": {"type": "string"}, "line_start": {"type": "integer"}}
    schema = {"type": "object", "properties": fields, "additionalProperties": False}
    (fault,) = problems_of(schema, {written: 1})
    hint = f"; did you mean '{meant}'?" if meant else ""
    assert fault.message == f"'{written}' is not supported here; allowed: path, line_start{hint}"


@pytest.mark.clause("TK-03")
def test_faults_are_listed_shallowest_first() -> None:
    faults = problems(Order, {"steps": [{"kind": 1, "ab": 2}], "count": "x", "zz": 1})
    assert {fault.path for fault in faults[:3]} == {"$.zz", "$.count", "$.title"}
    assert {fault.path for fault in faults[3:]} == {"$.steps[0].ab", "$.steps[0].kind"}


@pytest.mark.clause("TK-03")
@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        (integer(3), 2, "'it' must be: integer, at least 3"),
        (integer(None, 3), 4, "'it' must be: integer, at most 3"),
        (integer(), "x", "'it' must be: integer"),
        (number(0.5, 1), None, "'it' must be: number, 0.5 to 1"),
        (boolean(), 1, "'it' must be: true or false"),
        (text(1), "", "'it' must be: string, 1 to 10000 characters"),
        (text(2), "", "'it' must be: string, 2 to 10000 characters"),
        (array(text(), 1), [], "'it' must be: list of 1 to 1000 × string, at most 10000 characters"),
        (array(text(), 2), [], "'it' must be: list of 2 to 1000 × string, at most 10000 characters"),
        (choice("a", "b"), 1, "'it' must be: one of `a`, `b`"),
        ({"type": "object"}, [], "'it' must be: object"),
        ({"const": 1}, 2, "'it' must be: 1"),
    ],
)
def test_each_schema_rule_has_its_own_message(schema: dict[str, Any], value: Any, words: str) -> None:
    @frozen
    class One:
        it: str = arg(schema, "It.")

    assert [fault.message for fault in problems(One, {"it": value})] == [words]


@pytest.mark.clause("TK-03")
def test_arguments_that_are_no_object_are_refused_as_a_whole() -> None:
    (fault,) = problems(Order, [])
    assert (fault.path, fault.field, fault.message) == ("$", "", "'arguments' must be: object")


@pytest.mark.clause("TK-03")
def test_each_missing_field_is_named_once() -> None:
    @frozen
    class Pair:
        first: str = arg(text(), "One.")
        second: str = arg(text(), "Two.")

    assert [fault.field for fault in problems(Pair, {})] == ["first", "second"]


@pytest.mark.clause("TK-03")
def test_the_number_of_listed_faults_is_bounded() -> None:
    faults = problems(Order, {**VALID, **{f"x{index}": 1 for index in range(100)}})
    assert len(faults) == 10


@pytest.mark.clause("TK-04")
@pytest.mark.parametrize(
    "name", ["Title", "titel", "", "__proto__", "a b", "\n", "x" * 500, "\u202e", "\ud800"]
)
def test_an_unknown_field_is_refused_and_shown_on_one_short_line(name: str) -> None:
    failure = refused({**VALID, name: 1})
    assert "is not supported here" in failure.message
    assert failure.details["field"] == clip(name)
    assert failure.details["field"].isprintable()
    assert len(failure.details["field"]) <= 80


@pytest.mark.clause("TK-04")
def test_a_command_without_fields_takes_none() -> None:
    assert parse(Nothing, {}) == Nothing()
    assert "allowed: none" in refused({"a": 1}, Nothing).message


@pytest.mark.clause("TK-05")
@pytest.mark.parametrize("secret", ["hunter2-hunter2", 987654321987, [["hunter2"]]])
def test_a_message_never_repeats_a_value(secret: Any) -> None:
    for field in ("title", "count", "key", "tags", "step"):
        failure = refused({**VALID, field: secret})
        told = failure.message + json.dumps(dict(failure.details))
        assert "hunter2" not in told
        assert "987654321987" not in told


@pytest.mark.clause("TK-06")
@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"title": "ab\ud800"}, "$.title"),
        ({**VALID, "tags": ["ok", "\udfff"]}, "$.tags[1]"),
    ],
)
def test_a_lone_surrogate_in_arguments_is_refused(arguments: dict[str, Any], path: str) -> None:
    failure = refused(arguments)
    assert failure.details["path"] == path
    failure.message.encode("utf-8")


@pytest.mark.clause("TK-08")
def test_the_published_schema_is_what_every_client_accepts() -> None:
    schema = schema_of(Order)
    Draft202012Validator.check_schema(schema)
    assert schema["required"] == ["title"]
    properties = schema["properties"]
    assert list(properties) == ["title", "count", "share", "dryRun", "key", "tags", "steps", "step"]
    assert properties["count"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 500,
        "description": "How many.",
        "default": 50,
    }
    assert "default" not in properties["share"]
    assert properties["tags"]["default"] == []
    for part in _objects(schema):
        assert part["additionalProperties"] is False
        assert all(isinstance(inner["type"], str) for inner in part["properties"].values())
    assert not {"$ref", "$defs", "$schema", "anyOf", "oneOf", "allOf"} & set(json.dumps(schema).split('"'))


def _objects(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The schema's objects, nested ones too."""
    found = [schema] if schema.get("type") == "object" else []
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return found + [part for child in inner for part in _objects(child)]


@pytest.mark.clause("TK-08")
def test_a_schema_is_fresh_each_time() -> None:
    schema_of(Order)["properties"]["title"]["maxLength"] = 1
    assert schema_of(Order)["properties"]["title"]["maxLength"] == 10


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


@pytest.mark.clause("TK-04")
def test_an_object_that_is_open_on_purpose_takes_any_field() -> None:
    @frozen
    class Free:
        loose: Mapping[str, Any] = arg({"type": "object"}, "Anything.", default=None)
        open: Mapping[str, Any] = arg({"type": "object", "additionalProperties": True}, "Any.", default=None)
        shut: Mapping[str, Any] = arg({"type": "object", "additionalProperties": False}, "No.", default=None)

    assert problems(Free, {"loose": {"a": [1]}, "open": {"b": {}}, "shut": {}}) == []
    assert [fault.path for fault in problems(Free, {"shut": {"c": 1}})] == ["$.shut.c"]
