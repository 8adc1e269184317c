"""Source files in snippets: whole functions, heads of classes, the lines around them, and plain windows.

What a definition is says each language's grammar (`code/test_rules_syntax.py`); all are cut in the same way.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack.kernel.languages import language_of
from context_pack.kernel.syntax import Definition, DefinitionKind, NotParsed, Parsed
from context_pack.kernel.text import split_lines
from context_pack.memory.snippets import (
    MOST_HOLDS,
    MOST_LINES,
    Snippet,
    code_entry,
    snippets_of,
)
from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax

SYNTAX = TreeSitterSyntax()
PYTHON = '''\
"""What it is for."""
import os

@decorated
class Store(Base):
    """Keeps."""

    size = 1

    @property
    def name(self) -> str:
        return "a"

    class Inner:
        def deep(self): ...


async def load(
    path: str,
) -> None:
    def inner(): ...
    await inner()


if os.name == "posix":
    def only_here():
        """Does."""
'''


EXPECTED = {
    ("a.py", PYTHON): [
        " 1-2",
        "Store 4-8",
        "Store.name 10-12",
        "Store.Inner 14-15",
        "load 18-22",
        "only_here 26-27",
    ],
    ("notes.md", "# Title\n\nText.\n" + "more\n" * 100): [" 1-60"],
    ("blank.py", "\n\n  \n"): [],
}


def cut(path: str, text: str) -> list[Snippet]:
    """The snippets of a file, through everything that makes them."""
    return snippets_of(split_lines(text), SYNTAX.parse(language_of(path), text))


def shown(path: str, text: str) -> list[str]:
    """The pieces of a file, as name and lines."""
    entry = code_entry(path, text, "d", "s", SYNTAX.parse(language_of(path), text))
    return [f"{piece.heading} {piece.start}-{piece.end}" for piece in entry.pieces]


@pytest.mark.clause("ME-20")
@pytest.mark.parametrize(("source", "expected"), EXPECTED.items(), ids=[name for name, _ in EXPECTED])
def test_definitions_have_their_exact_lines(source: tuple[str, str], expected: list[str]) -> None:
    assert shown(*source) == expected


@pytest.mark.clause("ME-20")
def test_a_long_function_is_cut_at_inner_definitions_or_blank_lines() -> None:
    steps = "    step()\n"
    text = f"def long():\n{steps * 40}\n{steps * 31}    def inner():\n    {steps}{steps * 50}"
    assert [(each.name, each.start, each.end, each.holds) for each in cut("a.py", text)] == [
        ("long", 1, 41, ()),
        ("long", 43, 73, ()),
        ("long", 74, 125, ("inner",)),
    ]
    plain = "def long():\n" + steps * 150
    assert [(each.start, each.end) for each in cut("a.py", plain)] == [(1, 60), (61, 120), (121, 151)]


@pytest.mark.clause("ME-20")
def test_tables_stand_alone_and_small_definitions_in_the_lines_around_them() -> None:
    function = "():\n    return 1\n\n"
    text = f"def a{function}TABLE = {{\n    1: 2,\n}}\n\ndef b(): ...\n\nX = 1\n\ndef c{function}Y = 2\n"
    found = [(each.name, each.start, each.end, each.holds) for each in cut("a.py", text)]
    assert found == [
        ("a", 1, 2, ()),
        ("TABLE", 4, 6, ()),
        ("", 8, 10, ("b", "X")),
        ("c", 12, 13, ()),
        ("", 15, 15, ("Y",)),
    ]


@pytest.mark.clause("ME-20")
def test_lines_between_class_members_are_named_after_the_class() -> None:
    body = "(self):\n        return 1\n\n"
    text = f"class A:\n    def f{body}    x = 1\n    y = 2\n    z = 3\n\n    def g{body}"
    assert [(each.name, each.start, each.end) for each in cut("a.py", text)] == [
        ("A", 1, 1),
        ("A.f", 2, 3),
        ("A", 5, 7),
        ("A.g", 9, 10),
    ]


@pytest.mark.clause("ME-20", "ME-26")
def test_a_file_that_was_not_parsed_is_cut_into_windows_at_blank_lines() -> None:
    text = "a\n" * 50 + "\n" + "b\n" * 50
    found = snippets_of(split_lines(text), NotParsed("there is no grammar for it"))
    assert [(each.name, each.start, each.end) for each in found] == [("", 1, 50), ("", 52, 101)]


@pytest.mark.clause("ME-20")
def test_pieces_stand_verbatim_at_their_lines_and_carry_symbol_and_path() -> None:
    text = PYTHON.replace("\n", "\r\n")
    entry = code_entry("src/auth/service.py", text, "d", "s", SYNTAX.parse("python", text))
    lines = split_lines(PYTHON)
    assert entry.module == "auth"
    assert entry.kind == "python"
    for piece in entry.pieces:
        assert piece.text == "\n".join(lines[piece.start - 1 : piece.end])
    name = next(piece for piece in entry.pieces if piece.heading == "Store.name")
    assert "Store.name" in name.names
    assert "src/auth/service.py" in name.names


KINDS = st.sampled_from(list(DefinitionKind))


@st.composite
def parsed_files(draw: st.DrawFn) -> tuple[list[str], Parsed]:
    """Lines with definitions at any of them, also ones that no grammar would make."""
    lines = draw(st.lists(st.sampled_from(["", "  ", "x", "    y = 1", "z" * 3_000]), max_size=200))
    definitions = []
    for number in range(draw(st.integers(0, 12)) if lines else 0):
        start = draw(st.integers(1, len(lines)))
        end = draw(st.integers(start, len(lines)))
        line = draw(st.integers(start, end))
        definitions.append(Definition(draw(KINDS), f"d{number}", f"d{number}", start, end, line, ""))
    return lines, Parsed(tuple(sorted(definitions, key=lambda each: (each.start, -each.end))))


@settings(max_examples=300)
@given(parsed_files())
def test_snippet_ranges_are_ordered_bounded_and_inside_the_file(
    file: tuple[list[str], Parsed],
) -> None:
    lines, parsed = file
    last = 0
    for each in snippets_of(lines, parsed):
        assert last < each.start <= each.end <= len(lines)
        assert each.end - each.start < MOST_LINES
        assert len(each.holds) <= MOST_HOLDS
        assert lines[each.start - 1].strip()
        assert lines[each.end - 1].strip()
        last = each.end
