"""Python in short, by its own grammar: the docstring, public definitions with their signatures, imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from context_pack.contexts.domain.outline.model import Export, Outline
from context_pack.kernel.comments import head_comment
from context_pack.kernel.python_source import parsed_or_none
from context_pack.kernel.sentences import first_sentence, one_line

MOST_CHARS = 300_000

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def outline(text: str) -> Outline:
    """A module in short; what does not parse has only its first comment."""
    module = parsed_or_none(text, MOST_CHARS)
    if module is None:
        return Outline(head_comment(text, "py"))
    about = first_sentence(ast.get_docstring(module) or "") or head_comment(text, "py")
    return Outline(about, tuple(_exports(module)), tuple(_imports(module)))


def _exports(module: ast.Module) -> Iterator[Export]:
    """The definitions that others may use: those of `__all__`, else those without a leading underscore."""
    listed = _listed(module)
    for node in module.body:
        if isinstance(node, Definition) and (
            node.name in listed if listed else not node.name.startswith("_")
        ):
            about = first_sentence(ast.get_docstring(node) or "")
            yield Export(node.name, one_line(_signature(node)), about)


def _signature(node: Definition) -> str:
    try:
        if isinstance(node, ast.ClassDef):
            bases = ", ".join(ast.unparse(base) for base in node.bases)
            return f"class {node.name}({bases})" if bases else f"class {node.name}"
        head = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
        returned = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
        return f"{head} {node.name}({ast.unparse(node.args)}){returned}"
    except (RecursionError, ValueError):  # nested beyond reason
        return node.name


def _listed(module: ast.Module) -> frozenset[str]:
    """The names in `__all__`, where it is a plain list."""
    for node in module.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            value = node.value if isinstance(node, ast.Assign) else None
            items = value.elts if isinstance(value, ast.List | ast.Tuple) else []
            return frozenset(
                item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)
            )
    return frozenset()


def _imports(module: ast.Module) -> Iterator[str]:
    """Every import as it is written, with its leading dots."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            if node.module:
                yield dots + node.module
            else:
                yield from (dots + alias.name for alias in node.names)
