"""Framed messages: header blocks as they may be, and frames as long as they say."""

from __future__ import annotations

import pytest

from context_pack_adapters.server.framing import Decoder, Fault, encode

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
NEXT = b'{"jsonrpc":"2.0","id":2,"method":"ping"}'
SIZE = len(PING)


def read(data: bytes, limit: int = 1 << 20) -> list[bytes | str]:
    """Bodies, and the reason of each fault; the same whole and byte by byte."""
    whole, drops = Decoder(limit), Decoder(limit)
    items = [*whole.feed(data), *whole.eof()]
    assert [item for byte in data for item in drops.feed(bytes([byte]))] + drops.eof() == items
    return [item.reason if isinstance(item, Fault) else item for item in items]


@pytest.mark.clause("TR-01", "TR-02")
@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: %d\r\n\r\n",
        b"Content-Length: %d\n\n",
        b"Content-Length: %d\r\n\n",
        b"Content-Length: %d\n\r\n",
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Length:\t  %d \t\r\n\r\n",
        b"Content-Length: 0000000000000%d\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nContent-Type: application/json\r\n\r\n",
        b"X-A:\r\nContent-Length: %d\nX-B: {[:\xff\r\nX-A: again\r\n\r\n",
        b"X-Content-Length: 5\r\nContent-Length: %d\r\n\r\n",
        b" \r\n\n\tContent-Length: %d\r\n\r\n",
    ],
)
def test_a_frame_is_read_behind_every_lawful_header_block(header: bytes) -> None:
    frame = header % SIZE + PING
    assert read(frame + frame + frame) == [PING] * 3


@pytest.mark.clause("TR-01", "TR-02")
def test_the_body_of_a_frame_is_passed_on_unparsed() -> None:
    body = b"\r\n\r\nContent-Length: 3\r\n\r\n{[\x00\xff"
    assert read(encode(body, "framed") + encode(PING, "framed")) == [body, PING]


@pytest.mark.clause("TR-06", "TR-15")
def test_framed_and_unframed_messages_may_alternate() -> None:
    frame = encode(PING, "framed")
    assert read(frame + NEXT + frame + b"\n" + NEXT + b"\n" + frame) == [PING, NEXT, PING, NEXT, PING]


BAD_LENGTHS = [
    b"-5", b"+5", b"0x10", b"", b" ", b"5.0", b"5e1", b"1 0", b"five", b"\xd9\xa5", b"5;", b'"5"', b"5, 5",
    b"\x005", b"5\v", b"5\r", b"1073741825", b"99999999999", b"9" * 5000,
]  # fmt: skip


@pytest.mark.clause("TR-03", "TR-11")
@pytest.mark.parametrize("value", BAD_LENGTHS)
def test_a_bad_length_is_one_fault_and_the_next_message_is_read(value: bytes) -> None:
    header = b"Content-Length: " + value + b"\r\n\r\n"
    for follow in (encode(PING, "framed"), PING + b"\n", b"\r\n" + PING):
        fault, body = read(header + follow)
        assert "Content-Length" in str(fault)
        assert body == PING


@pytest.mark.clause("TR-03")
@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: %d\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nX: y\r\ncontent-length: %d\r\n\r\n",
    ],
)
def test_a_second_length_is_a_fault_even_if_equal(header: bytes) -> None:
    assert read(header % (SIZE, SIZE) + encode(NEXT, "framed")) == ["more than one Content-Length", NEXT]


@pytest.mark.clause("TR-03")
def test_a_block_without_a_length_is_a_fault() -> None:
    blocks = b"Content-Type: application/json\r\n\r\n", b"X: y\nContent-Type: application/json\n\n"
    for block in blocks:
        assert read(block + encode(NEXT, "framed")) == ["no Content-Length", NEXT]


@pytest.mark.clause("TR-03", "TR-10")
def test_one_gibibyte_is_a_length_and_one_byte_more_is_nonsense() -> None:
    (drained,) = Decoder().feed(b"Content-Length: 1073741824\r\n\r\n" + PING)
    assert drained == Fault("message over 10485760 bytes")
    assert read(b"Content-Length: 1073741825\r\n\r\n" + PING) == ["Content-Length is over 1 GiB", PING]


@pytest.mark.clause("TR-03")
@pytest.mark.parametrize("end", [b"\r\n\r\n", b"\n\n"])
def test_a_header_block_of_8192_bytes_is_read_and_a_longer_one_is_a_fault(end: bytes) -> None:
    length = b"Content-Length: %d" % SIZE + end[: len(end) // 2]
    room = 8192 - len(length) - len(b"X: ") - len(end)
    block = length + b"X: " + b"x" * room + end
    assert len(block) == 8192
    assert read(block + PING + encode(NEXT, "framed")) == [PING, NEXT]
    longer = length + b"X: " + b"x" * (room + 1) + end
    assert read(longer + encode(NEXT, "framed")) == ["header block over 8192 bytes", NEXT]


@pytest.mark.clause("TR-03")
@pytest.mark.parametrize("lines", [1, 4, 64, 8192])
def test_a_header_block_is_not_saved_by_short_lines(lines: int) -> None:
    line = b"X: " + b"x" * (65536 // lines) + b"\r\n"
    faults = read(line * lines + b"\r\n" + encode(NEXT, "framed"))
    assert faults == ["header block over 8192 bytes", NEXT]


@pytest.mark.clause("TR-03", "TR-11")
def test_a_message_right_behind_8192_bytes_of_header_lines_is_read() -> None:
    lines = b"X: " + b"x" * (8192 - 5) + b"\r\n"
    assert len(lines) == 8192
    for good in (PING, encode(PING, "framed")):
        assert read(lines + good + NEXT) == ["header block over 8192 bytes", PING, NEXT]


@pytest.mark.clause("TR-03", "TR-18")
def test_a_line_without_end_is_a_fault_and_is_not_held() -> None:
    decoder = Decoder()
    items = [item for _ in range(100) for item in decoder.feed(b"x" * 65536)]
    assert items == [Fault("header block over 8192 bytes")]
    assert decoder.held == 0
    assert decoder.feed(b"\n" + PING) == [PING]


@pytest.mark.clause("TR-03")
@pytest.mark.parametrize("zero", [b"0", b"000"])
def test_an_empty_frame_is_ignored(zero: bytes) -> None:
    empty = b"Content-Length: " + zero + b"\r\n\r\n"
    assert read(empty * 3 + encode(PING, "framed") + empty + encode(NEXT, "framed") + empty) == [PING, NEXT]
    decoder = Decoder()
    assert decoder.feed(empty) == []
    assert decoder.mode is None
    assert decoder.feed(PING) == [PING]
    assert decoder.mode == "unframed"


@pytest.mark.clause("TR-40")
@pytest.mark.parametrize("size", range(len(encode(PING, "framed"))))
def test_a_frame_cut_off_at_the_end_is_dropped(size: int) -> None:
    assert read(NEXT + encode(PING, "framed")[:size]) == [NEXT]


@pytest.mark.clause("TR-40")
@pytest.mark.parametrize("begun", [b"hello world", b'"text"', b"Content-Length: 5\r\n{", b"X: y\nno colon\n"])
def test_a_bad_header_cut_off_at_the_end_is_a_fault(begun: bytes) -> None:
    body, fault = read(NEXT + begun)
    assert body == NEXT
    assert isinstance(fault, str)


@pytest.mark.clause("TR-15")
def test_a_framed_reply_says_how_many_bytes_it_has() -> None:
    body = '{"text":"é 日本 😀"}'.encode()
    assert encode(body, "framed") == b"Content-Length: %d\r\n\r\n" % len(body) + body
    assert encode(body, None) == encode(body, "framed")
