"""The registry: one way in, every failure out in its family's shape, and nothing of the inside shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import pytest
from attrs import frozen

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.toolkit.arguments import arg, boolean, choice, integer, number, text
from context_pack.toolkit.call import Call, Cancelled, QuietCall
from context_pack.toolkit.limits import RateLimiter
from context_pack.toolkit.offers import ResourceEntry, ResourceFamily, ResourceText
from context_pack.toolkit.registry import Finished, Registry, UnknownTool
from context_pack.toolkit.spec import READS, WRITES, Answer, FailedCall, Family, Tool, json_answer, tool


@frozen
class Say:
    """What the test tool is asked."""

    word: str = arg(text(1, 100_000), "A word.")
    times: int = arg(integer(1, 9), "How often.", default=1)
    loud: bool = arg(boolean(), "Louder.", default=False)
    share: float | None = arg(number(), "Part.", default=None)


@frozen
class Drop:
    """Another action of the action tool."""

    word: str = arg(text(1, 10), "Which word.")
    force: bool = arg(boolean(), "Even so.", default=False)


def worded(failure: Failure, failed: FailedCall) -> Answer:
    """A family's own error shape."""
    return json_answer(
        {
            "oops": failure.message,
            "code": failure.code.value,
            "details": dict(failure.details),
            "tool": failed.tool,
            "id": failed.request_id,
            "asked": dict(failed.arguments),
        },
        is_error=True,
    )


FAMILY = Family("test", worded)


def saying(run: Callable[[Any, Call], Answer], **options: Any) -> Tool:
    return tool("say", "Say", "Says a word.", FAMILY, Say, run, **options)


def repeat(command: Say, _: Call) -> Answer:
    return json_answer({"said": command.word * command.times})


class Bench:
    """A registry with one tool, a clock that counts, and ears for what it reports."""

    def __init__(
        self, run: Callable[[Any, Call], Answer] = repeat, limits: Mapping[str, int] | None = None
    ) -> None:
        self.finished: list[Finished] = []
        self.alarms: list[tuple[str, BaseException]] = []
        ticks = count()
        self.registry = Registry(
            tools={"say": saying(run)},
            resources=list,
            prompts={},
            monotonic=lambda: next(ticks) / 1000,
            limiter=RateLimiter(dict(limits or {})),
            report=self.finished.append,
            alarm=lambda name, error: self.alarms.append((name, error)),
        )

    def say(self, call: Call | None = None, /, **arguments: Any) -> Answer:
        return self.registry.call("say", arguments, call or QuietCall(7))

    def error(self, call: Call | None = None, /, **arguments: Any) -> dict[str, Any]:
        answer = self.say(call, **arguments)
        assert answer.is_error
        assert answer.structured is None
        told: dict[str, Any] = json.loads(answer.text)
        return told


@pytest.mark.clause("TK-17")
def test_a_call_is_answered_counted_and_reported() -> None:
    bench = Bench()
    answer = bench.say(word="hé", times=2)
    assert answer.structured == {"said": "héhé"}
    assert json.loads(answer.text) == answer.structured
    (line,) = bench.finished
    assert (line.tool, line.ok, line.bytes) == ("say", True, len(answer.text.encode()))
    assert line.milliseconds == pytest.approx(1.0)
    assert bench.registry.metrics.snapshot()["say"]["calls"] == 1


@pytest.mark.clause("TK-18")
def test_bad_arguments_come_back_in_the_family_s_shape() -> None:
    bench = Bench()
    told = bench.error(word="a", times=1.5)
    assert (told["code"], told["details"]["field"]) == ("invalid_data", "times")
    assert (told["tool"], told["id"], told["asked"]) == ("say", 7, {"word": "a", "times": 1.5})
    assert bench.registry.metrics.snapshot()["say"]["failures"] == {"validation": 1}
    assert not bench.finished[0].ok
    assert bench.alarms == []


@pytest.mark.clause("TK-02")
def test_a_whole_number_with_a_point_is_an_integer() -> None:
    bench = Bench(lambda command, _: json_answer({"times": command.times}))
    assert bench.say(word="a", times=2.0).text == '{"times":2}'


@pytest.mark.clause("TK-18")
def test_a_failure_of_the_tool_comes_back_in_the_family_s_shape() -> None:
    def run(_: Say, __: Call) -> Answer:
        raise Failure(Code.NAME_CONFLICT, "taken", {"name": "x"})

    bench = Bench(run)
    assert bench.error(word="a")["code"] == "name_conflict"
    assert bench.registry.metrics.snapshot()["say"]["failures"] == {"conflict": 1}


@pytest.mark.clause("TK-19")
@pytest.mark.parametrize(
    "error",
    [ValueError("secret /home/x"), KeyError("secret"), RecursionError("secret"), OSError(2, "secret", "/x")],
)
def test_an_unforeseen_exception_never_shows_its_text(error: Exception) -> None:
    def run(_: Say, __: Call) -> Answer:
        raise error

    bench = Bench(run)
    told = bench.error(word="a")
    assert told["code"] == "internal"
    assert told["details"] == {}
    assert "secret" not in json.dumps(told)
    assert type(error).__name__ not in json.dumps(told)
    assert bench.alarms == [("say", error)]
    assert bench.registry.metrics.snapshot()["say"]["failures"] == {"io_error": 1}


@pytest.mark.clause("TK-18")
def test_an_answer_that_is_an_error_counts_as_refused() -> None:
    bench = Bench(lambda _, __: Answer("no", is_error=True))
    assert bench.say(word="a").text == "no"
    assert bench.registry.metrics.snapshot()["say"]["failures"] == {"refused": 1}
    assert not bench.finished[0].ok


@pytest.mark.clause("TK-20")
def test_a_cancelled_call_gives_no_answer_and_reports_no_error() -> None:
    class Withdrawn(QuietCall):
        def check(self) -> None:
            raise Cancelled

    reached: list[str] = []
    bench = Bench(lambda command, _: reached.append(command.word) or Answer(""))  # type: ignore[func-returns-value]
    with pytest.raises(Cancelled):
        bench.say(Withdrawn(), word="a")
    assert (reached, bench.finished, bench.alarms) == ([], [], [])


@pytest.mark.clause("TK-17")
def test_an_unknown_tool_is_no_tool_error() -> None:
    with pytest.raises(UnknownTool):
        Bench().registry.call("nothing", {}, QuietCall())


@pytest.mark.clause("TK-11")
def test_a_call_over_the_limit_is_refused_in_the_family_s_shape() -> None:
    bench = Bench(limits={"say": 1})
    assert not bench.say(word="a").is_error
    told = bench.error(word="a")
    assert (told["code"], told["oops"]) == ("rate_limited", "Rate limit exceeded for say")
    assert 0 < told["details"]["retryAfterMs"] <= 60_000


@pytest.mark.clause("TK-18")
@pytest.mark.parametrize("value", [object(), b"x", {1, 2}, 1 + 2j])
def test_a_library_value_that_is_not_json_is_a_wrong_type(value: Any) -> None:
    shaped = Family("test", lambda failure, _: Answer(failure.details["field"], is_error=True))
    library = registry(tool("say", "Say", "Says.", shaped, Say, repeat))
    assert library.call("say", {"word": value}, QuietCall()) == Answer("word", is_error=True)


def choose(arguments: Mapping[str, Any]) -> type:
    match arguments.get("action", "say"):
        case "say":
            return SayAction
        case "drop":
            return DropAction
    raise invalid("unknown action", "action")


@frozen
class SayAction(Say):
    """`say` as an action."""

    action: str = arg(choice("say"), "What to do.", default="say")


@frozen
class DropAction(Drop):
    """`drop` as an action."""

    action: str = arg(choice("drop"), "What to do.", default="drop")


ACTIONS = Tool(
    name="words",
    title="Words",
    description="Keeps words.",
    family=FAMILY,
    annotations=WRITES,
    commands={"say": SayAction, "drop": DropAction},
    choose=choose,
    run=lambda command, _: Answer(type(command).__name__),
    mutates=lambda arguments: arguments.get("action") == "drop",
    selector=choice("say", "drop"),
    output_schema={"type": "object"},
    long_answers=True,
)


def registry(*tools: Tool, resources: tuple[ResourceFamily, ...] = ()) -> Registry:
    return Registry({made.name: made for made in tools}, lambda: resources, {}, monotonic=lambda: 0.0)


@pytest.mark.clause("TK-21")
def test_each_action_is_checked_by_its_own_command() -> None:
    words = registry(ACTIONS)
    assert words.call("words", {"word": "a"}, QuietCall()).text == "SayAction"
    assert (
        words.call("words", {"action": "drop", "word": "a", "force": True}, QuietCall()).text == "DropAction"
    )
    told = json.loads(words.call("words", {"action": "drop", "word": "a", "times": 2}, QuietCall()).text)
    assert told["details"]["field"] == "times"
    told = json.loads(words.call("words", {"action": "sing"}, QuietCall()).text)
    assert told["oops"] == "unknown action"


@pytest.mark.clause("TK-21")
def test_the_schema_of_an_action_tool_is_the_flat_union_of_its_actions() -> None:
    schema = ACTIONS.schema
    assert list(schema["properties"]) == ["action", "word", "times", "loud", "share", "force"]
    assert schema["properties"]["action"]["enum"] == ["say", "drop"]
    assert schema["additionalProperties"] is False
    assert "required" not in schema
    assert not any("default" in part for part in schema["properties"].values())


@pytest.mark.clause("TK-22")
def test_tools_are_described_in_a_fixed_order_with_all_four_hints() -> None:
    shown = registry(ACTIONS, saying(repeat)).describe()
    assert [entry["name"] for entry in shown] == ["words", "say"]
    assert shown[0]["annotations"] == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": False,
    }
    assert shown[0]["outputSchema"] == {"type": "object"}
    assert shown[0]["_meta"]["anthropic/maxResultSizeChars"] > 0
    assert shown[1]["annotations"] == READS.wire()
    assert "outputSchema" not in shown[1]
    assert shown[1]["_meta"] == {"context-pack/family": "test"}


@pytest.mark.clause("TK-21")
def test_a_tool_says_whether_a_call_would_change_anything() -> None:
    tools = registry(ACTIONS, saying(repeat)).tools
    assert tools["words"].mutates({"action": "drop"})
    assert not tools["words"].mutates({})
    assert not tools["say"].mutates({"word": "a"})


def shelf(prefix: str, *names: str) -> ResourceFamily:
    uris = [prefix + name for name in names]
    return ResourceFamily(
        *(prefix, None, prefix, "Shelf", "Things.", "text/plain"),
        entries=lambda: [ResourceEntry(uri, uri) for uri in uris],
        read=lambda uri: ResourceText(uri, "here") if uri in uris else None,
    )


@pytest.mark.clause("TK-23")
def test_resources_are_listed_and_read_by_family() -> None:
    shelves = registry(resources=(shelf("context://a/", "1", "2"), shelf("context://b/", "1")))
    assert [entry.uri for entry in shelves.entries()] == ["context://a/1", "context://a/2", "context://b/1"]
    assert shelves.read("context://b/1") == ResourceText("context://b/1", "here")
    assert shelves.read("context://a/3") is None
    assert shelves.read("context://c/1") is None
    assert shelves.read("") is None


@pytest.mark.clause("TK-20")
def test_a_quiet_call_collects_deferred_work() -> None:
    done: list[int] = []
    call = QuietCall()
    call.check()
    call.progress(1, 2, "half")
    call.after(lambda: done.append(1))
    call.after(lambda: call.after(lambda: done.append(2)))
    assert done == []
    call.settle()
    assert done == [1, 2]
    call.settle()
    assert done == [1, 2]
