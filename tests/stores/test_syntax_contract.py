"""What every way to parse code promises: the parser itself, in another process, and with a memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from hanging import never_hanging

from context_pack.kernel.syntax import NotParsed, Parsed, Spans, Syntax
from context_pack_adapters.syntax.guarded_syntax import GuardedSyntax
from context_pack_adapters.syntax.languages import GRAMMARS, SOURCES, GrammarSource
from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax

SMALL = {
    "python": ('"""Größe."""\nimport a.b\n# naïve: area\ndef area(x):\n    return f"area {area}"\n', "area"),
    "javascript": ("import 'a';\n// area\nfunction area(x) { return `area ${area}` + /area/; }\n", "area"),
    "vue": ("<p>area</p><script>\nimport 'a'\nfunction area() { return 'area'; }\n</script>\n", "area"),
    "go": ('package a\n\nimport "b"\n\n// area is\nfunc area() { area("area") }\n', "area"),
    "rust": ('use b::c;\n/// area\nfn area() { area(r#"area"#); }\n', "area"),
}


@pytest.fixture(params=["parser", "process", "kept"])
def syntax(request: pytest.FixtureRequest) -> Iterator[Syntax]:
    if request.param == "parser":
        yield TreeSitterSyntax()
        return
    with closing(GuardedSyntax(most_kept=2 if request.param == "kept" else 0)) as guarded:
        yield guarded


@pytest.mark.clause("CD-97")
@pytest.mark.parametrize(("language", "count"), [("javascript", 2), ("vue", 1), ("go", 2), ("rust", 2)])
def test_a_name_is_found_outside_of_comments_strings_and_patterns(
    syntax: Syntax, language: str, count: int
) -> None:
    text, name = SMALL[language]
    assert len(found(syntax, language, text, name)) == count
    assert found(syntax, language, text, "are") == []
    assert found(syntax, language, text, "a|r") == []


@pytest.mark.clause("CD-98")
def test_a_text_that_is_not_parsed_has_a_reason(syntax: Syntax) -> None:
    assert not syntax.knows("cobol")
    for text, language, reason in [
        ("x", "cobol", "there is no grammar for cobol"),
        ("#" * (1024 * 1024 + 1), "python", "it is larger than 1 MiB"),
        ("[" * 50_000, "python", "its grammar cannot read it"),
    ]:
        for answer in (
            syntax.parse(language, text),
            syntax.spans(language, text),
            syntax.occurrences(language, text, "x"),
        ):
            assert isinstance(answer, NotParsed)
            assert answer.reason == reason


@pytest.mark.clause("CD-98")
def test_a_mostly_broken_text_still_yields_its_imports(syntax: Syntax) -> None:
    answer = syntax.parse("javascript", "import 'a';\n" + "= ) ( =\n" * 20)
    assert isinstance(answer, NotParsed)
    assert answer.reason == "its grammar cannot read it"
    assert answer.partly is not None
    assert [each.specifier for each in answer.partly.imports] == ["a"]
    assert answer.partly.error_line == 2


@pytest.mark.clause("CD-98")
@pytest.mark.parametrize(
    "source", [GrammarSource("no_such_grammar", "language", "go"), GrammarSource("json", "loads", "go")]
)
def test_a_grammar_that_cannot_be_loaded_disables_its_language_only(
    monkeypatch: pytest.MonkeyPatch, source: GrammarSource
) -> None:
    monkeypatch.setitem(SOURCES, "broken", source)
    monkeypatch.setitem(GRAMMARS, "broken", "broken")
    answer = TreeSitterSyntax().parse("broken", "x")
    assert answer == NotParsed("the grammar for broken could not be loaded")
    assert isinstance(TreeSitterSyntax().parse("python", "x"), Parsed)


HOSTILE = [
    "(" * 30_000,
    "{[(" * 10_000 + ")]}" * 10_000,
    "a" * 500_000,
    "a " * 30_000,
    "\0" * 2_500,
    "x = '\ud800\udfff'\n" * 2_500,
    "é\u2028\ufeff" * 2_500,
    "/**/" * 10_000 + "x",
    "'\\" * 15_000,
    "x = 1;" * 10_000,
]


@pytest.mark.slow
@pytest.mark.clause("CD-15", "CD-98")
@pytest.mark.parametrize("language", sorted(SOURCES))
def test_no_text_makes_a_grammar_hang_or_raise(language: str) -> None:
    with closing(GuardedSyntax()) as parser:
        for text in HOSTILE:
            with never_hanging(120):  # five seconds of its own each; a square or a loop would go on for hours
                assert isinstance(parser.parse(language, text), Parsed | NotParsed)
                assert isinstance(parser.spans(language, text), Spans | NotParsed)


def found(syntax: Syntax, language: str, text: str, name: str) -> list[int]:
    """Where a name stands in a text that is parsed."""
    places = syntax.occurrences(language, text, name)
    assert not isinstance(places, NotParsed)
    return list(places)
