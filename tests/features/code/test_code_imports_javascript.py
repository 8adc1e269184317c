"""Nasty JavaScript and TypeScript: what looks like an import and is none, and the other way round."""

from __future__ import annotations

import pytest
from import_projects import SYNTAX, imported

from context_pack.code.imports.scripts import script_names
from context_pack.kernel.syntax import NotParsed, Parsed

BOTH = ("typescript", "tsx")


def parse(text: str, language: str = "tsx") -> tuple[str, ...]:
    """The names that a text imports, however little of it can be read."""
    parsed = SYNTAX.parse(language, text)
    if isinstance(parsed, NotParsed):
        parsed = parsed.partly or Parsed()
    return script_names(parsed)


@pytest.mark.clause("CD-17")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a from './a'", ["./a"]),
        ("import{a}from'./a';import*as b from\"./b\"", ["./a", "./b"]),
        ("import a, * as b from './a'", ["./a"]),
        ("import\n  {\n a,\n b,\n}\n from\n './a'", ["./a"]),
        ("import {'string name' as x} from './a'", ["./a"]),
        ("import {from as from} from './a'", ["./a"]),
        ("import from from './a'", ["./a"]),
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
        ("a = '\\'import x from \"./no\"'; import y from './y\\u0061'", ["./ya"]),
        ("x = `${`${import('./a')}`} import b from './no'`", ["./a"]),
        ("x = a ? /[/'\"`]/ : /`/; import y from './y'", ["./y"]),
        ("return /'/.test(x) || y / 2 / z; import a from './a'", ["./a"]),
        ("if (x) /`/.exec(y); import a from './a'", ["./a"]),
        ("a = b\n/c/g\nimport d from './d'", ["./d"]),
        ("x = y++ / 2; z = '/' /* ' */; import a from './a'", ["./a"]),
        ("#!/usr/bin/env node '\nimport a from './a'", ["./a"]),
        ("const of = 1; for (const x of /'/g) {} import a from './a'", ["./a"]),
    ],
)
def test_import_statements_yield_their_names(text: str, expected: list[str]) -> None:
    assert [list(parse(text, language)) for language in BOTH] == [expected, expected]


@pytest.mark.clause("CD-17", "CD-15")
@pytest.mark.parametrize(
    "text",
    [
        "// import a from './a'",
        "/* import a from './a'\nexport * from './b' */",
        "'import a from \"./a\"'",
        "`import a from './a'`",
        "`\\`${1}import a from './a'`",
        "/import a from '.\\/a'/",
        "/[/]import '.\\/a'/",
        "importa from './a'; $import('./a'); import_('./a')",
        "x.import('./a'); x?.require('./b'); this.#import('./c')",
        "import(a); import('./' + a); import(`./${a}`); require(a + './b'); require(`${a}`)",
        "import.meta.glob('./a')",
        "require.resolve('./a'); required('./b')",
        "export {a}; 'from'; export default './a'",
        "export const from = './a'",
        "const x = {import: './a', require: './b', from: './c'}",
        "declare module './a' {}",
        "import ''",
        "import x from '   '",
        "`${",
        "/* unclosed import a from './a'",
    ],
)
def test_texts_that_only_resemble_imports_yield_none(text: str) -> None:
    assert [parse(text, language) for language in BOTH] == [(), ()]


@pytest.mark.clause("CD-17", "CD-15")
@pytest.mark.parametrize(
    "text",
    [
        "x = <p>import a from './no'; Don't `</p>; import y from './yes'",
        "x = (<A b='import a from \"./no\"' c={import('./yes')} {...d}/>)",
        "x = <><A/>it's {/* import z from './no' */} // no</>; import y from './yes'",
        "return <A.B xml:c-d='\n'>{`${<b>'</b>}`}import './no'</A.B>; import y from './yes'",
        "x = a < b && c > d; import y from './yes'",
        "f = <T,>(x: T) => x; g = <T extends U>(x: T) => '<'; import y from './yes'",
        "type F = <T>(x: T) => void; import y from './yes'; z = '</T'",
        "x = <a>{y ? <b/> : <c>{z && <d>'</d>}</c>}</a>; import y from './yes'",
    ],
)
def test_prose_between_tags_is_no_code_and_code_in_braces_is(text: str) -> None:
    assert parse(text) == ("./yes",)


@pytest.mark.clause("CD-17")
def test_without_jsx_an_angle_bracket_is_a_cast_or_a_comparison() -> None:
    assert parse("const x = <string>y; import a from './a'; z = '</string>'", "typescript") == ("./a",)


@pytest.mark.clause("CD-17")
def test_components_are_read_for_their_scripts_only() -> None:
    text = (
        "<template>import './no'</template><SCRIPT lang='ts' generic=\"T extends '>'\">import './a'</SCRIPT >"
        "<!-- <script>import './no'</script> --><script>import './b'</script><script>import './unclosed'"
    )
    assert parse(text, "vue") == ("./a", "./b")


@pytest.mark.clause("CD-17")
@pytest.mark.parametrize(
    ("name", "there", "path"),
    [
        ("./x", ["x.ts", "x.js"], "x.ts"),
        ("./x", ["x.tsx", "x.d.ts", "x/index.ts"], "x.tsx"),
        ("./x", ["x/index.ts"], "x/index.ts"),
        ("./x/", ["x.ts", "x/index.tsx"], "x/index.tsx"),
        ("./x.js", ["x.ts", "x.js"], "x.ts"),
        ("./x.js", ["x.js"], "x.js"),
        ("./x.jsx", ["x.tsx"], "x.tsx"),
        ("./x.mjs", ["x.mts"], "x.mts"),
        ("./x.cjs", ["x.cts"], "x.cts"),
        ("./x.js", ["x.js.ts"], "x.js.ts"),
        ("./x.service", ["x.service.ts"], "x.service.ts"),
        ("./x.json", ["x.json"], "x.json"),
        ("./x.svg?url", ["x.svg"], "x.svg"),
        (".", ["index.ts"], "index.ts"),
        ("./x.vue", ["x.vue"], "x.vue"),
    ],
)
def test_a_relative_name_is_found_as_compilers_find_it(name: str, there: list[str], path: str) -> None:
    files = {**dict.fromkeys((f"s/{each}" for each in there), ""), "s/use.ts": f'import "{name}"'}
    assert imported(files, "s/use.ts").paths == [f"s/{path}"]


@pytest.mark.clause("CD-17")
def test_from_plain_javascript_the_written_file_comes_first() -> None:
    files = {"use.js": 'import "./x.js"; import "./y"', "x.js": "", "x.ts": "", "y.js": "", "y.ts": ""}
    assert imported(files, "use.js").paths == ["x.js", "y.js"]


CONFIGS: list[tuple[dict[str, str], list[str]]] = [
    ({"tsconfig.json": '{"compilerOptions": {"paths": {"lib/*": ["src/lib/*"]}}}'}, ["src/lib/a.ts"]),
    ({"tsconfig.json": '{"compilerOptions": {"baseUrl": "src"}}'}, ["src/lib/a.ts"]),
    ({"jsconfig.json": '{"compilerOptions": {"baseUrl": "./src/"}} // end'}, ["src/lib/a.ts"]),
    (
        {"tsconfig.json": "{broken", "jsconfig.json": '{"compilerOptions": {"baseUrl": "src"}}'},
        ["src/lib/a.ts"],
    ),
    ({"tsconfig.json": '{"extends": "./tsconfig.json"}'}, []),
    ({"tsconfig.json": '{"extends": "./b"}', "b.json": '{"extends": "./tsconfig.json"}'}, []),
    ({"tsconfig.json": '{"extends": "../out", "compilerOptions": {"baseUrl": "../.."}}'}, []),
    (
        {"tsconfig.json": '{"compilerOptions": {"paths": {"lib/*": ["/src/lib/*"], "*": "x", "l*b*": []}}}'},
        [],
    ),
    ({"tsconfig.json": '{"compilerOptions": {"paths": {"lib/*": ["nowhere/*"], "*": ["other/*"]}}}'}, []),
    (
        {"tsconfig.json": '{"compilerOptions": {"paths": {"lib/a": ["src/lib/a.ts"], "*": ["no/*"]}}}'},
        ["src/lib/a.ts"],
    ),
    ({"tsconfig.json": "[1]"}, []),
    ({"tsconfig.json": '{"compilerOptions": 3, "references": [{"path": 1}, {}, 5], "extends": [7]}'}, []),
]


@pytest.mark.clause("CD-17")
@pytest.mark.parametrize(("configs", "paths"), CONFIGS)
def test_a_name_that_is_not_relative_goes_through_the_nearest_configuration(
    configs: dict[str, str], paths: list[str]
) -> None:
    files = {"app/use.ts": 'import "lib/a"', "src/lib/a.ts": "", **configs}
    found = imported(files, "app/use.ts")
    assert (found.paths, found.external) == (paths, [] if paths else ["lib/a"])
