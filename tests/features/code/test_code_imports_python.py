"""Nasty Python: syntax that does not parse, odd places, and names that mean two things."""

from __future__ import annotations

import pytest
from import_projects import SYNTAX, imported

from context_pack.kernel.errors import Failure
from context_pack.kernel.syntax import Parsed


def parse(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """The modules that a text that is Python imports, without blanks, and the names taken from them."""
    parsed = SYNTAX.parse("python", text)
    assert isinstance(parsed, Parsed)
    assert parsed.error_line is None
    return [("".join(each.specifier.replace("\\", "").split()), each.names) for each in parsed.imports]


def refused(text: str) -> str:
    """Why the imports of a text are not told."""
    with pytest.raises(Failure) as caught:
        imported({"a.py": text}, "a.py")
    assert caught.value.message == "Failed to parse imports"
    return str(caught.value.details["details"])


@pytest.mark.clause("CD-26")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import os\n\ndef f(:\n", 3),
        ("x = (\n", 1),
        ("a = 1\n" * 14 + "b = = 2\n", 15),
        ("x = '" + "\n", 1),
        ("# " + "x" * 9000 + "\nx = 1\n\0\n", 3),
        ("import a\n\n\ndef f():\n    return g(\n", 5),
        ("import a\n\nclass A:\n    x = 1\n\n    def f(self:\n        import b\n", 6),
    ],
)
def test_a_python_syntax_error_names_its_line(text: str, line: int) -> None:
    assert refused(text) == f"Syntax error at line {line}"


@pytest.mark.clause("CD-26")
@pytest.mark.parametrize(
    ("text", "why"), [("f(" * 3000, "Syntax error at line 1"), ("[" * 100_000, "its grammar cannot read it")]
)
def test_deep_nesting_without_end_is_refused_and_never_breaks_the_reader(text: str, why: str) -> None:
    assert refused(text) == why


DEEP = [
    "-" * 100_000 + "1",
    "a" + ".b" * 100_000,
    "+".join(["1"] * 20_000),
    "lambda: " * 50_000 + "1",
    "(" * 5000 + ")" * 5000,
]
AROUND = """\
import a, b.c as d
'''import not_this''' ; x = "import nor_this" # import nor_that
x = DEEP
if x: import e; from f . g import (h as i,  # one
    j,
)
from . import k
from .. l import *
from .import m
from importlib \\
    import machinery
def important(): yield from imported
raise E from e
"""


@pytest.mark.clause("CD-17")
@pytest.mark.parametrize("deep", DEEP)
def test_imports_around_a_very_deep_expression_are_found(deep: str) -> None:
    assert parse(AROUND.replace("DEEP", deep)) == [
        ("a", ()),
        ("b.c", ()),
        ("e", ()),
        ("f.g", ("h", "j")),
        (".", ("k",)),
        ("..l", ("*",)),
        (".", ("m",)),
        ("importlib", ("machinery",)),
    ]


@pytest.mark.clause("CD-17")
def test_an_import_counts_wherever_it_stands() -> None:
    text = """
if x:
    import a1
elif y:
    import a2
else:
    import a3
for _ in x:
    import b1
else:
    import b2
while x:
    import c1
try:
    import d1
except E:
    import d2
else:
    import d3
finally:
    import d4
try:
    import e1
except* E:
    import e2
with x:
    import f1
match x:
    case 1:
        import g1
class C:
    def m(self):
        async def n():
            async for _ in x:
                import h1
x = lambda: __import__("no")
exec("import no")
"""
    found = [module for module, _ in parse(text)]
    assert found == ["a1", "a2", "a3", "b1", "b2", "c1", "d1", "d2", "d3", "d4", "e1", "e2", "f1", "g1", "h1"]


@pytest.mark.clause("CD-17")
def test_packages_on_the_way_do_not_count_but_a_package_that_is_imported_does() -> None:
    files = dict.fromkeys(["a/__init__.py", "a/b/__init__.py", "a/b/c.py", "a/b/d/__init__.py"], "")
    for text, paths in [
        ("import a.b.c", ["a/b/c.py"]),
        ("import a.b.d", ["a/b/d/__init__.py"]),
        ("from a.b import c", ["a/b/c.py"]),
        ("from a.b import c, name", ["a/b/__init__.py", "a/b/c.py"]),
        ("from a import b", ["a/b/__init__.py"]),
        ("from a import *", ["a/__init__.py"]),
        ("import a", ["a/__init__.py"]),
        ("from a.b.c import anything", ["a/b/c.py"]),
    ]:
        assert imported({**files, "x.py": text}, "x.py").paths == paths, text


@pytest.mark.clause("CD-17")
def test_relative_imports_start_at_the_package_and_stop_at_the_root() -> None:
    files = dict.fromkeys(["p/__init__.py", "p/a.py", "p/q/__init__.py", "p/q/b.py", "top.py"], "")
    for text, paths, external in [
        ("from . import b", [], []),
        ("from .. import a", ["p/a.py"], []),
        ("from ..a import x", ["p/a.py"], []),
        ("from ... import top", ["top.py"], []),
        ("from .... import top", [], ["....top"]),
        ("from ....far import top", [], ["....far"]),
        ("from .nothing import x", [], [".nothing"]),
        ("from . import *", ["p/q/__init__.py"], []),
    ]:
        found = imported({**files, "p/q/b.py": text}, "p/q/b.py")
        assert (found.paths, found.external) == (paths, external), text


@pytest.mark.clause("CD-17")
def test_the_root_and_its_src_come_before_the_folders_above_the_file() -> None:
    files = {
        "deep/er/use.py": "import mod",
        "deep/er/mod.py": "",
        "deep/mod.py": "",
        "src/mod.py": "",
        "mod.py": "",
    }
    for gone, path in [(None, "mod.py"), ("mod.py", "src/mod.py"), ("src/mod.py", "deep/er/mod.py")]:
        files.pop(gone or "", None)
        assert imported(files, "deep/er/use.py").paths == [path]
    del files["deep/er/mod.py"]
    assert imported(files, "deep/er/use.py").paths == ["deep/mod.py"]


@pytest.mark.clause("CD-17")
def test_inside_a_package_a_sibling_is_not_found_by_its_bare_name() -> None:
    files = {"p/__init__.py": "", "p/use.py": "import sibling", "p/sibling.py": ""}
    assert imported(files, "p/use.py").external == ["sibling"]


@pytest.mark.clause("CD-17")
def test_a_folder_named_like_a_library_is_not_that_library() -> None:
    files = {
        "use.py": "import queue\nfrom queue import Queue\nimport yaml",
        "queue/notes.txt": "",
        "yaml/x.md": "",
    }
    assert imported(files, "use.py").external == ["queue", "queue.Queue", "yaml"]


@pytest.mark.clause("CD-17", "CD-26")
@pytest.mark.parametrize(
    "text",
    [
        "type Pair[T] = tuple[T, T]\nimport seen\n",
        "if True:\n    type Name = (\n        str\n    )\nimport seen\n",
        "def first[T: (int, str), *Ts, **P](x: T) -> T:\n    import seen\n",
        "class Box[T = list[dict[str, int]]](Base[T]):\n    import seen\n",
        "class Bare[T]:\n    async def put[U](self, x: U) -> None:\n        import seen\n",
        "try:\n    import seen\nexcept ValueError, errors.Other:\n    pass\n",
        'import seen\nx = f"{a["b"]} it\'s {{plain}}"\n',
        "import seen\nx = f'{a['b']!r:{'>'}10}'\n",
        "x = f\"{'\\n'.join(lines)}\"; import seen\n",
        'x = f"""{\n    a["b"]  # why\n} import not_this """\nimport seen\n',
        'import seen\nx = t"{name}"\n',
        "import seen\nprint 'old'\nexec code in scope\n",
        "try:\n    import seen\nexcept ValueError, error:\n    raise Other, error\n",
    ],
)
def test_imports_of_older_and_newer_python_syntax_are_found(text: str) -> None:
    assert [module for module, _ in parse(text)] == ["seen"]


@pytest.mark.clause("CD-26")
@pytest.mark.parametrize(
    "text",
    [
        'print(f"{a}"\nimport b\n',
        'x = f"{a\nimport b\n',
        "def f[T](:\n    import b\n",
        "type X =\n",
        'x = f"{a["b"]}"\ny = = 1\n',
        "try:\n    import b\nexcept A, B\n    pass\n",
        'x = "type X = int"\ny = "open\n',
    ],
)
def test_text_that_no_python_version_parses_is_refused(text: str) -> None:
    assert refused(text).startswith("Syntax error at line ")
