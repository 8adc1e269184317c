"""Whatever a file holds, every parser ends soon, raises nothing of its own and stays in the root."""

from __future__ import annotations

import json

import pytest
from hanging import never_hanging
from hypothesis import given, settings
from hypothesis import strategies as st
from import_projects import SYNTAX
from inmemory import MemorySourceTree

from context_pack.code.reading import FileRead, FileReader, ReadFile
from context_pack.kernel.errors import Failure

pytestmark = pytest.mark.slow

ENDINGS = {
    "python": "py", "javascript": "js", "jsx": "jsx", "typescript": "ts", "tsx": "tsx", "vue": "vue",
    "svelte": "svelte", "go": "go", "rust": "rs", "java": "java", "kotlin": "kt", "c": "c", "cpp": "cpp",
    "objectivec": "m", "ruby": "rb", "php": "php", "csharp": "cs",
}  # fmt: skip
PIECES = [
    "import ", "from ", "export ", "require ", "require(", "use ", "mod ", "using ", "package a\n",
    "*", ",", "include ", "#include ", "require_relative ", "namespace ", "extern crate ", "<?php ",
    "?>", '"', "'", "`", '"""', "/*", "*/", "//", "#", "\n", "\\", "${", "#{", "{$", "{", "}", "(",
    ")", "[", "]", "<a>", "</a>", "/>", "<", "/", 'r#"', '"#', '$"', '@"', 'R"x(', ')x"', "<<~A\n",
    "<<<A\n", "A\n", "%q(", "=begin\n", "=end\n", ";", "::", "..", "../", "./a", "a.b", " as ",
    "#[", '#[path="x"]', "\u2028", "é", "<script>", "</script>",
]  # fmt: skip


def read_imports(files: dict[str, str | bytes], path: str) -> FileRead:
    """A file of a tree in memory, read with its imports."""
    return FileReader(MemorySourceTree(files), SYNTAX).read(ReadFile(path=path, include_deps=True))


@pytest.mark.clause("CD-15")
@pytest.mark.parametrize("name", sorted(ENDINGS))
@settings(max_examples=50)
@given(text=st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_random_text_is_parsed_or_refused_and_stays_inside_the_root(name: str, text: str) -> None:
    path = f"a/b/use.{ENDINGS[name]}"
    files: dict[str, str | bytes] = {path: text, "a/b/a.py": "", "a/x": "", ".env": "SECRET"}
    try:
        read = read_imports(files, path)
    except Failure as refused:
        assert refused.message == "Failed to parse imports"  # noqa: PT017
        return
    assert {each.path for each in read.dependencies} <= set(files) - {path, ".env"}


@pytest.mark.clause("CD-15", "CD-17")
def test_configurations_that_extend_each_other_again_and_again_are_read_once() -> None:
    files: dict[str, str | bytes] = {
        "tsconfig.json": '{"extends": [' + ", ".join(['"./other.json"'] * 20) + "]}",
        "other.json": '{"extends": [' + ", ".join(['"./tsconfig.json"'] * 20) + '], "compilerOptions": '
        '{"paths": {"~/*": ["./*"]}}}',
        "a.ts": 'import "~/b"; import "none";',
        "b.ts": "",
    }
    with never_hanging(10):
        read = FileReader(MemorySourceTree(files), SYNTAX).read(ReadFile(path="a.ts", include_deps=True))
    assert [each.path for each in read.dependencies] == ["b.ts"]
    assert read.external == ("none",)


ENDLESS = {
    "py": "import {.}\nfrom {.} import x\nimport {. }\nimport seen\n",
    "java": "package a;\nimport {.};\nimport static {.}.*;\n",
    "kt": "package a\nimport {.}\n",
    "rs": "use crate::{::};\nuse {::};\nmod seen;\n",
    "cs": "namespace {.};\nusing {.};\nusing static {.};\n",
    "go": 'package a\nimport "m/{/}"\n',
    "php": "<?php namespace {\\};\nuse {\\};\nclass A { use {\\}; }\n",
    "ts": 'import "{/}"; import "./{/}";\n',
    "c": '#include "{/}"\n',
    "rb": 'require_relative "{/}"\nrequire "{/}"\n',
}


@pytest.mark.clause("CD-15")
@pytest.mark.parametrize("ending", sorted(ENDLESS))
def test_a_name_of_very_many_parts_is_resolved_quickly(ending: str) -> None:
    text = ENDLESS[ending]
    for mark in ("::", ".", "/", "\\", ". "):
        text = text.replace(f"{{{mark}}}", mark.join(["ab"] * 60_000))
    files: dict[str, str | bytes] = {f"src/use.{ending}": text, "go.mod": "module m", "seen.py": ""}
    with never_hanging(20):
        read = FileReader(MemorySourceTree(files), SYNTAX).read(
            ReadFile(path=f"src/use.{ending}", include_deps=True)
        )
    assert [each.path for each in read.dependencies] == (["seen.py"] if ending == "py" else [])


@pytest.mark.clause("CD-15")
def test_many_names_with_many_candidate_paths_are_resolved_quickly() -> None:
    many = range(10_000)
    files: dict[str, str | bytes] = {
        "tsconfig.json": json.dumps({"compilerOptions": {"paths": {f"@{each}/*": ["x/*"] for each in many}}}),
        "composer.json": json.dumps({"autoload": {"psr-4": {f"A{each}\\": "x" for each in many}}}),
        "go.mod": "module m\n" + "\n".join(f"replace r{each} => ./x" for each in many),
        "a.ts": "".join(f'import "p{each}";' for each in many) + 'import "@7/a";',
        "a.php": "<?php " + "".join(f"use P{each}\\X;" for each in many) + "use A7\\a;",
        "a.go": "package a\n" + "".join(f'import "p{each}"\n' for each in many) + 'import "r7"\n',
        "x/a.ts": "",
        "x/a.php": "",
        "x/a.go": "",
        "CMakeLists.txt": f"include_directories(x {' '.join(f'c/d{each}' for each in many)})",
        "a.c": "".join(f'#include "p{each}.h"\n' for each in many) + '#include "../x/a.c"\n',
        "x/a.c": "",
        **{f"c/d{each}/x.h": "" for each in many},
    }
    for ending in ("ts", "php", "go", "c"):
        with never_hanging(20):
            read = FileReader(MemorySourceTree(files), SYNTAX).read(
                ReadFile(path=f"a.{ending}", include_deps=True)
            )
        assert [each.path for each in read.dependencies] == [f"x/a.{ending}"]


@pytest.mark.clause("CD-15")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.ts", "".join(f'import "p{each}/q";' for each in range(800))),
        ("a.ts", "".join(f'import "p{each}/../../q";' for each in range(800))),
        ("a.php", "<?php " + "".join(f"use A\\P{each};" for each in range(800))),
    ],
)
def test_of_very_many_places_for_a_name_only_some_are_looked_at(name: str, text: str) -> None:
    places = [f"x{each}/*" for each in range(20_000)]
    outside = ["*"] * 20_000 if ".." in text else places
    files: dict[str, str | bytes] = {
        "tsconfig.json": json.dumps({"compilerOptions": {"paths": {"*": outside}}}),
        "composer.json": json.dumps({"autoload": {"psr-4": {"A\\": places}}}),
        name: text,
    }
    with never_hanging(20):
        assert len(read_imports(files, name).external or ()) == 800
