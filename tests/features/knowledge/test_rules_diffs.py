"""Which lines a diff touches, compared with a plain computation."""

from __future__ import annotations

import pytest

from context_pack.knowledge.places import Hunk, parse_diff

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
