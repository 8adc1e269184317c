"""The registry: one way in, every failure out in its family's shape, and nothing of the inside shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier, Lock
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.toolkit.arguments import arg, boolean, choice, integer, number, text
from context_pack.toolkit.call import Call, Cancelled, QuietCall
from context_pack.toolkit.limits import KEPT_SAMPLES, Metrics, RateLimiter, quantile, stats_text
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


@pytest.mark.clause("TK-21")
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
    assert shown[1]["annotations"] == READS
    assert "outputSchema" not in shown[1]
    assert shown[1]["_meta"] == {"context-pack/family": "test"}


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


def admitted(limiter: RateLimiter, now: float, tool: str = "grep") -> bool:
    try:
        limiter.admit(tool, now)
    except Failure:
        return False
    return True


def refusal(limiter: RateLimiter, now: float) -> Failure:
    with pytest.raises(Failure) as caught:
        limiter.admit("grep", now)
    return caught.value


@pytest.mark.clause("TK-10")
def test_a_burst_may_take_all_and_each_share_of_the_minute_gives_one_back() -> None:
    limiter = RateLimiter({"grep": 4})
    assert [admitted(limiter, 0) for _ in range(5)] == [True, True, True, True, False]
    assert [admitted(limiter, second) for second in (14.9, 15, 15.1, 30, 45)] == [
        False,
        True,
        False,
        True,
        True,
    ]
    assert [admitted(limiter, 200) for _ in range(5)] == [True, True, True, True, False]


@pytest.mark.clause("TK-10")
@given(st.floats(0, 1e6), st.lists(st.floats(0, 80), min_size=1, max_size=30), st.integers(1, 4))
def test_a_call_after_its_retry_delay_is_admitted(start: float, pauses: list[float], limit: int) -> None:
    limiter = RateLimiter({"grep": limit})
    now = start
    for pause in pauses:
        now += pause
        try:
            limiter.admit("grep", now)
        except Failure as failure:
            wait = failure.details["retryAfterMs"]
            assert 0 < wait <= 60_000
            assert wait == 1 or not admitted(limiter, now + (wait - 2) / 1000)
            now += wait / 1000
            limiter.admit("grep", now)


@pytest.mark.clause("TK-10")
def test_threads_together_get_exactly_the_limit() -> None:
    for start in (0.0, 60.0, 120.0):
        limiter = RateLimiter({"grep": 50}, Lock())
        if start:
            assert all(admitted(limiter, start - 60) for _ in range(50))
        gate = Barrier(8)

        def hammer(limiter: RateLimiter = limiter, now: float = start, gate: Barrier = gate) -> int:
            gate.wait()
            return sum(admitted(limiter, now) for _ in range(100))

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(lambda _: hammer(), range(8))) == 50


@pytest.mark.clause("TK-15")
@given(st.lists(st.integers(0, 100), min_size=1, max_size=300), st.sampled_from([50, 95, 99]))
def test_a_quantile_is_the_least_value_that_covers_its_share(values: list[int], percent: int) -> None:
    ordered = sorted(map(float, values))
    assert quantile(ordered, percent) == next(
        value for value in ordered if 100 * sum(other <= value for other in ordered) >= percent * len(ordered)
    )


@pytest.mark.clause("TK-17", "TK-15")
def test_every_call_is_answered_counted_and_reported() -> None:
    bench = Bench(limits={"say": 4})
    answer = bench.say(word="hé", times=2.0)
    assert answer.structured == json.loads(answer.text) == {"said": "héhé"}
    (line,) = bench.finished
    assert (line.tool, line.ok, line.bytes) == ("say", True, len(answer.text.encode()))
    assert line.milliseconds == pytest.approx(1.0)
    told = bench.error(word="a", times=1.5)
    assert (told["code"], told["details"]["field"]) == ("invalid_data", "times")
    assert (told["tool"], told["id"], told["asked"]) == ("say", 7, {"word": "a", "times": 1.5})
    assert bench.error(word=["a"])["details"]["field"] == "word"
    assert not bench.say(word="a").is_error
    told = bench.error(word="a")
    assert (told["code"], told["oops"]) == ("rate_limited", "Rate limit exceeded for say")
    counted = json.loads(stats_text(bench.registry.metrics))["say"]
    assert (counted["calls"], counted["failures"]) == (5, {"rate_limited": 1, "validation": 2})
    assert [line.ok for line in bench.finished] == [True, False, False, True, False]
    assert bench.alarms == []
    with pytest.raises(UnknownTool):
        bench.registry.call("nothing", {}, QuietCall())


@pytest.mark.clause("TK-17")
def test_what_a_tool_raises_or_answers_as_an_error_is_counted_by_kind() -> None:
    def run(command: Say, _: Call) -> Answer:
        if command.loud:
            return Answer("no", is_error=True)
        raise Failure(Code.NAME_CONFLICT, "taken", {"name": "x"})

    bench = Bench(run)
    assert bench.error(word="a")["code"] == "name_conflict"
    assert bench.say(word="a", loud=True).text == "no"
    assert bench.registry.metrics.snapshot()["say"]["failures"] == {"conflict": 1, "refused": 1}


@pytest.mark.clause("TK-10")
def test_a_refusal_counts_for_nothing_and_says_what_helps() -> None:
    limiter = RateLimiter({"grep": 2, "none": 0})
    assert [admitted(limiter, second) for second in (0, 0, 10, 10, 10)] == [True, True, False, False, False]
    details = refusal(limiter, 10).details
    assert (details["limit"], details["retryAfterMs"]) == (2, 20_001)
    assert details["hint"] == "try again in 20.0 s; CONTEXT_PACK_RATE_LIMITS changes the limit"
    assert admitted(limiter, 30.1)
    assert not admitted(limiter, 0, "none")
    assert all(admitted(limiter, 0, "output") for _ in range(1000))


@pytest.mark.clause("TK-15")
def test_only_recent_durations_make_the_quantiles() -> None:
    metrics = Metrics()
    for _ in range(KEPT_SAMPLES):
        metrics.record("a", 9.0, None)
    for sample in range(KEPT_SAMPLES):
        metrics.record("a", float(sample % 100), None)
    shown = metrics.snapshot()["a"]
    assert (shown["calls"], shown["p50"], shown["p95"], shown["p99"]) == (2 * KEPT_SAMPLES, 48.0, 94.0, 98.0)
    assert Metrics().snapshot() == {}
