"""Parsers of the standard library, kept from texts that would take all memory or minutes."""

from __future__ import annotations

import ast

import pytest
from hanging import never_hanging

from context_pack.contexts.domain.outline.python import outline
from context_pack.kernel.python_source import MOST_PARTS, has_endless_name, parsed, parsed_or_none
from context_pack.kernel.toml_source import MOST_DOTS, toml_of

ENDLESS = "import " + ".".join(["ab"] * 30_000) + "\n"


@pytest.mark.clause("KN-33")
def test_a_name_of_too_many_parts_never_reaches_pythons_parser() -> None:
    for text in (ENDLESS, ENDLESS.replace(".", " \\\n . ")):
        assert has_endless_name(text)
        with pytest.raises(RecursionError):
            parsed(text)
        assert parsed_or_none(text, len(text)) is None
        assert outline(text).exports == ()


@pytest.mark.clause("KN-33")
def test_what_people_write_is_parsed() -> None:
    longest = "import " + ".".join(["a"] * (MOST_PARTS + 1))
    text = f"{longest}\nx = 1.5\n" + "y = a.b\n" * MOST_PARTS
    assert not has_endless_name(text)
    assert isinstance(parsed(text).body[0], ast.Import)
    assert parsed_or_none("x = 1", 4) is None
    assert parsed_or_none("x = (", 100) is None
    assert parsed_or_none("x = '\0'", 100) is None


@pytest.mark.clause("KN-33")
def test_a_long_word_beside_many_names_costs_no_more_than_its_length() -> None:
    with never_hanging(10):  # the square of the length would take minutes
        assert not has_endless_name("a.b\n" * (MOST_PARTS + 1) + "x" * 1_000_000)


@pytest.mark.clause("KN-33")
def test_a_key_of_too_many_parts_is_no_toml() -> None:
    assert toml_of('a.b = "1.2.3"\n[x.y]\nz = 1\n') == {"a": {"b": "1.2.3"}, "x": {"y": {"z": 1}}}
    for text in (".".join(["a"] * (MOST_DOTS + 2)) + " = 1", "x = " + "[" * 100_000, "x ="):
        with pytest.raises(ValueError, match=r"."):
            toml_of(text)
