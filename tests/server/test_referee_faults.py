"""Every kind of bad input over the wire: the documented error, and the next good message is answered.

One server per transport takes the whole table, so that nothing a case leaves behind goes unnoticed by the
next. A body is sent in the client's transport; raw bytes are sent as they are, in either.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from stdio_client import Mode, StdioClient

PARSE, REQUEST, METHOD, PARAMS, VERSION, MISSING = -32700, -32600, -32601, -32602, -32022, -32002
Expected = tuple[int, str | int | None]

META = "io.modelcontextprotocol/"
DISCOVERABLE = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}


class Bad(NamedTuple):
    """Bytes that deserve an error; without `only`, in both transports."""

    name: str
    data: bytes
    expected: tuple[Expected, ...]
    raw: bool = False
    only: Mode | None = None


def body(name: str, data: bytes, *expected: Expected, only: Mode | None = None) -> Bad:
    """A body, wrapped by the transport."""
    return Bad(name, data, expected or ((PARSE, None),), only=only)


def raw(name: str, data: bytes, *expected: Expected) -> Bad:
    """Bytes as they are."""
    return Bad(name, data, expected or ((PARSE, None),), raw=True)


def asked(name: str, method: str, params: object, code: int = PARAMS) -> Bad:
    """A well-formed request that is refused under its own id."""
    message = {"jsonrpc": "2.0", "id": name, "method": method, "params": params}
    return Bad(name, json.dumps(message).encode(), ((code, name),))


def named(name: str, message: object, *expected: Expected) -> Bad:
    """A JSON value that is not a request."""
    return Bad(name, json.dumps(message).encode(), expected or ((REQUEST, None),))


DEEP = b"[" * 129 + b"]" * 129
NOT_JSON = [
    body("bare word", b'{"jsonrpc":"2.0","id":1,"method":ping}'),
    body("single quotes", b"{'jsonrpc':'2.0','id':1,'method':'ping'}"),
    body("trailing comma in object", b'{"jsonrpc":"2.0","id":1,"method":"ping",}'),
    body("trailing comma in array", b"[1,]"),
    body("lone comma", b"{,}"),
    body("key without value", b'{"jsonrpc"}'),
    body("number as key", b"{1:2}"),
    body("missing colon", b'{"id" 1}'),
    body("leading zero", b'{"id":01}'),
    body("plus sign", b'{"id":+1}'),
    body("bare fraction", b'{"id":.5}'),
    body("open fraction", b'{"id":1.}'),
    body("open exponent", b'{"id":1e}'),
    body("half a literal", b'{"id":tru}'),
    body("NaN", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}'),
    body("Infinity", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":Infinity}}'),
    body("-Infinity", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}'),
    body("beyond a double", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e999}}'),
    body("too many digits", b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % (b"9" * 5000)),
    body("duplicate key", b'{"jsonrpc":"2.0","id":1,"method":"ping","id":2}'),
    body("duplicate key, escaped", b'{"jsonrpc":"2.0","id":1,"\\u0069d":2,"method":"ping"}'),
    body("duplicate key, deep", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[{"b":1,"b":1}]}}'),
    body("comment", b'{"jsonrpc":"2.0",/* hello */"id":1,"method":"ping"}'),
    body("control character", b'{"jsonrpc":"2.0","id":"\x01","method":"ping"}'),
    body("unknown escape", b'{"jsonrpc":"2.0","id":"\\x41","method":"ping"}'),
    body("short escape", b'{"jsonrpc":"2.0","id":"\\u12","method":"ping"}'),
    body("invalid UTF-8", b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}'),
    body("overlong UTF-8", b'{"jsonrpc":"2.0","id":"\xc0\xaf","method":"ping"}'),
    body("surrogate in UTF-8", b'{"jsonrpc":"2.0","id":"\xed\xa0\x80","method":"ping"}'),
    body("129 levels", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + DEEP + b"}}"),
    body("wrong bracket", b'{"params":[1}'),
    body("cut short", b'{"jsonrpc":"2.0"'),
    body("two values in one frame", b"{}{}", only="framed"),
    body("words after the value", b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', only="framed"),
    body(
        "byte order mark in a frame", b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', only="framed"
    ),
    body("nothing but white space", b"  ", only="framed"),
]
BAD_HEADERS = [
    raw("a word", b"hello\n"),
    raw("a scalar", b"5\n"),
    raw("a line of HTTP", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    raw("no length", b"Content-Type: application/json\r\n\r\n"),
    raw("empty length", b"Content-Length: \r\n\r\n"),
    raw("length in words", b"Content-Length: ten\r\n\r\n"),
    raw("negative length", b"Content-Length: -5\r\n\r\n"),
    raw("signed length", b"Content-Length: +5\r\n\r\n"),
    raw("hexadecimal length", b"Content-Length: 0x10\r\n\r\n"),
    raw("fractional length", b"Content-Length: 5.0\r\n\r\n"),
    raw("foreign digits", "Content-Length: ٥\r\n\r\n".encode()),
    raw("two lengths", b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n"),
    raw("more than a gibibyte", b"Content-Length: 1073741825\r\n\r\n"),
    raw("an endless header", b"X-Long: " + b"x" * 9000 + b"\r\n\r\n"),
    raw("binary", b"\x00\x01\x02\xff\xfe\n"),
]
NOT_REQUESTS = [
    named("empty object", {}),
    named("no version", {"id": 1, "method": "ping"}, (REQUEST, 1)),
    named("version 1.0", {"jsonrpc": "1.0", "id": 1, "method": "ping"}, (REQUEST, 1)),
    named("version as number", {"jsonrpc": 2.0, "id": 1, "method": "ping"}, (REQUEST, 1)),
    named("no method", {"jsonrpc": "2.0", "id": 1}, (REQUEST, 1)),
    named("method as number", {"jsonrpc": "2.0", "id": 1, "method": 5}, (REQUEST, 1)),
    named("method null", {"jsonrpc": "2.0", "id": 1, "method": None}, (REQUEST, 1)),
    named("id null", {"jsonrpc": "2.0", "id": None, "method": "ping"}),
    named("id fractional", {"jsonrpc": "2.0", "id": 1.5, "method": "ping"}),
    named("id a whole fraction", {"jsonrpc": "2.0", "id": 1.0, "method": "ping"}),
    named("id true", {"jsonrpc": "2.0", "id": True, "method": "ping"}),
    named("id an array", {"jsonrpc": "2.0", "id": [1], "method": "ping"}),
    named("id an object", {"jsonrpc": "2.0", "id": {}, "method": "ping"}),
    named("empty batch", []),
    body("a scalar in a frame", b"5", (REQUEST, None), only="framed"),
    body("a string in a frame", b'"ping"', (REQUEST, None), only="framed"),
    body("null in a frame", b"null", (REQUEST, None), only="framed"),
]
REFUSED = [
    asked("unknown method", "tools/nope", {}, METHOD),
    asked("empty method", "", {}, METHOD),
    asked("method in capitals", "PING", {}, METHOD),
    asked("params a number", "ping", 5),
    asked("params a string", "tools/list", "all"),
    asked("params an array", "tools/list", [1]),
    asked("discover without an envelope", "server/discover", {}),
    asked("no client capabilities", "server/discover", {"_meta": {META + "protocolVersion": "2026-07-28"}}),
    asked("version not a string", "tools/list", {"_meta": {**DISCOVERABLE, META + "protocolVersion": 1}}),
    asked(
        "unknown version",
        "tools/list",
        {"_meta": {**DISCOVERABLE, META + "protocolVersion": "1999"}},
        VERSION,
    ),
    asked("ping in the modern era", "ping", {"_meta": DISCOVERABLE}, METHOD),
    asked("initialize in the modern era", "initialize", {"_meta": DISCOVERABLE}, METHOD),
    asked("subscribe in the modern era", "resources/subscribe", {"_meta": DISCOVERABLE, "uri": "x"}, METHOD),
    asked("listen in the legacy era", "subscriptions/listen", {"notifications": {}}, METHOD),
    asked("listen to nothing", "subscriptions/listen", {"_meta": DISCOVERABLE}),
    asked("call without a name", "tools/call", {"arguments": {}}),
    asked("call with a number for a name", "tools/call", {"name": 5}),
    asked("call of an unknown tool", "tools/call", {"name": "nope"}),
    asked("arguments an array", "tools/call", {"name": "output", "arguments": []}),
    asked("a cursor of our own making", "tools/list", {"cursor": "2"}),
    asked("a cursor that is no string", "resources/list", {"cursor": 2}),
    asked("read without a URI", "resources/read", {}),
    asked("read an unknown pack", "resources/read", {"uri": "context://pack/pk_aaaaaaaa"}, MISSING),
    asked("read of another scheme", "resources/read", {"uri": "file:///etc/passwd"}, MISSING),
    asked("read upwards", "resources/read", {"uri": "context://pack/../../etc/passwd"}, MISSING),
    asked("read upwards, escaped", "resources/read", {"uri": "context://pack/%2e%2e%2fx"}, MISSING),
    asked("subscribe to a number", "resources/subscribe", {"uri": 5}),
    asked("unknown prompt", "prompts/get", {"name": "nope"}),
    asked("prompt without its argument", "prompts/get", {"name": "take_over"}),
    asked("prompt with a number", "prompts/get", {"name": "take_over", "arguments": {"pack": 5}}),
    asked("complete nothing", "completion/complete", {}),
    asked(
        "complete an unknown prompt",
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "nope"}, "argument": {"name": "pack", "value": ""}},
    ),
    asked("unknown log level", "logging/setLevel", {"level": "loud"}),
]
TABLE = [*NOT_JSON, *BAD_HEADERS, *NOT_REQUESTS, *REFUSED]


CASES = [
    pytest.param(mode, bad, id=f"{mode}, {bad.name}")
    for mode in ("framed", "unframed")
    for bad in TABLE
    if bad.only in (None, mode)  # without a frame the same bytes are other messages
]
BOTH = pytest.mark.parametrize("mode", ["framed", "unframed"])


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Mode, StdioClient]]:
    """One server per transport for the whole table."""
    modes: tuple[Mode, ...] = ("framed", "unframed")
    started = {mode: StdioClient(tmp_path_factory.mktemp(mode), mode) for mode in modes}
    for each in started.values():
        each.initialize()
    yield started
    for each in started.values():
        each.kill()


@pytest.fixture
def server(servers: dict[Mode, StdioClient], mode: Mode) -> StdioClient:
    """The server of this transport."""
    return servers[mode]


def sent(server: StdioClient, bad: Bad) -> bytes:
    """The bytes of a case in the server's transport."""
    if bad.raw:
        return bad.data
    if server.mode == "framed":
        return b"Content-Length: %d\r\n\r\n%s" % (len(bad.data), bad.data)
    return bad.data + b"\n"


def errors(messages: list[Any]) -> list[Expected]:
    """Code and id of each error."""
    return [(message["error"]["code"], message["id"]) for message in messages]


@pytest.mark.clause("TR-09", "TR-11", "TR-14", "MCP-02", "MCP-04", "MCP-16")
@pytest.mark.parametrize(("mode", "bad"), CASES)
def test_bad_input_gets_its_error_and_the_next_message_its_answer(server: StdioClient, bad: Bad) -> None:
    server.raw(sent(server, bad) + server.encode({"jsonrpc": "2.0", "id": "next", "method": "ping"}))
    replies = [server.read() for _ in range(len(bad.expected) + 1)]
    good = [reply for reply in replies if reply.get("id") == "next"]
    assert good == [{"jsonrpc": "2.0", "id": "next", "result": {}}]
    assert errors([reply for reply in replies if reply not in good]) == list(bad.expected)
    for reply in replies:
        assert "Traceback" not in json.dumps(reply)
    server.send({"jsonrpc": "2.0", "id": "last", "method": "ping"})
    assert server.read() == {"jsonrpc": "2.0", "id": "last", "result": {}}  # and nothing in between


def test_the_fault_table_has_a_hundred_distinct_cases() -> None:
    assert len(TABLE) >= 100
    assert len({bad.name for bad in TABLE}) == len(TABLE)


@BOTH
@pytest.mark.clause("MCP-05")
def test_bad_members_of_a_batch_fail_alone(server: StdioClient) -> None:
    ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
    quiet = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    server.send([1, ping, quiet, {"jsonrpc": "2.0", "id": 2.5, "method": "ping"}, [], "x"])
    replies = server.read()
    assert [reply.get("result") for reply in replies] == [None, {}, None, None, None]
    assert errors(replies[:1] + replies[2:]) == [(REQUEST, None)] * 4


@BOTH
@pytest.mark.clause("MCP-03")
def test_notifications_and_replies_are_never_answered(server: StdioClient) -> None:
    for message in (
        {"jsonrpc": "2.0", "method": "no/such/notification"},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "output"}},
        {"jsonrpc": "2.0", "method": "tools/call", "params": 5},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "nobody"}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": None}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        {"jsonrpc": "2.0", "id": 77, "result": {}},
        {"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "no"}},
        [{"jsonrpc": "2.0", "method": "notifications/initialized"}],
    ):
        server.send(message)
    server.send({"jsonrpc": "2.0", "id": "next", "method": "ping"})
    assert server.read()["id"] == "next"
