"""Where imports lead, language by language: small projects with one expected answer for every file.

The projects (`tests/fixtures/imports`) are full of traps: commented imports, imports in strings, templates,
here-documents and regular expressions, names that lead out of the root, and files called `ghost` that nothing
real imports. The cases beside them change one file of a tree (`>>>`) and say where it leads (`->`).
Whatever else a file holds, every parser ends soon, raises nothing of its own and stays in the root.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import frozen
from file_trees import lay
from hanging import never_hanging
from hypothesis import given, settings
from hypothesis import strategies as st
from inmemory import MemorySourceTree

from context_pack.code.reading import FileRead, FileReader, ReadFile
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy
from context_pack.kernel.syntax import Parsed, readable_part
from context_pack_adapters.source.tree import DiskSourceTree
from context_pack_adapters.syntax import shared_syntax

PROJECTS = Path(__file__).resolve().parents[2] / "fixtures" / "imports"
SYNTAX = shared_syntax()
"""One for all tests of a process: each has a parser process of its own."""
LANGUAGES = sorted(path.stem for path in PROJECTS.glob("*.txt"))


@frozen
class Imported:
    """The paths that a file depends on, and its external names."""

    paths: list[str]
    external: list[str]


def project(language: str) -> dict[str, str]:
    """The files of a language's project."""
    files: dict[str, str] = {}
    text = (PROJECTS / f"{language}.txt").read_text("utf-8")
    for part in text.split("=== ")[1:]:
        path, _, content = part.partition("\n")
        files[path] = content
    return files


def imported(files: dict[str, str], path: str) -> Imported:
    """What `read_file` says that a file imports."""
    read = FileReader(MemorySourceTree(dict(files)), SYNTAX).read(ReadFile(path=path, include_deps=True))
    assert read.external is not None
    return Imported([each.path for each in read.dependencies], list(read.external))


CASES = PROJECTS / "cases"
BOTH = ("typescript", "tsx")


def answer(paths: list[str], external: list[str]) -> str:
    """Paths and external names as the cases write them."""
    return " ".join(paths) + (f" | {' '.join(external)}" if external else "")


def expected_of_projects() -> dict[str, dict[str, str]]:
    """Where every file of a language's project leads; files that are not named lead nowhere."""
    blocks = (CASES / "projects.txt").read_text("utf-8").split("=== ")[1:]
    tables = (block.partition("\n") for block in blocks)
    return {
        name: {path: leads for path, _, leads in (line.partition(" -> ") for line in lines.splitlines())}
        for name, _, lines in tables
    }


def cases() -> Iterator[tuple[str, dict[str, str], str, str]]:
    """The name of each case, its files, the one that is asked about, and where it leads."""
    for file in ("python", "javascript", "workspaces"):
        for block in (CASES / f"{file}.txt").read_text("utf-8").split("##### ")[1:]:
            name, _, rest = block.partition("\n")
            tree, *asked = f"\n{rest}".split("\n>>> ")
            parts = (part.partition("\n") for part in tree.split("\n=== ")[1:])
            files = {path: text for path, _, text in parts}
            for each in asked:
                path, _, text = each.partition("\n")
                text, _, leads = text.rpartition("-> ")
                yield f"{file}: {name}", {**files, path: text}, path, leads.strip()


@pytest.mark.clause("CD-10", "CD-15", "CD-17")
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_file_of_a_project_imports_exactly_what_it_says(language: str, tmp_path: Path) -> None:
    files, expected = project(language), expected_of_projects()[language]
    lay(tmp_path, files)
    reader = FileReader(DiskSourceTree(tmp_path, PathPolicy()), SYNTAX)
    for path in files:
        if path == "broken.py":
            with pytest.raises(Failure):
                reader.read(ReadFile(path=path, include_deps=True))
            continue
        read = reader.read(ReadFile(path=path, include_deps=True))
        paths = [each.path for each in read.dependencies]
        assert (path, answer(paths, list(read.external or ()))) == (path, expected.get(path, ""))


@pytest.mark.clause("CD-17")
@pytest.mark.parametrize(("name", "files", "path", "leads"), [*cases()])
def test_an_import_leads_where_its_language_looks(
    name: str, files: dict[str, str], path: str, leads: str
) -> None:
    read = imported(files, path)
    assert (name, answer(read.paths, read.external).strip()) == (name, leads)


def python_imports(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """The modules that a text that is Python imports, without blanks, and the names taken from them."""
    parsed = SYNTAX.parse("python", text)
    assert isinstance(parsed, Parsed)
    assert parsed.error_line is None
    return [("".join(each.specifier.replace("\\", "").split()), each.names) for each in parsed.imports]


@pytest.mark.clause("CD-26")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import os\n\ndef f(:\n", "Syntax error at line 3"),
        ("x = (\n", "Syntax error at line 1"),
        ("a = 1\n" * 14 + "b = = 2\n", "Syntax error at line 15"),
        ("# " + "x" * 9000 + "\nx = 1\n\0\n", "Syntax error at line 3"),
        ("import a\n\n\ndef f():\n    return g(\n", "Syntax error at line 5"),
        ("f(" * 3000, "Syntax error at line 1"),
        ("[" * 100_000, "its grammar cannot read it"),
    ],
)
def test_python_that_cannot_be_read_is_refused_with_its_line_or_the_reason(text: str, why: str) -> None:
    with pytest.raises(Failure, match="Failed to parse imports") as caught:
        imported({"a.py": text}, "a.py")
    assert caught.value.details["details"] == why


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
    assert [module for module, _ in python_imports(text)] == ["seen"]


def script_imports(text: str, language: str = "tsx") -> tuple[str, ...]:
    """The names that a text imports, however little of it can be read."""
    parsed = SYNTAX.parse(language, text)
    return tuple(
        dict.fromkeys(each.specifier for each in readable_part(parsed).imports if each.specifier.strip())
    )


@pytest.mark.clause("CD-17")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a from './a'", ["./a"]),
        ("import{a}from'./a';import*as b from\"./b\"", ["./a", "./b"]),
        ("import a, * as b from './a'", ["./a"]),
        ("import {'string name' as x} from './a'", ["./a"]),
        (
            "import type from './a'; import type {b} from './b'; import {type c} from './c'",
            ["./a", "./b", "./c"],
        ),
        ("import defer * as a from './a'; import source b from './b'", ["./a", "./b"]),
        ("import './a'", ["./a"]),
        ("import a = require('./a')", ["./a"]),
        (
            "export * from './a'; export * as b from './b'; export * as 'c d' from './c'",
            ["./a", "./b", "./c"],
        ),
        ("export {a as default, b} from './a'; export type * from './b'", ["./a", "./b"]),
        ("const a = await import('./a'), b = import(/* chunk */ './b')", ["./a", "./b"]),
        ("import('./a', {with: {type: 'json'}}); import(`./b`)", ["./a", "./b"]),
        ("let T: import('./a').T; type U = typeof import('./b')", ["./a", "./b"]),
        ("const {a} = require('./a'), b = require (\n'./b'\n).c; [...require('./c')]", ["./a", "./b", "./c"]),
        ("x = `${`${import('./a')}`} import b from './no'`", ["./a"]),
        ("x = a ? /[/'\"`]/ : /`/; import y from './y'", ["./y"]),
        ("#!/usr/bin/env node '\nimport a from './a'", ["./a"]),
    ],
)
def test_import_statements_yield_their_names(text: str, expected: list[str]) -> None:
    assert [list(script_imports(text, language)) for language in BOTH] == [expected, expected]


@pytest.mark.clause("CD-17", "CD-15")
@pytest.mark.parametrize(
    "text",
    [
        "// import a from './a'",
        "/* import a from './a'\nexport * from './b' */",
        "'import a from \"./a\"'",
        "`import a from './a'`",
        "x.import('./a'); x?.require('./b'); this.#import('./c')",
        "import(a); import('./' + a); import(`./${a}`); require(a + './b'); require(`${a}`)",
        "import.meta.glob('./a')",
        "require.resolve('./a'); required('./b')",
        "export {a}; 'from'; export default './a'",
        "declare module './a' {}",
        "import ''",
        "import x from '   '",
    ],
)
def test_texts_that_only_resemble_imports_yield_none(text: str) -> None:
    assert [script_imports(text, language) for language in BOTH] == [(), ()]


@pytest.mark.clause("CD-17")
def test_components_are_read_for_their_scripts_only() -> None:
    text = (
        "<template>import './no'</template><SCRIPT lang='ts' generic=\"T extends '>'\">import './a'</SCRIPT >"
        "<!-- <script>import './no'</script> --><script>import './b'</script><script>import './unclosed'"
    )
    assert script_imports(text, "vue") == ("./a", "./b")


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
