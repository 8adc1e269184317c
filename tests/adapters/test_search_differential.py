"""Random patterns over random texts: ripgrep, told what we tell it, counts and places what `regex` does."""

from __future__ import annotations

import subprocess
import sysconfig
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack.code.domain.search_pattern import compiled
from context_pack.code.domain.search_ripgrep import USUAL, Reach, ripgrep_source
from context_pack.code.domain.search_syntax import read_pattern
from context_pack.kernel.errors import Failure
from context_pack_adapters.search.deadline import Deadline
from context_pack_adapters.search.matching import Matcher
from context_pack_adapters.search.ripgrep_places import place, spots
from context_pack_adapters.search.ripgrep_process import find_binary
from context_pack_adapters.search.ripgrep_trust import trusts
from context_pack_adapters.search.shelf import searched_text

RG = find_binary(sysconfig.get_path("scripts"))
pytestmark = pytest.mark.skipif(RG is None, reason="no ripgrep here")

ATOMS = st.sampled_from(
    [
        "a", "b", "A", "k", "s", "i", "é", "ß", "Σ", "数", " ", "_", "1", ".", "^", "$", r"\w", r"\W", r"\d",
        r"\D", r"\s", r"\S", r"\b",
        r"\B", "[ab]", "[^a]", "[a-z]", r"[\w-]", r"[^\w]", r"[\W1]", "[é-ü]", "[^é]", r"\r", r"\t",
        "(a|b)", "(?:a|)", "(?i:b)", "(?-i:K)", r"\.",
    ]
)  # fmt: skip
REPEATS = st.sampled_from(["", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{2,}", "*?", "+?"])
PATTERNS = st.lists(st.tuples(ATOMS, REPEATS).map("".join), min_size=1, max_size=5).flatmap(
    lambda parts: st.sampled_from(["".join(parts), "|".join(parts)])
)
TEXTS = st.lists(
    st.text(st.sampled_from("abAkKsi \t_1.-éßΣς数\u212aſıİ\r\x0c\u2028\ufeff\u0558\U0001f600\0"), max_size=8),
    max_size=5,
).flatmap(
    lambda lines: st.sampled_from(
        ["\n".join(lines), "\r\n".join(lines), "\n".join([*lines, ""]), "\r\n".join([*lines, ""])]
    )
)


def by_ripgrep(pattern: str, data: bytes) -> tuple[int, list[tuple[int, int | None]]]:
    """What `rg` counts, and the line and byte of the first match of each line; None is behind the end."""
    assert RG is not None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "f"
        file.write_bytes(data)
        always = [RG, "--no-config", "--text", "--encoding=none", "--no-filename", f"--regexp={pattern}"]
        counted = subprocess.run([*always, "--count", str(file)], capture_output=True, check=False)
        assert counted.returncode in (0, 1), counted.stderr
        options = ["--line-number", "--column", "--max-columns=1", str(file)]
        placed = subprocess.run([*always, *options], capture_output=True, check=False).stdout
    return int(counted.stdout or 0), [place(line) for line in placed.split(b"\n")[:-1]]


@pytest.mark.slow
@pytest.mark.clause("CD-65")
@settings(max_examples=100)
@given(PATTERNS, st.booleans(), st.lists(TEXTS, min_size=1, max_size=3))
def test_ripgrep_and_regex_agree_on_every_file_that_ripgrep_is_trusted_with(
    pattern: str, case_sensitive: bool, texts: list[str]
) -> None:
    try:
        found = compiled(pattern, case_sensitive)
    except Failure:
        return
    assert found.ripgrep is not None
    for content in texts:
        known, text = searched_text(content.encode())
        if not trusts("f", known, found.ripgrep):
            continue
        ours = Matcher(found, Deadline(60)).in_text(text, 1000, known.has_long_lines)
        count, places = by_ripgrep(found.ripgrep.text, content.encode())
        assert count == ours.total
        assert list(spots(text, dict(places))) == ours.spots


@pytest.mark.slow
@pytest.mark.clause("CD-62", "CD-65")
@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize(
    "pattern", [r"\w", r"\d", r"[\W.]", r"[^\w-]", r"^\b.", r"\s", "[^a-z]", "[^s]", "i", "I"]
)
def test_ripgrep_and_regex_agree_on_every_character_that_a_pattern_is_trusted_with(
    pattern: str, fold: bool, tmp_path: Path
) -> None:
    node = read_pattern(pattern, fold)
    source = ripgrep_source(node)
    assert source is not None
    wide = [(0, 0x10FFFF)] if source.reach is Reach.ANY else list(USUAL)
    codes = [
        code
        for low, high in wide
        for code in range(low, high + 1)
        if not 0xD800 <= code <= 0xDFFF and code not in (10, 13)
    ]
    text = "".join(chr(code) + "\n" for code in codes)
    ours = Matcher(compiled(pattern, not fold), Deadline(60)).in_text(text, len(codes), False)
    _, places = by_ripgrep(source.text, text.encode())
    theirs = {line - 1 for line, _ in places}
    assert {chr(codes[line]) for line in theirs ^ {spot.line for spot in ours.spots}} == set()
