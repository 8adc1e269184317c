"""What the syntax adapter says of a small text, in lines that a test can compare at a glance."""

from __future__ import annotations

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


def spanned(language: str, text: str) -> tuple[list[str], list[str]]:
    """The comments and the strings of a text."""
    found = SYNTAX.spans(language, text)
    assert isinstance(found, Spans), found
    return [text[slice(*each)] for each in found.comments], [text[slice(*each)] for each in found.strings]
