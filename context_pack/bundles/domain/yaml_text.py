"""JSON values as YAML text that every reader, of YAML 1.1 or 1.2, takes for the same values.

How texts are written is known to the kernel (`yaml_scalars`); here are mappings, lists and the other values.
Numbers with a fraction or an exponent always have a point and a sign, because YAML 1.1 wants them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from context_pack.kernel.yaml_scalars import block_of, line_of

# A key on the line of its value may have 1024 characters; longer ones are marked as keys.
_LONG_KEY = 1000


def yaml_text(value: Mapping[str, Any]) -> str:
    """A mapping of JSON values as a YAML document."""
    return "\n".join(_mapping(value, "")) + "\n"


def _mapping(value: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, inner in value.items():
        name = line_of(key)
        head = f"{indent}{name}:"
        if len(name) > _LONG_KEY:
            yield f"{indent}? {name}"
            head = f"{indent}:"
        yield from _entry(head, inner, indent)


def _list(value: list[Any], indent: str) -> Iterator[str]:
    for inner in value:
        if isinstance(inner, Mapping) and inner:
            # The first field stands beside the dash.
            lines = _mapping(inner, indent + "  ")
            yield f"{indent}- {next(lines)[len(indent) + 2 :]}"
            yield from lines
        else:
            yield from _entry(f"{indent}-", inner, indent)


def _entry(head: str, value: Any, indent: str) -> Iterator[str]:
    """A head and its value: on the same line, or on the lines below."""
    if isinstance(value, Mapping) and value:
        yield head
        yield from _mapping(value, indent + "  ")
    elif isinstance(value, list) and value:
        yield head
        yield from _list(value, indent + "  ")
    elif isinstance(value, str):
        yield f"{head} {block_of(value, indent + '  ') or line_of(value)}"
    else:
        yield f"{head} {_atom(value)}"


def _atom(value: Any) -> str:
    """A value that is neither text nor a filled collection."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    return "{}" if isinstance(value, Mapping) else "[]"


def _float(value: float) -> str:
    spelled = repr(value)
    mantissa, exponent, power = spelled.partition("e")
    return spelled if not exponent or "." in mantissa else f"{mantissa}.0e{power}"
