"""The `Syntax` port on tree-sitter, and the loop of the process that it works in, which is limited in
time and memory.

Components (Vue, Svelte) are parsed as their scripts, with the rest blanked.
"""

from __future__ import annotations

import pickle
import re
import select
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence

from tree_sitter import Node, Tree

from context_pack.kernel.syntax import Import, NotParsed, Parsed, Spans
from context_pack_adapters.child_limits import limit_memory, limit_time
from context_pack_adapters.syntax.definitions import (
    CommentsAbove,
    Match,
    comments_text,
    definitions,
    last_row,
    text_of,
)
from context_pack_adapters.syntax.languages import KNOWN
from context_pack_adapters.syntax.recovery import misread, with_recovered
from context_pack_adapters.syntax.trees import (
    NOT_UNDERSTOOD,
    Reading,
    broken_nodes,
    error_line,
    joined_lines,
    matches_of,
    read,
    understood,
)

MOST_HEADS = 8
MOST_HEAD_CHARS = 4_000
MOST_OCCURRENCES = 10_000
_NO_CODE = re.compile("string|comment|text|content|regex|heredoc|char")
"""Kinds of leaves that can spell a name without being one."""
_SPELLED = frozenset({"variable_name", "operator_name", "destructor_name", "setter"})
"""Names of several parts: `$user` of PHP, `operator==` and `~A` of C++, `name=` of Ruby."""
_OPERATOR = re.compile(rb"operator(?=[^\w\s])")
_UNREAD_CODE = re.compile(rb"(?![ \t]*[*#])(?:[^\"'`/]|/(?![/*])|\"[^\"]*\"|'[^']*'|`)*")
"""The beginning of a line, up to a name, where a grammar could read nothing: no comment, no open string."""
_NO_BEGINNINGS = bytes(range(0x80, 0xC0))
"""Bytes that continue a character; a node may end inside one that is no valid UTF-8."""


class TreeSitterSyntax:
    """Parses the languages of `grammars`; for one thread at a time."""

    def knows(self, language: str) -> bool:
        """Whether there is a grammar for a language."""
        return language in KNOWN

    def parse(self, language: str, text: str) -> Parsed | NotParsed:
        """The definitions and imports of a text."""
        reading = read(language, text)
        if isinstance(reading, NotParsed):
            return reading
        if reading.errors_without_end:
            return NotParsed(NOT_UNDERSTOOD)
        parsed = _parsed(matches_of(reading), reading)
        return NotParsed(NOT_UNDERSTOOD, parsed) if reading.mostly_errors else parsed

    def parse_all(self, texts: Iterable[tuple[str, str]]) -> Iterator[Parsed | NotParsed]:
        """The definitions and imports of each text, given with its language."""
        return (self.parse(language, text) for language, text in texts)

    def spans(self, language: str, text: str) -> Spans | NotParsed:
        """Where the comments and strings of a text are."""
        reading = understood(language, text)
        if isinstance(reading, NotParsed):
            return reading
        grammar, tree, data = reading
        captures = grammar.spans.captures(tree.root_node)
        comments, strings = (
            _characters(data, _outermost(captures.get(name, ()))) for name in ("comment", "string")
        )
        return Spans(comments, strings)

    def occurrences(self, language: str, text: str, name: str) -> Sequence[int] | NotParsed:
        """Where an identifier stands that is `name`."""
        reading = understood(language, text)
        if isinstance(reading, NotParsed):
            return reading
        _, tree, data = reading
        places = [(at, at) for at in _identifiers(tree, data, name.encode())]
        return [start for start, _ in _characters(data, places)]


def _parsed(matches: Sequence[Match], reading: Reading) -> Parsed:
    grammar, tree, data = reading
    above = CommentsAbove(data)
    heads: list[Node] = []
    package = ""
    newer: set[int] = set()
    exports: dict[str, None] = {}
    first = len(data)
    for _, captures in matches:
        for node in captures.get("comment", ()):
            above.add(node, comment=True)
            heads.append(node)
        for node in captures.get("attribute", ()):
            above.add(node, comment=False)
        heads.extend(captures.get("head", ()))
        newer.update(node.id for node in captures.get("newer", ()))
        exports.update(dict.fromkeys(map(text_of, captures.get("exported", ()))))
        if not package and (named := captures.get("package")):
            package = text_of(named[0])
        if "name" in captures or "import" in captures:
            first = min(first, *(node.start_byte for nodes in captures.values() for node in nodes))
    found_definitions = definitions(matches, above)
    broken = list(broken_nodes(tree.root_node, newer))
    unread = joined_lines(each for each in broken if each.is_error)
    # Where only a word is missing, as a function's name, the rest counts as read, but there is no definition.
    lines = joined_lines([*broken, *(misread(tree.root_node) if grammar.name == "kotlin" else ())])
    if lines:
        found_definitions = with_recovered(grammar.name, data, lines, found_definitions)
    return Parsed(
        tuple(found_definitions),
        tuple(imports(matches, grammar.hows, above)),
        package,
        tuple(_heads(heads, first, data)),
        tuple(exports),
        error_line(broken),
        tuple(unread),
    )


def _heads(nodes: Sequence[Node], first: int, data: bytes) -> Iterator[str]:
    """The comments before the first code, runs of line comments as one, and the docstring among them.

    A first line that names an interpreter is none of them.
    """
    runs: list[list[Node]] = []
    for node in sorted(nodes, key=lambda each: each.start_byte):
        if node.start_byte >= first or len(runs) > MOST_HEADS:
            break
        if not node.start_byte and data.startswith(b"#!"):
            continue
        if runs and _continues(runs[-1][-1], node):
            runs[-1].append(node)
        else:
            runs.append([node])
    for run in runs[:MOST_HEADS]:
        yield comments_text(run, data, MOST_HEAD_CHARS)


def _continues(one: Node, other: Node) -> bool:
    """Whether two comments are lines of one text."""
    apart = other.start_point.row - last_row(one)
    return (
        apart <= 1
        and one.type == other.type
        and not any(text_of(each).startswith(("/*", "<!--")) for each in (one, other))
    )


def _identifiers(tree: Tree, data: bytes, name: bytes) -> Iterator[int]:
    spelled = re.escape(name)
    if sign := _OPERATOR.match(name):  # `operator ==` is `operator==`
        spelled = rb"operator\s*" + re.escape(name[sign.end() :])
    word = re.compile(rb"(?<![\w$])" + spelled + (rb"(?![\w$])" if name[-1:].isalnum() else b""))
    count = 0
    for match in word.finditer(data):
        node = tree.root_node.descendant_for_byte_range(match.start(), match.end())
        if node is None:
            continue
        whole = node.byte_range == match.span() and _is_identifier(node)
        unread = node.is_error and _UNREAD_CODE.fullmatch(data[: match.start()].rpartition(b"\n")[2])
        if whole or unread or (node.type == "operator_cast" and node.start_byte == match.start()):
            yield match.start()
            count += 1
            if count >= MOST_OCCURRENCES:
                return


def _is_identifier(node: Node) -> bool:
    is_one = not node.child_count or node.type in _SPELLED
    return node.is_named and is_one and _NO_CODE.search(node.type) is None


def _outermost(nodes: Sequence[Node]) -> list[tuple[int, int]]:
    """The ranges of nodes, without those that lie in another."""
    ranges: list[tuple[int, int]] = []
    for start, end in sorted((node.byte_range for node in nodes), key=lambda each: (each[0], -each[1])):
        if not ranges or start >= ranges[-1][1]:
            ranges.append((start, end))
    return ranges


def _characters(data: bytes, ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Ranges of bytes, in order and apart, as ranges of characters."""
    if data.isascii():
        return tuple(ranges)
    characters = []
    at = counted = 0
    for start, end in ranges:
        begin = counted + len(data[at:start].translate(None, _NO_BEGINNINGS))
        counted = begin + len(data[start:end].translate(None, _NO_BEGINNINGS))
        at = end
        characters.append((begin, counted))
    return tuple(characters)


MOST_IMPORTS = 20_000
MOST_MODULES, MOST_INSIDE = 500, 64
"""Inline modules, and how deep they are told; they nest without end."""
_QUOTES = frozenset("\"'`")


def imports(matches: Sequence[Match], hows: Sequence[str], above: CommentsAbove) -> Iterator[Import]:
    """The imports that the matches say, in order; the names taken from one specifier stand together.

    `hows` says the kind of import by the number of its pattern; of several for one import the first counts.
    """
    written: dict[tuple[int, int], list[Match]] = {}
    for match in matches:
        whole, specifier = match[1].get("import"), match[1].get("specifier")
        if whole and specifier and len(written) < MOST_IMPORTS:
            written.setdefault((whole[0].start_byte, specifier[0].start_byte), []).append(match)
    modules = sorted(_modules(matches))[:MOST_MODULES] if written else []
    for (start, _), same in sorted(written.items()):
        captures = same[0][1]
        names = dict.fromkeys(text_of(node) for _, each in same for node in each.get("imported", ()))
        yield Import(
            _specifier(captures["specifier"][0], above),
            tuple(names),
            captures["import"][0].start_point.row + 1,
            hows[min(pattern for pattern, _ in same)],
            tuple(name for first, end, name in modules if first < start < end)[:MOST_INSIDE],
        )


def _modules(matches: Iterable[Match]) -> Iterator[tuple[int, int, str]]:
    """Where the modules are that are written inside the text."""
    for _, captures in matches:
        if "module" in captures and "name" in captures:
            node = captures["module"][0]
            yield node.start_byte, node.end_byte, text_of(captures["name"][0])


def _specifier(node: Node, above: CommentsAbove) -> str:
    """The text of a specifier without its quotes and comments."""
    said = above.code(node.start_byte, node.end_byte)
    quoted = len(said) > 1 and said[0] == said[-1] and said[0] in _QUOTES
    return said[1:-1] if quoted else said


IDLE_SECONDS = 60.0
SECONDS_EACH = 5.0
"""Of processor time: a busy machine makes no text unreadable."""


def serve() -> None:
    """Worker loop: each question on stdin is the name of a method and its arguments, pickled."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for those who started us
    limit_memory()
    syntax, questions, answers = TreeSitterSyntax(), sys.stdin.buffer, sys.stdout.buffer
    while select.select([questions], [], [], IDLE_SECONDS)[0]:
        try:
            method, *arguments = pickle.load(questions)
        except EOFError:
            return
        limit_time(SECONDS_EACH)
        try:
            answer = getattr(syntax, method)(*arguments)
        except Exception as error:
            answer = NotParsed(f"parsing it failed inside ({type(error).__name__})")
        limit_time(0)
        pickle.dump(answer, answers)
        answers.flush()
