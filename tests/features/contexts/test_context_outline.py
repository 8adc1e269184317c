# ruff: noqa: E501 -- sample sources and answers stand on one line, as they do in files
"""What source files say about themselves, in a dozen languages; and that no file can stop the telling."""

from __future__ import annotations

import pytest
from hanging import never_hanging
from hypothesis import given
from hypothesis import strategies as st

from context_pack.contexts import outline
from context_pack.contexts.outline import Outline, paragraph_of, title_of
from context_pack.kernel.languages import language_of
from context_pack.kernel.text import first_sentence, one_line
from context_pack_adapters.syntax import shared_syntax

SYNTAX = shared_syntax()


def outline_of(name: str, text: str) -> Outline:
    return outline.outline_of(name, text, SYNTAX.parse(language_of(name), text))


def signatures(name: str, text: str) -> list[str]:
    return [export.signature for export in outline_of(name, text).exports]


@pytest.mark.clause("CX-31")
def test_python_outline_has_docstring_public_definitions_and_imports() -> None:
    text = '''"""Invoices of the shop. And more."""
import os.path
from . import lines, totals
from ..common.money import Money


def make(number: str, *, due: int = 3) -> "Invoice":
    """Make one.

    More words.
    """


async def send(invoice: "Invoice") -> bool: ...


class Invoice(Base, Generic[T]):
    """An invoice."""


def _private(): ...
'''
    found = outline_of("invoice.py", text)
    assert found.about == "Invoices of the shop."
    assert [export.signature for export in found.exports] == [
        'def make(number: str, *, due: int = 3) -> "Invoice"',
        'async def send(invoice: "Invoice") -> bool',
        "class Invoice(Base, Generic[T])",
    ]
    assert [export.about for export in found.exports] == ["Make one.", "", "An invoice."]
    assert found.imports == ("os.path", ".lines", ".totals", "..common.money")


@pytest.mark.clause("CX-31")
def test_python_exports_are_those_of_all_where_it_is_a_plain_list() -> None:
    text = "__all__ = ['_b']\ndef a(): ...\ndef _b(): ...\n"
    assert signatures("m.py", text) == ["def _b()"]
    assert signatures("m.py", text.replace("['_b']", "names()")) == ["def a()"]


@pytest.mark.clause("CX-31")
def test_python_that_does_not_parse_still_has_its_first_comment() -> None:
    assert outline_of("m.py", "#!/usr/bin/env python\n# Does things.\ndef (:\n").about == "Does things."
    assert outline_of("m.py", "x = 1\0").exports == ()


@pytest.mark.clause("CX-31")
def test_typescript_outline_has_exports_with_signatures() -> None:
    text = """/**
 * Front door
 * of the shop. More.
 */
import { a } from "./a";
import "./side";
import type {
  B,
} from "../b";
export { c as d, e } from './c';
const f = require("f");
/** Adds. */
export default async function add<T>(items: T[], each: (item: T) => void): Promise<void> {}
export const LIMIT: number = 3;
export abstract class Base<T> extends Other {}
export interface Options { a: number }
export type Id = string;
const lazy = import("./lazy");
export function
  wrapped(
    path: string,
  ): void {}
"""
    found = outline_of("index.ts", text)
    assert found.about == "Front door of the shop."
    assert [export.signature for export in found.exports] == [
        "async function add<T>(items: T[], each: (item: T) => void): Promise<void>",
        "const LIMIT: number",
        "abstract class Base<T> extends Other",
        "interface Options",
        "type Id",
        "function wrapped( path: string, ): void",
        "d",
        "e",
    ]
    assert found.exports[0].about == "Adds."
    assert found.imports == ("./a", "./side", "../b", "./c", "f", "./lazy")


@pytest.mark.clause("CX-31")
def test_commonjs_outline_has_exports() -> None:
    assert signatures("a.js", "module.exports = { one, two: 2 };\nexports.three = 3;\n") == [
        "one",
        "two",
        "three",
    ]


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
@pytest.mark.parametrize(
    ("name", "text", "about"),
    [
        ("a.css", "/* Buttons. */\n.b {}\n", "Buttons."),
        ("Makefile", "# Builds it all.\nall:\n", "Builds it all."),
        ("a.yaml", "# eslint-disable\n# Copyright X\n\n# Settings of it.\na: 1\n", "Settings of it."),
        ("a.html", "<!DOCTYPE html>\n<!-- The page. -->\n", "The page."),
        ("a.json", '{"a": 1}', ""),
        ("a.vue", "<!-- A button. -->\n<template/>\n", "A button."),
        ("a.js", "#!/usr/bin/env node\n'use strict';\n// ====\n// Runs it.\n", "Runs it."),
        ("a.md", "---\nt: x\n---\n<!-- c -->\n# The *guide*\n", "The *guide*"),
        ("a.md", "## C# ##\n", "C#"),
        ("a.md", "# In C#\n", "In C#"),
        ("a.md", "#  #\nText.\n", "Text."),
        ("a.rst", "Title\n=====\n\nText.\n", "Title"),
        ("notes.txt", "Plain words. More.\n", "Plain words."),
    ],
)
def test_a_first_comment_or_title_describes_a_file(name: str, text: str, about: str) -> None:
    assert outline_of(name, text).about == about


@pytest.mark.clause("CX-31")
def test_prose_is_described_by_title_and_first_paragraph() -> None:
    text = "[![b](u)](v)\n\n# Shop\n\n<p>\n\n- a list\n\nSells `things` to [people](x). Every day.\n"
    assert title_of(text) == "Shop"
    assert paragraph_of(text) == "Sells things to people."
    assert title_of("no title") == paragraph_of("# only a title") == ""
    short = "UI\n==\n\n.. toctree::\n   :maxdepth: 1\n\n   views\n   forms\n\nWhat people see.\n"
    assert (title_of(short), paragraph_of(short)) == ("UI", "What people see.")
    assert title_of("a line\n--\n") == ""


@pytest.mark.clause("CX-31")
def test_sentences_end_where_people_end_them() -> None:
    assert first_sentence("Takes e.g. a list. Then more.") == "Takes e.g. a list."
    assert first_sentence("One\nline\n\nSecond paragraph.") == "One line"
    assert len(first_sentence("word " * 500)) <= 200
    assert one_line("a" * 300).endswith("…")


@pytest.mark.slow
@pytest.mark.clause("CX-31")
@pytest.mark.parametrize(
    "extension", ["py", "ts", "go", "rs", "java", "c", "php", "rb", "md", "sql", "vue", "html", "xyz"]
)
def test_no_text_makes_an_outline_hang(extension: str) -> None:
    for text in ("(" * 20_000, "import " * 10_000, "import\n" * 10_000, "/*" * 20_000, "<" * 50_000, "public a " * 5_000,
                 "a b " * 20_000, "export function f(" + "(" * 20_000, "word " * 20_000, "[![" * 5_000, "\n" * 50_000):  # fmt: skip
        with never_hanging():
            assert len(outline_of(f"a.{extension}", text * 2).about) <= 200


@pytest.mark.clause("CX-31")
@given(
    st.sampled_from(["py", "ts", "go", "rs", "java", "c", "md", "sh", "sql", "html"]), st.text(max_size=200)
)
def test_outlines_of_random_text_are_short_and_on_one_line(extension: str, text: str) -> None:
    found = outline_of(f"a.{extension}", text)
    assert len(found.about) <= 200
    assert all(len(export.signature) <= 200 for export in found.exports)
    assert "\n" not in found.about + "".join(export.signature for export in found.exports)
