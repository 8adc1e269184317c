"""Unframed JSON: values are told apart by structure, and a broken one costs a line."""

from __future__ import annotations

import json

import pytest

from context_pack_adapters.server.framing import Decoder, Fault, encode

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
NEXT = b'{"jsonrpc":"2.0","id":2,"method":"ping"}'


def read(data: bytes, limit: int = 1 << 20) -> list[bytes | str]:
    """Bodies, and "fault" for each fault; the same whole and byte by byte."""
    whole, drops = Decoder(limit), Decoder(limit)
    items = [*whole.feed(data), *whole.eof()]
    assert [item for byte in data for item in drops.feed(bytes([byte]))] + drops.eof() == items
    assert drops.mode == whole.mode
    return ["fault" if isinstance(item, Fault) else item for item in items]


@pytest.mark.clause("TR-01")
def test_white_space_around_values_is_skipped() -> None:
    assert read(b" \t\r\n\v\f" + PING + b"\r\n\n \f\v\t" + NEXT + b"  \n") == [PING, NEXT]


@pytest.mark.clause("TR-01", "TR-06")
def test_an_unframed_array_is_a_message() -> None:
    assert read(b"[" + PING + b", " + NEXT + b"]\n[]{}") == [b"[" + PING + b", " + NEXT + b"]", b"[]", b"{}"]


@pytest.mark.clause("TR-06")
def test_one_unframed_value_per_line_is_one_message() -> None:
    assert read(PING + b"\n" + NEXT + b"\n") == [PING, NEXT]


@pytest.mark.clause("TR-06")
def test_lines_may_end_with_carriage_return_and_newline() -> None:
    assert read(PING + b"\r\n" + NEXT + b"\r\n") == [PING, NEXT]


@pytest.mark.clause("TR-06")
def test_several_values_in_one_write_need_nothing_between_them() -> None:
    assert read(PING + NEXT + b"[1]" + PING + b" \t" + NEXT) == [PING, NEXT, b"[1]", PING, NEXT]


@pytest.mark.clause("TR-06")
def test_many_values_on_one_line_are_many_messages() -> None:
    assert read(b'{"a":[]}' * 1000 + b"\n" + PING) == [b'{"a":[]}'] * 1000 + [PING]


@pytest.mark.clause("TR-06")
def test_one_value_over_many_writes() -> None:
    decoder = Decoder()
    assert decoder.feed(b'{"a": "one\\') == []
    assert decoder.feed(b'u00e9", "b": [1.5') == []
    assert decoder.feed(b"e+") == []
    assert decoder.feed(b"3, tr") == []
    assert decoder.feed(b"ue, nul") == []
    assert decoder.feed(b"l]}\n" + PING) == [b'{"a": "one\\u00e9", "b": [1.5e+3, true, null]}', PING]


@pytest.mark.clause("TR-06")
def test_a_pretty_printed_value_is_one_message() -> None:
    value = {
        "jsonrpc": "2.0",
        "id": 7,
        "params": {"list": [1, 2.5, {"x": []}], "none": None, "text": 'a}\n"{'},
    }
    pretty = json.dumps(value, indent=2).encode()
    assert read(pretty + b"\n" + PING + b"\n" + pretty) == [pretty, PING, pretty]


@pytest.mark.clause("TR-06")
def test_brackets_and_newlines_inside_strings_do_not_count() -> None:
    body = rb'{"text":"}]{[ \" \\ \n \\\" }","\"}":"\\"}'
    assert read(body + b"\n" + PING) == [body, PING]


@pytest.mark.clause("TR-06", "TR-40")
def test_the_last_value_needs_no_newline() -> None:
    assert read(PING + b"\n" + NEXT) == [PING, NEXT]


@pytest.mark.clause("TR-06")
def test_a_value_is_a_message_at_its_last_bracket() -> None:
    decoder = Decoder()
    assert decoder.feed(PING[:-1]) == []
    assert decoder.feed(PING[-1:]) == [PING]


@pytest.mark.clause("TR-14", "TR-18")
def test_a_hundred_thousand_brackets_are_faults_and_not_a_crash() -> None:
    assert read(b"[" * 100_000 + b"\n" + PING) == ["fault", PING]


BROKEN = [
    b'{"a": tru}', b'{"a": trUe}', b'{"a": nulll}', b'{"a": nul}', b"{'a': 1}", b"{a: 1}", b'{"a" 1}',
    b'{"a": }', b'{"a": 1,}', b"{,}", b"[1,]", b"[,1]", b"[1 2]", b"[1}", b'{"a": 1]', b'{"a": [1}',
    b'{"a": 01}', b'{"a": -}', b'{"a": +1}', b'{"a": 1.}', b'{"a": .5}', b'{"a": 1.e5}', b'{"a": 1e}',
    b'{"a": 1e+}', b'{"a": 0x10}', b'{"a": 1_000}', b'{"a": --1}', b'{"a": "\\x41"}', b'{"a": "\\u12g4"}',
    b'{"a": "\\u12"}', b'{"a": "\t"}', b'{"a": "\x00"}',
    b'{"a": undefined}', b"{1: 2}", b"[\v1]", b"[\xef\xbb\xbf1]", b"[1, /* no */ 2]",
    b"[\x80]", b'{"a" : : 1}', b"[[] []]", b"[1;2]",
]  # fmt: skip


@pytest.mark.clause("TR-09")
@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_line_is_one_fault_and_the_next_line_is_read(broken: bytes) -> None:
    answers = read(broken + b"\n" + PING + b"\n")
    assert answers[-1] == PING
    assert answers.count("fault") == 1


@pytest.mark.clause("TR-09")
@pytest.mark.parametrize(
    "broken", [b'{"a": trx', b"{1", b"[1x", b'["\\x', b'["', b"[00", b"[1.5e]", b'{"a"}']
)
def test_a_broken_value_is_answered_at_the_end_of_its_line(broken: bytes) -> None:
    decoder = Decoder()
    for byte in broken:
        decoder.feed(bytes([byte]))
    (fault,) = [*decoder.feed(b"\n"), *Decoder().feed(broken + b"\n")][:1]
    assert isinstance(fault, Fault)


@pytest.mark.clause("TR-09")
def test_the_rest_of_a_broken_line_is_dropped() -> None:
    assert read(b'{"a": oops} {"b": 1} [2] "three"\n' + PING) == ["fault", PING]


@pytest.mark.clause("TR-09")
def test_a_string_that_is_not_closed_ends_with_its_line() -> None:
    assert read(b'{"a": "no end\n' + PING + b"\n") == ["fault", PING]


@pytest.mark.clause("TR-09")
@pytest.mark.parametrize(
    "unfinished", [b'{"a": 1', b'{"a": [1, 2]', b"[1", b"[{}", b"{", b'{"a": 1,', b'{"a"']
)
def test_a_value_cut_off_at_the_end_of_its_line_does_not_swallow_the_next_message(unfinished: bytes) -> None:
    assert read(unfinished + b"\n" + PING + b"\n" + NEXT) == ["fault", PING, NEXT]
    assert read(unfinished + b"\r\n\n  " + PING + b"\n" + NEXT) == ["fault", PING, NEXT]


@pytest.mark.clause("TR-09")
@pytest.mark.parametrize("unfinished", [b'{"a": 1', b'{"a":', b"[1,", b"{"])
def test_a_value_cut_off_does_not_swallow_the_next_frame(unfinished: bytes) -> None:
    assert read(unfinished + b"\n" + encode(PING, "framed") + NEXT) == ["fault", PING, NEXT]


@pytest.mark.clause("TR-09")
def test_every_broken_line_is_a_fault_of_its_own() -> None:
    assert read(b'{"a": oops}\n{"b": oops}\n[oops\nnonsense\n' + PING) == ["fault"] * 4 + [PING]


@pytest.mark.clause("TR-09")
def test_invalid_utf8_fails_only_its_own_value() -> None:
    body = b'{\n  "a": "\xff\xfe \xc3(",\n  "b": 1\n}'
    assert read(body + NEXT) == [body, NEXT]


@pytest.mark.clause("TR-40")
@pytest.mark.parametrize("begun", [PING[:-1], PING[:1], b'{"a": "', b"[1", b'{\n"a": {', b" \n"])
def test_an_unfinished_value_at_the_end_is_dropped(begun: bytes) -> None:
    assert read(NEXT + b"\n" + begun) == [NEXT]


@pytest.mark.clause("TR-01")
def test_a_byte_order_mark_before_the_first_message_is_skipped() -> None:
    assert read(b"\xef\xbb\xbf" + PING + b"\n" + NEXT) == [PING, NEXT]
    assert read(b" \n\xef\xbb\xbf\n" + encode(PING, "framed") + NEXT) == [PING, NEXT]


@pytest.mark.clause("TR-01")
def test_a_byte_order_mark_later_on_is_garbage() -> None:
    assert read(PING + b"\n\xef\xbb\xbf" + NEXT + b"\n" + NEXT) == [PING, "fault", NEXT]


@pytest.mark.clause("TR-15")
def test_an_unframed_reply_is_a_line() -> None:
    assert encode(PING, "unframed") == PING + b"\n"
    assert read(encode(PING, "unframed") + encode(NEXT, "unframed")) == [PING, NEXT]
