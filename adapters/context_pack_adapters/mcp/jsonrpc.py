"""JSON-RPC 2.0 as it is read: bytes to values, values to requests, and the error codes.

What lives here: the strict reading of JSON, and `classify`, which sorts one parsed message into request,
notification, reply of the peer, or neither. What must not: method names, sessions, batches (an array is the
session's to take apart), what is sent (`wire`), I/O.

Theory: everything a body can be wrong in is a `ParseFault`; after `decode` every number is finite, every key
is unique and nothing is nested deeper than MAX_DEPTH. Half a surrogate pair, written as an escape, is JSON
and stays as it is: whoever stores or sends text has to cope with it.
"""

from __future__ import annotations

from json.decoder import JSONDecodeError, JSONDecoder
from typing import Any, Final, NamedTuple, NoReturn

from context_pack_adapters.mcp.limits import MAX_DEPTH

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

_TOO_DEEP: Final = f"nested deeper than {MAX_DEPTH} levels"

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


def decode(body: bytes) -> Any:
    """The value of a message body.

    Raises:
        ParseFault: not UTF-8, not JSON, a duplicate key, a number that is not finite or has too many digits,
            or nested deeper than MAX_DEPTH.
    """
    try:
        value = _decoder.decode(body.decode())
    except UnicodeDecodeError:
        raise ParseFault("not UTF-8") from None
    except JSONDecodeError as error:
        raise ParseFault(f"malformed JSON at character {error.pos}") from None
    except ValueError:
        raise ParseFault("number with too many digits") from None
    except RecursionError:
        raise ParseFault(_TOO_DEEP) from None
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH:  # Fewer brackets cannot be nested too deep.
        _check_depth(value)
    return value


def _check_depth(value: Any) -> None:
    """Refuse what is nested too deeply, level by level."""
    level = [value]
    for _ in range(MAX_DEPTH):
        inside = (each.values() if type(each) is dict else each for each in level)
        level = [each for members in inside for each in members if type(each) in (dict, list)]
        if not level:
            return
    raise ParseFault(_TOO_DEEP)


def classify(value: Any) -> Message:
    """Sort one parsed message by its shape; an array is no single message, so it is invalid here."""
    if type(value) is not dict:
        return Invalid(None, INVALID_REQUEST, "Invalid request: a message is an object")
    id, method, params = value.get("id"), value.get("method"), value.get("params")  # noqa: A001
    # An exact type, because a bool is an int to isinstance.
    usable = id if type(id) is int or type(id) is str else None
    structured = params is None or type(params) is dict or type(params) is list
    if value.get("jsonrpc") != "2.0":
        why = 'jsonrpc must be "2.0"'
    elif type(method) is str:
        if "id" not in value:
            return Notification(method, params if structured else None)
        if usable is not None and structured:
            return Request(usable, method, params)
        if usable is not None:
            return Invalid(usable, INVALID_PARAMS, "Invalid params: an object is expected")
        why = "id must be a string or an integer"
    elif "method" in value:
        why = "method must be a string"
    elif "id" in value and ("result" in value or "error" in value):
        return Response(usable)
    else:
        why = "no method"
    return Invalid(usable, INVALID_REQUEST, f"Invalid request: {why}")
