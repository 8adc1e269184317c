"""Properties of the codec: for every stream of good messages, and for every single byte gone wrong."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from context_pack_adapters.server.framing import Decoder, Fault, Mode, encode
from context_pack_adapters.server.jsonrpc import ProtocolError, decode

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=12)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
)
CONTAINERS = st.lists(VALUES, max_size=4) | st.dictionaries(st.text(max_size=6), VALUES, max_size=4)
MODES: st.SearchStrategy[Mode] = st.sampled_from(["framed", "unframed"])


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """A JSON object or array in one of the ways people write it."""
    value = draw(CONTAINERS)
    indent = draw(st.sampled_from([None, 0, 2]))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " :\r\n")]))
    return json.dumps(value, indent=indent, separators=separators, ensure_ascii=draw(st.booleans())).encode()


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    """The data cut at the given places."""
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(places)]


@pytest.mark.clause("TR-06", "TR-15", "TR-18")
@given(
    st.lists(st.tuples(bodies(), MODES, st.sampled_from([b"", b"\n", b"\r\n", b" \n\n\t"])), max_size=6),
    st.lists(st.integers(0, 600), max_size=12),
)
def test_good_messages_come_out_as_they_went_in(
    messages: list[tuple[bytes, Mode, bytes]], cuts: list[int]
) -> None:
    stream = b"".join(
        (body if mode == "unframed" else encode(body, mode)) + between for body, mode, between in messages
    )
    decoder = Decoder()
    items = [item for piece in pieces(stream, cuts) for item in decoder.feed(piece)]
    assert items == [body for body, _, _ in messages]
    assert decoder.eof() == []
    assert decoder.mode == (messages[0][1] if messages else None)


def strict(text: bytes) -> Any:
    """Another reader of strict JSON, made of the standard library alone."""

    def refuse(name: str) -> Any:
        raise ValueError(name)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(pairs) if len(dict(pairs)) == len(pairs) else refuse("a key appears twice")

    value = json.loads(text.decode(), parse_constant=refuse, object_pairs_hook=unique)
    json.dumps(value, allow_nan=False)  # a number that overflows, such as 1e309, is infinite to Python alone
    return value


def is_json(text: bytes) -> bool:
    """Whether the session takes it; what only looks like a value (`[NaN]`) is found out there."""
    try:
        decode(text)
    except ProtocolError:
        return False
    return True


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """One line of JSON with one character dropped, added or replaced, or as it was."""
    line = draw(bodies()).replace(b"\n", b" ").decode()
    place = draw(st.integers(0, len(line) - 1))
    added = draw(st.sampled_from(["", *'{}[],:"\\ -+.eE01tnfax\t\x00é']))
    dropped = draw(st.integers(0, 1))
    changed: str = line[:place] + added + line[place + dropped :]
    return changed.encode()


@pytest.mark.clause("TR-06", "TR-09")
@given(damaged())
@example(b"[1e309]")
@example(b'{"a":1,"a":2}')
def test_a_line_is_a_message_exactly_if_another_strict_reader_takes_it(line: bytes) -> None:
    try:
        good = isinstance(strict(line), dict | list)
    except ValueError:
        good = False
    (first, *_) = [*Decoder().feed(line + b"\n"), Fault("unfinished")]
    assert (first == line.strip() and is_json(line)) == good


PARTS = [
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}', b'{"a":[1,2.5e-3,true,null,"\\u00e9\\n"]}', b"[]", b"{}",
    b"[[[]]]", b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u12", b"-", b"0", b"1.5", b"1e", b"tru",
    b"true", b"nul", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"\t", b"\v", b"\x00", b"\xff", b"\xef\xbb\xbf",
    b"\xef", b"\xc3\xa9", b"Content-Length: 40", b"Content-Length: ", b"Content-Length: 5\r\n\r\n",
    b"content-length:7\n\n", b"X: y\r\n", b"Content-Length: 0\r\n\r\n", b"Content-Length: 121\r\n\r\n",
    b"Content-Length: -1\r\n\r\n", b"garbage\n", b'"' + b"x" * 130 + b'"', b"[" * 130, b"9" * 130,
    b" " * 130, b"x" * 300, b"X: " + b"y" * 9000, b'{"k":', b"[1,", b"[-1e309]", b'["\\ud83d\\u00e9"',
    b"[1.e5]",
]  # fmt: skip


@pytest.mark.clause("TR-18")
@settings(max_examples=400)
@given(st.lists(st.sampled_from(PARTS) | damaged(), max_size=12), st.lists(st.integers(0, 400), max_size=8))
def test_every_way_of_cutting_the_bytes_gives_the_same_messages(parts: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(parts) + b"\n[]"
    results = []
    for fed in ([stream], pieces(stream, cuts), [stream[at : at + 1] for at in range(len(stream))]):
        decoder = Decoder(120)
        items = [item for part in fed for item in decoder.feed(part)]
        results.append((items + decoder.eof(), decoder.mode))
    assert results[0] == results[1] == results[2]
    # A frame or value that was begun may take what follows as its own, until nothing can be part of it.
    if not any(b"Content-Length: 121" in part for part in parts):
        decoder = Decoder(120)
        decoder.feed(stream + b"\n\x01\n" * 120)
        assert decoder.feed(b"\n" + PARTS[0] + b"\n")[-1] == PARTS[0]
