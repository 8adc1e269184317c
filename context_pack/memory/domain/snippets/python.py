"""Python's functions and classes by its own grammar; what does not parse is looked at by its indentation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from context_pack.kernel.python_source import parsed_or_none
from context_pack.memory.domain.snippets.model import Part, Snippet, prefix_inside

MOST_CHARS = 1_000_000

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


def declared(text: str) -> list[Snippet] | None:
    """Every function, method and class head, in order; None for what does not parse."""
    module = parsed_or_none(text, MOST_CHARS)
    return None if module is None else list(_definitions(module.body, ""))


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[Snippet]:
    # Every `elif` stands inside the one before it: a chain of them is too deep to be followed by calls.
    waiting = body[::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function):
            yield Snippet(Part.FUNCTION, prefix + node.name, _start(node), node.end_lineno or node.lineno)
        elif isinstance(node, ast.ClassDef):
            yield from _class(node, prefix)
        elif isinstance(node, ast.If | ast.Try):
            waiting += reversed(_inner(node))


def _inner(node: ast.If | ast.Try) -> list[ast.stmt]:
    """What stands under a condition: `if TYPE_CHECKING`, `try … except ImportError`."""
    if isinstance(node, ast.If):
        return [*node.body, *node.orelse]
    handlers = [statement for handler in node.handlers for statement in handler.body]
    return [*node.body, *handlers, *node.orelse, *node.finalbody]


def _class(node: ast.ClassDef, prefix: str) -> Iterator[Snippet]:
    """The head of a class up to its first definition, then its definitions."""
    inner = [child for child in node.body if isinstance(child, Definition)]
    end = node.end_lineno or node.lineno
    if inner:
        end = max(node.lineno, _start(inner[0]) - 1)
    yield Snippet(Part.CLASS, prefix + node.name, _start(node), end)
    yield from _definitions(node.body, prefix_inside(prefix, node.name))


def _start(node: Definition) -> int:
    """The first line, decorators included."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
