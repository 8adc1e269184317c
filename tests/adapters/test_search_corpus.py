"""A hard tree, searched with and without ripgrep: the answers of a plain second opinion."""

from __future__ import annotations

import stat
import sysconfig
from itertools import product
from pathlib import Path

import pytest
from search_corpus import COUNTED, Line, expected, lines_of, plant, settle

from context_pack.code.domain.search import FoundLines, LineQuery, hit_in
from context_pack.kernel.paths import PathPolicy
from context_pack.toolkit.call import QuietCall
from context_pack_adapters.search.code_search import ROOM_BYTES, FileTreeSearch
from context_pack_adapters.search.ripgrep import find_binary

RG = find_binary(sysconfig.get_path("scripts"))

PATTERNS = [
    "foo", "FOO", "Foo", "foo bar", "needle", "jwt.sign", r"jwt\.sign", "nothing-like-this", "a", "e", " ",
    r"\.", r"\(", r"\{",
    "^foo", "foo$", "^foo$", "^$", r"^\s*$", r"\s$", r"^\s+\S", "^", "$", "^.", ".$", ".", ".*", ".+foo",
    "foo.*foo", "x*", "x+", "o{2}",
    "o{2,}", "o{1,2}?", "(foo|bar)", "foo|bar|baz", "TODO|FIXME", "(?:b|f)(?:ar|oo)", "f(o)o", "(fo+)+ ",
    "a?b?c?$", "[fb]oo", "[^f]oo",
    "[a-f]+$", "[^a-z]+", "[^ -~]", r"[\w.]+", r"\w+", r"\w+\(", r"\W", r"\d", r"\d+", r"\D+", r"\s",
    r"\S+", r"\bfoo\b", r"\bfoo", r"foo\b",
    r"\Boo", r"\B", r"\b", r"o\B", r"[\s,]+foo", r"[\W_]foo", r"[^\w\s]", r"[^\W\d]+", r"\x66oo",
    r"\u0066oo", r"\t", r"\r", r"foo\r",
    r"[\r\n]", r"\r$", r"lone \r", r"foo\s", r"foo.", r"foo\W", r"foo[^x]", r"foo[^x]?$", r"foo\s*$",
    r"nul \x00", r"\0", "naïve", "NAÏVE",
    "größe", "GRÖSSE", "straße", "STRASSE", "strasse", "ſ", "s", "k", "K", "\u212a", "i", "I", "İ", "ı",
    "σ", "Σ", "ς", "ж", "Ж", "数据",
    "[à-ü]", "[а-я]+", "[Α-Ω]", r"\u0300", "\U0001f600", ".\u200d", "\u00a0", "\u2028", "\u0085", "\u200b",
    r"\p{Lu}", r"\p{Greek}+", r"\pN",
    r"\P{L}", "foo(?=.)", "foo(?!.)", r"(?<=\s)foo", r"(?<!\s)foo", r"(\w)\1", r"(a|b)\1", "fo++",
    "(?>fo+)o", r"foo\Kbar| \Kbar", "(?i)FOO",
    "(?i:f)OO", "(?s)foo.", "(?m)^foo", "(aa|ab)+", "(a+)+b", "(a|aa)+$", r"^(\s*)\S.*$", "[[]", r"[\]]",
    "[]]", "[^]]$", r"a\[0\]", r"&&|\|\|",
    r"\$z", r"y \?", '"q"', r"^(?:.{5})", r"^.{500,}$", "x{600}", "(?:x|y){50}", "end$", "end", r"\S\s\S",
    "o", "(?:)", "()", "(foo)?", "(?:foo)*b",
    r"interface.*Context", r"[A-Z]\w+Context", r"function \w+\(\)", r"^import .* from", r"\w+\s*=\s*\w+",
    r"\bclass\b.*:", r"[A-Za-z_]\w*\(\)",
    "$^", "^$^", r"\s*$^", "foo$|^$", "[[:alpha:]]+", "(?-i)FOO", "foo|", "(foo|bar|baz) ?", "[^o]$",
    r"\d+\s*$",
]  # fmt: skip
OWN = {
    "import {e}": r"import \{e\}",
    r"\Qa[0]\E": r"a\[0\]",
    r"\x{1F600}": "\U0001f600",
    "(?x) foo \\s bar": r"foo\sbar",
    r"foo\nbar": "(?!)",
    r"\<foo\>": "<foo>",
    r"foo\z": r"foo\Z",
}
"""Patterns whose meaning is not that of `regex`, and how `regex` says them."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus on disk."""
    root = tmp_path_factory.mktemp("corpus") / "root"
    root.mkdir()
    plant(root)
    return root


class Counting:
    """A ripgrep that leaves a mark for each run."""

    def __init__(self, folder: Path) -> None:
        assert RG is not None
        self.folder = folder
        self.log = folder / "runs"
        script = folder / "rg"
        script.write_text(
            f'#!/bin/sh\ncase "$*" in *--version*) ;; *) echo run >> "{self.log}" ;; esac\nexec "{RG}" "$@"\n'
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)

    @property
    def runs(self) -> int:
        """How often it was asked to search."""
        return self.log.read_text().count("run") if self.log.exists() else 0


@pytest.fixture(scope="module")
def ripgrep(tmp_path_factory: pytest.TempPathFactory) -> Counting:
    """The ripgrep of the tests."""
    if RG is None:
        pytest.skip("no ripgrep here")
    return Counting(tmp_path_factory.mktemp("bin"))


@pytest.fixture(scope="module")
def engines(tree: Path, ripgrep: Counting) -> tuple[FileTreeSearch, FileTreeSearch]:
    """With ripgrep and without, warm: what is known of the files is from an earlier search."""
    fast = FileTreeSearch(tree, PathPolicy(), "rg", str(ripgrep.folder))
    pure = FileTreeSearch(tree, PathPolicy(), "pure")
    assert (fast.binary is None, pure.binary) == (False, None)
    for engine in (fast, pure):
        engine.search(LineQuery("warm up"), QuietCall())
    return fast, pure


def judged(found: FoundLines, wanted: list[Line], limit: int) -> None:
    """Compare an answer with the second opinion."""
    assert found.total == len(wanted)
    assert found.files == len(COUNTED)
    assert list(found.hits) == [
        hit_in(line.path, lines_of(COUNTED[line.path]), line.line - 1, line.column - 1)
        for line in wanted[:limit]
    ]


@pytest.mark.clause("CD-50", "CD-51", "CD-52", "CD-53", "CD-55", "CD-56", "CD-58", "CD-59", "CD-62", "CD-65")
@pytest.mark.parametrize("fold", [True, False])
@pytest.mark.parametrize("pattern", [*PATTERNS, *OWN])
def test_with_and_without_ripgrep_is_found_what_regex_finds_line_by_line(
    engines: tuple[FileTreeSearch, FileTreeSearch], pattern: str, fold: bool
) -> None:
    wanted = expected(OWN.get(pattern, pattern), fold)
    for limit in (100, 7):
        query = LineQuery(pattern, None, not fold, limit)
        for engine in engines:
            judged(engine.search(query, QuietCall()), wanted, limit)


@pytest.mark.clause("CD-65")
def test_the_search_corpus_has_enough_patterns() -> None:
    assert 2 * len([*PATTERNS, *OWN]) >= 200
    assert len(COUNTED) >= 30


@pytest.mark.clause("CD-66", "CD-67")
@pytest.mark.parametrize(
    "pattern, is_asked",
    [
        (r"\bfoo\w*", True),
        ("(a|aa)+$", True),
        ("TODO|FIXME", True),
        ("foo", False),
        ("$^", False),
        ("foo(?=b)", False),
        (r"(\w)\1", False),
        ("fo++", False),
    ],
)
def test_ripgrep_runs_only_patterns_it_reads_like_regex(
    engines: tuple[FileTreeSearch, FileTreeSearch], ripgrep: Counting, pattern: str, is_asked: bool
) -> None:
    before = ripgrep.runs
    engines[0].search(LineQuery(pattern), QuietCall())
    assert (ripgrep.runs > before) is is_asked
    before = ripgrep.runs
    engines[1].search(LineQuery(pattern), QuietCall())
    assert ripgrep.runs == before


@pytest.mark.clause("CD-60", "CD-65")
@pytest.mark.parametrize(
    "glob",
    [
        "*.txt",
        "**/*.py",
        "nested/**",
        "!*.txt",
        "*.{md,ts}",
        "sub/*",
        "nested/*",
        "/README.md",
        "cr*.txt",
        "{nested,sub}/**/*.{txt,log}",
    ],
)
def test_the_files_that_a_glob_means_are_searched(
    engines: tuple[FileTreeSearch, FileTreeSearch], glob: str
) -> None:
    fast, pure = (engine.search(LineQuery("foo", glob, limit=100), QuietCall()) for engine in engines)
    assert fast == pure
    assert 0 < pure.files < len(COUNTED)


@pytest.mark.clause("CD-65")
@pytest.mark.parametrize("pattern", ["foo", r"\w+ \w+ \w+", "^.*$", "foo|bar", "$^", r"\s+$"])
def test_a_first_search_answers_as_a_later_one(
    tree: Path, ripgrep: Counting, engines: tuple[FileTreeSearch, FileTreeSearch], pattern: str
) -> None:
    query = LineQuery(pattern, limit=100)
    answers = [engine.search(query, QuietCall()) for engine in engines]
    for wish, room in product(("rg", "pure"), (ROOM_BYTES, 0, 2_000)):
        engine = FileTreeSearch(tree, PathPolicy(), wish, str(ripgrep.folder), room=room)
        answers += [engine.search(query, QuietCall()) for _ in range(2)]
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.clause("CD-65")
def test_anchors_match_blank_lines_on_the_first_search_and_on_later_ones(
    tmp_path: Path, ripgrep: Counting
) -> None:
    (tmp_path / "windows.txt").write_bytes(b"x\r\n\r\ny\r\n\r\n")
    (tmp_path / "unix.txt").write_bytes(b"x\n\ny\n\n")
    settle(tmp_path)
    search = FileTreeSearch(tmp_path, PathPolicy(), "rg", str(ripgrep.folder))
    for pattern in ("$^", "^$", r"\s*$^", "$^|nothing"):
        totals = [search.search(LineQuery(pattern), QuietCall()).total for _ in range(3)]
        assert totals == [4, 4, 4], pattern


@pytest.mark.clause("CD-66", "CD-67")
def test_without_a_ripgrep_that_works_we_search_ourselves(tree: Path, tmp_path: Path) -> None:
    broken = tmp_path / "rg"
    broken.write_text(
        f"#!/bin/sh\ncase $* in *--version*) echo ripgrep 0.1; exit 0;; esac\n"
        f"touch {tmp_path}/asked\nprintf 'README.md\\0007\\n'\nexit 2\n"
    )
    broken.chmod(0o755)
    query, pure = LineQuery("foo|bar"), FileTreeSearch(tree, PathPolicy(), "pure")
    failing = FileTreeSearch(tree, PathPolicy(), "rg", str(tmp_path))
    assert failing.binary == str(broken)
    assert failing.search(query, QuietCall()) == pure.search(query, QuietCall())
    assert (tmp_path / "asked").exists()
    broken.unlink()  # it was there when it was looked for
    assert failing.search(query, QuietCall()) == pure.search(query, QuietCall())


@pytest.mark.clause("CD-67")
def test_another_program_named_rg_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "rg").write_text("#!/bin/sh\necho another program\n")
    (tmp_path / "rg").chmod(0o755)
    assert FileTreeSearch(tmp_path, PathPolicy(), "auto", str(tmp_path)).binary != str(tmp_path / "rg")


@pytest.mark.clause("CD-66")
def test_a_file_that_goes_before_ripgrep_opens_it_is_left_out_and_no_more(
    tmp_path: Path, ripgrep: Counting
) -> None:
    tree, folder = tmp_path / "tree", tmp_path / "bin"
    tree.mkdir()
    folder.mkdir()
    for name in ("a", "b", "gone"):
        (tree / name).write_text("line\nneedle\n")
    settle(tree)
    script = folder / "rg"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *--version*) ;; *) rm -f "{tree}/gone" ;; esac\nexec "{RG}" "$@"\n'
    )
    script.chmod(0o755)
    search = FileTreeSearch(tree, PathPolicy(), "rg", str(folder))
    query = LineQuery("needle|thread", limit=1)
    found = search.search(query, QuietCall())
    assert not (tree / "gone").exists()
    assert found.total == found.files >= 2
    found = search.search(query, QuietCall())
    assert (found.total, found.files) == (2, 2)


@pytest.mark.clause("CD-58")
def test_both_search_engines_obey_the_deny_globs(tree: Path, ripgrep: Counting) -> None:
    policy = PathPolicy(("*.ts", "nested/deep/**"))
    engines = (FileTreeSearch(tree, policy, "rg", str(ripgrep.folder)), FileTreeSearch(tree, policy, "pure"))
    fast, pure = (engine.search(LineQuery("foo|jwt", limit=100), QuietCall()) for engine in engines)
    assert fast == pure
    assert {"code.ts", "nested/deep/back.txt"}.isdisjoint(hit.path for hit in pure.hits)
    assert pure.files == len(COUNTED) - 3
