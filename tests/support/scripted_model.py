"""A model that follows a script: what a coding agent asks over HTTP is answered with the next tool call.

What lives here: the four wire formats that agents speak, just enough of each. What must not: what is called,
which is a script's, a generator that yields a tool's name and arguments and is sent what the agent shows of
the result. Nothing leaves 127.0.0.1.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

Json = dict[str, Any]
ToolCall = tuple[str, Json]
Asked = tuple[list[str], list[str]]
"""The names of the tools that an agent offers, and its results so far."""
Script = Generator[ToolCall, str, None]
SERVER = "pack"
"""The name under which agents know our server; their names of its tools hold it."""
DONE = "That was all."
MOST_REPEATS = 5
"""An agent that gets the same call so often without a result of it has lost the result."""

_numbers = count(1)


class ScriptedModel:
    """Plays one script; `shown` holds what the agent passed on of each result."""

    def __init__(self, script: Script) -> None:
        self.shown: list[str] = []
        self.finished = False
        self.failure: BaseException | None = None
        self._script, self._lock = script, threading.Lock()
        self._call: ToolCall | None = None
        self._repeats = 0
        self.url = ""

    def turn(self, results: list[str]) -> ToolCall | None:
        """The next call once the last one has its result, the same one again before that, None at the end."""
        with self._lock:
            if self.finished:
                return None
            try:
                if self._call is None:
                    self._call = next(self._script)
                elif len(results) > len(self.shown):
                    self.shown.append(results[-1])
                    self._call, self._repeats = self._script.send(results[-1]), 0
                else:
                    self._repeats += 1
                    assert self._repeats < MOST_REPEATS, f"no result of {self._call}"
            except StopIteration:
                self.finished = True
            except Exception as failure:  # told to the test; the agent is let go
                self.finished, self.failure = True, failure
            return None if self.finished else self._call


@contextmanager
def serving(script: Script) -> Iterator[ScriptedModel]:
    """A model on a port of its own, until the block ends."""
    model = ScriptedModel(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(404, "application/json", b"{}")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            known = [pair for part, pair in FORMATS.items() if part in self.path]
            if not known or "count" in self.path:
                self._send(404, "application/json", b"{}")
                return
            (asked, answer), *_ = known
            names, results = asked(body)
            call = model.turn(results) if any(map(_is_ours, names)) else None
            events = answer(None if call is None else (_named(call[0], names), call[1]))
            self._send(200, "text/event-stream", events.encode())

        def _send(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_CONNECT(self) -> None:
            """Whoever takes the model for a proxy wants to leave this machine."""
            self.send_error(403)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        model.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()


def _is_ours(name: str) -> bool:
    return SERVER in name


def _named(tool: str, names: list[str]) -> str:
    """The agent's name of a tool of ours."""
    return next(name for name in names if _is_ours(name) and name.endswith(tool))


def _events(*events: Json, named: bool = True) -> str:
    heads = [f"event: {event['type']}\n" if named else "" for event in events]
    return "".join(f"{head}data: {json.dumps(event)}\n\n" for head, event in zip(heads, events, strict=True))


def _text_of(content: Any) -> str:
    """The text of a result that is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))


def _messages_asked(body: Json) -> Asked:
    """Anthropic Messages."""
    blocks = [
        block
        for message in body.get("messages", ())
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    results = [_text_of(block.get("content", "")) for block in blocks if block.get("type") == "tool_result"]
    return [tool["name"] for tool in body.get("tools", ())], results


def _messages_answer(call: ToolCall | None) -> str:
    message: Json = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [],
    }
    usage = {"input_tokens": 1, "output_tokens": 1}
    if call is None:
        block: Json = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": DONE}
    else:
        block = {"type": "tool_use", "id": f"toolu_{next(_numbers)}", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    reason = {"stop_reason": "end_turn" if call is None else "tool_use", "stop_sequence": None}
    return _events(
        {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": reason, "usage": usage},
        {"type": "message_stop"},
    )


def _responses_asked(body: Json) -> Asked:
    """OpenAI Responses; tools of a server may come as one namespace."""
    names = []
    for tool in body.get("tools", ()):
        inner = tool.get("tools", ())
        names += [f"{tool.get('name', '')}|{each['name']}" for each in inner] or [tool.get("name", "")]
    given = body.get("input", ())
    results = [_text_of(item["output"]) for item in given if item.get("type") == "function_call_output"]
    return names, results


def _responses_answer(call: ToolCall | None) -> str:
    if call is None:
        content = [{"type": "output_text", "text": DONE, "annotations": []}]
        item: Json = {"type": "message", "role": "assistant", "id": "msg_1", "content": content}
    else:
        space, _, name = call[0].rpartition("|")
        item = {"type": "function_call", "id": "fc_1", "call_id": f"call_{next(_numbers)}", "name": name}
        item |= {"arguments": json.dumps(call[1])} | ({"namespace": space} if space else {})
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return _events(
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
    )


def _gemini_asked(body: Json) -> Asked:
    """Gemini generateContent."""
    declared = [each for tool in body.get("tools", ()) for each in tool.get("functionDeclarations", ())]
    parts = [part for content in body.get("contents", ()) for part in content.get("parts", ())]
    results = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    texts = [str(result.get("output", result.get("error", result))) for result in results]
    return [each["name"] for each in declared], texts


def _gemini_answer(call: ToolCall | None) -> str:
    part = {"text": DONE} if call is None else {"functionCall": {"name": call[0], "args": call[1]}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    counts = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return _events({"candidates": [candidate], "usageMetadata": counts}, named=False)


def _chat_asked(body: Json) -> Asked:
    """OpenAI chat completions."""
    results = [_text_of(each["content"]) for each in body["messages"] if each["role"] == "tool"]
    return [tool["function"]["name"] for tool in body.get("tools", ())], results


def _chat_answer(call: ToolCall | None) -> str:
    delta: Json = {"role": "assistant", "content": DONE}
    if call is not None:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        called = {"index": 0, "id": f"call_{next(_numbers)}", "type": "function", "function": function}
        delta = {"role": "assistant", "tool_calls": [called]}
    chunk = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    reason = "stop" if call is None else "tool_calls"
    parts = ({"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": reason})
    chunks = [{**chunk, "choices": [{"index": 0, **part}]} for part in parts]
    return _events(*chunks, named=False) + "data: [DONE]\n\n"


FORMATS: dict[str, tuple[Callable[[Json], Asked], Callable[[ToolCall | None], str]]] = {
    "/messages": (_messages_asked, _messages_answer),
    "/responses": (_responses_asked, _responses_answer),
    "GenerateContent": (_gemini_asked, _gemini_answer),
    "/chat/completions": (_chat_asked, _chat_answer),
}
"""By a part of the path: what an agent asks, and what it is answered."""
