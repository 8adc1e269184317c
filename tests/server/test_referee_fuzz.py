"""Noise on a live server: it never dies, never shows a traceback, and everything on stdout is protocol.

Messages of every method are cut, spliced, repeated and bent, and written in random pieces. Seeds and numbers
of rounds are fixed, so a failure can be repeated exactly. Noise may leave the server inside an unfinished
message, so the end is asked for until it is answered: behind a line that no value can hold, and behind more
and more white space, for a frame that still waits for its bytes.
"""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest
from stdio_client import HELLO, PATIENCE, Mode, StdioClient

Spawn = Callable[..., StdioClient]
META = "io.modelcontextprotocol/"
ENVELOPE = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}
ROUNDS = 700
RESYNC = b"\n}\nx\n\n"
MOST_PADDING = 1 << 24

REQUESTS: list[tuple[str, Any]] = [
    ("initialize", HELLO),
    ("ping", None),
    ("server/discover", {"_meta": ENVELOPE}),
    ("tools/list", {"_meta": ENVELOPE}),
    ("tools/list", {"cursor": "abc"}),
    ("tools/call", {"name": "output", "arguments": {}}),
    ("tools/call", {"name": "output", "arguments": {"name": "nobody", "max_tokens": 600}}),
    ("tools/call", {"name": "input", "arguments": {"action": "create", "ttl_minutes": 5, "title": "é ☃ 😀"}}),
    ("tools/call", {"name": "input", "arguments": {"action": "list"}, "_meta": {"progressToken": 0}}),
    ("tools/call", {"name": "input", "arguments": {"action": "get", "id": "pk_aaaaaaaa"}, "_meta": ENVELOPE}),
    ("resources/list", {}),
    ("resources/templates/list", None),
    ("resources/read", {"uri": "context://stats"}),
    ("resources/read", {"uri": "context://pack/pk_aaaaaaaa", "_meta": ENVELOPE}),
    ("resources/subscribe", {"uri": "context://pack/pk_aaaaaaaa"}),
    ("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {"resourcesListChanged": True}}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "take_over", "arguments": {"pack": "x"}}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "take_over"}, "argument": {"name": "pack", "value": ""}},
    ),
    ("logging/setLevel", {"level": "debug"}),
    ("notifications/cancelled", {"requestId": 3}),
]
TOKENS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b":",
    b"\\",
    b"\\u",
    b"null",
    b"1e9",
    b"-",
    b"\x00",
    b"\xff",
    b"\xe2\x98",
]
TOKENS += [
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b"Content-Length: ",
    b"Content-Length: 7\r\n\r\n",
    b'{"a":' * 40,
    b"[" * 200,
]


class Drain:
    """Collects everything a server writes, so that neither side ever waits for the other."""

    def __init__(self, client: StdioClient) -> None:
        self.said = bytearray()
        self.complaints = bytearray()
        self._news = threading.Condition()
        self._threads = [
            threading.Thread(target=self._read, args=(client.stdout, self.said), daemon=True),
            threading.Thread(target=self._read, args=(client.stderr, self.complaints), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, stream: Any, into: bytearray) -> None:
        while data := stream.read1(1 << 16):
            with self._news:
                into += data
                self._news.notify_all()

    def heard(self, words: bytes, seconds: float) -> bool:
        """Whether these words have come."""
        with self._news:
            return self._news.wait_for(lambda: words in self.said, seconds)

    def join(self) -> None:
        """Wait for the end of both streams."""
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()


def message(dice: random.Random) -> bytes:
    """A good message, or a small batch of them."""

    def one() -> dict[str, Any]:
        method, params = dice.choice(REQUESTS)
        made: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if not method.startswith("notifications/"):
            made["id"] = dice.choice([0, 1, 2, 3, "a", "é"])
        return made if params is None else {**made, "params": params}

    many = [one() for _ in range(dice.randrange(1, 4))]
    return json.dumps(many if dice.random() < 0.1 else many[0], ensure_ascii=dice.random() < 0.5).encode()


def bent(body: bytes, dice: random.Random) -> bytes:
    """The same bytes after a few accidents."""
    data = bytearray(body)
    for _ in range(dice.choice([0, 0, 1, 1, 2, 5])):
        at = dice.randrange(len(data) + 1)
        match dice.randrange(6):
            case 0:
                data[at : at + 1] = bytes([dice.randrange(256)])
            case 1:
                del data[at : at + dice.randrange(1, 30)]
            case 2:
                data[at:at] = dice.choice(TOKENS)
            case 3:
                data[at:at] = data[at : at + dice.randrange(1, 40)]
            case 4:
                data[at:at] = dice.randbytes(dice.randrange(1, 20))
            case _:
                del data[at:]
    return bytes(data)


def wrapped(body: bytes, mode: Mode, dice: random.Random) -> bytes:
    """A body in one of the transports, its header sometimes wrong by a little, sometimes absurd."""
    if (mode == "framed") == (dice.random() < 0.9):
        claim: object = len(body)
        if dice.random() < 0.1:
            claim = dice.choice([len(body) + 1, max(0, len(body) - 3), 0, 2**30 + 1, "", "-1", "٣", "1 1"])
        name = dice.choice(
            ["Content-Length", "Content-Length", "content-length", "CONTENT-LENGTH", "Content-Type"]
        )
        end = dice.choice(["\r\n", "\r\n", "\n"])
        return f"{name}: {claim}{end}{end}".encode() + body
    return body + dice.choice([b"\n", b"\n", b"\r\n", b"", b" "])


def pieces(data: bytes, dice: random.Random) -> list[bytes]:
    """The bytes in random pieces."""
    cuts = sorted(dice.randrange(len(data) + 1) for _ in range(dice.randrange(4)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def messages(said: bytes, mode: Mode) -> list[Any]:
    """Everything the server said, every byte of it accounted for."""
    if mode == "unframed":
        assert said.endswith(b"\n") or not said
        return [json.loads(line) for line in said.splitlines()]
    found: list[Any] = []
    while said:
        head, _, rest = said.partition(b"\r\n\r\n")
        assert head.startswith(b"Content-Length: ")
        assert head[16:].isdigit()
        size = int(head[16:])
        assert len(rest) >= size
        found.append(json.loads(rest[:size]))
        said = rest[size:]
    return found


def is_protocol(value: Any) -> bool:
    """Whether a value is a reply, an error or a notification."""
    if isinstance(value, list):
        return bool(value) and all(is_protocol(each) for each in value)
    kinds = {"result", "error", "method"} & set(value)
    return value["jsonrpc"] == "2.0" and len(kinds) == 1 and ("id" in value) == ("method" not in value)


def answered(client: StdioClient, drain: Drain) -> bool:
    """Whether a last ping is answered, whatever the server still waits for."""
    padding = 0
    while padding <= MOST_PADDING:
        client.raw(b"\n" * padding + RESYNC)
        client.send({"jsonrpc": "2.0", "id": f"last {padding}", "method": "ping"})
        if drain.heard(b'"last %d"' % padding, 1.0 if padding < MOST_PADDING else PATIENCE):
            return True
        padding = max(4096, padding * 8)
    return False


@pytest.mark.clause("TR-18", "MCP-90")
@pytest.mark.parametrize("seed", [1, 2])
def test_noise_between_messages_neither_ends_the_server_nor_loses_replies(
    spawn: Spawn, mode: Mode, seed: int
) -> None:
    dice = random.Random(f"{mode} {seed}")
    client = spawn(mode, env={"CONTEXT_PACK_LOG": "debug"})
    client.initialize()
    drain = Drain(client)
    for _ in range(ROUNDS):
        for piece in pieces(wrapped(bent(message(dice), dice), mode, dice), dice):
            client.raw(piece)
    assert answered(client, drain)
    client.close_input()
    assert client.wait() == 0
    drain.join()
    said = messages(bytes(drain.said), mode)
    assert all(is_protocol(each) for each in said)
    assert len(said) > ROUNDS / 4
    assert b"Traceback" not in drain.complaints


@pytest.mark.clause("TR-18", "TR-40")
@pytest.mark.parametrize("seed", range(8))
def test_noise_without_a_handshake_exits_with_zero_at_end_of_input(spawn: Spawn, seed: int) -> None:
    dice = random.Random(seed)
    client = spawn()
    drain = Drain(client)
    for _ in range(20):
        client.raw(dice.randbytes(dice.randrange(1, 300)) if seed % 2 else bent(message(dice), dice))
    client.close_input()
    assert client.wait() == 0
    drain.join()
    mode: Mode = "framed" if drain.said.startswith(b"Content-Length") else "unframed"
    assert all(is_protocol(each) for each in messages(bytes(drain.said), mode))
    assert b"Traceback" not in drain.complaints
