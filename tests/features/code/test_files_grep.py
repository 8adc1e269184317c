"""A hard tree searched with and without ripgrep; which files are searched; and that a search ends in time.

The answers are those of a plain second opinion that shares no code with the search: it splits lines itself,
knows by heart which files count, and asks `regex` line by line.
"""

from __future__ import annotations

import os
import sysconfig
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import regex
from file_trees import lay
from hanging import never_hanging
from waiting import until

from context_pack import open_workspace
from context_pack.code.grep import MAX_FILE_BYTES, FoundLines, LineQuery, hit_in
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy
from context_pack.toolkit.call import Cancelled, QuietCall
from context_pack_adapters.files.signature import settled_signature
from context_pack_adapters.source import grep
from context_pack_adapters.source.grep import ROOM_BYTES, FileTreeSearch, find_binary

RG = find_binary(sysconfig.get_path("scripts"))
LONG = "start " + "x" * 700 + " needle " + "y" * 900 + " end foo"

COUNTED: dict[str, bytes] = {
    ".github/workflows/ci.yml": b"name: ci\non: [push]\n# foo in a hidden folder\n",
    ".gitignore": b"*.log\n/top-only.txt\nignored/\n",
    "-dash.txt": b"foo with a dash\n",
    "README.md": b"# Title\n\nfoo bar baz\nFOO BAR\n\n    indented foo\n",
    "bom.txt": b"\xef\xbb\xbffoo first\nsecond foo\n",
    "cr-only.txt": b"foo\rbar\rbaz",
    "crlf.txt": b"foo\r\nbar foo\r\n\r\nfoo bar\r\n  \r\nend",
    "crlf-final.txt": b"a foo\r\nfoo b\r",
    "double-cr.txt": b"foo\r\r\nbar\r\n",
    "mixed.txt": b"unix foo\nwindows foo\r\nlone \r return foo\nend foo",
    "emoji.txt": "\U0001f600 foo \U0001f680 foo\n\U0001f468\u200d\U0001f469 family\n".encode(),
    "empty.txt": b"",
    "blanks.txt": b"\n\n \n\t\n\n",
    "late-nul.txt": b"foo before\n" + b"filler line of text\n" * 500 + b"nul \0 here foo\nafter foo\n",
    "long.txt": f"{LONG}\nshort foo\n{LONG}".encode(),
    "nested/.gitignore": b"*.txt\n!keep.txt\n",
    "nested/keep.txt": b"foo kept in nested\n",
    "nested-beside.txt": b"foo beside a folder\n",
    "nested/source.py": b"def foo():\n    return 'foo'\n\n\nclass Foo_Bar:\n    foo1 = 1\n",
    "sub/top-only.txt": b"foo not at the top\n",
    "sub/.ignore": b"!b.log\n",
    "sub/b.log": b"foo unignored by .ignore\n",
    "words.txt": (
        "naïve café größe STRASSE straße ſtop \u212aelvin\nΣΊΣΥΦΟΣ σίσυφος ΣΑΣ\nЖук жук\n"
        "İstanbul ısı I i\n数据 数据库\n١٢٣ 123\nA\u0300 combining\nnbsp\u00a0here\n"
        "line\u2028sep foo\nx\u0085y foo\n\U00011de0 new digit 7\n\u1c89 new letter foo\n"
    ).encode(),
    "code.ts": (
        b"import {e} from './x';\nexport interface UserContext {\n  id: number;\n}\nfunction handleAuth() {\n"
        b"  const token = jwt.sign(payload, SECRET);\n  if (a && b || c) { return a[0]; }\n  // TODO: fix\n"
        b'  let x = y ? $z : "q";\n  aaaa(); aaab(); abab();\n}\n'
    ),
    "\u00fcml\u00e4ut (1).txt": "füü foo\n".encode(),
}
"""Every file that a search looks at."""
NOT_COUNTED: dict[str, bytes] = {
    **dict.fromkeys(("debug.log", "top-only.txt", "ignored/in.txt", "nested/out.txt"), b"foo ignored\n"),
    **dict.fromkeys(("sub/node_modules/x.js", ".git/config", "dist/bundle.js"), b"foo excluded\n"),
    **dict.fromkeys((".env", "key.pem", "sub/id_rsa"), b"foo denied\n"),
    "binary.bin": b"foo \0 binary\nfoo\n",
    "latin1.txt": "foo größe\n".encode("latin-1"),
    "utf16.txt": "foo\n".encode("utf-16"),
}
"""Every file that none looks at: ignored, excluded, denied, not text."""

PATTERNS = [
    "foo", "foo bar", "jwt.sign", r"jwt\.sign", "nothing-like-this", "e", " ", r"\(", "^foo$", "^$", r"^\s*$",
    "$", ".", ".*", "foo.*foo", "o{2,}", "(foo|bar)", "TODO|FIXME", "(?:b|f)(?:ar|oo)", "(fo+)+ ", "a?b?c?$",
    "[^f]oo", "[^a-z]+", r"[\w.]+", r"\w+\(", r"\W", r"\bfoo\b", r"\B", r"[\W_]foo", r"[^\W\d]+", r"\x66oo",
    r"\r", r"foo\r", r"lone \r", r"foo\s*$", r"foo[^x]?$", r"nul \x00", "GRÖSSE", "straße", "ſ",
    "k", "\u212a", "İ", "ı", "ς", "Ж", "数据", "[Α-Ω]", r"\u0300", "\U0001f600", "\u2028", r"\p{Greek}+",
    "foo(?!.)", r"(?<!\s)foo", r"(\w)\1", r"(\w+)\.(\w+)\(\1",
    "fo++", "(?>fo+)o", r"foo\Kbar| \Kbar", "(?i:f)OO",
    "(?s)foo.", "(aa|ab)+", "(a+)+b", "[]]", r"a\[0\]", r"&&|\|\|", "^.{500,}$", "(?:)", "(foo)?",
    "(?:foo)*b", r"[A-Z]\w+Context",
    r"\w+\s*=\s*\w+", "$^", r"\s*$^", "[[:alpha:]]+", "(?-i)FOO", "foo|",
]  # fmt: skip
OWN = {
    "import {e}": r"import \{e\}", "{foo}|bar": r"\{foo\}|bar", "a\nb": "(?!)", r"a\nb": "(?!)",
    r"[\n]": "(?!)", r"bar|\n": "bar", "(?x) f o  o # all of it": "foo",
}  # fmt: skip
"""Patterns whose meaning is not that of `regex`, and how `regex` says them."""


def lines_of(data: bytes) -> list[str]:
    """The lines of a file, by the contract's words."""
    lines = data.decode("utf-8").removeprefix("\ufeff").split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line[:-1] if line.endswith("\r") else line for line in lines]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus on disk, with links that must not be followed."""
    top = tmp_path_factory.mktemp("corpus")
    lay(top / "outside", {"secret.txt": "foo outside\n"})
    root = lay(top / "root", {**COUNTED, **NOT_COUNTED})
    (root / "link.txt").symlink_to("README.md")
    (root / "way-out.txt").symlink_to(top / "outside/secret.txt")
    (root / "folder-out").symlink_to(top / "outside")
    (root / "circle").symlink_to(".")
    return root


@pytest.fixture(scope="module")
def plain(tree: Path) -> FileTreeSearch:
    """A search that keeps what it reads, without ripgrep: the tree is none of the large ones."""
    return FileTreeSearch(tree, PathPolicy())


@pytest.fixture(scope="module")
def large(tree: Path) -> FileTreeSearch:
    """A search that takes the tree for a large one, and keeps nothing: ripgrep names the files each time."""
    return FileTreeSearch(tree, PathPolicy(), large=0, room=0, search_path=sysconfig.get_path("scripts"))


@pytest.mark.clause("CD-50", "CD-51", "CD-53", "CD-55", "CD-58", "CD-62", "CD-65")
@pytest.mark.parametrize("fold", [True, False])
@pytest.mark.parametrize("pattern", [*PATTERNS, *OWN])
def test_what_regex_finds_line_by_line_is_found_in_small_and_large_trees(
    plain: FileTreeSearch, large: FileTreeSearch, pattern: str, fold: bool
) -> None:
    searched = regex.compile(OWN.get(pattern, pattern), regex.V0 | (regex.IGNORECASE if fold else 0))
    wanted = [
        hit_in(path, lines, number, match.start())
        for path, lines in sorted((path, lines_of(data)) for path, data in COUNTED.items())
        for number, text in enumerate(lines)
        if (match := searched.search(text)) is not None
    ]
    for limit in (100, 7):
        for engine in (plain, large):
            found = engine.search(LineQuery(pattern, None, not fold, limit), QuietCall())
            assert (found.total, found.hits, found.unsearched) == (len(wanted), tuple(wanted[:limit]), 0)
            assert engine is large or found.files == len(COUNTED)


@pytest.mark.clause("CD-60")
@pytest.mark.parametrize(
    "glob",
    [
        "*.txt", "**/*.py", "nested/**", "!*.txt", "*.{md,ts}", "sub/*", "nested/*", "/README.md",
        "cr*.txt", "{nested,sub}/**/*.{txt,log}",
    ],
)  # fmt: skip
def test_the_files_that_a_glob_means_are_searched(
    plain: FileTreeSearch, large: FileTreeSearch, glob: str
) -> None:
    one, other = (engine.search(LineQuery("foo", glob, limit=100), QuietCall()) for engine in (large, plain))
    assert one.hits == other.hits
    assert 0 < other.files < len(COUNTED)


@pytest.mark.clause("CD-65")
def test_ripgrep_is_asked_in_a_large_tree_for_a_word_of_the_pattern(tree: Path, tmp_path: Path) -> None:
    script = tmp_path / "rg"
    script.write_text(f'#!/bin/sh\necho "$*" >> "{tmp_path}/asked"\nprintf "./README.md\\0"\n')
    script.chmod(0o755)
    small = FileTreeSearch(tree, PathPolicy(), search_path=str(tmp_path))
    assert small.search(LineQuery("foo"), QuietCall()).total > 4
    assert not (tmp_path / "asked").exists()
    large = FileTreeSearch(tree, PathPolicy(), large=0, room=0, search_path=str(tmp_path))
    for pattern in ("foo|bar", "(foo)?", r"\w+", "fo", r"fo\x6f"):  # no word that is surely needed
        large.search(LineQuery(pattern), QuietCall())
    assert not (tmp_path / "asked").exists()
    found = large.search(LineQuery(r"^foo \w+"), QuietCall())
    assert {hit.path for hit in found.hits} == {"README.md"}
    assert "--regexp=foo" in (tmp_path / "asked").read_text()


@pytest.mark.clause("CD-65")
@pytest.mark.parametrize("program", ["exit 2", "kill -9 $$", "printf './README.md\\0'; exit 2"])
def test_without_a_ripgrep_that_works_we_search_ourselves(
    tree: Path, plain: FileTreeSearch, tmp_path: Path, program: str
) -> None:
    broken = tmp_path / "rg"
    broken.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\n{program}\n")
    broken.chmod(0o755)
    failing = FileTreeSearch(tree, PathPolicy(), large=0, search_path=str(tmp_path))
    query = LineQuery("foo")
    assert failing.search(query, QuietCall()) == plain.search(query, QuietCall())
    assert (tmp_path / "asked").exists()


@pytest.mark.clause("CD-65")
def test_no_ripgrep_of_a_relative_folder_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rg").write_text("#!/bin/sh\n")
    (tmp_path / "rg").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert find_binary(str(tmp_path)) == str(tmp_path / "rg")
    assert find_binary(".") == RG or find_binary(".") is None


@pytest.mark.clause("CD-58")
def test_deny_globs_hold_in_small_and_large_trees(tree: Path) -> None:
    policy = PathPolicy(("*.ts", "sub/**"))
    for count in (0, 1_000):
        engine = FileTreeSearch(tree, policy, large=count)
        found = engine.search(LineQuery("foo", limit=100), QuietCall())
        assert {"code.ts", "sub/b.log"}.isdisjoint(hit.path for hit in found.hits)
        assert engine.search(LineQuery("foo|jwt"), QuietCall()).files == len(COUNTED) - 4


@pytest.mark.clause("CD-50")
def test_the_own_storage_and_exported_packs_are_not_searched(tmp_path: Path) -> None:
    for path in (".context.yaml", "a/.context.yaml", ".store/memory/x.yaml", ".store/packs/p.yaml", "z.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("needle = 1\n")
    with open_workspace(tmp_path, storage=tmp_path / ".store") as workspace:
        pack = workspace.packs.create(ttl_minutes=60, title="The needle")
        (tmp_path / "page.html").write_text(workspace.packs.export_html(pack))
        (tmp_path / "page.md").write_text(workspace.packs.document(pack))
        code = workspace.code
        assert [hit.path for hit in code.grep("needle").hits] == ["z.py", ".context.yaml", "a/.context.yaml"]
        assert {hit.path for hit in code.grep("needle", file_pattern="page.*").hits} == {
            "page.html", "page.md",
        }  # fmt: skip
        usages = code.usages("needle")
        assert [each.path for each in usages.definitions] == ["z.py"]
        assert set(usages.unparsed) <= {".context.yaml", "a/.context.yaml"}


Search = Callable[..., FoundLines]


@pytest.fixture(params=[ROOM_BYTES, 0], ids=["kept texts", "no room"])
def search(request: pytest.FixtureRequest, tmp_path: Path) -> Search:
    """A search of the test's folder, the same from call to call."""
    (tmp_path / "root").mkdir()
    engine = FileTreeSearch(tmp_path / "root", PathPolicy(), room=request.param)
    return lambda pattern, **options: engine.search(LineQuery(pattern, **options), QuietCall())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


def settle(root: Path) -> None:
    """Wait until every later change of anything in the tree shows in its signature."""
    states = [place.lstat() for place in (root, *root.rglob("*"))]
    until(lambda: all(settled_signature(state, time.time_ns()) is not None for state in states))


def paths(found: FoundLines) -> list[str]:
    return [hit.path for hit in found.hits]


@pytest.mark.clause("CD-58")
def test_one_mebibyte_is_searched_and_one_byte_more_is_not(search: Search, root: Path) -> None:
    for name, size in (("fits", MAX_FILE_BYTES), ("large", MAX_FILE_BYTES + 1)):
        (root / name).write_bytes(b"needle" + b"x" * (size - 6))
    assert MAX_FILE_BYTES == 1_048_576
    for _ in range(2):
        found = search("needle")
        assert (paths(found), found.files) == (["fits"], 1)
        settle(root)


@pytest.mark.clause("CD-58")
def test_a_nul_counts_in_the_first_8_kib_only(search: Search, root: Path) -> None:
    (root / "last-byte").write_bytes(b"needle" + b"x" * 8185 + b"\0")
    (root / "one-later").write_bytes(b"needle" + b"x" * 8186 + b"\0")
    found = search("needle")
    assert (paths(found), found.files) == (["one-later"], 1)


@pytest.mark.clause("CD-72")
def test_every_edit_is_seen_by_the_next_search(search: Search, root: Path) -> None:
    (root / "a.txt").write_text("first\n")
    (root / "b.txt").write_text("other\n")
    assert paths(search("first")) == ["a.txt"]
    for turn in range(30):
        word = f"turn{turn:02}"
        (root / "a.txt").write_text(f"{word}\n")  # the same size, often in the same tick of the clock
        assert paths(search(word)) == ["a.txt"]
        assert paths(search("first")) == []
    settle(root)
    assert paths(search("turn29")) == ["a.txt"]
    (root / "a.txt").write_text("after\n")
    assert paths(search("after")) == ["a.txt"]
    assert paths(search("turn29")) == []


@pytest.mark.clause("CD-72")
def test_a_file_that_changes_its_kind_is_classified_again(search: Search, root: Path) -> None:
    (root / "plain").write_text("needle\n")
    (root / "x").write_text("needle\n")
    settle(root)
    assert (paths(search("^needle")), search("^needle").files) == (["plain", "x"], 2)
    for content, counts, matches in (
        (b"\xef\xbb\xbfneedle\n", True, True),
        (b"lone\rneedle\n", True, False),
        ("é\nneedle\n".encode(), True, True),
        (b"\0needle\n", False, False),
        (b"\xff\nneedle\n", False, False),
        (b"needle\n" * 200_000, False, False),
        (b"needle\r\n", True, True),
        (b"", True, False),
        (b"needle", True, True),
    ):
        (root / "x").write_bytes(content)
        for pattern in ("^needle", r"^needle\b"):
            found = search(pattern)
            assert found.files == 1 + counts
            assert ("x" in paths(found)) is matches
    (root / "x").unlink()
    (root / "x").mkdir()
    assert search("needle").files == 1


@pytest.mark.clause("CD-58")
def test_files_of_code_that_could_not_be_searched_are_named(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("wanted = 1\n")
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\nwanted = 2\n")
    (tmp_path / "large.py").write_text("x = 1\n" * (MAX_FILE_BYTES // 6) + "wanted = 3\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0" * 300_000)
    with open_workspace(tmp_path) as workspace:
        some, none = (workspace.call("grep_codebase", {"pattern": each}) for each in ("wanted", "missing"))
    assert (some.structured or {})["totalMatches"] == 1
    for answer in (some, none):
        assert (
            "not searched, too large or not UTF-8: large.py, latin.py" in (answer.structured or {})["message"]
        )


CATASTROPHES = {
    "(a|aa)+$": "a" * 80 + "!",
    r"(.*?,){30}P": "1," * 60 + "xP",
    r"(?:(?:a|b|ab)+c?)+d$": "ab" * 60 + "d!",
    r"^(\w|\w\w)*\d$": "w" * 80,
    r"(?=(a|aa)+$)a": "a" * 80 + "!",
    r"((a|aa)+)\1!$": "a" * 80 + "!b",
    r"b.*a.*c.*d$": "bac" * 40_000 + "d ",
}
FOR_EVER = "(a|aa)+$"


def searched(root: Path, pattern: str, seconds: float) -> FoundLines:
    """What a search finds in so many seconds."""
    return FileTreeSearch(root, PathPolicy(), seconds=seconds).search(
        LineQuery(pattern), QuietCall(request_id=1)
    )


@pytest.mark.clause("CD-68")
@pytest.mark.parametrize("pattern", CATASTROPHES)
def test_a_search_with_a_catastrophic_pattern_says_which_part_it_saw(pattern: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("harmless\n")
    (tmp_path / "trap.txt").write_text(f"{CATASTROPHES[pattern]}\n")
    (tmp_path / "z.txt").write_text("harmless\n")
    with never_hanging():
        found = searched(tmp_path, pattern, 0.5)
    assert (found.files, found.unsearched, found.total) == (1, 2, 0)


@pytest.mark.clause("CD-68")
def test_what_was_found_before_the_time_was_over_is_the_answer(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("aa\n" * 3)
    (tmp_path / "trap.txt").write_text("a" * 80 + "!\n")
    with never_hanging():
        found = searched(tmp_path, FOR_EVER, 0.5)
    assert ([hit.line for hit in found.hits], found.total, found.unsearched) == ([1, 2, 3], 3, 1)


@pytest.mark.clause("CD-68")
def test_a_search_that_saw_no_file_in_time_fails(tmp_path: Path) -> None:
    (tmp_path / "trap.txt").write_text("a" * 80 + "!\n")
    search = FileTreeSearch(tmp_path, PathPolicy(), seconds=60.0)
    for query, waited in ((LineQuery("x"), 60.1), (LineQuery(FOR_EVER), 59.8)):
        with never_hanging(), pytest.raises(Failure) as caught:
            search.search(query, QuietCall(waited=waited, request_id=1))
        assert (caught.value.code, caught.value.message) == (Code.TIMED_OUT, "Search timed out")
        assert caught.value.details["pattern"] == query.pattern


@pytest.mark.slow
@pytest.mark.clause("CD-68")
def test_a_search_that_nobody_hurries_goes_on_to_the_end(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.txt").write_text("a" * 24 + "!\nend\n")
    search = FileTreeSearch(tmp_path, PathPolicy(), seconds=0.0)
    found = search.search(LineQuery(r"(a|aa)+\1$|end"), QuietCall(waited=60.0))
    assert (found.files, found.unsearched, found.total) == (300, 0, 300)


@pytest.mark.clause("CD-09")
@pytest.mark.parametrize("pattern", [FOR_EVER, "b.*a.*c.*d$"])  # in a short text and in a long one
def test_a_pattern_yields_to_other_threads_and_stops_when_cancelled(pattern: str, tmp_path: Path) -> None:
    (tmp_path / "trap.txt").write_text(f"{CATASTROPHES[pattern]}\n")
    search = FileTreeSearch(tmp_path, PathPolicy())
    withdrawn = threading.Event()

    def wanted() -> None:
        if withdrawn.is_set():
            raise Cancelled("test")

    timer = threading.Timer(0.3, withdrawn.set)  # it could not, did the search hold the interpreter
    timer.start()
    with never_hanging(), pytest.raises(Cancelled):
        search.search(LineQuery(pattern), QuietCall(wanted=wanted))
    timer.join()


@pytest.fixture
def stuck(tmp_path: Path) -> Path:
    """A folder with an `rg` that never ends."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "rg"
    script.write_text("#!/bin/sh\nexec sleep 600\n")
    script.chmod(0o755)
    return folder


@pytest.fixture
def haystack(tmp_path: Path) -> Path:
    """A tree whose one file `rg` is asked about."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.txt").write_text("foo bar foo bar\n")
    return tmp_path / "tree"


@pytest.mark.clause("CD-68")
def test_a_child_that_hangs_is_killed_and_its_files_are_read(
    haystack: Path, stuck: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grep, "BATCH_SECONDS", 0.1)
    search = FileTreeSearch(haystack, PathPolicy(), large=0, search_path=str(stuck))
    before = children()
    with never_hanging():
        assert search.search(LineQuery("foo.*bar"), QuietCall(request_id=1)).total == 1
    until(lambda: children() <= before)


def children() -> set[str]:
    """The processes that this one has started and that still run."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and state != "Z":
                found.add(path.parent.name)
    return found
