"""Files that nobody has read: what ripgrep is asked about them is what reading them would tell."""

from __future__ import annotations

import os
import re
import sysconfig
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from context_pack.code.domain.search import MAX_FILE_BYTES, Query
from context_pack.kernel.paths import PathPolicy
from context_pack.toolkit.call import QuietCall
from context_pack_adapters.search.code_search import SORTS_FROM, TreeSearch
from context_pack_adapters.search.ripgrep_process import find_binary
from context_pack_adapters.search.ripgrep_sorting import NO_UTF8

WITH_RG = pytest.mark.skipif(find_binary(sysconfig.get_path("scripts")) is None, reason="no ripgrep here")
ODD = {
    "empty.txt": b"",
    "marked.txt": b"\xef\xbb\xbfneedle\n",
    "returns.txt": b"one\r\nneedle\r\n",
    "lone.txt": b"one\rneedle\n",
    "early.txt": b"needle\0\n",
    "late.txt": b"a\n" * 8192 + b"needle\0\n",
    "latin.txt": "needle größe\n".encode("latin-1"),
    "half.txt": b"needle \xe2\x82",
    "long.txt": b"needle \xc0\xaf\n",
    "pair.txt": b"needle \xed\xa0\x80\n",
    "past.txt": b"needle \xf4\x90\x80\x80\n",
    "usual.txt": "needle größe → 数据 😀\n".encode(),
    "unusual.txt": "needle \U00013000 \ue000\n".encode(),
    "large.txt": b"needle\n" + b"x" * MAX_FILE_BYTES,
    "-": b"needle\n",
    "unended.txt": b"one\nneedle",
}


def decodes(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.clause("CD-67")
@given(
    st.lists(
        st.one_of(st.binary(max_size=6), st.text(max_size=4).map(lambda t: t.encode("utf-8", "replace")))
    )
)
@example([b"\xe0\xa0"])
@example([b"\xf0\x90\x80\x80\x80"])
@example([b"\xc2", b"\n\x80"])
def test_the_mistakes_that_are_looked_for_are_all_that_utf_8_can_have(parts: list[bytes]) -> None:
    data = b"".join(parts)
    assert (re.search(NO_UTF8.encode(), data, re.MULTILINE) is None) == decodes(data)


@pytest.mark.clause("CD-67")
@WITH_RG
@pytest.mark.parametrize("pattern", ["needle", "NEEDLE|grö", r"needle.*\w$", r"(?<=n)eedle", "[^a-z]", "^"])
def test_a_first_search_of_many_files_counts_and_finds_what_the_pure_engine_does(
    tmp_path: Path, pattern: str
) -> None:
    for number in range(SORTS_FROM):
        (tmp_path / f"plain{number}.txt").write_text(f"line\nneedle {number}\n")
    for name, data in ODD.items():
        (tmp_path / name).write_bytes(data)
    query = Query(pattern, limit=100)
    pure = TreeSearch(tmp_path, PathPolicy(), "pure").search(query, QuietCall())
    sorting = TreeSearch(tmp_path, PathPolicy(), "rg")
    assert sorting.search(query, QuietCall()) == pure
    assert sorting.search(query, QuietCall()) == pure
    assert pure.files == SORTS_FROM + 9


@pytest.mark.clause("CD-67")
@WITH_RG
@pytest.mark.parametrize("warm", [False, True])
def test_a_file_that_goes_before_ripgrep_opens_it_is_left_out_and_no_more(tmp_path: Path, warm: bool) -> None:
    tree, folder = tmp_path / "tree", tmp_path / "bin"
    tree.mkdir()
    folder.mkdir()
    for number in range(SORTS_FROM):
        (tree / f"plain{number}.txt").write_text(f"line\nneedle {number}\n")
        os.utime(tree / f"plain{number}.txt", (1, 1))
    (tree / "gone.txt").write_text("needle\n")
    script = folder / "rg"
    search = TreeSearch(tree, PathPolicy(), "rg", str(folder))
    script.write_text(f'#!/bin/sh\nexec "{find_binary(sysconfig.get_path("scripts"))}" "$@"\n')
    script.chmod(0o755)
    if warm:
        search.search(Query("warm up"), QuietCall())
    assert search.binary == str(script)
    removing = f'#!/bin/sh\nrm -f "{tree}/gone.txt"\necho "$3" >> "{tmp_path}/log"\n'
    script.write_text(removing + f'exec "{find_binary(sysconfig.get_path("scripts"))}" "$@"\n')
    found = search.search(Query("needle", limit=5), QuietCall())
    assert (found.total, found.files) == (SORTS_FROM, SORTS_FROM)
    assert len((tmp_path / "log").read_text().splitlines()) > 1
