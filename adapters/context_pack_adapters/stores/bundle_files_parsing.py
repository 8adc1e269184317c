"""The bytes of a bundle's file as a plain value: YAML 1.2 core, or JSON, by the name of the file.

Whatever is read here can be written again: no number that is not finite, no half character, no nesting that
a writer could fail at. Complaints name line and column.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from context_pack.kernel.text import has_half_characters
from context_pack_adapters.stores.yaml_core import MAX_DEPTH, Malformed, Rules, decoded, load
from context_pack_adapters.stores.yaml_values import MOST_DIGITS

YAML_SUFFIXES = (".yaml", ".yml")
# Of a text that is JSON, at least up to where it is nested too deep.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]|-?(?:NaN|Infinity)|-?\d[-+.\deE]*', re.DOTALL)


def parse(data: bytes, name: str, max_depth: int = MAX_DEPTH) -> Any:
    """The value of a file of that name.

    Raises:
        Malformed: it holds none.
    """
    if name.endswith(YAML_SUFFIXES):
        return load(data, Rules(max_depth=max_depth))
    return parse_json(data, max_depth)


def parse_json(data: bytes, max_depth: int = MAX_DEPTH) -> Any:
    """The value that a JSON text spells.

    Raises:
        Malformed: it spells none, or one that could not be written again.
    """
    text = decoded(data)
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_float, parse_int=_int)
        if _is_deeper(value, max_depth) or ("\\u" in text and has_half_characters(value)):
            raise _Unwritable
    except json.JSONDecodeError as error:
        raise Malformed(f"not valid JSON: {error.msg}", error.lineno, error.colno) from None
    except (RecursionError, _Unwritable):
        raise _first_fault(text, max_depth) from None
    return value


class _Unwritable(Exception):
    """The value could not be written again as JSON; the place is searched for only then."""


def _refuse(_: str) -> Any:
    raise _Unwritable


def _float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _int(text: str) -> int:
    return int(text) if len(text) <= MOST_DIGITS else _refuse(text)


def _first_fault(text: str, max_depth: int) -> Malformed:
    """The first thing in a JSON text that could not be written again, with its place."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in ("[", "{")) - (token[0] in ("]", "}"))
        reason = f"nested deeper than {max_depth} levels" if depth > max_depth else _fault_of(token[0])
        if reason is not None:
            at = token.start()
            return Malformed(reason, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))
    return Malformed("a value that could not be written again")


def _fault_of(token: str) -> str | None:
    if token[0] == '"':
        return "half a character (a lone surrogate)" if has_half_characters(json.loads(token)) else None
    if token[0] not in "-0123456789NI":
        return None
    if token.lstrip("-").isdigit():
        return f"a number of more than {MOST_DIGITS} digits" if len(token) > MOST_DIGITS else None
    return None if math.isfinite(float(token)) else "a number that is not finite"


def _is_deeper(value: Any, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return depth <= 0 or any(_is_deeper(item, depth - 1) for item in inner)
