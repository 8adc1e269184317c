"""What the grammars read in samples (`tests/fixtures/syntax`): code, a line `---`, what is read.

A definition is `first-last@line-of-its-name kind qualified name | signature | documentation`; of comments and
strings there are the lines that they begin on. Parsing in a process of its own gives the same answers, and a
text that crashes it costs itself only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import crashing_grammar
import pytest
from crashing_grammar import CRASH, HANG, RAISE
from waiting import is_alive, until

from context_pack.kernel.syntax import NotParsed, Parsed, Spans
from context_pack_adapters.syntax.guarded_syntax import CRASHED, NOT_STARTED, TOOK_LONG, GuardedSyntax
from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax

SAMPLES = Path(__file__).resolve().parents[2] / "fixtures" / "syntax"
SYNTAX = TreeSitterSyntax()


def read_as(language: str, text: str) -> list[str]:
    """Everything that is read in a text, a line each, without what is empty."""
    found, spans = SYNTAX.parse(language, text), SYNTAX.spans(language, text)
    assert isinstance(found, Parsed), found
    assert isinstance(spans, Spans), spans

    def lines_of(places: Iterable[tuple[int, int]]) -> str:
        return " ".join(str(text.count("\n", 0, start) + 1) for start, _ in places)

    lines = [
        f"{each.start}-{each.end}@{each.line} {each.kind} {each.qualified} | {each.signature}"
        + (f" | {each.doc}" if each.doc else "")
        for each in found.definitions
    ]
    for one in found.imports:
        lines.append(" ".join(filter(None, ("import", str(one.line), one.how, one.specifier, *one.names))))
    rest = {
        "package": found.package,
        "heads": " | ".join(found.heads),
        "exports": " ".join(found.exports),
        "error": str(found.error_line or ""),
        "unread": " ".join(f"{first}-{last}" for first, last in found.unread),
        "comments": lines_of(spans.comments),
        "strings": lines_of(spans.strings),
    }
    lines += [f"{name}: {value}" for name, value in rest.items() if value]
    return [line.replace("\n", "\\n") for line in lines]


def samples() -> Iterator[tuple[str, str, str, list[str]]]:
    """Each language with the name, the text and the expected lines of a sample."""
    for file in sorted(SAMPLES.glob("*.txt")):
        for block in f"\n{file.read_text('utf-8')}".split("\n=== ")[1:]:
            name, _, rest = block.partition("\n")
            text, _, lines = f"{rest}\n".partition("\n---\n")
            yield file.stem, name, f"{text}\n", lines.split("\n")


@pytest.mark.clause("CD-97")
@pytest.mark.parametrize(("language", "name", "text", "lines"), [*samples()])
def test_a_sample_is_read_as_its_file_says(language: str, name: str, text: str, lines: list[str]) -> None:
    assert (name, read_as(language, text)) == (name, [line for line in lines if line])


@pytest.mark.clause("CD-87", "CD-97")
def test_operators_of_cpp_are_found_in_any_spelling() -> None:
    text = "void f(A a) { a.operator==(1); a.operator ()(2); a.operator == (3); }\n"
    places = {name: SYNTAX.occurrences("cpp", text, name) for name in ("operator==", "operator()")}
    assert places == {"operator==": [16, 51], "operator()": [33]}


TEXT = '''\
"""Größe, 漢字 and \U0001f600."""
import os.path as p
from a.b import c, d  # a comment


class Keeper(Base):
    """Keeps."""

    @property
    def size(self) -> int:
        return len("größe")
'''
PARENT = """
import sys
sys.path[:] = {path!r}
from context_pack_adapters.syntax.guarded_syntax import GuardedSyntax
syntax = GuardedSyntax(most_kept=0)
syntax.parse("python", "x = 1")
print(syntax.process, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def syntax() -> Iterator[GuardedSyntax]:
    with closing(GuardedSyntax(most_kept=0)) as made:
        yield made


@pytest.fixture
def marked(syntax: GuardedSyntax, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuardedSyntax:
    """One whose grammar crashes on a mark."""
    monkeypatch.setenv("PYTHONPATH", crashing_grammar.plant(tmp_path / "grammar")["PYTHONPATH"])
    return syntax


@pytest.mark.clause("CD-95")
def test_a_text_that_crashes_its_grammar_fails_alone(marked: GuardedSyntax) -> None:
    assert isinstance(marked.parse("python", "x = 1\n"), Parsed)
    first = marked.process
    assert marked.parse("python", f"{CRASH} = 1\n") == CRASHED
    assert marked.spans("python", f"{CRASH} = 1\n") == CRASHED
    assert marked.parse("python", TEXT) == TreeSitterSyntax().parse("python", TEXT)
    assert first is not None
    assert marked.process not in (None, first)
    until(lambda: not is_alive(first))


@pytest.mark.clause("CD-95")
def test_texts_of_a_batch_that_crash_or_hang_fail_alone(marked: GuardedSyntax) -> None:
    good = [("python", f"def f{number}(): pass\n") for number in range(40)]
    bad = {5: (CRASH, CRASHED), 6: (CRASH, CRASHED), 20: (HANG, TOOK_LONG), 41: (CRASH, CRASHED)}
    texts = list(good)
    for at, (mark, _) in bad.items():
        texts.insert(at, ("python", f"{mark} = 1\n"))
    expected = [TreeSitterSyntax().parse(*each) for each in good]
    for at, (_, said) in bad.items():
        expected.insert(at, said)
    assert list(marked.parse_all(texts)) == expected


@pytest.mark.clause("CD-95")
def test_a_text_that_never_ends_is_given_up(marked: GuardedSyntax) -> None:
    assert isinstance(marked.parse("python", "x = 1\n"), Parsed)
    assert marked.parse("python", f"{HANG} = 1\n") == TOOK_LONG
    assert isinstance(marked.parse("python", "x = 1\n"), Parsed)


@pytest.mark.clause("CD-95")
def test_an_exception_in_the_parser_is_the_reason_of_its_text(marked: GuardedSyntax) -> None:
    told = marked.parse("python", f"{RAISE} = 1\n")
    process = marked.process
    assert told == NotParsed("parsing it failed inside (ZeroDivisionError)")
    assert isinstance(marked.parse("python", "x = 1\n"), Parsed)
    assert marked.process == process


@pytest.mark.clause("CD-95")
def test_a_process_that_somebody_killed_is_no_fault_of_the_text(syntax: GuardedSyntax) -> None:
    expected = syntax.parse("python", TEXT)
    for _ in range(3):
        assert syntax.process is not None
        os.kill(syntax.process, signal.SIGKILL)
        assert syntax.parse("python", TEXT) == expected


@pytest.mark.clause("CD-95")
def test_without_a_process_a_text_says_so(
    syntax: GuardedSyntax, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no python"))
    assert syntax.parse("python", TEXT) == NOT_STARTED
    monkeypatch.undo()
    assert isinstance(syntax.parse("python", TEXT), Parsed)


@pytest.mark.clause("CD-95")
def test_a_script_without_a_main_guard_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys\nsys.path[:] = {sys.path!r}\nprint('begun')\n"
        "from context_pack_adapters.syntax.guarded_syntax import GuardedSyntax\n"
        "print(type(GuardedSyntax().parse('python', 'x = 1')).__name__)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "begun\nParsed\n"


@pytest.mark.clause("CD-95")
@pytest.mark.parametrize("end", [None, signal.SIGKILL])
def test_the_parser_process_ends_with_its_parent(end: signal.Signals | None) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT.format(path=sys.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        process = int(parent.stdout.readline())
        assert is_alive(process)
        if end is None:
            parent.communicate()
        else:
            parent.send_signal(end)
    until(lambda: not is_alive(process))


@pytest.mark.clause("CD-95")
def test_the_parser_process_exits_when_idle() -> None:
    program = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "from context_pack_adapters.syntax import tree_sitter_syntax as worker\n"
        "worker.IDLE_SECONDS = 0.1\n"
        "worker.serve()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE) as parser:
        assert parser.wait(60) == 0
