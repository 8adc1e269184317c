"""One registry of tools, resources and prompts, and the one place where a failure becomes a tool error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from attrs import define, field

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import single_line
from context_pack.toolkit.arguments import arguments_of, command_schema, parse, respelled
from context_pack.toolkit.budget import size
from context_pack.toolkit.call import Call, Cancelled, Overdue
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS, Metrics, RateLimiter
from context_pack.toolkit.offers import Prompt, ResourceEntry, ResourceFamily, ResourceText
from context_pack.toolkit.spec import Answer, FailedCall, Tool

ENDLESS_CHARS = 1000
LONG_ANSWER_CHARS = 500_000
"""The most that clients let a tool ask for; what is longer is not cut by us, and they keep it elsewhere."""
INTERNAL = "the call failed inside the server; try again, and report it if it stays"


class UnknownTool(LookupError):
    """No tool has that name: a protocol error, not a tool error."""


class Finished(NamedTuple):
    """One line of the call log."""

    tool: str
    ok: bool
    milliseconds: float
    bytes: int


@define
class Registry:
    """Everything the features offer, callable by name.

    `resources` gives their families; `monotonic` gives seconds; `root` is the project's folder; `report`
    hears of each finished call; `alarm` hears of an exception that no contract names, so that it can be
    logged without reaching the client.
    """

    tools: Mapping[str, Tool]
    resources: Callable[[], Sequence[ResourceFamily]]
    prompts: Mapping[str, Prompt]
    monotonic: Callable[[], float]
    limiter: RateLimiter = field(factory=lambda: RateLimiter({}))
    metrics: Metrics = field(factory=Metrics)
    root: str | None = None
    report: Callable[[Finished], None] = field(default=lambda _: None)
    alarm: Callable[[str, BaseException], None] = field(default=lambda _, __: None)

    def describe(self) -> list[dict[str, Any]]:
        """Every tool as `tools/list` shows it, in a fixed order."""
        return [describe(self.tools[name]) for name in self.tools]

    def call(self, name: str, arguments: Mapping[str, Any], call: Call) -> Answer:
        """Serve one call; every failure comes back as an answer in the family's shape.

        Raises:
            UnknownTool: there is no such tool.
            Cancelled: the caller has withdrawn the call.
        """
        try:
            tool = self.tools[name]
        except KeyError:
            raise UnknownTool(name) from None
        start = self.monotonic()
        try:
            self.limiter.admit(name, start)
            call.check()
            answer = tool.run(_parsed(tool, arguments, call.page_tokens), call)
        except Overdue as late:
            return self.fail(name, arguments, call, late.failure(), start)
        except Cancelled:
            raise
        except Failure as caught:
            return self.fail(name, arguments, call, caught, start)
        except Exception as error:
            self.alarm(name, error)
            return self.fail(name, arguments, call, Failure(Code.INTERNAL, INTERNAL), start)
        return self._recorded(name, answer, start, "refused" if answer.is_error else None)

    def fail(
        self,
        name: str,
        arguments: Mapping[str, Any],
        call: Call,
        failure: Failure,
        start: float | None = None,
    ) -> Answer:
        """A failed call as an answer in the family's shape, counted like any other."""
        inside = _relative(arguments, self.root) if _is_about_path(failure) and self.root else None
        if inside is not None:
            advice = f"use '{single_line(inside)}', which is relative to the root"
            failure = Failure(failure.code, _advised(failure, advice), {**failure.details, "hint": advice})
        answer = self.tools[name].family.error(failure, FailedCall(name, call.request_id, arguments))
        limited = failure.code is Code.RATE_LIMITED  # a kind of its own to whoever reads the numbers
        return self._recorded(name, answer, start, failure.code.value if limited else failure.kind.value)

    def _recorded(self, name: str, answer: Answer, start: float | None, kind: str | None) -> Answer:
        spent = 0.0 if start is None else (self.monotonic() - start) * 1000
        self.metrics.record(name, spent, kind)
        self.report(Finished(name, kind is None, spent, size(answer.text)))
        return answer

    def entries(self) -> list[ResourceEntry]:
        """Every listed resource of every family, in family order."""
        return [entry for family in self.resources() for entry in family.entries()]

    def read(self, uri: str) -> ResourceText | None:
        """One resource, or None when there is no such thing."""
        for family in self.resources():
            if uri.startswith(family.prefix):
                return family.read(uri)
        return None


def _is_about_path(failure: Failure) -> bool:
    """Whether a path was refused; features that name the field say so in their own words."""
    return failure.code is Code.ABSOLUTE_PATH or failure.details.get("field") == "path"


def _advised(failure: Failure, advice: str) -> str:
    """The message; one in the words of a contract stays as it is, with the advice beside it."""
    return failure.message if failure.code is Code.ABSOLUTE_PATH else f"{failure.message}; {advice}"


def _relative(value: Any, root: str) -> str | None:
    """What an absolute path inside the root, somewhere in the arguments, is relative to it."""
    if isinstance(value, str):
        path, start = value.replace("\\", "/"), root.replace("\\", "/").rstrip("/") + "/"
        return path.removeprefix(start).strip("/") or None if path.startswith(start) else None
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return next((inside for each in inner if (inside := _relative(each, root)) is not None), None)


def _parsed(tool: Tool, given: Mapping[str, Any], page: int) -> Any:
    """The command that arguments spell; a tolerant tool is not told of arguments that it does not know."""
    arguments = tool.spelled(respelled(tool.schema, dict(given)))
    command = tool.choose(arguments)
    if tool.tolerant:
        known = {name for name, _, _ in arguments_of(command)}
        arguments = {name: value for name, value in arguments.items() if name in known}
    if tool.budget is None:
        return parse(command, arguments)
    rule = command_schema(command)["properties"][tool.budget]
    return parse(command, arguments, {tool.budget: _page(rule, page)})


def _page(rule: Mapping[str, Any], page: int) -> int:
    """The client's page as a budget; a tool with a smaller default of its own keeps it."""
    own = rule.get("default", DEFAULT_MAX_TOKENS)
    wanted = page if own == DEFAULT_MAX_TOKENS else min(page, own)
    return int(max(rule["minimum"], min(wanted, rule.get("maximum", wanted))))


def describe(tool: Tool) -> dict[str, Any]:
    """One tool as `tools/list` shows it."""
    entry: dict[str, Any] = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": published(tool.schema),
        "annotations": dict(tool.annotations),
    }
    if tool.output_schema is not None:
        entry["outputSchema"] = tool.output_schema
    meta: dict[str, Any] = {"context-pack/family": tool.family.name}
    entry["_meta"] = meta
    if tool.long_answers:
        meta["anthropic/maxResultSizeChars"] = LONG_ANSWER_CHARS
    if tool.search_hint:
        meta["anthropic/searchHint"] = tool.search_hint
    return entry


def published(schema: Any) -> Any:
    """A schema as clients see it: without bounds that only keep texts from being endless."""
    if isinstance(schema, list):
        return [published(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    endless = isinstance(longest := schema.get("maxLength"), int) and longest >= ENDLESS_CHARS
    return {key: published(each) for key, each in schema.items() if key != "maxLength" or not endless}
