"""Places in stack traces of five languages and in diffs, and what a real git says has changed since."""

from __future__ import annotations

from pathlib import Path

import pytest
from file_trees import committed, git

from context_pack.kernel.errors import Code, Failure
from context_pack.knowledge.places import Frame, Hunk, frames, parse_diff, project_path
from context_pack_adapters.source.changes import GitChanges

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


DIFF = """\
diff --git a/src/ttl.py b/src/ttl.py
index 1111111..2222222 100644
--- a/src/ttl.py
+++ b/src/ttl.py
@@ -10,2 +10,3 @@ def expiry():
-    a
---- b/not a header
+    a
+++++ c
+    d
@@ -40 +41,0 @@
-gone
diff --git a/old.py b/new.py
similarity index 90%
rename from old.py
rename to new.py
diff --git a/made.py b/made.py
new file mode 100644
--- /dev/null
+++ b/made.py
@@ -0,0 +1,2 @@
+x
+y
diff --git "a/gr\\303\\266\\303\\237e \\"x\\".py" "b/gr\\303\\266\\303\\237e \\"x\\".py"
--- "a/gr\\303\\266\\303\\237e \\"x\\".py"
+++ "b/gr\\303\\266\\303\\237e \\"x\\".py"
@@ -1 +1 @@
-a
+b
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1,3 +0,0 @@
-1
-2
-3
"""


@pytest.mark.clause("KW-02")
def test_a_diff_is_read_file_by_file_with_both_sides() -> None:
    files = parse_diff(DIFF)
    assert [(file.old, file.new) for file in files] == [
        ("src/ttl.py", "src/ttl.py"),
        ("old.py", "new.py"),
        (None, "made.py"),
        ('größe "x".py', 'größe "x".py'),
        ("gone.py", None),
    ]
    assert list(files[0].hunks) == [Hunk(10, 2, 10, 3), Hunk(40, 1, 41, 0)]


@pytest.mark.clause("KW-02")
def test_a_plain_diff_without_git_s_lines_is_read_as_well() -> None:
    text = "--- a/x.c\t2026-01-01\n+++ b/x.c\t2026-01-02\n@@ -1,2 +1 @@\n-a\n-b\n+c\n"
    text += "--- y.c\n+++ y.c\n@@ -3 +3 @@\n-a\n+b\n"
    assert [(file.new, len(file.hunks)) for file in parse_diff(text)] == [("x.c", 1), ("y.c", 1)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one commit, and a change that is not committed."""
    folder = committed(tmp_path / "project", {"src/a.py": "one\ntwo\nthree\n"})
    (folder / "src/a.py").write_text("one\nTWO\nthree\n")
    return folder


@pytest.mark.clause("KW-02")
@pytest.mark.parametrize("root, path", [(".", "src/a.py"), ("src", "a.py")])
def test_changes_since_a_revision_name_the_lines_from_the_root_on(
    project: Path, root: str, path: str
) -> None:
    (file,) = parse_diff(GitChanges(project / root).since("main"))
    (hunk,) = file.hunks
    assert (file.new, hunk.new_start, hunk.new_count) == (path, 2, 1)


@pytest.mark.clause("KW-02")
def test_a_worktree_of_the_repository_is_compared_too(project: Path, tmp_path: Path) -> None:
    git(project, "worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    assert GitChanges(tmp_path / "other").since("main") == ""


@pytest.mark.clause("KW-02")
def test_no_command_that_a_repository_configures_is_run(project: Path, tmp_path: Path) -> None:
    decoy = tmp_path / "ran"
    for name in ("core.fsmonitor", "diff.external", "filter.x.clean", "filter.x.process", "diff.x.textconv"):
        git(project, "config", name, f"touch {decoy} #")
    (project / ".git/info").mkdir(exist_ok=True)
    (project / ".git/info/attributes").write_text("*.py filter=x diff=x\n")
    (project / ".gitattributes").write_text("*.py filter=x diff=x\n")
    assert "+TWO" in GitChanges(project).since("HEAD")
    assert not decoy.exists()


@pytest.mark.clause("KW-02")
@pytest.mark.parametrize("base", ["nothing", "--output=planted", "HEAD~9"])
def test_an_unknown_revision_is_an_error_that_says_what_to_name(project: Path, base: str) -> None:
    with pytest.raises(Failure, match="name a branch") as caught:
        GitChanges(project).since(base)
    assert caught.value.code is Code.NOT_FOUND
    assert not (project / "planted").exists()


@pytest.mark.clause("KW-02")
def test_a_folder_without_a_repository_asks_for_the_text(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="give the text of the diff"):
        GitChanges(tmp_path).since("HEAD")
