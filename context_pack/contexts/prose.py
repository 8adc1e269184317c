"""The title and first paragraph of a prose file, in Markdown or similar."""

from __future__ import annotations

import re

from context_pack.kernel.sentences import first_sentence, one_line

_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"#{1,6}\s+(?P<title>.*)")
_UNDERLINE = re.compile(r"[=\-~^]{2,}\s*$")
_LONG_UNDERLINE = 3
"""Under a line of any length; a shorter one is under a title that is no longer."""
_DIRECTIVE = ".. "
"""What is indented below it belongs to it."""
_TARGET = r"(?:\([^)]{0,400}\)|\[[^\]]{0,200}\])"
_BADGE = re.compile(
    rf"\[!\[[^\]]{{0,200}}\]{_TARGET}?\]{_TARGET}?|!\[[^\]]{{0,200}}\]{_TARGET}?|<[^>]{{1,400}}>"
)
"""Images, also those that are links, by address or by reference; and tags."""
_LINK = re.compile(rf"\[([^\]]{{0,200}})\]{_TARGET}")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_COMMAND = re.compile(
    r"[$%>]\s|(?:curl|wget|npm|npx|pnpm|yarn|bun|pip3?|pipx|uv|uvx|brew|apt(?:-get)?|cargo|go|gem|docker|git|make|sudo)"
    r"\s+(?:-|https?:|i\b|add\b|get\b|install\b|run\b|clone\b|exec\b|build\b|dlx\b|[\w.-]+\s+-)"
)
"""A line for a shell: no sentence about the project."""
_NO_PROSE = re.compile(r"(?:[-*+|>]|\d+\.|```|~~~|\.\. |:\w+:|\[[^\]]+\]:|={3,}|-{3,}|[=~^]+\s*$)")
MOST_LINES = 80


def title_of(text: str) -> str:
    """The first heading, else nothing."""
    lines = _lines(text)
    for number, line in enumerate(lines):
        heading = _HEADING.match(line)
        if heading:
            return one_line(_plain(_unclosed(heading["title"])))
        if line.strip() and _is_underlined(lines, number):
            return one_line(_plain(line))
    return ""


def paragraph_of(text: str) -> str:
    """The first sentence of the first paragraph of prose."""
    lines = _lines(text)
    gathered: list[str] = []
    directive = fenced = False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
            line = ""
        code = fenced or (not gathered and line.startswith(("    ", "\t")))
        plain = "" if code or _COMMAND.match(line.strip().strip("`")) else _plain(line)
        directive = line.startswith(_DIRECTIVE) or (directive and (not plain or line[0].isspace()))
        stop = directive or not plain or _is_underlined(lines, number)
        stop = stop or bool(_HEADING.match(line) or _NO_PROSE.match(plain))
        if not stop:
            gathered.append(plain)
        elif gathered:
            break
    return first_sentence(" ".join(gathered))


def _is_underlined(lines: list[str], number: int) -> bool:
    """Whether a line is a title by the line below it."""
    below = lines[number + 1].rstrip() if number + 1 < len(lines) else ""
    return bool(_UNDERLINE.match(below)) and len(below) >= min(_LONG_UNDERLINE, len(lines[number].strip()))


def _lines(text: str) -> list[str]:
    body = _COMMENT.sub("", _FRONT.sub("", text[:20_000].replace("\r\n", "\n")))
    return body.split("\n")[:MOST_LINES]


def _unclosed(title: str) -> str:
    """A title without the signs that close it; those of `C#` are its own."""
    bare = title.rstrip().rstrip("#")
    return bare if not bare or bare[-1].isspace() else title


def _plain(line: str) -> str:
    """A line without badges, tags and marks of emphasis."""
    return _LINK.sub(r"\1", _BADGE.sub("", line)).replace("**", "").replace("`", "").strip()
