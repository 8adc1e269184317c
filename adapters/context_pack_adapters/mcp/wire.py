"""JSON text of what the server sends: replies, errors, notifications, and a tool's answer.

Each reply is encoded once. A result travels as the inner text of its object ("fields", no braces), so that a
protocol version can add its own members by joining strings, and so that a tool's JSON, already text, is not encoded again.
Everything is one line of JSON: raw line breaks never occur, whatever a tool returns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from json.encoder import JSONEncoder, encode_basestring
from typing import TYPE_CHECKING, Any

from context_pack_adapters.mcp.jsonrpc import INTERNAL_ERROR, Id

if TYPE_CHECKING:
    from context_pack.kernel.errors import Failure
    from context_pack.toolkit.spec import Answer


_LINE_BREAKS = re.compile("[\x85\u2028\u2029]")

to_json = JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
quoted = encode_basestring
"""A JSON string of a text."""


class ProtocolError(Exception):
    """A protocol error: a JSON-RPC code, a message and perhaps data."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data


def internal() -> ProtocolError:
    """The protocol error for an unexpected exception; says nothing of its cause."""
    return ProtocolError(INTERNAL_ERROR, "Internal error; the request failed inside the server")


def failed(failure: Failure) -> ProtocolError:
    """A feature's failure as a protocol error, for requests that have no shape of their own for it."""
    return ProtocolError(INTERNAL_ERROR, failure.message, {"code": failure.code.value})


def to_bytes(text: str) -> bytes:
    """The UTF-8 of a JSON text.

    Escaped, because they occur only in strings: half a surrogate pair, which UTF-8 cannot hold, and the
    characters that some readers take for the end of a line.
    """
    # Looked for one by one first: three plain searches cost far less than one pass of a pattern.
    if not text.isascii() and ("\u2028" in text or "\u2029" in text or "\x85" in text):
        text = _LINE_BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.encode("utf-8", "backslashreplace")


def id_json(request_id: Id | None) -> str:
    """A request id as JSON."""
    if request_id is None:
        return "null"
    return str(request_id) if type(request_id) is int else quoted(str(request_id))


def reply(request_id: Id, result: str) -> bytes:
    """A whole reply around the JSON of its result."""
    return to_bytes(f'{{"jsonrpc":"2.0","id":{id_json(request_id)},"result":{result}}}')


def error(request_id: Id | None, problem: ProtocolError) -> bytes:
    """A whole error reply."""
    data = "" if problem.data is None else f',"data":{to_json(problem.data)}'
    head = f'{{"jsonrpc":"2.0","id":{id_json(request_id)},"error":'
    return to_bytes(f'{head}{{"code":{problem.code},"message":{quoted(problem.message)}{data}}}}}')


def notification(method: str, params: Mapping[str, Any]) -> bytes:
    """A whole notification."""
    tail = f',"params":{to_json(params)}}}' if params else "}"
    return to_bytes(f'{{"jsonrpc":"2.0","method":{quoted(method)}{tail}')


def fields_of(result: Mapping[str, Any]) -> str:
    """The inner text of a result object."""
    return to_json(result)[1:-1]


def answer_fields(answer: Answer) -> str:
    """A tool's answer as the fields of a `tools/call` result."""
    content = to_json(list(answer.content)) if answer.content is not None else _text_block(answer.text)
    flag = "true" if answer.is_error else "false"
    if answer.structured is None or answer.is_error:
        return f'"content":{content},"isError":{flag}'
    return f'"content":{content},"structuredContent":{_structured(answer)},"isError":{flag}'


def _text_block(text: str) -> str:
    return f'[{{"type":"text","text":{quoted(text)}}}]'


def _structured(answer: Answer) -> str:
    """The answer's object; where its text is that object, the text without the breaks between its values."""
    text = answer.text
    if text[:1] != "{" or text[-1:] != "}" or answer.content is not None:
        return to_json(answer.structured)
    return text.replace("\n", "")


def joined(members: Sequence[bytes]) -> bytes:
    """One JSON array of whole replies."""
    return b"[" + b",".join(members) + b"]"
