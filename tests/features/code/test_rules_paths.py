"""What a file is for, by its path, and which files a `filePattern` means."""

from __future__ import annotations

import pytest

from context_pack.code.roles import role_of
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath, module_of
from context_pack_adapters.source.grep import wanted_by

ROLES = {
    "test": """
        tests/conftest.py src/__tests__/x.js a/test_b.py a/b_test.go a/b.test.tsx a/b.spec.ts
        src/FooTest.java src/FooTests.cs spec/models/x_spec.rb e2e/login.ts
        tests/fixtures/data.json pkg/conftest.py test/main.c
    """,
    "config": """
        package.json tsconfig.json pyproject.toml .github/workflows/ci.yml Dockerfile Makefile
        setup.cfg .gitignore vite.config.ts jest.config.mjs .eslintrc.js .env.example
        src/config.py app/settings.py setup.py CMakeLists.txt Gemfile go.mod pom.xml
        build.gradle.kts poetry.lock Cargo.toml requirements.txt requirements-dev.txt
    """,
    "entry": """
        main.py src/main.rs src/lib.rs cmd/tool/main.go src/index.ts app.py server.js cli.py
        pkg/__main__.py manage.py src/Program.cs src/Main.java Application.kt index.html wsgi.py
    """,
    "core": """
        src/server/auth/AuthService.ts README.md LICENSE contest.py latest.js attestation/x.py
        src/models/user.py main app/__init__.py src/configuration_reader.py
        docs/index_of_things.md specification.md
        app.environment.ts app.css docs/index.md src/index.d.ts server.utils.ts requirements.md
    """,
}


@pytest.mark.clause("CD-28")
@pytest.mark.parametrize("role", list(ROLES))
def test_the_role_of_a_file_follows_from_its_path(role: str) -> None:
    for name in ROLES[role].split():
        assert (name, role_of(RelativePath(name), language_of(name)).value) == (name, role)


@pytest.mark.clause("CD-28")
def test_the_module_is_the_folder_the_file_is_in() -> None:
    assert [module_of(RelativePath(path)) for path in ("a.py", "x/a.py", "x/y/a.py")] == [".", "x", "y"]


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
