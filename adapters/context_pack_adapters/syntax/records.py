"""Answers of a `Syntax` as JSON and back: what passes between a process and the one that parses for it.

JSON and nothing cleverer: whoever parses hostile texts must not be able to make its reader run code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from attrs import fields

from context_pack.kernel.syntax import Definition, DefinitionKind, Import, NotParsed, Parsed, Spans

Answer = Parsed | NotParsed | Spans | Sequence[int]
_KINDS = {kind.value: kind for kind in DefinitionKind}


def _fields_of(kind: type[Any]) -> Callable[[object], tuple[Any, ...]]:
    return attrgetter(*(field.name for field in fields(kind)))


_definition, _import, _spans = map(_fields_of, (Definition, Import, Spans))


def to_record(answer: Answer) -> dict[str, Any]:
    """An answer as JSON."""
    if isinstance(answer, NotParsed):
        partly = None if answer.partly is None else to_record(answer.partly)
        return {"not_parsed": [answer.reason, partly, answer.failed]}
    if isinstance(answer, Parsed):
        return {
            "definitions": list(map(_definition, answer.definitions)),
            "imports": list(map(_import, answer.imports)),
            "package": answer.package,
            "heads": answer.heads,
            "exports": answer.exports,
            "error_line": answer.error_line,
        }
    if isinstance(answer, Spans):
        return {"spans": _spans(answer)}
    return {"value": list(answer)}


def from_record(record: dict[str, Any]) -> Any:
    """The answer as it was given."""
    if "definitions" in record:
        return Parsed(
            tuple(Definition(_KINDS[kind], *rest) for kind, *rest in record["definitions"]),
            tuple(
                Import(specifier, tuple(names), line, how, tuple(inside))
                for specifier, names, line, how, inside in record["imports"]
            ),
            record["package"],
            tuple(record["heads"]),
            tuple(record["exports"]),
            record["error_line"],
        )
    if "not_parsed" in record:
        reason, partly, failed = record["not_parsed"]
        return NotParsed(reason, None if partly is None else from_record(partly), failed)
    if "spans" in record:
        return Spans(*(tuple((start, end) for start, end in each) for each in record["spans"]))
    return record["value"]
