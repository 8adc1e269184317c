"""A server for tests whose tools take their time or misbehave, in the product's registry, session and pump.

One tool writes to stdout in every way a dependency could, one works until it is stopped.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "adapters")]

from attrs import frozen  # noqa: E402

from context_pack.kernel.errors import Failure  # noqa: E402
from context_pack.toolkit.call import Call  # noqa: E402
from context_pack.toolkit.offers import ResourceEntry, ResourceFamily, ResourceText  # noqa: E402
from context_pack.toolkit.registry import Registry  # noqa: E402
from context_pack.toolkit.spec import Answer, FailedCall, Family, Tool, json_answer, tool  # noqa: E402
from context_pack_adapters.server.protocol_versions import ServerFacts  # noqa: E402
from context_pack_adapters.server.pump import Limits, serve  # noqa: E402
from context_pack_adapters.server.session import ProtocolSession  # noqa: E402

FACTS = ServerFacts("fixture", "Fixture", "1.0.0", "A server for tests.", "Call the test_ tools.")
WATCHED = "test://watched-resource"

Run = Callable[[Any, Call], Answer]


@frozen
class NoArguments:
    """A command without arguments."""


def pause() -> None:
    """Time enough for a client to see that messages come one by one."""
    threading.Event().wait(0.05)


def moves(_: object, call: Call) -> Answer:
    """Three steps of progress and an answer."""
    for done in (0, 50, 100):
        call.progress(done, 100)
        pause()
    return Answer("Reported three steps.")


def babbles(_: object, __: Call) -> Answer:
    """Writes to stdout as Python, as a descriptor, as C and as a child process do."""
    print("stray print")  # noqa: T201
    sys.stdout.write("stray write without a line end")
    sys.stdout.flush()
    if sys.__stdout__ is not None:
        print("stray print to the first stdout", file=sys.__stdout__, flush=True)
    os.write(1, b'{"jsonrpc":"2.0","id":"stray","result":{}}\n')
    subprocess.run([sys.executable, "-c", "print('stray child')"], check=True)
    return Answer(f"stdin: {os.read(0, 10)!r}")


def toils(_: object, call: Call) -> Answer:
    """Works until it is stopped, and says so on stderr."""
    sys.stderr.write("fixture: toiling\n")
    sys.stderr.flush()
    try:
        while True:
            call.check()
            pause()
    finally:
        sys.stderr.write("fixture: stopped\n")
        sys.stderr.flush()


def wrong(failure: Failure, failed: FailedCall) -> Answer:
    """The family's error shape."""
    return json_answer(
        {"error": failure.code.value, "tool": failed.tool, "message": failure.message}, is_error=True
    )


def tools() -> list[Tool]:
    """Every fixture tool."""
    runs: dict[str, Run] = {
        "test_simple_text": lambda _, __: Answer("A text."),
        "test_tool_with_progress": moves,
        "test_babble": babbles,
        "test_toil": toils,
    }
    family = Family("fixture", wrong)
    return [
        tool(name, name.replace("_", " ").title(), f"Fixture {name}.", family, NoArguments, run)
        for name, run in runs.items()
    ]


def watched() -> ResourceFamily:
    """One resource that somebody may watch."""
    about = ("watched", "Watched", "Somebody may watch this.", "text/plain")
    content = ResourceText(WATCHED, "Somebody may watch this.", "text/plain")
    return ResourceFamily(
        *(WATCHED, None, *about),
        entries=lambda: [ResourceEntry(WATCHED, *about)],
        read=lambda uri: content if uri == WATCHED else None,
    )


def alarm(place: str, error: BaseException) -> None:
    """Say on stderr what went wrong."""
    sys.stderr.write(f"fixture: {place}: {error!r}\n")


def registry() -> Registry:
    """Everything that is offered."""
    return Registry(
        tools={each.name: each for each in tools()},
        resources=lambda: [watched()],
        prompts={},
        monotonic=time.monotonic,
        alarm=alarm,
    )


def main() -> None:
    """Serve stdio until the conversation ends."""
    limits = Limits(10 * 1024 * 1024, 20_000, lambda line: alarm("pump", RuntimeError(line)))
    code = serve(
        lambda send: ProtocolSession(FACTS, registry, send, alarm=alarm, monotonic=time.monotonic), limits
    )
    os._exit(code)


if __name__ == "__main__":
    main()
