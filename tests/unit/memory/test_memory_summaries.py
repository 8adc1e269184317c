"""What files and classes say of themselves."""

from __future__ import annotations

import pytest

from context_pack.memory.domain.summaries import about_class, about_file


@pytest.mark.clause("ME-20")
@pytest.mark.parametrize(
    ("path", "text", "about"),
    [
        ("a.py", '#!/usr/bin/env python\n# hello\n"""Keeps packs. And more.\n\nMore."""\n', "Keeps packs."),
        ("a.py", "'''Never ends", "Never ends"),
        ("a.py", "# Only a comment.\nx = 1\n", "Only a comment."),
        ("a.py", "x = 1\n", ""),
        ("a.ts", "/** Logs people in. */\nexport const x = 1\n", "Logs people in."),
        ("a.go", "// Package shop sells.\npackage shop\n", "Package shop sells."),
        ("a.py", "", ""),
    ],
)
def test_a_file_is_about_what_it_begins_with(path: str, text: str, about: str) -> None:
    assert about_file(path, text) == about


@pytest.mark.clause("ME-20")
@pytest.mark.parametrize(
    ("path", "text", "about"),
    [
        ("a.py", '@frozen\nclass A(B):  # why\n    """Keeps packs.\n\n    More."""\n', "Keeps packs."),
        ("a.py", 'class A(\n    B,\n):\n    """Keeps packs."""\n', "Keeps packs."),
        ("a.py", "class A:\n    x = 1\n", ""),
        ("a.ts", "  /**\n   * Logs people in.\n   */\n  class A {\n", "Logs people in."),
        ("a.rs", "/// A thing.\npub struct A {\n", "A thing."),
    ],
)
def test_a_class_is_about_its_docstring_or_comment(path: str, text: str, about: str) -> None:
    assert about_class(path, text) == about


def test_no_class_head_makes_it_slow() -> None:
    about_class("a.py", "class " + "(\n" * 50_000)
    about_file("a.py", "#" * 100_000 + '"""')
