"""JSON-RPC 2.0 in both directions: bytes to requests, and replies, errors and notifications to bytes.

What lives here: the strict reading of JSON, the shapes of messages, and the text of what is sent. What must
not: method names, sessions, batches (an array is the session's to take apart).

After `decode` nothing is nested deeper than MAX_DEPTH. What is sent is ASCII, so that it is one line to every
reader and half a surrogate pair survives. A result travels as the inner text of its object ("fields", no
braces), so that a protocol version can add its own members.
"""

from __future__ import annotations

from collections.abc import Mapping
from json.decoder import JSONDecodeError, JSONDecoder
from json.encoder import JSONEncoder
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from context_pack_adapters.server.framing import MAX_DEPTH

if TYPE_CHECKING:
    from context_pack.kernel.errors import Failure
    from context_pack.toolkit.spec import Answer

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


class ProtocolError(Exception):
    """A protocol error: a JSON-RPC code, a message and perhaps data."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Request(NamedTuple):
    """A call that wants a reply; `params` may be an array, which no method here takes."""

    id: Id
    method: str
    params: dict[str, Any] | list[Any] | None


class Notification(NamedTuple):
    """A call that is never answered."""

    method: str
    params: dict[str, Any] | list[Any] | None


class Invalid(NamedTuple):
    """Not a request: what to reply, and under which id."""

    id: Id | None
    code: int
    message: str


def _unreadable(why: str) -> ProtocolError:
    return ProtocolError(PARSE_ERROR, f"Parse error: {why}")


def _not_json(name: str) -> None:
    raise _unreadable(f"{name} is not JSON")


_decoder = JSONDecoder(parse_constant=_not_json)


def decode(body: bytes) -> Any:
    """The value of a message body.

    Raises:
        ProtocolError: it is not strict JSON in UTF-8, or is nested too deeply.
    """
    try:
        value = _decoder.decode(body.decode())
    except UnicodeDecodeError:
        raise _unreadable("not UTF-8") from None
    except JSONDecodeError as error:
        raise _unreadable(f"malformed JSON at character {error.pos}") from None
    except ValueError:
        raise _unreadable("number with too many digits") from None
    except RecursionError:
        raise _unreadable(_TOO_DEEP) from None
    # Fewer brackets cannot be nested too deep.
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH and _is_too_deep(value):
        raise _unreadable(_TOO_DEEP)
    return value


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        inside = (each.values() if type(each) is dict else each for each in level)
        level = [each for members in inside for each in members if type(each) in (dict, list)]
    return bool(level)


def classify(value: Any) -> Request | Notification | Invalid | None:
    """Sort one parsed message by its shape; None is the peer's reply to something that we never ask."""
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
        return None
    else:
        why = "no method"
    return Invalid(usable, INVALID_REQUEST, f"Invalid request: {why}")


to_json: Final = JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def internal() -> ProtocolError:
    """The protocol error for an unexpected exception; says nothing of its cause."""
    return ProtocolError(INTERNAL_ERROR, "Internal error; the request failed inside the server")


def failed(failure: Failure, code: int = INTERNAL_ERROR) -> ProtocolError:
    """A feature's failure as a protocol error, for requests that have no shape of their own for it."""
    return ProtocolError(code, failure.message, {"code": failure.code.value})


def reply(request_id: Id, result: str) -> bytes:
    """A whole reply around the JSON of its result."""
    return f'{{"jsonrpc":"2.0","id":{to_json(request_id)},"result":{result}}}'.encode("ascii")


def error(request_id: Id | None, problem: ProtocolError) -> bytes:
    """A whole error reply."""
    fields = {"code": problem.code, "message": problem.message}
    fields |= {} if problem.data is None else {"data": problem.data}
    return to_json({"jsonrpc": "2.0", "id": request_id, "error": fields}).encode("ascii")


def notification(method: str, params: Mapping[str, Any]) -> bytes:
    """A whole notification."""
    message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
    return to_json(message).encode("ascii")


def fields_of(result: Mapping[str, Any]) -> str:
    """The inner text of a result object."""
    return to_json(result)[1:-1]


def answer_fields(answer: Answer, structured: bool = True) -> str:
    """A tool's answer as the fields of a `tools/call` result."""
    fields: dict[str, Any] = {"content": [{"type": "text", "text": answer.text}]}
    if structured and answer.structured is not None and not answer.is_error:
        fields["structuredContent"] = answer.structured
    return fields_of({**fields, "isError": answer.is_error})
