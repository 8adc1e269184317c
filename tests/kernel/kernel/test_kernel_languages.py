"""Languages by well-known name and by extension."""

from __future__ import annotations

import pytest

from context_pack.kernel.languages import language_of


@pytest.mark.clause("KN-31")
@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/app.py", "python"),
        ("A/B.PY", "python"),
        ("x.d.ts", "typescript"),
        ("x.tsx", "tsx"),
        ("handler.rs", "rust"),
        ("a.go", "go"),
        ("a.yml", "yaml"),
        ("README.md", "markdown"),
        ("Dockerfile", "dockerfile"),
        ("docker/dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        ("app.dockerfile", "dockerfile"),
        ("Makefile", "makefile"),
        ("GNUmakefile", "makefile"),
        ("sub/CMakeLists.txt", "cmake"),
        ("Jenkinsfile", "groovy"),
        ("go.mod", "go"),
        (".gitignore", "gitignore"),
        ("win\\x.cs", "csharp"),
    ],
)
def test_a_language_is_known_by_name_or_extension(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.clause("KN-31")
@pytest.mark.parametrize("path", ["", "x", "x.", "x.unknown", ".py", "a.py/x", "dir.rs/LICENSE", "py"])
def test_an_unknown_language_is_empty(path: str) -> None:
    assert language_of(path) == ""
