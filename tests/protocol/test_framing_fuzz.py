"""A fuzz target for the codec, seeded so that a failure can be repeated.

Invariant: whatever bytes arrive and however they are cut, decoding ends without an exception, gives the same
bodies, faults and mode, holds at most one message, and reads the good message behind the next empty line.
"""

from __future__ import annotations

import random
import re

import pytest

from context_pack_adapters.server.framing import Decoder, Fault, encode
from context_pack_adapters.server.jsonrpc import ProtocolError, classify, decode

pytestmark = pytest.mark.slow

SENTINEL = b'{"jsonrpc":"2.0","id":"sentinel","method":"ping"}'
LIMIT = 120
ROUNDS = 400
LARGE_FRAME = re.compile(rb"(?i)content-length:[ \t]*([0-9]{3,10})")

# What streams are made of: good messages, their parts, and what is known to hurt.
PARTS = [
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}', b'{"a":[1,2.5e-3,true,null,"\\u00e9\\n"]}', b"[]", b"{}",
    b"[[[]]]", b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u12", b"-", b"0", b"1.5", b"1e", b"tru",
    b"true", b"nul", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"\t", b"\v", b"\x00", b"\xff", b"\xef\xbb\xbf",
    b"\xef", b"\xc3\xa9", b"Content-Length: 40", b"Content-Length: ", b"Content-Length: 5\r\n\r\n",
    b"content-length:7\n\n", b"X: y\r\n", b"Content-Length: 0\r\n\r\n", b"Content-Length: 121\r\n\r\n",
    b"Content-Length: -1\r\n\r\n", b"garbage\n", b'"' + b"x" * 130 + b'"', b"[" * 130, b"9" * 130,
    b" " * 130, b"x" * 300, b"X: " + b"y" * 9000, b'{"k":', b"[1,",
]  # fmt: skip


def stream(chance: random.Random) -> bytes:
    """Some parts, some frames around parts, and now and then a flipped byte."""
    made = bytearray()
    for _ in range(chance.randint(1, 14)):
        part = chance.choice(PARTS)
        made += encode(part, "framed") if chance.random() < 0.15 else part
    for _ in range(chance.choice([0, 0, 1, 3])):
        made[chance.randrange(len(made))] = chance.randrange(256)
    return bytes(made)


def decoded(data: bytes, cuts: list[int]) -> tuple[list[bytes | Fault], str | None]:
    """Everything that comes out of the data, cut at the given places."""
    decoder = Decoder(LIMIT)
    items: list[bytes | Fault] = []
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        items += decoder.feed(data[start:end])
        # One message, or the line of a header block, and what came with it in the same piece.
        assert decoder.held <= max(LIMIT, 8192) + end - start
    return items + decoder.eof(), decoder.mode


@pytest.mark.clause("TR-18")
@pytest.mark.parametrize("seed", range(4))
def test_decoding_does_not_depend_on_how_bytes_are_split(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(ROUNDS):
        data = stream(chance)
        whole = decoded(data, [])
        assert decoded(data, list(range(1, len(data)))) == whole
        cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randint(1, 8)))
        assert decoded(data, cuts) == whole
        for item in whole[0]:
            if isinstance(item, bytes):
                assert 0 < len(item) <= LIMIT
                try:
                    classify(decode(item))
                except ProtocolError:
                    continue


@pytest.mark.clause("TR-09", "TR-11", "TR-18")
@pytest.mark.parametrize("seed", range(2))
def test_a_message_after_random_garbage_is_always_read(seed: int) -> None:
    chance = random.Random(1000 + seed)
    for _ in range(ROUNDS):
        data = stream(chance)
        if any(int(length) > LIMIT for length in LARGE_FRAME.findall(data)):
            continue  # It would lawfully be drained for longer than this test sends.
        # A frame or a value that was begun may lawfully take what follows as its own. A line that no value
        # and no header can contain, sent until every open frame is full, ends both.
        decoder = Decoder(LIMIT)
        decoder.feed(data + b"\n\x01\n" * LIMIT)
        assert decoder.feed(b"\n" + SENTINEL + b"\n")[-1] == SENTINEL
        assert decoder.feed(encode(SENTINEL, "framed")) == [SENTINEL]
