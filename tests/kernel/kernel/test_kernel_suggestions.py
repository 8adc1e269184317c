"""Suggestions of similar names."""

from __future__ import annotations

import pytest

from context_pack.kernel.text import close


@pytest.mark.clause("KN-35")
def test_did_you_mean_looks_at_all_names_and_not_at_the_first_of_the_alphabet() -> None:
    names = [f"a{number:05}.py" for number in range(6_000)]
    assert close("zebra_handlr.py", [*names, "zebra_handler.py"]) == ["zebra_handler.py"]
