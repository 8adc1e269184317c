"""The server that the official conformance suite talks to: its fixture tools, resources and prompts.

Test-only. Everything is registered in the same registry and served by the same session and pump as the
product, so what the suite finds is found in them. The suite speaks HTTP only, so a bridge stands in front of
this process. Names and texts are those the suite's scenarios ask for; what needs a request from server to
client (sampling, elicitation, roots) is missing, because the product declares none of it. Two tools of our
own misbehave: one writes to stdout in every way a dependency could, one works until it is stopped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "adapters")]

from attrs import define, frozen  # noqa: E402

from context_pack.kernel.errors import Failure  # noqa: E402
from context_pack.toolkit.call import Call  # noqa: E402
from context_pack.toolkit.offers import (  # noqa: E402
    Completer,
    Prompt,
    PromptArgument,
    ResourceEntry,
    ResourceFamily,
    ResourceText,
)
from context_pack.toolkit.registry import Registry  # noqa: E402
from context_pack.toolkit.spec import Answer, FailedCall, Family, Tool, json_answer, tool  # noqa: E402
from context_pack_adapters.server.jobs import Job  # noqa: E402
from context_pack_adapters.server.jsonrpc import ProtocolError  # noqa: E402
from context_pack_adapters.server.protocol_versions import ServerFacts  # noqa: E402
from context_pack_adapters.server.pump import Limits, serve  # noqa: E402
from context_pack_adapters.server.session import ProtocolSession  # noqa: E402

FACTS = ServerFacts(
    "conformance-fixture",
    "Conformance fixture",
    "1.0.0",
    "Test-only server for the official MCP conformance suite.",
    "Call the test_ tools.",
)
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
MISSING_CAPABILITY = -32021

Block = Mapping[str, Any]
Run = Callable[[Any, Call], Answer]


@frozen
class NoArguments:
    """A command without arguments."""


def words(line: str) -> Block:
    """A text block."""
    return {"type": "text", "text": line}


def picture() -> Block:
    """An image block."""
    return {"type": "image", "data": PNG, "mimeType": "image/png"}


def embedded(uri: str, mime_type: str, content: str) -> Block:
    """A block that embeds a resource."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": content}}


def says(*blocks: Block) -> Run:
    """A tool that always answers with these blocks."""
    return lambda _, __: Answer("", content=blocks)


def pause() -> None:
    """Time enough for a client to see that messages come one by one."""
    threading.Event().wait(0.05)


def logs(_: object, call: Call) -> Answer:
    """Three log messages and an answer."""
    assert isinstance(call, Job)
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        call.log("info", line, "fixture")
        pause()
    return Answer("Logged three messages.")


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


def fails(_: object, __: Call) -> Answer:
    """An error of the tool."""
    return Answer("This tool intentionally returns an error for testing", is_error=True)


def wrong(failure: Failure, failed: FailedCall) -> Answer:
    """The family's error shape."""
    return json_answer(
        {"error": failure.code.value, "tool": failed.tool, "message": failure.message}, is_error=True
    )


def tools() -> list[Tool]:
    """Every fixture tool."""
    data = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    simple = words("This is a simple text response for testing.")
    inner = embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    runs: dict[str, Run] = {
        "test_simple_text": says(simple),
        "test_image_content": says(picture()),
        "test_audio_content": says({"type": "audio", "data": WAV, "mimeType": "audio/wav"}),
        "test_embedded_resource": says(inner),
        "test_multiple_content_types": says(words("Multiple content types test:"), picture(), data),
        "test_tool_with_logging": logs,
        "test_logging_tool": logs,
        "test_tool_with_progress": moves,
        "test_error_handling": fails,
        "test_missing_capability": says(words("The client can sample.")),
        "test_streaming_elicitation": says(words("Nothing was asked of the client.")),
        "test_trigger_tool_change": says(words("The list of tools never changes.")),
        "test_babble": babbles,
        "test_toil": toils,
        "test_trigger_prompt_change": says(words("The list of prompts never changes.")),
    }
    family = Family("fixture", wrong)
    return [
        tool(name, name.replace("_", " ").title(), f"Fixture {name}.", family, NoArguments, run)
        for name, run in runs.items()
    ]


def template(uri: str) -> ResourceText | None:
    """A resource of the one template, `test://template/{id}/data`."""
    parts = uri.removeprefix("test://template/").split("/")
    if len(parts) != 2 or not parts[0] or parts[1] != "data":
        return None
    data = {"id": parts[0], "templateTest": True, "data": f"Data for ID: {parts[0]}"}
    return ResourceText(uri, json.dumps(data), "application/json")


def family(
    uri: str,
    mime_type: str,
    read: Callable[[str], ResourceText | None],
    *,
    uri_template: str | None = None,
    complete: Mapping[str, Completer] | None = None,
) -> ResourceFamily:
    """One resource, or the resources of one template."""
    name = uri.removeprefix("test://").strip("/").replace("-", " ")
    listed = [] if uri_template else [ResourceEntry(uri, name, name.title(), f"Fixture {name}.", mime_type)]
    return ResourceFamily(
        prefix=uri,
        uri_template=uri_template,
        name=name,
        title=name.title(),
        description=f"Fixture {name}.",
        mime_type=mime_type,
        entries=lambda: listed,
        read=read,
        complete=complete or {},
    )


def fixed(uri: str, mime_type: str, content: str, blob: str | None = None) -> ResourceFamily:
    """A resource that never changes."""
    made = ResourceText(uri, content, mime_type, ttl_ms=60_000, blob=blob)
    return family(uri, mime_type, lambda asked: made if asked == uri else None)


def resources() -> list[ResourceFamily]:
    """Every fixture resource."""
    return [
        fixed("test://static-text", "text/plain", "This is the content of the static text resource."),
        fixed("test://static-binary", "image/png", "", PNG),
        fixed("test://watched-resource", "text/plain", "Somebody may watch this."),
        family(
            "test://template/",
            "application/json",
            template,
            uri_template="test://template/{id}/data",
            complete={"id": lambda typed, _: [typed + "1", typed + "2"]},
        ),
    ]


def message(block: Block) -> Mapping[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": block}


def prompts() -> list[Prompt]:
    """Every fixture prompt."""

    def prompt(
        name: str, render: Callable[[Mapping[str, str]], str | Sequence[Block]], *arguments: str
    ) -> Prompt:
        needed = [PromptArgument(each, f"Test argument {each}.", required=True) for each in arguments]
        about = f"Fixture {name}."
        completers: dict[str, Completer] = {each: lambda typed, _: [typed + "s"] for each in arguments}
        return Prompt(name, name.replace("_", " ").title(), about, needed, render, completers)

    def with_resource(given: Mapping[str, str]) -> Sequence[Block]:
        inner = embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
        return [message(inner), message(words("Please process the embedded resource above."))]

    return [
        prompt("test_simple_prompt", lambda _: "This is a simple prompt for testing."),
        prompt(
            "test_prompt_with_arguments",
            lambda given: f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'",
            "arg1",
            "arg2",
        ),
        prompt("test_prompt_with_embedded_resource", with_resource, "resourceUri"),
        prompt(
            "test_prompt_with_image",
            lambda _: [message(picture()), message(words("Please analyze the image above."))],
        ),
    ]


@define
class FixtureRegistry(Registry):
    """A registry with one tool that insists on a capability of the client."""

    def call(self, name: str, arguments: Mapping[str, Any], call: Call) -> Answer:
        """Serve one call; a client that cannot sample is told so before the tool is asked."""
        assert isinstance(call, Job)
        if name == "test_missing_capability" and "sampling" not in call.client_capabilities:
            needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
            raise ProtocolError(MISSING_CAPABILITY, "The client must be able to sample", needed)
        return Registry.call(self, name, arguments, call)


def registry() -> Registry:
    """Everything the suite asks for."""
    return FixtureRegistry(
        tools={each.name: each for each in tools()},
        resources=resources,
        prompts={each.name: each for each in prompts()},
        monotonic=time.monotonic,
        alarm=alarm,
    )


def alarm(place: str, error: BaseException) -> None:
    """Say on stderr what went wrong."""
    sys.stderr.write(f"fixture: {place}: {error!r}\n")


def main() -> None:
    """Serve stdio until the conversation ends."""
    limits = Limits(10 * 1024 * 1024, 20_000, lambda line: alarm("pump", RuntimeError(line)))
    code = serve(
        lambda send: ProtocolSession(FACTS, registry, send, alarm=alarm, monotonic=time.monotonic), limits
    )
    os._exit(code)


if __name__ == "__main__":
    main()
