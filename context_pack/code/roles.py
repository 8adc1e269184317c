"""The role of a file by its path alone: test, configuration, entry point or core.

The first rule that fits decides, in that order; names are compared without case.
"""

from __future__ import annotations

import re
from enum import StrEnum

from context_pack.kernel.paths import RelativePath, is_test


class Role(StrEnum):
    """The four roles."""

    TEST = "test"
    CONFIG = "config"
    ENTRY = "entry"
    CORE = "core"


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
_CONFIG_NAME = re.compile(
    r".*\.config\.[cm]?[jt]s|\.[a-z0-9_-]+rc(?:\.[a-z]+)?|\.env\..*|\..*ignore|.*\.lock"
    r"|(?:requirements|constraints)[\w.-]*\.txt"
)
NO_ENTRIES = frozenset({"", "css", "scss", "sass", "less", "markdown", "rst", "text", "csv", "xml"})
"""Languages without entry points."""


def role_of(path: RelativePath, language: str) -> Role:
    """The role of a file."""
    name = path.name.lower()
    stem = name.partition(".")[0]
    if is_test(path):
        return Role.TEST
    if language in CONFIG_LANGUAGES or {name, stem} & CONFIG_NAMES or _CONFIG_NAME.fullmatch(name):
        return Role.CONFIG
    if language not in NO_ENTRIES and (name.rpartition(".")[0] in ENTRY_NAMES or name == "lib.rs"):
        return Role.ENTRY
    return Role.CORE
