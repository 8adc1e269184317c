"""A client without a wire: it speaks bodies to a real session over a small real registry.

The registry is made of real specs, so that what a session does with tools, resources and prompts is tested on
the objects it will meet. `Peer` runs jobs where the test says so: at once, later, or in a thread.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from attrs import define, field, frozen

from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.arguments import arg, choice
from context_pack.toolkit.arguments import text as string
from context_pack.toolkit.call import Call
from context_pack.toolkit.offers import Prompt, PromptArgument, ResourceEntry, ResourceFamily, ResourceText
from context_pack.toolkit.registry import Registry
from context_pack.toolkit.spec import WRITES, Answer, FailedCall, Family, Tool, json_answer, tool
from context_pack_adapters.server.jobs import Job
from context_pack_adapters.server.protocol_versions import CAPABILITIES_KEY, LEVELS, VERSION_KEY, ServerFacts
from context_pack_adapters.server.session import ProtocolSession

FACTS = ServerFacts("demo", "Demo server", "1.2.3", "A server for tests.", "Call echo first.")


@frozen
class Nothing:
    """A command without arguments."""


@frozen
class Echo:
    """Say something."""

    text: str = arg(string(1, 1000), "what to say")


@frozen
class Note:
    """Read or write the notes."""

    action: str = arg(choice("read", "write"), "what to do")
    line: str = arg(string(), "what to write", default="")


def refused(failure: Failure, failed: FailedCall) -> Answer:
    """The family's error shape."""
    shape = {"error": failure.code.value, "message": failure.message, "request_id": failed.request_id}
    return json_answer(shape, is_error=True)


@define
class Demo:
    """The world of the demo tools, and the switches that tests turn."""

    notes: list[str] = field(factory=list)
    memos: dict[str, str] = field(factory=lambda: {"one": "first memo", "two": "second memo"})
    begun: threading.Event = field(factory=threading.Event)
    gate: threading.Event = field(factory=threading.Event)
    now: float = 0.0
    deaf: bool = False
    reports: Sequence[tuple[float, float | None]] = ()
    loads: int = 0
    alarms: list[tuple[str, BaseException]] = field(factory=list)

    def registry(self) -> Registry:
        """A registry over this world."""
        self.loads += 1
        tools = {each.name: each for each in self._tools()}
        return Registry(
            tools=tools,
            resources=lambda: [self._family()],
            prompts={each.name: each for each in self._prompts()},
            monotonic=lambda: self.now,
            alarm=lambda name, error: self.alarms.append((name, error)),
        )

    def _tools(self) -> list[Tool]:
        family = Family("demo", refused)
        made = {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": False}
        runs: dict[str, Callable[[Nothing, Call], Answer]] = {
            "wait": self.wait,
            "steps": self.steps,
            "text": lambda _, __: Answer("# Title\n\nline"),
            "half": lambda _, __: json_answer({"text": "\udc00"}),
            "odd": lambda _, __: Answer("odd", {"value": object()}),
            "break": partial(_raise, RuntimeError("a secret path /home/somebody")),
            "leave": partial(_raise, SystemExit(3)),
            "miss": partial(_raise, Failure(Code.NOT_FOUND, "no such thing")),
            "chatty": _chatty,
        }
        return [
            tool("echo", "Echo", "Says it again.", family, Echo, self.echo, output_schema=made),
            tool("note", "Note", "Keeps lines.", family, Note, self.note, WRITES, mutates=_writes),
            *(tool(name, name.title(), "For a test.", family, Nothing, run) for name, run in runs.items()),
        ]

    def echo(self, command: Echo, call: Call) -> Answer:
        """Say it again."""
        return json_answer({"text": command.text})

    def note(self, command: Note, call: Call) -> Answer:
        """Read or write."""
        if command.action == "write":
            self.notes.append(command.line)
        return json_answer({"notes": list(self.notes)})

    def wait(self, _: Nothing, call: Call) -> Answer:
        """Stay until the gate opens or the call is withdrawn."""
        self.begun.set()
        while not self.gate.wait(0.005):
            if not self.deaf:
                call.check()
        return json_answer({"waited": True})

    def steps(self, _: Nothing, call: Call) -> Answer:
        """Report what the test laid out, a tenth of a second apart only if it says so."""
        for done, total in self.reports:
            call.progress(done, total, f"step {done}")
        return json_answer({"steps": len(self.reports)})

    def _family(self) -> ResourceFamily:
        return ResourceFamily(
            prefix="memo://",
            uri_template="memo://{name}",
            name="memo",
            title="Memos",
            description="Short texts.",
            mime_type="text/markdown",
            entries=self._entries,
            read=self._read,
            complete={
                "name": lambda typed, _: [
                    entry.name for entry in self._entries() if entry.name.startswith(typed)
                ]
            },
        )

    def _entries(self) -> list[ResourceEntry]:
        if "broken" in self.memos:
            raise Failure(Code.MALFORMED_PACK, "a memo is malformed")
        return [ResourceEntry(f"memo://{name}", name, title=name.title()) for name in self.memos]

    def _read(self, uri: str) -> ResourceText | None:
        name = uri.removeprefix("memo://")
        if name == "broken":
            raise Failure(Code.MALFORMED_PACK, "the memo is malformed")
        if name.startswith(".."):
            raise Failure(Code.PATH_TRAVERSAL, "Path traversal not allowed")
        text = self.memos.get(name)
        return None if text is None else ResourceText(uri, text)

    def _prompts(self) -> list[Prompt]:
        arguments = [PromptArgument("who", "whom to greet", required=True), PromptArgument("tone", "how")]
        completers = {
            "who": lambda typed, others: [
                f"{typed}{number}{others.get('tone', '')}" for number in range(250)
            ],
            "tone": lambda typed, _: ["kindly"],
        }
        return [Prompt("greet", "Greet", "Says hello.", arguments, _greet, completers)]


def _writes(arguments: Mapping[str, Any]) -> bool:
    return {"read": False, "write": True}[arguments["action"]]


def _raise(error: BaseException, _: Nothing, __: Call) -> Answer:
    raise error


def _chatty(_: Nothing, call: Call) -> Answer:
    for level in LEVELS:
        call.log(level, f"at {level}", "chatty")  # type: ignore[attr-defined]
    return json_answer({"done": True})


def _greet(given: Mapping[str, str]) -> str:
    if given["who"] == "nobody":
        raise Failure(Code.NOT_FOUND, "nobody is there")
    if given["who"] == "ghost":
        raise Failure(Code.IO_ERROR, "the ghost cannot be read")
    return f"Greet {given['who']} {given.get('tone', 'plainly')}."


class Peer:
    """The other end of a session."""

    def __init__(self, demo: Demo, **options: Any) -> None:
        self.demo = demo
        self.sent: list[Any] = []
        self.watches: list[bool] = []
        self.alarms: list[tuple[str, BaseException]] = []
        self.session = ProtocolSession(
            options.pop("facts", FACTS),
            options.pop("load", demo.registry),
            self._take,
            alarm=lambda place, error: self.alarms.append((place, error)),
            on_watch=options.pop("on_watch", self.watches.append),
            monotonic=lambda: demo.now,
            **options,
        )

    def _take(self, body: bytes) -> None:
        assert b"\n" not in body
        assert b"\r" not in body
        self.sent.append(json.loads(body))

    def take(self) -> list[Any]:
        """Everything sent since the last look."""
        taken, self.sent = self.sent, []
        return taken

    def post(self, message: Any) -> Sequence[Job]:
        """Hand over one message; what may take time comes back."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.session.receive(body)

    def run(self, message: Any) -> list[Any]:
        """Hand over one message, run its jobs, and take everything sent."""
        for job in self.post(message):
            job.run()
        return self.take()

    def start(self, message: Any) -> list[threading.Thread]:
        """Hand over one message and run each of its jobs in a thread of its own."""
        return [self.in_thread(job) for job in self.post(message)]

    def in_thread(self, job: Job) -> threading.Thread:
        """Run a job in a thread of its own."""
        thread = threading.Thread(target=job.run, daemon=True)
        thread.start()
        return thread

    def ask(self, method: str, params: Any = None, request_id: Any = 1) -> Any:
        """The one reply to a request."""
        (reply,) = self.run(request(method, params, request_id))
        assert reply["id"] == request_id
        assert reply["jsonrpc"] == "2.0"
        return reply

    def result(self, method: str, params: Any = None, request_id: Any = 1) -> Any:
        """The result of a request that succeeds."""
        return self.ask(method, params, request_id)["result"]

    def error(self, method: str, params: Any = None, request_id: Any = 1) -> Any:
        """The error of a request that fails."""
        return self.ask(method, params, request_id)["error"]

    def call(self, name: str, arguments: Any = None, **meta: Any) -> Any:
        """The result of a legacy tool call."""
        return self.result("tools/call", {"name": name, "arguments": arguments or {}, "_meta": meta})

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification; it makes no jobs."""
        message = {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params})
        assert list(self.post(message)) == []

    def load(self) -> Peer:
        """Have the registry loaded, as after the first list."""
        self.result("tools/list")
        return self


def request(method: str, params: Any = None, request_id: Any = 1) -> dict[str, Any]:
    """A request as a client writes it."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else message | {"params": params}


def envelope(params: Mapping[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
    """The parameters of a 2026-07-28 request."""
    return {**(params or {}), "_meta": {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {}, **meta}}


@pytest.fixture
def demo() -> Demo:
    """A fresh world."""
    return Demo()


@pytest.fixture
def peer(demo: Demo) -> Peer:
    """A client of a session that offers everything and has loaded nothing."""
    return Peer(demo)


@pytest.fixture
def connect(demo: Demo) -> Callable[..., Peer]:
    """Makes clients of sessions with other options."""
    return lambda **options: Peer(demo, **options)


@pytest.fixture(scope="session")
def stranger() -> Callable[[], Peer]:
    """Makes clients of sessions over worlds of their own, as often as a property needs one."""
    return lambda: Peer(Demo())


@pytest.fixture
def modern() -> Callable[..., dict[str, Any]]:
    """Wraps parameters in the modern envelope."""
    return envelope


@pytest.fixture
def req() -> Callable[..., dict[str, Any]]:
    """Writes requests."""
    return request
