"""Definitions of link targets (`[label]: where "title"`) at the beginning of a paragraph.

They are no text: a line of `===` below them underlines nothing, and a heading that says `[label]` means a
link.
"""

from __future__ import annotations

import re

_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){1,999}+)\]:[ \t]*+\n?+[ \t]*+", re.DOTALL)
_ANGLED = re.compile(r"<(?:[^<>\n\\]|\\[^\n])*+>")
_BARE = re.compile(r"[^\s<\x00-\x1f\x7f][^\s\x00-\x1f\x7f]*+")
_GAP = re.compile(r"[ \t]*+\n?+[ \t]*+")
_END = re.compile(r"[ \t]*+(?:\n|\Z)")
_TITLE = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))[ \t]*+(?:\n|\Z)""", re.DOTALL
)
_BLANKS = re.compile(r"[ \t\n]+")


def take_definitions(paragraph: str) -> tuple[list[str], int]:
    """The normalised labels that a paragraph begins by defining, and how many of its lines that takes."""
    labels: list[str] = []
    at = 0
    while at < len(paragraph) and (found := _definition(paragraph, at)):
        label, at = found
        labels.append(label)
    lines = paragraph.count("\n", 0, at) + (1 if labels and at == len(paragraph) else 0)
    if labels and at == len(paragraph) and paragraph.endswith("\n"):
        lines -= 1
    return labels, lines


def normalised(label: str) -> str:
    """A label as it is compared: case and the amount of white space do not count."""
    return _BLANKS.sub(" ", label.strip()).lower().upper()


def _definition(text: str, at: int) -> tuple[str, int] | None:
    """The label defined at a place and where the definition ends; None when there is none."""
    label = _LABEL.match(text, at)
    if label is None or not label[1].strip():
        return None
    where = _ANGLED.match(text, label.end()) or _BARE.match(text, label.end())
    if where is None or not _balanced(where[0]):
        return None
    gap = _GAP.match(text, where.end())
    if gap is not None and gap.end() > where.end():
        title = _TITLE.match(text, gap.end())
        if title is not None:
            return normalised(label[1]), title.end()
    end = _END.match(text, where.end())
    return None if end is None else (normalised(label[1]), end.end())


def _balanced(where: str) -> bool:
    """Whether the parentheses of a bare target pair up; escaped ones do not count."""
    if where.startswith("<") or ("(" not in where and ")" not in where):
        return True
    depth = 0
    for char in re.sub(r"\\.", "", where):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0
