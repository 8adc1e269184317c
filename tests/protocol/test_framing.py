"""The codec: what is a message, framed or not; what is a fault, and where reading goes on behind it.

Every stream is read whole and byte by byte, which must give the same.
"""

from __future__ import annotations

import json

import pytest
from hanging import never_hanging

from context_pack_adapters.server.framing import Decoder, Fault, Mode, encode

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
NEXT = b'{"jsonrpc":"2.0","id":2,"method":"ping"}'
FRAME, SIZE = encode(PING, "framed"), len(PING)
LIMIT = 1000
MEBIBYTE = 1024 * 1024


def read(data: bytes, limit: int = MEBIBYTE) -> list[bytes | str]:
    """Bodies, and the reason of each fault."""
    whole, drops = Decoder(limit), Decoder(limit)
    items = [*whole.feed(data), *whole.eof()]
    assert [item for byte in data for item in drops.feed(bytes([byte]))] + drops.eof() == items
    assert drops.mode == whole.mode
    return [item.reason if isinstance(item, Fault) else item for item in items]


def outline(data: bytes, limit: int = MEBIBYTE) -> list[bytes | str]:
    """Bodies, and "fault" for each fault."""
    return [item if isinstance(item, bytes) else "fault" for item in read(data, limit)]


# -- what is a message


@pytest.mark.clause("TR-01", "TR-02")
@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: %d\r\n\r\n",
        b"Content-Length: %d\n\n",
        b"Content-Length: %d\r\n\n",
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Length:\t  %d \t\r\n\r\n",
        b"Content-Length: 0000000000000%d\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"X-A:\r\nContent-Length: %d\nX-B: {[:\xff\r\nX-A: again\r\n\r\n",
        b"X-Content-Length: 5\r\nContent-Length: %d\r\n\r\n",
        b" \r\n\n\tContent-Length: %d\r\n\r\n",
    ],
)
def test_a_frame_is_read_behind_every_lawful_header_block(header: bytes) -> None:
    assert read((header % SIZE + PING) * 3) == [PING] * 3


PRETTY = json.dumps({"id": 7, "params": {"list": [1, 2.5, {"x": []}], "text": 'a}\n"{'}}, indent=2).encode()
STRINGS = rb'{"text":"}]{[ \" \\ \n \\\" }","\"}":"\\"}'


@pytest.mark.clause("TR-01", "TR-06")
@pytest.mark.parametrize(
    ("data", "bodies"),
    [
        (b" \t\r\n\v\f" + PING + b"\r\n\n \f\v\t" + NEXT + b"  \n", [PING, NEXT]),
        (b"[" + PING + b", " + NEXT + b"]\n[]{}", [b"[" + PING + b", " + NEXT + b"]", b"[]", b"{}"]),
        (PING + NEXT + b"[1]" + PING + b" \t" + NEXT, [PING, NEXT, b"[1]", PING, NEXT]),
        (b'{"a":[]}' * 100 + b"\n" + PING, [b'{"a":[]}'] * 100 + [PING]),
        (PRETTY + b"\n" + PING + b"\n" + PRETTY, [PRETTY, PING, PRETTY]),
        (STRINGS + b"\n" + PING, [STRINGS, PING]),
        (FRAME + NEXT + FRAME + b"\n" + NEXT + b"\n" + FRAME, [PING, NEXT, PING, NEXT, PING]),
        (b"\xef\xbb\xbf" + PING + b"\n" + NEXT, [PING, NEXT]),
        (b" \n\xef\xbb\xbf\n" + FRAME + NEXT, [PING, NEXT]),
        (PING + b"\n\xef\xbb\xbf" + NEXT + b"\n" + NEXT, [PING, "fault", NEXT]),
    ],
)
def test_bare_values_are_told_apart_by_their_structure(data: bytes, bodies: list[bytes | str]) -> None:
    assert outline(data) == bodies


@pytest.mark.clause("TR-06")
def test_a_value_over_many_writes_is_a_message_at_its_last_bracket() -> None:
    decoder = Decoder()
    pieces = b'{"a": "one\\', b'u00e9", "b": [1.5', b"e+", b"3, tr", b"ue, nul", b"l]"
    assert [decoder.feed(piece) for piece in pieces] == [[]] * len(pieces)
    assert decoder.feed(b"}") == [b'{"a": "one\\u00e9", "b": [1.5e+3, true, null]}']


@pytest.mark.clause("TR-40")
@pytest.mark.parametrize(
    "begun", [PING[:-1], PING[:1], b'{"a": "', b'{\n"a": {', b" \n", *(FRAME[:n] for n in range(0, 60, 7))]
)
def test_an_unfinished_message_at_the_end_is_dropped(begun: bytes) -> None:
    assert read(NEXT + b"\n" + begun) == [NEXT]


# -- what is a fault


BAD_LENGTHS = [
    b"-5", b"+5", b"0x10", b"", b" ", b"5.0", b"5e1", b"1 0", b"five", b"\xd9\xa5", b"5;", b'"5"', b"5, 5",
    b"\x005", b"5\v", b"5\r", b"1073741825", b"99999999999", b"9" * 5000,
]  # fmt: skip


@pytest.mark.clause("TR-03", "TR-11")
@pytest.mark.parametrize("value", BAD_LENGTHS)
def test_a_bad_length_is_one_fault_and_the_next_message_is_read(value: bytes) -> None:
    header = b"Content-Length: " + value + b"\r\n\r\n"
    for follow in (FRAME, PING + b"\n", b"\r\n" + PING):
        fault, body = read(header + follow)
        assert ("Content-Length" in str(fault), body) == (True, PING)


@pytest.mark.clause("TR-03")
@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (b"Content-Length: 40\r\nContent-Length: 40\r\n\r\n", "more than one Content-Length"),
        (b"Content-Length: 40\r\nX: y\r\ncontent-length: 40\r\n\r\n", "more than one Content-Length"),
        (b"Content-Type: application/json\r\n\r\n", "no Content-Length"),
        (b"Content-Length: 1073741825\r\n\r\n", "Content-Length is over 1 GiB"),
        (b"X: " + b"x" * 8186 + b"\r\n\r\n", "header block over 8192 bytes"),
        (b"X: " + b"x" * 20_000 + b"\r\n\r\n", "header block over 8192 bytes"),
        (b"X: xxx\r\n" * 1200 + b"\r\n", "header block over 8192 bytes"),
        (b"X: " + b"x" * 8187 + b"\r\n", "header block over 8192 bytes"),
    ],
)
def test_a_bad_header_block_says_what_is_wrong(header: bytes, reason: str) -> None:
    assert read(header + FRAME) == [reason, PING]
    assert read(header + NEXT + b"\n") == [reason, NEXT]


@pytest.mark.clause("TR-03", "TR-10")
def test_the_largest_header_block_and_the_largest_frame_are_lawful() -> None:
    length = b"Content-Length: %d\r\n" % SIZE
    block = length + b"X: " + b"x" * (8192 - len(length) - 7) + b"\r\n\r\n"
    assert len(block) == 8192
    assert read(block + PING + FRAME) == [PING, PING]
    (drained,) = Decoder().feed(b"Content-Length: 1073741824\r\n\r\n" + PING)
    assert drained == Fault("message over 10485760 bytes")


@pytest.mark.clause("TR-03", "TR-15")
def test_an_empty_frame_is_ignored() -> None:
    empty = b"Content-Length: 0\r\n\r\n"
    assert read(empty * 3 + FRAME + empty + NEXT + empty) == [PING, NEXT]
    decoder = Decoder()
    assert (decoder.feed(empty), decoder.mode) == ([], None)
    assert (decoder.feed(PING), decoder.mode) == ([PING], "unframed")


BROKEN = [
    b'{"a": tru}', b'{"a": trUe}', b'{"a": nulll}', b'{"a": nul}', b"{'a': 1}", b"{a: 1}", b'{"a" 1}',
    b'{"a": }', b'{"a": 1,}', b"{,}", b"[1,]", b"[,1]", b"[1 2]", b"[1}", b'{"a": 1]', b'{"a": [1}',
    b'{"a": 01}', b'{"a": -}', b'{"a": +1}', b'{"a": 1.}', b'{"a": .5}', b'{"a": 1.e5}', b'{"a": 1e}',
    b'{"a": 0x10}', b'{"a": --1}', b'{"a": "\\x41"}', b'{"a": "\\u12g4"}', b'{"a": "\\u12"}', b'{"a": "\t"}',
    b'{"a": undefined}', b"{1: 2}", b"[\v1]", b"[\xef\xbb\xbf1]", b"[1, /* no */ 2]", b"[\x80]", b"[[] []]",
    b'{"a": oops} {"b": 1} [2] "three"', b'{"a": "no end', b'{"a": 1', b'{"a": [1, 2]', b"[{}", b"{",
    b"[" * 200_000,
]  # fmt: skip


@pytest.mark.clause("TR-09")
@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: ascii(broken[:20]))
def test_a_broken_line_is_one_fault_and_the_next_line_is_read(broken: bytes) -> None:
    follows = (
        (PING + b"\n" + FRAME, b"\n  " + FRAME + PING) if len(broken) < 1000 else (PING + b"\n" + FRAME,)
    )
    for follow in follows:
        assert outline(broken + b"\n" + follow) == ["fault", PING, PING]


@pytest.mark.clause("TR-09")
@pytest.mark.parametrize("broken", [b'{"a": trx', b"{1", b"[1x", b'["\\x', b'["', b"[1.5e]", b'{"a"}'])
def test_a_broken_value_is_a_fault_at_the_end_of_its_line_at_the_latest(broken: bytes) -> None:
    decoder = Decoder()
    assert [type(item) for item in decoder.feed(broken) + decoder.feed(b"\n")] == [Fault]


@pytest.mark.clause("TR-09")
def test_every_broken_line_is_a_fault_of_its_own_and_bad_utf8_costs_its_own_value() -> None:
    assert outline(b'{"a": oops}\n{"b": oops}\n[oops\nnonsense\n' + PING) == ["fault"] * 4 + [PING]
    body = b'{\n  "a": "\xff\xfe \xc3(",\n  "b": 1\n}'
    assert read(body + NEXT) == [body, NEXT]


GARBAGE = [
    b"garbage\n",
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
    b"Content-Length: 4x\r\n\r\nhello\nagain\n",
    b"Content-Length: x\r\n\r\n" * 5,
    b"garbage\nContent-Type: x\r\n\r\n",
]


@pytest.mark.clause("TR-11")
@pytest.mark.parametrize("garbage", GARBAGE, ids=lambda garbage: ascii(garbage[:20]))
@pytest.mark.parametrize("good", [PING + b"\n", b"  " + PING, FRAME, b"X: y\r\n" + FRAME, b"\n\n" + FRAME])
def test_garbage_is_one_fault_and_the_next_message_is_read(garbage: bytes, good: bytes) -> None:
    assert outline(garbage + good + FRAME) == ["fault", PING, PING]


@pytest.mark.clause("TR-02", "TR-11")
@pytest.mark.parametrize(
    ("data", "items"),
    [
        ((FRAME + b"garbage\nmore\n" + PING + b"\noops\n") * 3, [PING, "fault", PING, "fault"] * 3),
        (PING + b" garbage\n" + PING, [PING, "fault", PING]),
        (b"Content-Length: 40\r\n" + PING + b"\n" + FRAME, ["fault", PING, PING]),
        (b"INFO: starting\nWARN: slowly\n" + FRAME, [PING]),
        (b"INFO: starting\nWARN: slowly\n" + PING, ["fault", PING]),
        (b"garbage\nContent-Length: 4x\n" + PING + b"\n" + FRAME, ["fault", PING, PING]),
        (NEXT + b"X: y\nno colon\n", [NEXT, "fault"]),
        (b"X: " + b"x" * 8189 + PING + b"\n" + FRAME, ["fault", PING]),
    ],
)
def test_lines_that_look_like_headers_belong_to_what_follows_them(
    data: bytes, items: list[bytes | str]
) -> None:
    assert outline(data) == items


# -- sizes and modes


def sized(size: int) -> bytes:
    """A value of exactly so many bytes."""
    return b'{"a":"' + b"x" * (size - 8) + b'"}'


@pytest.mark.clause("TR-10")
@pytest.mark.parametrize("mode", ["framed", "unframed"])
@pytest.mark.parametrize("limit", [LIMIT, 10 * MEBIBYTE])
def test_the_limit_itself_is_allowed_and_one_byte_more_is_not(mode: Mode, limit: int) -> None:
    decoder = Decoder(limit) if limit == LIMIT else Decoder()
    assert decoder.feed(encode(sized(limit), mode)) == [sized(limit)]
    over = b"\n" + encode(sized(limit + 1), mode).rstrip(b"\n")
    assert decoder.feed(over) == [Fault(f"message over {limit} bytes")]
    assert decoder.feed(b"\n" + FRAME) == [PING]


@pytest.mark.clause("TR-10")
@pytest.mark.parametrize(
    "large",
    [
        b"[" + b"1," * LIMIT + b"1]", b"[" + b'{"a":{"b":{"c":[1,{}]}}},' * LIMIT + b"1]",
        b'{"a":"' + b'\\"}\\\\' * LIMIT + b'"}', b'{"a":' + b"1" * LIMIT + b"}",
        b"[" + b"1," * LIMIT + b"oops]", b'["' + b"x" * LIMIT,
    ],
)  # fmt: skip
def test_a_line_that_is_too_large_is_dropped_and_the_next_is_read(large: bytes) -> None:
    assert outline(large + b"\n" + PING + b"\n" + large + b"\n" + FRAME, LIMIT) == [
        "fault",
        PING,
        "fault",
        PING,
    ]


@pytest.mark.clause("TR-10", "TR-18")
@pytest.mark.parametrize("mode", ["framed", "unframed"])
def test_an_oversized_message_is_drained_and_not_held(mode: Mode) -> None:
    decoder = Decoder(LIMIT)
    stream = encode(sized(300 * LIMIT), mode)
    items = []
    for start in range(0, len(stream), 700):
        items += decoder.feed(stream[start : start + 700])
        assert decoder.held <= LIMIT + 700
    assert items == [Fault("message over 1000 bytes")]
    assert decoder.feed(FRAME) == [PING]
    assert decoder.feed(b"Content-Length: 1001\r\n\r\n") == items  # told before its body has come
    behind = decoder.feed(b"x" * 1001 + b"garbage\n" + PING)
    assert [type(item) for item in behind] == [Fault, bytes]  # a fault of its own


@pytest.mark.clause("TR-15")
@pytest.mark.parametrize(
    ("first", "mode"),
    [
        (FRAME, "framed"), (PING, "unframed"), (b"{oops\n", "unframed"), (b"[" + b"1," * LIMIT, "unframed"),
        (b"garbage\n", "framed"), (b"Content-Length: x\r\n\r\n", "framed"),
        (b"Content-Length: 5000\r\n\r\n", "framed"), (b"Content-Length: 3\r\n\r\n{{{", "framed"),
        (b"\xef\xbb\xbf" + PING, "unframed"),
    ],
)  # fmt: skip
def test_the_first_message_fixes_the_mode_of_replies(first: bytes, mode: Mode) -> None:
    decoder = Decoder(LIMIT)
    assert decoder.feed(b" \n") == []
    assert decoder.mode is None
    assert decoder.feed(first) != []
    decoder.feed(b"]" * 6000 + b"\n" * 2 + FRAME + PING + b"garbage\n{oops\n" + PING)
    assert decoder.mode == mode
    assert encode(PING, "unframed") == PING + b"\n"


SHAPES = {
    "text": b'{"a":"' + b"x" * (2 * MEBIBYTE) + b'"}',
    "digits": b'{"a":' + b"1" * (2 * MEBIBYTE) + b"}",
    "blanks": b"{" + b" " * (2 * MEBIBYTE) + b"}",
    "items": b"[" + b"1," * MEBIBYTE + b"1]",
    "objects": b"[" + b'{"key":"value","list":[1,2,{}]},' * (MEBIBYTE // 32) + b"1]",
}


@pytest.mark.slow
@pytest.mark.clause("TR-18")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_large_value_in_pieces_takes_linear_time(shape: str) -> None:
    """A reader that looked at all its bytes again with every piece would not end before the guard does."""
    data, decoder = SHAPES[shape] + PING, Decoder()
    items: list[bytes | Fault] = []
    with never_hanging():
        for start in range(0, len(data), 65536):
            items += decoder.feed(data[start : start + 65536])
    assert items == [SHAPES[shape], PING]
