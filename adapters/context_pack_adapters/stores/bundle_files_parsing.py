"""The bytes of a bundle's file as a plain value: YAML 1.2 core, or JSON, by the name of the file.

Whatever is read here can be written again: no number that is not finite, no half character, no nesting that
a writer could fail at. Complaints name the line.
"""

from __future__ import annotations

import json
import math
from typing import Any

from context_pack_adapters.stores.yaml_core import MAX_DEPTH, Malformed, Rules, decoded, load
from context_pack_adapters.stores.yaml_values import MOST_DIGITS, is_whole

YAML_SUFFIXES = (".yaml", ".yml")


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
        value = json.loads(text, parse_constant=_constant, parse_float=_float, parse_int=_int)
    except json.JSONDecodeError as error:
        raise Malformed(f"not valid JSON: {error.msg}", error.lineno, error.colno) from None
    except RecursionError:
        raise Malformed(f"nested deeper than {max_depth} levels") from None
    if _is_deeper(value, max_depth):
        raise Malformed(f"nested deeper than {max_depth} levels")
    if "\\u" in text and not is_whole(value):
        raise Malformed("half a character (a lone surrogate)")
    return value


def _constant(_: str) -> Any:
    raise Malformed("a number that is not finite")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Malformed("a number that is not finite")
    return value


def _int(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise Malformed(f"a number of more than {MOST_DIGITS} digits")
    return int(text)


def _is_deeper(value: Any, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return depth <= 0 or any(_is_deeper(item, depth - 1) for item in inner)
