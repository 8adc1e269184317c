"""What a file is for, by its path."""

from __future__ import annotations

import pytest

from context_pack.code.roles import role_of
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath, module_of

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
