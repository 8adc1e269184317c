"""JSON-RPC 2.0 as it is read: bytes to values, values to requests, and the error codes.

What lives here: the strict reading of JSON, and `classify`, which sorts one parsed message into request,
notification, reply of the peer, or neither. What must not: method names, sessions, batches (an array is the
session's to take apart), what is sent (`wire`), I/O.

Theory: everything a body can be wrong in is a `ParseFault`; after `decode` every number is finite, every key
is unique and nothing is nested deeper than MAX_DEPTH. Half a surrogate pair, written as an escape, is JSON
and stays as it is: whoever stores or sends text has to cope with it.
"""

from __future__ import annotations

from itertools import accumulate, chain, islice
from json.decoder import JSONDecodeError, JSONDecoder
from typing import Any, Final, NamedTuple, NoReturn

from context_pack_adapters.mcp.limits import MAX_DEPTH

_STEPS: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_MARKS: Final = bytes(byte for byte in range(256) if byte not in _STEPS and byte != ord('"'))

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

Id = str | int


def same_id(one: Id, other: Id) -> bool:
    """Ids are equal only within one JSON type."""
    return type(one) is type(other) and one == other


class ParseFault(Exception):
    """A body that is not JSON as this server reads it; the text says why and quotes nothing."""


class Request(NamedTuple):
    """A call that wants a reply; `params` may be an array, which no method here takes."""

    id: Id
    method: str
    params: dict[str, Any] | list[Any] | None


class Notification(NamedTuple):
    """A call that is never answered."""

    method: str
    params: dict[str, Any] | list[Any] | None


class Response(NamedTuple):
    """The peer's reply to something we sent; it is taken quietly."""

    id: Id | None


class Invalid(NamedTuple):
    """Not a request: what to reply, and under which id."""

    id: Id | None
    code: int
    message: str


Message = Request | Notification | Response | Invalid


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ParseFault("duplicate key")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0.0:
        raise ParseFault("number out of range")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ParseFault(f"{name} is not JSON")


_decoder = JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_no_constant)


class ParsedBody(bytes):
    """A body with its value, parsed already while framing."""

    value: Any


def one_value(line: bytes) -> ParsedBody | None:
    """The line with its value, if it is surely one good JSON value from its first byte to its last."""
    if line[-1] not in b"}]" or line.count(b"{") + line.count(b"[") > MAX_DEPTH:
        return None
    try:
        text = line.decode()
        value, end = _decoder.raw_decode(text)
    except (ParseFault, ValueError, MemoryError):
        return None
    if end != len(text):
        return None
    body = ParsedBody(line)
    body.value = value
    return body


def decode(body: bytes) -> Any:
    """The value of a message body.

    Raises:
        ParseFault: not UTF-8, not JSON, a duplicate key, a number that is not finite or has too many digits,
            or nested deeper than MAX_DEPTH.
    """
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH:  # Fewer brackets cannot be nested too deep.
        _check_depth(body)
    try:
        return _decoder.decode(body.decode())
    except UnicodeDecodeError:
        raise ParseFault("not UTF-8") from None
    except JSONDecodeError as error:
        raise ParseFault(f"malformed JSON at character {error.pos}") from None
    except ValueError:
        raise ParseFault("number with too many digits") from None


def _check_depth(body: bytes) -> None:
    """Refuse what the parser would follow down by recursion; as far as a body is JSON, the count is exact.

    No step is Python's own: the reader does nothing else meanwhile, and a body may be all brackets.
    """
    marks = body.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NO_MARKS)
    outside_strings = chain.from_iterable(islice(marks.split(b'"'), 0, None, 2))
    if max(accumulate(map(_STEPS.__getitem__, outside_strings)), default=0) > MAX_DEPTH:
        raise ParseFault(f"nested deeper than {MAX_DEPTH} levels")


def _not_a_request(why: str) -> Invalid:
    return Invalid(None, INVALID_REQUEST, f"Invalid request: {why}")


def classify(value: Any) -> Message:
    """Sort one parsed message by its shape; an array is no single message, so it is invalid here."""
    if type(value) is not dict:
        return _not_a_request("a message is an object")
    if value.get("jsonrpc") != "2.0":
        return _not_a_request('jsonrpc must be "2.0"')
    id, method, params = value.get("id"), value.get("method"), value.get("params")  # noqa: A001
    # An exact type, because a bool is an int to isinstance.
    usable = type(id) is int or type(id) is str
    structured = params is None or type(params) is dict or type(params) is list
    if usable and structured and type(method) is str:
        return Request(value["id"], method, params)
    named = "id" in value
    if "method" not in value:
        if named and ("result" in value or "error" in value):
            return Response(id if usable else None)
        return _not_a_request("no method")
    if type(method) is not str:
        return _not_a_request("method must be a string")
    if named and not usable:
        return _not_a_request("id must be a string or an integer")
    if not named:
        return Notification(method, params if structured else None)
    return Invalid(id, INVALID_PARAMS, "Invalid params: an object is expected")
