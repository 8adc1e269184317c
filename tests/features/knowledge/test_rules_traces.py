"""Frames of stack traces and failing tests in five languages."""

from __future__ import annotations

import pytest

from context_pack.knowledge.places import Frame, frames, project_path

PYTHON = """Traceback (most recent call last):
  File "/home/someone/app/src/ttl.py", line 42, in expiry
    return now + minutes
  File "/usr/lib/python3.11/datetime.py", line 10, in __add__
TypeError: no
"""
SCRIPT = """TypeError: Cannot read properties of undefined
    at Object.parse (/app/src/core/parse.ts:12:7)
    at async load (file:///app/src/index.js:3:1)
    at /app/src/anonymous.js:9:22
    at node:internal/modules/cjs/loader:1105:14
"""
GO = """panic: runtime error
goroutine 1 [running]:
main.serve(0x1, 0x2)
\t/go/src/app/server/main.go:88 +0x1d
"""
RUST = """thread 'main' panicked at src/vm/mod.rs:190:13:
boom
stack backtrace:
   2: app::vm::Vm::eval
             at ./src/vm/mod.rs:190:13
"""
JAVA = """java.lang.IllegalStateException: no
\tat com.acme.store.Ledger.post(Ledger.java:77)
\tat java.base/java.lang.Thread.run(Thread.java:840)
"""
PYTEST = """>       assert expiry(5) == 3
E       assert 4 == 3

tests/test_ttl.py:17: AssertionError
"""


@pytest.mark.clause("KW-03")
@pytest.mark.parametrize(
    "text, expected",
    [
        (PYTHON, Frame("/home/someone/app/src/ttl.py", 42)),
        (SCRIPT, Frame("/app/src/core/parse.ts", 12)),
        (SCRIPT, Frame("/app/src/index.js", 3)),
        (SCRIPT, Frame("/app/src/anonymous.js", 9)),
        (GO, Frame("/go/src/app/server/main.go", 88)),
        (RUST, Frame("src/vm/mod.rs", 190)),
        (JAVA, Frame("com/acme/store/Ledger.java", 77)),
        (PYTEST, Frame("tests/test_ttl.py", 17)),
    ],
)
def test_the_places_of_a_trace_are_found(text: str, expected: Frame) -> None:
    assert expected in frames(text)


@pytest.mark.clause("KW-03")
@pytest.mark.parametrize(
    "file, path",
    [
        ("/home/someone/app/src/ttl.py", "src/ttl.py"),
        ("C:\\work\\app\\src\\ttl.py", "src/ttl.py"),
        ("./src/ttl.py", "src/ttl.py"),
        ("/usr/lib/python3.11/datetime.py", None),
        ("../../src/../../etc/passwd", None),
    ],
)
def test_a_frame_means_the_file_that_its_path_ends_in(file: str, path: str | None) -> None:
    assert project_path(file, {"src/ttl.py", "datetime/x.py"}.__contains__) == path
