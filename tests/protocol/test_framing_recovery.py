"""After garbage or too much: one fault, and the next good message is read. And how replies are to go out."""

from __future__ import annotations

import pytest

from context_pack_adapters.server.framing import Decoder, Fault, Mode, encode

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
FRAME = encode(PING, "framed")
LIMIT = 1000


def read(data: bytes, limit: int = LIMIT) -> list[bytes | str]:
    """Bodies, and "fault" for each fault; the same whole and byte by byte."""
    whole, drops = Decoder(limit), Decoder(limit)
    items = [*whole.feed(data), *whole.eof()]
    assert [item for byte in data for item in drops.feed(bytes([byte]))] + drops.eof() == items
    return ["fault" if isinstance(item, Fault) else item for item in items]


GARBAGE = [
    b"garbage\n",
    b"garbage\r\n",
    b"garbage\r\n\r\n",
    b"two words\nand more\nlines of it\n",
    b"\x00\x01\x02\xff\xfe\n\x80\n",
    b'"a string"\n42\ntrue\nnull\n',
    b"}\n]\n,\n:\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n",
    b'Traceback (most recent call last):\n  File "x.py", line 1\nNameError: name is not defined\n',
    b"no colon\nX: a header line\nno colon either\nY: another\n",
    b"Content-Length 40\r\n\r\n",
    b"Content-Length : 40\r\n\r\n",
    b": 40\r\n\r\n",
    b"X: folded\r\n lines\r\n\r\n",
    b"x" * 9000 + b"\n",
    b"X: " + b"x" * 9000 + b"\nY: z\n\n",
    b"X: y\n" * 5000 + b"\n",
    b"garbage\n\n\nmore garbage\n \t\n",
    b"Content-Length: 4x\r\n\r\nhello\nagain\n",
]


@pytest.mark.clause("TR-11")
@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("good", [PING + b"\n", b"  " + PING, FRAME, b"X: y\r\n" + FRAME, b"\n\n" + FRAME])
def test_garbage_is_one_fault_and_the_next_message_is_read(garbage: bytes, good: bytes) -> None:
    assert read(garbage + good + FRAME) == ["fault", PING, PING]


@pytest.mark.clause("TR-11")
def test_garbage_between_good_messages_is_a_fault_each_time() -> None:
    assert read((FRAME + b"garbage\nmore\n" + PING + b"\noops\n") * 3) == [PING, "fault", PING, "fault"] * 3


@pytest.mark.clause("TR-11")
def test_garbage_right_behind_a_value_is_a_fault() -> None:
    assert read(PING + b" garbage\n" + PING) == [PING, "fault", PING]


@pytest.mark.clause("TR-11")
def test_the_body_behind_a_bad_header_is_a_line_that_can_start_a_message() -> None:
    assert read(b"Content-Length: 40x\r\n\r\n" + PING + FRAME) == ["fault", PING, PING]


@pytest.mark.clause("TR-11")
def test_a_value_inside_an_unfinished_header_block_is_read() -> None:
    assert read(b"Content-Length: 40\r\n" + PING + b"\n" + FRAME) == ["fault", PING, PING]


@pytest.mark.clause("TR-02", "TR-11")
def test_header_like_lines_without_length_are_one_fault() -> None:
    lines = b"INFO: starting\nWARN: slowly\n"
    assert read(lines + FRAME) == [PING]
    assert read(lines + PING) == ["fault", PING]
    assert read(lines + b"  " + PING) == ["fault", PING]
    assert read(lines + b"\n" + PING) == ["fault", PING]


@pytest.mark.clause("TR-11")
def test_a_bad_length_that_no_empty_line_completes_belongs_to_the_garbage() -> None:
    assert read(b"garbage\nContent-Length: 4x\n" + PING + b"\n" + FRAME) == ["fault", PING, PING]
    assert read(b"Content-Length: 4x\n" + PING + b"\n" + FRAME) == ["fault", PING, PING]


@pytest.mark.clause("TR-11")
def test_bad_blocks_in_a_row_are_one_fault() -> None:
    assert read(b"Content-Length: x\r\n\r\n" * 5 + FRAME) == ["fault", PING]
    assert read(b"garbage\nContent-Type: x\r\n\r\n" + FRAME) == ["fault", PING]


def sized(size: int) -> bytes:
    """A value of exactly so many bytes."""
    return b'{"a":"' + b"x" * (size - 8) + b'"}'


@pytest.mark.clause("TR-10")
@pytest.mark.parametrize("mode", ["framed", "unframed"])
def test_the_limit_itself_is_allowed_and_one_byte_more_is_not(mode: Mode) -> None:
    assert read(encode(sized(LIMIT), mode) + FRAME) == [sized(LIMIT), PING]
    assert read(encode(sized(LIMIT + 1), mode) + FRAME) == ["fault", PING]


@pytest.mark.clause("TR-10")
def test_the_default_message_limit_is_ten_mebibytes() -> None:
    limit = 10 * 1024 * 1024
    for mode in ("framed", "unframed"):
        assert Decoder().feed(encode(sized(limit), mode)) == [sized(limit)]
        decoder = Decoder()
        assert decoder.feed(encode(sized(limit + 1), mode)) == [Fault("message over 10485760 bytes")]
        assert decoder.feed(PING) == [PING]


@pytest.mark.clause("TR-10")
@pytest.mark.parametrize(
    "large",
    [
        b"[" + b"1," * LIMIT + b"1]",
        b"[" + b'{"a":{"b":{"c":[1,{}]}}},' * LIMIT + b"1]",
        b'{"a":"' + b'\\"}\\\\' * LIMIT + b'"}',
        b'{"a":' + b"1" * LIMIT + b"}",
    ],
)
def test_a_line_that_is_too_large_is_dropped_and_the_next_is_read(large: bytes) -> None:
    assert read(large + b"\n" + PING + b"\n" + large + b"\n" + FRAME) == ["fault", PING, "fault", PING]


@pytest.mark.clause("TR-10", "TR-09")
def test_a_value_that_is_too_large_and_broken_is_one_fault() -> None:
    assert read(b"[" + b"1," * LIMIT + b"oops]\n" + PING) == ["fault", PING]
    assert read(b'["' + b"x" * LIMIT + b"\n" + PING) == ["fault", PING]
    assert read(b"[" + b"1," * LIMIT + b"1\n" + PING) == ["fault", PING]


@pytest.mark.clause("TR-10", "TR-18")
@pytest.mark.parametrize("mode", ["framed", "unframed"])
def test_an_oversized_message_is_drained_and_not_buffered(mode: Mode) -> None:
    decoder = Decoder(LIMIT)
    stream = encode(sized(300 * LIMIT), mode)
    items = []
    for start in range(0, len(stream), 700):
        items += decoder.feed(stream[start : start + 700])
        assert decoder.held <= LIMIT + 700
        assert not items or decoder.held <= 6, "only an escape that was cut may be kept while draining"
    assert items == [Fault("message over 1000 bytes")]
    assert decoder.feed(FRAME) == [PING]


@pytest.mark.clause("TR-10")
def test_the_fault_for_a_frame_that_is_too_large_does_not_wait_for_its_body() -> None:
    decoder = Decoder(LIMIT)
    assert decoder.feed(b"Content-Length: 1001\r\n\r\n") == [Fault("message over 1000 bytes")]
    assert decoder.feed(b"{" * 1000) == []
    assert decoder.feed(b"{" + PING) == [PING]


@pytest.mark.clause("TR-15")
@pytest.mark.parametrize(
    ("first", "mode"),
    [
        (FRAME, "framed"),
        (PING, "unframed"),
        (b"[]", "unframed"),
        (b"{oops\n", "unframed"),
        (b"[" + b"1," * LIMIT, "unframed"),
        (b"garbage\n", "framed"),
        (b"Content-Length: x\r\n\r\n", "framed"),
        (b"Content-Length: 5000\r\n\r\n", "framed"),
        (b"Content-Length: 3\r\n\r\n{{{", "framed"),
        (b"Content-Length: 0\r\n\r\n" + PING, "unframed"),
        (b"\xef\xbb\xbf" + PING, "unframed"),
    ],
)
def test_the_first_message_fixes_the_mode_of_replies(first: bytes, mode: Mode) -> None:
    decoder = Decoder(LIMIT)
    assert decoder.mode is None
    assert decoder.feed(first) != []
    assert decoder.mode == mode
    decoder.feed(b"]" * 3000 + b"\n" * 2 + FRAME + PING + FRAME + b"garbage\n" + b"{oops\n" + PING)
    assert decoder.mode == mode


@pytest.mark.clause("TR-15")
def test_the_mode_is_open_until_a_message_is_there() -> None:
    decoder = Decoder(LIMIT)
    assert decoder.feed(b" \n" + FRAME[:-1]) == []
    assert decoder.mode is None
    assert decoder.feed(FRAME[-1:]) == [PING]
    assert decoder.mode == "framed"
