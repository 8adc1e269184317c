"""The purpose of a file in one line: from its own comment, else from its name and exports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from context_pack.contexts.outline import Outline
from context_pack.kernel.languages import language_of
from context_pack.kernel.text import one_line

MOST_NAMES = 6

KNOWN_FILES: Mapping[str, str] = {
    "package.json": "Node.js package manifest",
    "package-lock.json": "Locked versions of Node.js packages",
    "tsconfig.json": "TypeScript compiler settings",
    "pyproject.toml": "Python project manifest",
    "setup.py": "Python package installer",
    "setup.cfg": "Python package settings",
    "requirements.txt": "Python requirements",
    "Cargo.toml": "Rust package manifest",
    "go.mod": "Go module manifest",
    "Gemfile": "Ruby gems",
    "Rakefile": "Ruby tasks",
    "composer.json": "PHP package manifest",
    "Dockerfile": "Container image",
    "docker-compose.yaml": "Containers that run together",
    "docker-compose.yml": "Containers that run together",
    "Makefile": "Make targets",
    "CMakeLists.txt": "CMake build",
    "README.md": "Project documentation",
    "CHANGELOG.md": "What changed in each version",
    "CONTRIBUTING.md": "How to contribute",
    "AGENTS.md": "Instructions for coding agents",
    "CLAUDE.md": "Instructions for coding agents",
    "__init__.py": "Python package",
    "conftest.py": "Shared test fixtures",
    "__main__.py": "Entry point of the package",
}
_LANGUAGE_NAMES: Mapping[str, str] = {
    "javascript": "JavaScript", "typescript": "TypeScript", "tsx": "TypeScript", "jsx": "JavaScript",
    "php": "PHP", "csharp": "C#", "cpp": "C++", "html": "HTML", "css": "CSS", "scss": "SCSS", "sql": "SQL",
    "json": "JSON", "yaml": "YAML", "toml": "TOML", "xml": "XML", "graphql": "GraphQL", "hcl": "HCL",
    "protobuf": "Protocol Buffers", "rst": "reStructuredText", "bash": "Shell", "zsh": "Shell",
}  # fmt: skip
_TEST = re.compile(
    r"(?:test_.+|.+_test|.+_spec|.+[.-](?:test|spec)|tests?|.+Tests?|conftest)\.\w+$|Test[A-Z]\w*\.(?:java|kt|cs)$"
)


def is_test(name: str) -> bool:
    """Whether a file of that name tests others."""
    return _TEST.match(name) is not None


def purpose_of(name: str, outline: Outline) -> str:
    """What a file is for."""
    known = KNOWN_FILES.get(name)
    if outline.about and len(outline.about) > 2 and not (known and name.endswith((".md", ".txt", ".json"))):
        return outline.about
    if known is not None:
        return known
    if is_test(name):
        return "Test file"
    names = list(dict.fromkeys(export.name for export in outline.exports))
    if names:
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        return one_line(f"Defines {', '.join(names[:MOST_NAMES])}{more}")
    language = spoken(language_of(name))
    return f"{language} source file" if language else "Source file"


def spoken(language: str) -> str:
    """The name of a language as people write it."""
    return _LANGUAGE_NAMES.get(language, language.capitalize())


def counterpart_of(name: str, names: Sequence[str]) -> str | None:
    """The file in the same folder that tests this one, by its name."""
    if is_test(name):
        return None
    stem, dot, extension = name.rpartition(".")
    if not dot:
        return None
    ends = (".test", ".spec", "_test", "_spec", "Test", "Tests")
    guesses = [f"test_{name}", *(f"{stem}{end}.{extension}" for end in ends)]
    return next((guess for guess in guesses if guess in names), None)
