"""The lists that the server tells before it has loaded its tools are those that it would make of them.

`python -m pytest tests/architecture --regenerate` writes them anew.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from context_pack_adapters import about
from context_pack_adapters.bootstrap import load_registry
from context_pack_adapters.logs import Log
from context_pack_adapters.mcp.catalog import described
from context_pack_adapters.settings import read_settings


@pytest.mark.clause("PG-11")
def test_the_published_lists_are_those_of_the_registry(tmp_path: Path, regenerate: bool) -> None:
    lists = described(load_registry(read_settings({}, str(tmp_path)), Log("off")))
    if regenerate:
        text = json.dumps(lists, ensure_ascii=False, indent=1)
        Path(about.PUBLISHED).write_text(f"{text}\n", "utf-8")
    published = about.published()
    # As texts: the order of names is what clients see, too.
    assert json.dumps(published) == json.dumps(lists)
