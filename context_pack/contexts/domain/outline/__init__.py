"""Source files in short, by their languages; whatever a file holds, this ends and raises nothing."""

from __future__ import annotations

from context_pack.contexts.domain.outline import declarations, javascript, prose, python
from context_pack.contexts.domain.outline.model import Export, Outline
from context_pack.kernel.comments import head_comment

__all__ = ["Export", "Outline", "outline_of"]

SCRIPTS = frozenset({"ts", "tsx", "js", "jsx", "mjs", "cjs", "vue", "svelte"})
PROSE = frozenset({"md", "mdx", "rst", "txt"})
SILENT = frozenset({"json"})
"""Formats that cannot say anything about themselves."""


def outline_of(name: str, text: str) -> Outline:
    """A file in short."""
    extension = name.rpartition(".")[2].lower()
    text = text.replace("\r\n", "\n")
    if extension in ("py", "pyi"):
        return python.outline(text)
    if extension in SCRIPTS:
        return javascript.outline(text, extension)
    if extension in PROSE:
        return prose.outline(text)
    if extension in declarations.LANGUAGES:
        return declarations.outline(text, extension)
    if extension in SILENT:
        return Outline()
    return Outline(head_comment(text, "dockerfile" if name in ("Dockerfile", "Makefile") else extension))
