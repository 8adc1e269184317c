# ruff: noqa: E501 -- sample sources and answers stand on one line, as they do in files
"""What source files say about themselves, in a dozen languages; and that no file can stop the telling."""

from __future__ import annotations

import pytest
from hanging import never_hanging

from context_pack.contexts import outline
from context_pack.contexts.outline import Outline, paragraph_of, title_of
from context_pack.kernel.languages import language_of
from context_pack_adapters.syntax import shared_syntax

SYNTAX = shared_syntax()


def outline_of(name: str, text: str) -> Outline:
    return outline.outline_of(name, text, SYNTAX.parse(language_of(name), text))


@pytest.mark.clause("CX-31")
@pytest.mark.parametrize(
    ("name", "text", "about", "exported", "imported"),
    [
        (
            "m.go",
            '// Package m does it.\npackage m\n\nimport (\n\t"fmt"\n\tx "a.b/c"\n)\n\ntype Engine struct {\n}\n'
            "func (e *Engine) Run(n int) error {\n}\nfunc lower() {}\nfunc New() *Engine {\n}\n",
            "Package m does it.",
            ["type Engine struct", "func (e *Engine) Run(n int) error", "func New() *Engine"],
            ("fmt", "a.b/c"),
        ),
        (
            "lib.rs",
            "//! Fast core.\n//! Very.\nuse crate::store;\npub async fn go<T>(t: T) -> bool {\n}\nfn no() {}\npub struct S {}\n",
            "Fast core.",
            ["pub async fn go<T>(t: T) -> bool", "pub struct S"],
            ("crate::store",),
        ),
        (
            "A.java",
            "/* Copyright 2020 */\n/** Pays. */\nimport a.b.C;\npublic final class Pay {\n    public int sum(int a) {\n",
            "Pays.",
            ["public final class Pay", "    public int sum(int a)".strip()],
            ("a.b.C",),
        ),
        ("a.kt", "// Cart\nfun add(a: Int): Int = 1\nclass Cart\n", "Cart", ["fun add(a: Int): Int", "class Cart"], ()),
        ("a.rb", "# Cart.\nrequire_relative 'x'\n\nclass Cart\n  def x; end\nend\n", "Cart.", ["class Cart"], ("x",)),
        ("a.php", "<?php\n// Cart.\nuse A\\B;\nfinal class Cart {}\n", "Cart.", ["final class Cart"], ("A\\B",)),
        ("a.h", '// Cart.\n#include "x.h"\nint add(int a);\nstruct cart { int n; };\n', "Cart.", ["int add(int a)", "struct cart"], ("x.h",)),
        ("a.sh", "#!/bin/sh\n# Builds.\n\nmain() {\n  :\n}\n", "Builds.", ["main()"], ()),
        ("a.lua", "-- Cart.\n\nfunction m.add(a) return a end\n", "Cart.", ["function m.add(a)"], ()),
        ("a.sql", "-- Tables.\nCREATE TABLE IF NOT EXISTS users (\n", "Tables.", [], ()),
        ("main.tf", '# Net.\nresource "aws_vpc" "main" {\n', "Net.", [], ()),
    ],
)  # fmt: skip
def test_outlines_of_other_languages_list_their_declarations(
    name: str, text: str, about: str, exported: list[str], imported: tuple[str, ...]
) -> None:
    found = outline_of(name, text)
    assert (found.about, [e.signature.strip() for e in found.exports], found.imports) == (
        about,
        exported,
        imported,
    )


@pytest.mark.clause("CX-31")
def test_prose_is_described_by_title_and_first_paragraph() -> None:
    text = "[![b](u)](v)\n\n# Shop\n\n<p>\n\n- a list\n\nSells `things` to [people](x). Every day.\n"
    assert title_of(text) == "Shop"
    assert paragraph_of(text) == "Sells things to people."
    assert title_of("no title") == paragraph_of("# only a title") == ""
    short = "UI\n==\n\n.. toctree::\n   :maxdepth: 1\n\n   views\n   forms\n\nWhat people see.\n"
    assert (title_of(short), paragraph_of(short)) == ("UI", "What people see.")
    assert title_of("a line\n--\n") == ""


@pytest.mark.slow
@pytest.mark.clause("CX-31")
@pytest.mark.parametrize("extension", ["py", "ts", "go", "c", "md", "sql"])
def test_no_text_makes_an_outline_hang(extension: str) -> None:
    for text in ("(" * 20_000, "import " * 10_000, "import\n" * 10_000, "/*" * 20_000, "<" * 50_000, "public a " * 5_000,
                 "a b " * 20_000, "export function f(" + "(" * 20_000, "word " * 20_000, "[![" * 5_000, "\n" * 50_000):  # fmt: skip
        with never_hanging():
            assert len(outline_of(f"a.{extension}", text * 2).about) <= 200
