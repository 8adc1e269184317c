"""Where does an unframed JSON value end? An incremental pushdown automaton over a growing buffer.

What lives here: the table of what may follow what, and the patterns that let the regular-expression engine
run over many tokens at once. What must not: decoding of values, size limits, I/O.

Theory: a value is complete at its last bracket, broken at the first byte after which no value is possible,
and pending otherwise. All three depend on the bytes alone, never on how they were cut into pieces, and every
byte is looked at a bounded number of times. Between pieces the automaton keeps a state, a stack of at most
MAX_DEPTH entries, and a few bytes of a number or literal that was cut. Bytes of strings are not checked for
UTF-8: a value with a bad string still has an end, so it is refused whole and costs its sender nothing else.
"""

from __future__ import annotations

import re
from typing import Final

from context_pack_adapters.mcp.limits import MAX_DEPTH

# States: what the next token may be, or which token the last piece ended in.
KEY_OR_END, KEY, COLON, VALUE, ITEM_OR_END, ITEM, AFTER_MEMBER, AFTER_ITEM = range(8)
IN_KEY, IN_TEXT, IN_ATOM = range(8, 11)
# Steps that are not simply a next state.
OPEN_OBJECT, OPEN_ARRAY, CLOSE = range(11, 14)

_VALUE_STEPS: Final = {
    ord('"'): IN_TEXT,
    ord("{"): OPEN_OBJECT,
    ord("["): OPEN_ARRAY,
    **dict.fromkeys(b"-0123456789tfn", IN_ATOM),
}
STEPS: Final[dict[int, dict[int, int]]] = {
    KEY_OR_END: {ord('"'): IN_KEY, ord("}"): CLOSE},
    KEY: {ord('"'): IN_KEY},
    COLON: {ord(":"): VALUE},
    VALUE: _VALUE_STEPS,
    ITEM_OR_END: {**_VALUE_STEPS, ord("]"): CLOSE},
    ITEM: _VALUE_STEPS,
    AFTER_MEMBER: {ord(","): KEY, ord("}"): CLOSE},
    AFTER_ITEM: {ord(","): ITEM, ord("]"): CLOSE},
}
# Per bracket: the state inside the new container, and the state after each of its values (kept on the stack).
OPENED: Final = {
    OPEN_OBJECT: (KEY_OR_END, AFTER_MEMBER),
    ord("{"): (KEY_OR_END, AFTER_MEMBER),
    OPEN_ARRAY: (ITEM_OR_END, AFTER_ITEM),
    ord("["): (ITEM_OR_END, AFTER_ITEM),
}

_WS = rb"[ \t\n\r]*+"
_PLAIN = rb"[^\"\\\x00-\x1f]"
_ESCAPE = rb"\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})"
# Repetitions of groups are bounded: each one costs the engine memory until the match ends.
_STRING = rb'"' + _PLAIN + rb"*+(?:" + _ESCAPE + _PLAIN + rb'*+){0,64}"'
_NUMBER = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_NAME = _STRING + _WS + rb":" + _WS


def _members(value: bytes) -> bytes:
    """Members, each with the comma that another one follows, or up to the bracket that ends them."""
    return rb"(?:" + _NAME + value + _WS + rb"(?:," + _WS + rb'(?=")|(?=})))'


def _items(value: bytes) -> bytes:
    """Items, each with the comma that no bracket follows, or up to the bracket that ends them."""
    return rb"(?:" + value + _WS + rb"(?:," + _WS + rb"(?!\])|(?=\])))"


def _value(levels: int) -> bytes:
    """A value of at most so many levels; no text matches in two ways, so that a failure is quick."""
    scalar = _STRING + rb"|" + _NUMBER + rb"|true|false|null"
    if not levels:
        return rb"(?:" + scalar + rb")"
    inner = _value(levels - 1)
    members, items = _members(inner) + rb"{0,100}", _items(inner) + rb"{0,100}"
    return rb"(?:" + scalar + rb"|\{" + _WS + members + rb"}|\[" + _WS + items + rb"\])"


# Many shallow members or items in one match; what is left over is read step by step.
_RUN_LEVELS = 2
_MEMBERS_RUN = re.compile(_members(_value(_RUN_LEVELS)) + rb"{1,100}")
_ITEMS_RUN = re.compile(_items(_value(_RUN_LEVELS)) + rb"{1,100}")
# Per state: the pattern, the state after a comma, and the bracket that ends the container.
_RUNS: Final = {
    KEY_OR_END: (_MEMBERS_RUN, KEY, ord("}")),
    KEY: (_MEMBERS_RUN, KEY, ord("}")),
    ITEM_OR_END: (_ITEMS_RUN, ITEM, ord("]")),
    ITEM: (_ITEMS_RUN, ITEM, ord("]")),
}

_SPACE = re.compile(_WS)
_TEXT_RUN = re.compile(rb"(?:" + _PLAIN + rb"++|" + _ESCAPE + rb"){0,1000}")
_ESCAPE_BEGUN = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?")
_ATOM_RUN = re.compile(rb"[-+.0-9A-Za-z]*+")
_ATOM = re.compile(_NUMBER + rb"|true|false|null")
_ATOM_BEGUN = re.compile(
    rb"t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?"
    rb"|-?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+(?:(?<=[0-9])[eE][+-]?[0-9]*+)?|[eE][+-]?[0-9]*+)?)?"
)
_LONG_DIGITS = re.compile(rb"[0-9]{3,}")


class Scanner:
    """Follows one value at a time, from its first bracket on."""

    def __init__(self) -> None:
        self.complete = False
        self.broken = False
        self.too_deep = False
        self.fresh_line = False
        self._state = KEY_OR_END
        self._stack: list[int] = []
        self._atom = b""

    def begin(self, bracket: int) -> None:
        """Start on a value whose first byte, `{` or `[`, has just been read."""
        self.complete = self.broken = self.too_deep = self.fresh_line = False
        self._atom = b""
        self._state, after = OPENED[bracket]
        self._stack[:] = (after,)

    def scan(self, data: bytes | bytearray, start: int) -> int:
        """Read on from `start`; set `complete` or `broken` if the value is now the one or the other.

        Returns the end of a complete value, the first impossible byte of a broken one, or where to go on
        reading a pending one: bytes before that are needed no more.
        """
        stack, state, pos, size = self._stack, self._state, start, len(data)
        match_space = _SPACE.match
        while True:
            if state >= IN_KEY:
                pos = self._in_text(data, pos) if state != IN_ATOM else self._in_atom(data, pos)
                if pos < 0:  # The token goes on in the next piece, or is broken.
                    self._state = state
                    self.fresh_line = False
                    return ~pos
                state = COLON if state == IN_KEY else stack[-1]
            pos = match_space(data, pos).end()  # type: ignore[union-attr]
            if state in _RUNS and len(stack) <= MAX_DEPTH - _RUN_LEVELS:
                pattern, then, bracket = _RUNS[state]
                run = pattern.match(data, pos)
                if run is not None:
                    pos = run.end()
                    state = stack[-1] if pos < size and data[pos] == bracket else then
            if pos == size:
                return self._pause(data, start, pos, state)
            step = STEPS[state].get(data[pos])
            if step is None:
                self.broken = True
                return self._pause(data, start, pos, state)
            if step < OPEN_OBJECT:
                state = step
                # An atom is read from its first byte, a string from the byte after its quotation mark.
                pos += step != IN_ATOM
            elif step == CLOSE:
                pos += 1
                stack.pop()
                if not stack:
                    self.complete = True
                    return pos
                state = stack[-1]
            elif len(stack) == MAX_DEPTH:
                self.broken, self.too_deep, self.fresh_line = True, True, False
                return pos
            else:
                pos += 1
                state, after = OPENED[step]
                stack.append(after)

    def _pause(self, data: bytes | bytearray, start: int, pos: int, state: int) -> int:
        """Stop between tokens, noting whether only white space was read since the last line began."""
        read = data[start:pos]
        blank = read[len(read.rstrip(b" \t\r\n")) :]
        self.fresh_line = b"\n" in blank or (self.fresh_line and len(blank) == len(read))
        self._state = state
        return pos

    def _in_text(self, data: bytes | bytearray, pos: int) -> int:
        """The position after the closing quotation mark; else ~position, broken or to go on from."""
        while True:
            end = _TEXT_RUN.match(data, pos).end()  # type: ignore[union-attr]
            if end == len(data):
                return ~end
            if data[end] == 0x22:
                return end + 1
            if end == pos:
                break
            pos = end
        begun = _ESCAPE_BEGUN.match(data, pos)
        if begun is not None:
            if begun.end() == len(data):
                return ~pos
            pos = begun.end()
        self.broken = True
        return ~pos

    def _in_atom(self, data: bytes | bytearray, pos: int) -> int:
        """The position after the number or literal; else ~position, broken or to go on from."""
        end = _ATOM_RUN.match(data, pos).end()  # type: ignore[union-attr]
        atom = self._atom + data[pos:end]
        possible = _ATOM_BEGUN.match(atom).end()  # type: ignore[union-attr]
        if possible < len(atom):
            self.broken = True
            return ~(pos + possible - len(self._atom))
        if end == len(data):
            # A long number is kept as a short one in the same state: a number without end costs nothing.
            self._atom = _LONG_DIGITS.sub(b"11", atom)
            return ~end
        self._atom = b""
        if _ATOM.fullmatch(atom):
            return end
        self.broken = True
        return ~end
