"""Random patterns over random texts: what ripgrep may be asked, it counts as `regex` does."""

from __future__ import annotations

import subprocess
import sysconfig
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from context_pack.code.domain.search_pattern import Pattern, compiled, is_plain
from context_pack.kernel.errors import Failure
from context_pack_adapters.search.deadline import Deadline
from context_pack_adapters.search.matching import LineMatcher
from context_pack_adapters.search.ripgrep import counting, find_binary
from context_pack_adapters.search.texts import described

RG = find_binary(sysconfig.get_path("scripts"))
pytestmark = pytest.mark.skipif(RG is None, reason="no ripgrep here")

ATOMS = st.sampled_from(
    [
        "a", "b", "A", "k", "s", "i", " ", "_", "1", ".", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\b",
        "[ab]", "[^a]", "[a-z]", r"[\w-]", r"[^\w]", "[^k]", "[+-]", "(a|b)", "(?:a|)", r"\.", r"\\", "-",
        "#",
    ]
)  # fmt: skip
REPEATS = st.sampled_from(["", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{2,}", "*?", "+?"])
PATTERNS = st.builds(
    lambda start, parts, joint, end: start + joint.join(parts) + end,
    st.sampled_from(["", "^"]),
    st.lists(st.tuples(ATOMS, REPEATS).map("".join), min_size=1, max_size=5),
    st.sampled_from(["", "|"]),
    st.sampled_from(["", "$"]),
)
LINES = st.text(
    st.sampled_from("abAkKsi \t_1.-+#\\éßΣς数\x0b\x0c\x1c\x85\xa0\u2028\u0301\U0001f600"), max_size=8
)
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end, st.lists(LINES, max_size=5), st.sampled_from(["", "\n"])
)


def by_ripgrep(pattern: Pattern, folder: Path, texts: list[str]) -> list[int]:
    """How many lines match in each text."""
    names = [f"{number}.txt" for number in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_bytes(text.encode())
    with counting(str(RG), pattern.ripgrep or "", pattern.fold, str(folder), names, Deadline(60)) as told:
        counts = told()
    return [counts[name] for name in names]


def by_regex(pattern: Pattern, text: str) -> int:
    """The same, counted as every search does."""
    return len(LineMatcher(pattern, Deadline(60)).in_text(described(text.encode()).text or ""))


@pytest.mark.slow
@pytest.mark.clause("CD-65", "CD-66")
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PATTERNS, st.booleans(), st.lists(TEXTS, min_size=1, max_size=3))
def test_ripgrep_counts_in_plain_texts_what_regex_does(
    tmp_path: Path, text: str, case_sensitive: bool, texts: list[str]
) -> None:
    try:
        pattern = compiled(text, case_sensitive)
    except Failure:
        return
    if pattern.ripgrep is None:
        return
    assert all(is_plain(one.encode()) for one in texts)
    # Rust's dialect refuses a little of it; then there are no counts, and nothing to differ about.
    asked = subprocess.run([str(RG), "--regexp", text, "-"], input=b"", capture_output=True, check=False)
    if asked.returncode != 2:
        assert by_ripgrep(pattern, tmp_path, texts) == [by_regex(pattern, one) for one in texts]


@cache
def plain_characters() -> list[str]:
    """Every character that both may be asked about."""
    chars = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF and chr(code) != "\n"]
    return [char for char in chars if is_plain(char.encode())]


@pytest.mark.slow
@pytest.mark.clause("CD-62", "CD-66")
@pytest.mark.parametrize("case_sensitive", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        r"\w|#",
        r"\d|#",
        r"\s|#",
        r"\b.",
        r"[\w.]",
        r"[^\w-]",
        r"\W|a",
        "[^a-z]",
        "[^s]",
        "[^k]",
        "[a-z]",
        "[I-K]",
        "i|#",
        ".$",
    ],
)
def test_ripgrep_and_regex_agree_on_every_plain_character(
    text: str, case_sensitive: bool, tmp_path: Path
) -> None:
    pattern = compiled(text, case_sensitive)
    assert pattern.ripgrep == text
    plain = plain_characters()
    assert len(plain) > 30_000
    matcher = LineMatcher(pattern, Deadline(60))
    lines = "".join(f"{char}\n" for char in plain)
    places = {lines.count("\n", 0, start) for start in matcher.in_text(lines)[:50]}
    (tmp_path / "lines").write_bytes(lines.encode())
    options = [
        "--no-config",
        "--text",
        "--encoding=none",
        "--only-matching",
        "--line-number",
        "--no-filename",
    ]
    case = "--case-sensitive" if case_sensitive else "--ignore-case"
    said = subprocess.run(
        [str(RG), *options, case, f"--regexp={text}", "lines"], cwd=tmp_path, capture_output=True, check=True
    ).stdout
    theirs = {int(line.split(b":")[0]) - 1 for line in said.split(b"\n")[:-1]}
    ours = {number for number, char in enumerate(plain) if matcher.in_text(f"{char}\n")}
    assert places <= ours
    assert {plain[number] for number in theirs ^ ours} == set()
