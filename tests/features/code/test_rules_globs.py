"""Which files a `filePattern` means."""

from __future__ import annotations

import pytest

from context_pack_adapters.source.grep import wanted_by

PATHS = [
    ".github/ci.yml", ".hidden", "README.md", "a b.txt", "app.ts", "brace{x}.ts", "lib/app.tsx", "src/a.ts",
    "src/b/c.ts", "src/b/c.test.ts",
    "src/b/d.js", "src/index.js", "test/src/a.ts", "x/y/z/deep.py", "star*.md", "[id].tsx", "#note.md",
    "!bang.md",
]  # fmt: skip


def chosen(glob: str) -> list[str]:
    return list(filter(wanted_by(glob), PATHS))


@pytest.mark.clause("CD-60")
@pytest.mark.parametrize(
    "glob, expected",
    [
        ("", PATHS),
        ("*", PATHS),
        ("**/*", PATHS),
        ("*.ts", ["app.ts", "brace{x}.ts", "src/a.ts", "src/b/c.ts", "src/b/c.test.ts", "test/src/a.ts"]),
        ("**/*.ts", ["app.ts", "brace{x}.ts", "src/a.ts", "src/b/c.ts", "src/b/c.test.ts", "test/src/a.ts"]),
        ("src/*.ts", ["src/a.ts"]),
        ("src/**/*.ts", ["src/a.ts", "src/b/c.ts", "src/b/c.test.ts"]),
        ("src/**", ["src/a.ts", "src/b/c.ts", "src/b/c.test.ts", "src/b/d.js", "src/index.js"]),
        ("src/", ["src/a.ts", "src/b/c.ts", "src/b/c.test.ts", "src/b/d.js", "src/index.js"]),
        ("**/src/*.ts", ["src/a.ts", "test/src/a.ts"]),
        ("a.ts", ["src/a.ts", "test/src/a.ts"]),
        ("src", []),
        ("*.{js,py}", ["src/b/d.js", "src/index.js", "x/y/z/deep.py"]),
        ("{src,test}/**/a.ts", ["src/a.ts", "test/src/a.ts"]),
        ("*.{t{s,sx},md}", [path for path in PATHS if path.endswith((".ts", ".tsx", ".md"))]),
        ("?.ts", ["src/a.ts", "src/b/c.ts", "test/src/a.ts"]),
        ("[ab].ts", ["src/a.ts", "test/src/a.ts"]),
        ("[!a].ts", ["src/b/c.ts"]),
        ("[[:alpha:]].ts", ["src/a.ts", "src/b/c.ts", "test/src/a.ts"]),
        ("!*.ts", [path for path in PATHS if not path.endswith(".ts")]),
        ("!src/**", [path for path in PATHS if not path.startswith("src/")]),
        ("!*.{ts,tsx,js,md}", [".github/ci.yml", ".hidden", "a b.txt", "x/y/z/deep.py"]),
        (".github/**", [".github/ci.yml"]),
        ("x/**/deep.py", ["x/y/z/deep.py"]),
        (r"star\*.md", ["star*.md"]),
        (r"\[id\].tsx", ["[id].tsx"]),
        (r"brace\{x\}.ts", ["brace{x}.ts"]),
        ("#note.md", ["#note.md"]),
        (r"\!bang.md", ["!bang.md"]),
        (r"src\b\d.js", ["src/b/d.js"]),
        ("*.TS", []),
        ("a\n.ts", []),
    ],
)  # fmt: skip
def test_file_pattern_globs_match_the_listed_paths(glob: str, expected: list[str]) -> None:
    assert chosen(glob) == expected
