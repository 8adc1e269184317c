"""The blocks of a Markdown document, the headings of any document, its title and its front matter.

Markdown has CommonMark's ATX and underlined headings at the document's level; reStructuredText has underlined
ones, whose levels are told by the order in which the underlines first appear; plain text has none. A heading
is shown as plain text. `markdown-it-py` reads the blocks, of which only leaves are kept, and those headings
that have emphasis, code, links, pictures, HTML, entities or escapes.

Front matter is YAML between lines of `---` (ended by `---` or `...`) or TOML between lines of `+++`, from the
very first line. What holds no settings is none: two rules with a heading between them are just that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from context_pack.kernel.markdown import commonmark
from context_pack.kernel.text import split_lines, toml_of
from context_pack.kernel.yaml_documents import Malformed, load

MARKDOWN = (".md", ".mdx", ".markdown")
_MARKUP = re.compile(r"[*_`\[\]<>&\\!]")
# Longer ones are not written by hand, and pairing up their brackets takes more than a moment.
_LONGEST = 600
_MOST_BRACKETS = 40
Kind = Literal["heading", "paragraph", "table", "fence", "code", "html", "rule"]
_LEAVES: Mapping[str, Kind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "table_open": "table",
    "fence": "fence",
    "code_block": "code",
    "html_block": "html",
    "hr": "rule",
}
_CONTAINERS = frozenset({"blockquote", "list_item"})
_FRONT_MATTER_ENDS = {"---": ("---", "..."), "+++": ("+++",)}
# A document may begin with a rule and never end it: the search for the end stops somewhere.
_LONGEST_FRONT_MATTER = 2000
_SETTING = re.compile(r"[\w\"'.-]+\s*[:=]")

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*+\Z")
# Bullets, fields, directives, doctests and line blocks are never the text of a title.
_BODY = re.compile(r"[-*+•] |:[^:\s][^:]*: |\.\. |>>> |\| |__ ")
_SHORTEST = 4
# Roles, links and literals before emphasis: their marks enclose text that may hold the others.
_INLINE = (
    re.compile(r"``(.+?)``"),
    re.compile(r"(?::[\w.+:-]+:)?`~?([^`<]+?)(?:\s*<[^`>]*>)?`_{0,2}"),
    re.compile(r"\*\*([^*]+)\*\*"),
    re.compile(r"(?<![\w*\\])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])"),
    re.compile(r"\\(.)"),
)


class Block(NamedTuple):
    """A leaf: lines `start` to `end` (from 0, both included), `depth` containers around it."""

    kind: Kind
    start: int
    end: int
    depth: int
    item: bool = False
    """Whether a list item begins with it."""
    level: int = 0
    text: str = ""
    """The source of a heading's text."""


class Structure(NamedTuple):
    """The leaves of a document in order, and the link definitions that its headings may refer to."""

    lines: list[str]
    blocks: list[Block]
    references: dict[str, Any]


class Heading(NamedTuple):
    """A heading as plain text on one line; `line` counts from 1 and is the first of it."""

    level: int
    text: str
    line: int


def _reader() -> Any:
    """A reader of CommonMark and of tables: without those a rule below one would underline it."""
    return commonmark(more=("table",))


def is_markdown(name: str) -> bool:
    """Whether a document of that name is Markdown."""
    return name.lower().endswith(MARKDOWN)


def headings(text: str, name: str = ".md") -> list[Heading]:
    """The headings of the document of that name in order; empty ones are listed with ""."""
    if name.lower().endswith(".rst"):
        return list(_restructured(split_lines(text.removeprefix("\ufeff"))))
    return heading_list(document(text)) if is_markdown(name) else []


def document(text: str) -> Structure:
    """The blocks of a Markdown document; its front matter and its byte order mark belong to none."""
    text = text.removeprefix("\ufeff")
    lines = split_lines(text)
    first, _ = front_matter(lines)
    # A lone carriage return ends a line for the package, but not for us.
    body = "\n".join((*[""] * first, *lines[first:])).replace("\r", " ")
    tokens: list[Any] = []
    known: dict[str, Any] = {}
    reader = _reader()
    reader.block.parse(body, reader, known, tokens)
    return Structure(lines, list(_leaves(tokens)), known.get("references", {}))


def _leaves(tokens: list[Any]) -> Iterator[Block]:
    depth, begins_item = 0, False
    for at, token in enumerate(tokens):
        name, _, end = token.type.rpartition("_")
        if name in _CONTAINERS:
            depth += 1 if end == "open" else -1
            begins_item = token.type == "list_item_open"
        elif (kind := _LEAVES.get(token.type)) is not None and token.map is not None:
            start, after = token.map
            level = int(token.tag[1]) if kind == "heading" else 0
            source = tokens[at + 1].content.strip(" \t") if kind == "heading" else ""
            yield Block(kind, start, max(start, after - 1), depth, begins_item, level, source)
            begins_item = False


def heading_list(found: Structure) -> list[Heading]:
    """The headings of a Markdown document."""
    return [
        Heading(block.level, _plain(block.text, found.references), block.start + 1)
        for block in found.blocks
        if block.kind == "heading" and not block.depth
    ]


def title_of(text: str, name: str, found: list[Heading] | None = None, ending: str = "") -> str:
    """The first level-1 heading that says something, else the title in front matter, else the base name.

    `ending` tells the format where the name does not.
    """
    for heading in headings(text, ending or name) if found is None else found:
        if heading.level == 1 and heading.text:
            return heading.text
    title = ""
    if is_markdown(ending or name):
        _, settings = front_matter(split_lines(text.removeprefix("\ufeff")))
        title = " ".join(str(settings.get("title") or "").split())
    return title or name.replace("\\", "/").rstrip("/").rpartition("/")[2]


def front_matter(lines: list[str]) -> tuple[int, Mapping[str, Any]]:
    """How many lines the front matter takes (0 when there is none), and its settings."""
    mark = lines[0].rstrip() if lines else ""
    ends = _FRONT_MATTER_ENDS.get(mark, ())
    head = lines[1:_LONGEST_FRONT_MATTER] if ends else []
    end = next((number for number, line in enumerate(head, 1) if line.rstrip() in ends), 0)
    if not end:
        return 0, {}
    said = "\n".join(lines[1:end])
    try:
        settings = load(said) if mark == "---" else toml_of(said)
    except (Malformed, ValueError):
        return end + 1 if _SETTING.match(said.lstrip()) else 0, {}
    if isinstance(settings, dict):
        return end + 1, settings
    return 0 if said.strip() else end + 1, {}


def _plain(source: str, references: Mapping[str, Any]) -> str:
    """The text of a heading's source, given the links that its document defines."""
    if len(source) > _LONGEST or not _MARKUP.search(source) or source.count("[") > _MOST_BRACKETS:
        return source.replace("\n", " ")
    (inline,) = _reader().parseInline(source, {"references": references})
    return _seen(inline.children or []).strip()


def _seen(tokens: list[Any]) -> str:
    """The visible text of the tokens."""
    shown: list[str] = []
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            shown.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            shown.append(" ")
        elif token.type == "image":
            shown.append(_seen(token.children or []))
    return "".join(shown)


def _restructured(lines: list[str]) -> Iterator[Heading]:
    """The section titles of reStructuredText: a line over a line of punctuation, or between two of them.

    A title stands where a paragraph could begin and is never indented, so that literal blocks and directives,
    which are, hold none. The first style of underline that appears is level 1, the next new one level 2.
    """
    styles: list[str] = []
    at, fresh = 0, True
    while at < len(lines):
        style, title, taken = _underlined(lines, at) if fresh else ("", "", 0)
        if not taken:
            fresh = not lines[at].strip()
            at += 1
            continue
        if style not in styles:
            styles.append(style)
        for pattern in _INLINE if len(title) <= _LONGEST else ():
            title = pattern.sub(r"\1", title)
        yield Heading(styles.index(style) + 1, title.strip(), at + 1)
        at += taken


def _underlined(lines: list[str], at: int) -> tuple[str, str, int]:
    """The style, the text and the number of lines of the title at a place; no lines when there is none."""
    none = ("", "", 0)
    line = lines[at].rstrip()
    over = _ADORNMENT.match(line)
    if over is not None and at + 2 < len(lines):
        title, under = lines[at + 1].rstrip(), lines[at + 2].rstrip()
        if title and under == line and len(line) >= min(_SHORTEST, len(title)):
            return over[1] * 2, title.strip(), 3
    if not line or line[0].isspace() or at + 1 >= len(lines) or _BODY.match(line):
        return none
    under = lines[at + 1].rstrip()
    mark = _ADORNMENT.match(under)
    is_title = mark is not None and (over is None or len(line) < _SHORTEST)
    if mark is None or not is_title or len(under) < min(_SHORTEST, len(line)):
        return none
    return mark[1], line.strip(), 2
