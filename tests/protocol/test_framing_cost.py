"""What decoding costs: time linear in the bytes and memory for one message, however the bytes are cut.

Each test ends in about a second; a reader that looked at all its bytes again with every piece would not end
before the guard does, so that a busy machine passes and a quadratic reader does not.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hanging import never_hanging

from context_pack_adapters.server.framing import Decoder, Fault, encode

pytestmark = pytest.mark.slow

MEBIBYTE = 1024 * 1024
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'

SHAPES = {
    "text": b'{"a":"' + b"x" * (2 * MEBIBYTE) + b'"}',
    "escapes": b'{"a":"' + b"\\n" * MEBIBYTE + b'"}',
    "digits": b'{"a":' + b"1" * (2 * MEBIBYTE) + b"}",
    "blanks": b"{" + b" " * (2 * MEBIBYTE) + b"}",
    "lines": b"[1" + b"\n" * (2 * MEBIBYTE) + b"]",
    "items": b"[" + b"1," * MEBIBYTE + b"1]",
    "objects": b"[" + b'{"key":"value","list":[1,2,{}]},' * (MEBIBYTE // 16) + b"1]",
    "nested": b"[" + (b"[" * 100 + b"]" * 100 + b",") * (MEBIBYTE // 400) + b"1]",
    "nested text": b"[[[[" * 4 + b'"' + b"x" * (2 * MEBIBYTE) + b'"' + b"]]]]" * 4,
}


def in_pieces(data: bytes, size: int) -> Iterator[bytes]:
    """The data, so many bytes at a time."""
    return (data[start : start + size] for start in range(0, len(data), size))


def decoded(decoder: Decoder, pieces: Iterator[bytes]) -> list[bytes | Fault]:
    """What comes out, if that ever ends."""
    items: list[bytes | Fault] = []
    with never_hanging():
        for piece in pieces:
            items += decoder.feed(piece)
    return items


@pytest.mark.clause("TR-18")
@pytest.mark.parametrize("size", [MEBIBYTE, 64 * 1024])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_large_value_takes_linear_time(shape: str, size: int) -> None:
    data = SHAPES[shape]
    assert decoded(Decoder(), in_pieces(data + PING, size)) == [data, PING]


@pytest.mark.clause("TR-10", "TR-18")
@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "lines"])
def test_draining_a_large_value_takes_linear_time_and_no_memory(shape: str) -> None:
    decoder = Decoder(1000)
    items = decoded(decoder, in_pieces(SHAPES[shape] + b"\n" + PING, 64 * 1024))
    assert items == [Fault("message over 1000 bytes"), PING]
    assert decoder.held == 0


@pytest.mark.clause("TR-18")
@pytest.mark.parametrize("between", [b"\n", b"", b" "])
def test_very_many_small_values_take_linear_time(between: bytes) -> None:
    count = 150_000
    items = decoded(Decoder(), in_pieces((PING + between) * count, 8 * MEBIBYTE))
    assert items == [PING] * count


@pytest.mark.clause("TR-18")
def test_very_many_small_frames_take_linear_time() -> None:
    count = 100_000
    items = decoded(Decoder(), in_pieces(encode(PING, "framed") * count, 8 * MEBIBYTE))
    assert items == [PING] * count


@pytest.mark.clause("TR-18")
@pytest.mark.parametrize(
    "line", [b"garbage\n", b"X: y\n", b"{oops\n", b"\n", b"[\n", b"Content-Length: x\n\n", b"x"]
)
def test_very_much_garbage_takes_linear_time(line: bytes) -> None:
    decoder = Decoder()
    decoded(decoder, in_pieces(line * (MEBIBYTE // 2 // len(line)), 64 * 1024))
    assert decoder.held <= 8192


@pytest.mark.clause("TR-18")
def test_a_frame_in_small_pieces_takes_linear_time() -> None:
    body = b'"' + b"x" * (8 * MEBIBYTE) + b'"'
    assert decoded(Decoder(), in_pieces(encode(body, "framed"), 64)) == [body]


@pytest.mark.clause("TR-18")
def test_at_most_one_message_is_held() -> None:
    decoder = Decoder(MEBIBYTE)
    for piece in in_pieces((b'{"a":"' + b"x" * (MEBIBYTE - 8) + b'"}') * 5, 64 * 1024):
        decoder.feed(piece)
        assert decoder.held <= MEBIBYTE
    assert decoder.held == 0
