"""Source texts that their parsers must be kept from."""

from __future__ import annotations

import pytest

from context_pack.kernel.text import MOST_DOTS, toml_of


@pytest.mark.clause("KN-33")
def test_a_key_of_too_many_parts_is_no_toml() -> None:
    assert toml_of('a.b = "1.2.3"\n[x.y]\nz = 1\n') == {"a": {"b": "1.2.3"}, "x": {"y": {"z": 1}}}
    for text in (".".join(["a"] * (MOST_DOTS + 2)) + " = 1", "x = " + "[" * 100_000, "x ="):
        with pytest.raises(ValueError, match=r"."):
            toml_of(text)
