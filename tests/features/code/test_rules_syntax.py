"""What the grammars read in samples (`tests/fixtures/syntax`): code, a line `---`, what is read.

A definition is `first-last@line-of-its-name kind qualified name | signature | documentation`; of comments and
strings there are the lines that they begin on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from context_pack.kernel.syntax import Parsed, Spans
from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax

SAMPLES = Path(__file__).resolve().parents[2] / "fixtures" / "syntax"
SYNTAX = TreeSitterSyntax()


def read_as(language: str, text: str) -> list[str]:
    """Everything that is read in a text, a line each, without what is empty."""
    found, spans = SYNTAX.parse(language, text), SYNTAX.spans(language, text)
    assert isinstance(found, Parsed), found
    assert isinstance(spans, Spans), spans

    def lines_of(places: Iterable[tuple[int, int]]) -> str:
        return " ".join(str(text.count("\n", 0, start) + 1) for start, _ in places)

    lines = [
        f"{each.start}-{each.end}@{each.line} {each.kind} {each.qualified} | {each.signature}"
        + (f" | {each.doc}" if each.doc else "")
        for each in found.definitions
    ]
    for one in found.imports:
        lines.append(" ".join(filter(None, ("import", str(one.line), one.how, one.specifier, *one.names))))
    rest = {
        "package": found.package,
        "heads": " | ".join(found.heads),
        "exports": " ".join(found.exports),
        "error": str(found.error_line or ""),
        "unread": " ".join(f"{first}-{last}" for first, last in found.unread),
        "comments": lines_of(spans.comments),
        "strings": lines_of(spans.strings),
    }
    lines += [f"{name}: {value}" for name, value in rest.items() if value]
    return [line.replace("\n", "\\n") for line in lines]


def samples() -> Iterator[tuple[str, str, str, list[str]]]:
    """Each language with the name, the text and the expected lines of a sample."""
    for file in sorted(SAMPLES.glob("*.txt")):
        for block in f"\n{file.read_text('utf-8')}".split("\n=== ")[1:]:
            name, _, rest = block.partition("\n")
            text, _, lines = f"{rest}\n".partition("\n---\n")
            yield file.stem, name, f"{text}\n", lines.split("\n")


@pytest.mark.clause("CD-97")
@pytest.mark.parametrize(("language", "name", "text", "lines"), [*samples()])
def test_a_sample_is_read_as_its_file_says(language: str, name: str, text: str, lines: list[str]) -> None:
    assert (name, read_as(language, text)) == (name, [line for line in lines if line])


@pytest.mark.clause("CD-87", "CD-97")
def test_operators_of_cpp_are_found_in_any_spelling() -> None:
    text = "void f(A a) { a.operator==(1); a.operator ()(2); a.operator == (3); }\n"
    places = {name: SYNTAX.occurrences("cpp", text, name) for name in ("operator==", "operator()")}
    assert places == {"operator==": [16, 51], "operator()": [33]}
