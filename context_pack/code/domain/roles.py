"""What a file is for, by its path alone: a test, configuration, an entry point, or the core of the matter.

The first rule that fits decides, in that order; names are compared without case.
"""

from __future__ import annotations

import re
from enum import StrEnum

from context_pack.kernel.paths import RelativePath


class Role(StrEnum):
    """The four roles."""

    TEST = "test"
    CONFIG = "config"
    ENTRY = "entry"
    CORE = "core"


TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs", "testing", "e2e", "__mocks__"})
CONFIG_LANGUAGES = frozenset({"json", "yaml", "toml", "ini", "dockerfile", "makefile", "cmake", "gitignore"})
CONFIG_NAMES = frozenset(
    {
        "config", "configuration", "settings", "conf", "setup", "noxfile", "gemfile", "rakefile", "go.mod",
        "gulpfile", "gruntfile", "build.gradle", "settings.gradle", "build.gradle.kts", "settings.gradle.kts",
        "pom.xml", "procfile", "jenkinsfile", "vagrantfile", "justfile", "meson.build", "build.bazel",
    }
)  # fmt: skip
ENTRY_NAMES = frozenset(
    {
        "main", "__main__", "index", "app", "application", "server", "cli", "manage", "wsgi", "asgi",
        "program", "bootstrap",
    }
)  # fmt: skip
_TEST_NAME = re.compile(r"(?:test_.*|.*[._-](?:test|tests|spec)|conftest)\.[a-z0-9]+")
_TEST_CLASS = re.compile(r".*[a-z0-9](?:Test|Tests|TestCase|Spec|IT)\.(?:java|kt|cs|php|scala|swift)")
_CONFIG_NAME = re.compile(
    r".*\.config\.[cm]?[jt]s|\.[a-z0-9_-]+rc(?:\.[a-z]+)?|\.env\..*|\..*ignore|.*\.lock"
)


def role_of(path: RelativePath, language: str) -> Role:
    """The role of a file."""
    name = path.name.lower()
    stem = name.partition(".")[0]
    if _is_test(path, name):
        return Role.TEST
    if language in CONFIG_LANGUAGES or {name, stem} & CONFIG_NAMES or _CONFIG_NAME.fullmatch(name):
        return Role.CONFIG
    if language and (stem in ENTRY_NAMES or name == "lib.rs"):
        return Role.ENTRY
    return Role.CORE


def _is_test(path: RelativePath, name: str) -> bool:
    folders = (part.lower() for part in path.parts[:-1])
    if not TEST_FOLDERS.isdisjoint(folders):
        return True
    return bool(_TEST_NAME.fullmatch(name) or _TEST_CLASS.fullmatch(path.name))
