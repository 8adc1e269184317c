"""Mutated conversations with a server process: it never fails inside, and whatever it says is whole.

Each stream is a real session, framed or not, after a few accidents: cut, repeated, in another order, with
flipped bits, wrong lengths, huge headers, broken UTF-8, deep JSON and values of other types. Seeds are fixed,
so a failure can be repeated; `HOSTILE_STREAMS` says how many there are.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from stdio_client import HELLO, MAIN, PATIENCE, environment

from context_pack_adapters.server.framing import Decoder, Fault

STREAMS = int(os.environ.get("HOSTILE_STREAMS", "150"))
AT_ONCE = 15
LIMIT = 1 << 16
RESYNC = b"\n}\nx\n\n"
META = "io.modelcontextprotocol/"
ENVELOPE = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}


def call(name: str, **arguments: Any) -> tuple[str, Any]:
    """A tools/call."""
    return "tools/call", {"name": name, "arguments": arguments}


SESSIONS: list[list[tuple[str, Any]]] = [
    [
        ("initialize", HELLO), ("notifications/initialized", None), ("tools/list", {}),
        call("read_file", path="src/app.py", includeDeps=True),
        call("grep_codebase", pattern="def .+", limit=5), call("code_outline", path="."),
    ],
    [
        ("initialize", HELLO), ("notifications/initialized", None),
        call("input", action="create", ttl_minutes=5, title="é ☃ 😀"), call("input", action="list"),
        call("output"), ("resources/list", {}), ("resources/read", {"uri": "context://stats"}),
        ("resources/subscribe", {"uri": "context://pack/pk_aaaaaaaa"}),
        ("notifications/cancelled", {"requestId": 3}),
    ],
    [
        ("server/discover", {"_meta": ENVELOPE}),
        ("tools/list", {"_meta": ENVELOPE}),
        ("tools/call", {"name": "list_contexts", "arguments": {}, "_meta": ENVELOPE}),
        ("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {"resourcesListChanged": True}}),
        ("prompts/get", {"name": "take_over", "arguments": {"pack": "x"}}),
        ("logging/setLevel", {"level": "debug"}),
    ],
    [
        ("initialize", HELLO), call("context_record", type="rule", content="never cross the streams"),
        call("context_search", query="streams"), call("documents_search", query="streams"),
        call("get_context", entityType="Node", id="a"), ("ping", None), ("shutdown", None), ("exit", None),
    ],
]  # fmt: skip
ODD: list[Any] = [
    None, True, -1, 1e308, 2**70, "", "\udc00", "x" * 5000, [], {}, [[[]]], {"a": {}}, "../..", 0
]  # fmt: skip
TOKENS = [
    b"{", b"}", b"[", b"]", b'"', b",", b"\\u", b"null", b"\x00", b"\xff", b"\xe2\x98", b"\n", b"\r\n\r\n",
    b"Content-Length: 7\r\n\r\n", b"Content-Length: ", b'{"a":' * 300, b"[" * 3000, b"9" * 6000,
]  # fmt: skip


def bodies(dice: random.Random) -> list[bytes]:
    """A real session, its messages sometimes of other types, in another order or twice."""
    made = []
    for number, (method, params) in enumerate(dice.choice(SESSIONS)):
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        message |= {} if method.startswith("notifications/") else {"id": number}
        message |= {} if params is None else {"params": params}
        made.append(twisted(message, dice) if dice.random() < 0.15 else message)
    accident = dice.randrange(5)
    if accident == 0:
        dice.shuffle(made)
    elif accident == 1:
        made += dice.choices(made, k=3)
    elif accident == 2:
        made = [made]
    return [json.dumps(one).encode() for one in made]


def twisted(value: Any, dice: random.Random) -> Any:
    """The value with one part of it, somewhere, of another type."""
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(list(value))
        if dice.random() < 0.2:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: twisted(value[key], dice)}
    return dice.choice(ODD)


def framed(body: bytes, dice: random.Random) -> bytes:
    """A body behind a header that is sometimes wrong."""
    claim: object = len(body)
    if dice.random() < 0.1:
        claim = dice.choice([len(body) + 1, max(0, len(body) - 3), 0, LIMIT, LIMIT + 1, 2**63, "", "-1", "٣"])
    head = f"Content-Length: {claim}\r\n"
    if dice.random() < 0.1:
        head = (
            dice.choice(["X-Long: " + "y" * 20_000 + "\r\n", "X: y\r\n" * 3000, "content-length: 3\r\n"])
            + head
        )
    return f"{head}\r\n".encode() + body


def stream(dice: random.Random) -> bytes:
    """One conversation after a few accidents."""
    wrap = framed if dice.random() < 0.5 else lambda body, _: body + b"\n"
    data = bytearray(b"".join(wrap(body, dice) for body in bodies(dice)))
    for _ in range(dice.choice([1, 1, 2, 5])):
        at = dice.randrange(len(data) + 1)
        match dice.randrange(6):
            case 0 if at < len(data):
                data[at] ^= 1 << dice.randrange(8)
            case 1:
                del data[at : at + dice.randrange(1, 60)]
            case 2:
                data[at:at] = dice.choice(TOKENS)
            case 3:
                data[at:at] = data[at : at + dice.randrange(1, 400)]
            case 4:
                data[at:at] = dice.randbytes(dice.randrange(1, 40))
            case _:
                del data[at:]
    return bytes(data)


@pytest.mark.slow
@pytest.mark.clause("TR-18", "TR-40", "MCP-90")
@pytest.mark.parametrize("first", range(0, STREAMS, AT_ONCE))
def test_a_server_process_survives_mutated_conversations(tmp_path: Path, first: int) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/app.py").write_text("import os\n")
    streams = [stream(random.Random(f"stream {number}")) for number in range(first, first + AT_ONCE)]
    ended = subprocess.run(
        MAIN, input=(b"\n" * LIMIT + RESYNC).join(streams), cwd=tmp_path, timeout=PATIENCE,
        capture_output=True, check=False,
        env=environment(CONTEXT_PACK_LOG="debug", CONTEXT_PACK_MAX_MESSAGE_BYTES=str(LIMIT)),
    )  # fmt: skip
    assert ended.returncode == 0
    assert b"Traceback" not in ended.stderr, ended.stderr[-2000:]
    decoder = Decoder()
    said = [*decoder.feed(ended.stdout), *decoder.eof()]
    assert said
    assert not any(isinstance(each, Fault) for each in said)
