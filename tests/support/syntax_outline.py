"""What the syntax adapter says of a small text, in lines that a test can compare at a glance."""

from __future__ import annotations

from collections.abc import Iterable

from context_pack.kernel.syntax import Parsed, Spans
from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax

SYNTAX = TreeSitterSyntax()


def parsed(language: str, text: str) -> Parsed:
    """The text as its grammar reads it."""
    found = SYNTAX.parse(language, text)
    assert isinstance(found, Parsed), found
    return found


def outline(language: str, text: str) -> list[str]:
    """The definitions, each as `start-end@line kind qualified | signature | doc`; without an empty doc."""
    return [
        f"{each.start}-{each.end}@{each.line} {each.kind} {each.qualified} | {each.signature}"
        + (f" | {each.doc}" if each.doc else "")
        for each in parsed(language, text).definitions
    ]


def imports(language: str, text: str) -> list[str]:
    """The imports, each as `line how specifier names…`, without what is empty."""
    return [
        " ".join(filter(None, (str(each.line), each.how, each.specifier, *each.names)))
        for each in parsed(language, text).imports
    ]


def read_as(language: str, text: str) -> list[str]:
    """Everything that is read in a text, a line each, without what is empty."""
    found, spans = parsed(language, text), SYNTAX.spans(language, text)
    assert isinstance(spans, Spans), spans

    def lines_of(places: Iterable[tuple[int, int]]) -> str:
        return " ".join(str(text.count("\n", 0, start) + 1) for start, _ in places)

    rest = {
        "package": found.package,
        "heads": " | ".join(found.heads),
        "exports": " ".join(found.exports),
        "error": str(found.error_line or ""),
        "unread": " ".join(f"{first}-{last}" for first, last in found.unread),
        "comments": lines_of(spans.comments),
        "strings": lines_of(spans.strings),
    }
    lines = [*outline(language, text), *(f"import {each}" for each in imports(language, text))]
    lines += [f"{name}: {value}" for name, value in rest.items() if value]
    return [line.replace("\n", "\\n") for line in lines]
