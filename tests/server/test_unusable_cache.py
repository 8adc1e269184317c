"""A cache folder that cannot be used, or is full, is told by the commands that need it."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from stdio_client import environment


@pytest.mark.clause("PV-06")
def test_search_and_index_say_that_the_cache_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def parse_header():\n    return 1\n")
    (tmp_path / "file").write_text("")
    line = CommandLine(tmp_path)
    for words in (("search", "parse header"), ("index",)):
        done = line(*words, CONTEXT_PACK_CACHE=str(tmp_path / "file"))
        assert done.code == 0, done
        assert "what is indexed now is gone when this command ends" in done.err
    assert "gone when" not in line("index").err


@pytest.mark.clause("PV-06")
@pytest.mark.parametrize("words", [("search", "parse header"), ("index",)])
def test_search_and_index_say_that_nothing_more_can_be_written(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "a.py").write_text("def parse_header():\n    return 1\n")
    done = subprocess.run(
        [sys.executable, "-m", "context_pack", *words], cwd=tmp_path, env=environment(), capture_output=True,
        text=True, timeout=120, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )  # fmt: skip
    assert done.returncode == 1
    assert "memory.sqlite3: " in done.stderr, done
