"""Which folders of a project are looked at, which files are sources, and which folders are worth a context.

The walk itself is an adapter's; these are its rules. A folder is kept when its own sources are large enough,
when it is the root, or when a folder below it is kept; the others with sources are counted as skipped, and
those without any are not counted at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, frozen

from context_pack.contexts.model import CONFIG_FILE, CONTEXT_FILE, ROOT_SCOPE, parse
from context_pack.kernel.yaml_documents import Malformed

IGNORE_FILES = (".gitignore", ".contextignore")
BUNDLE_FILE = "sdd-bundle.yaml"
"""Marks a folder whose YAML files are entities of a bundle."""
DEFAULT_MIN_TOKENS = 4096
DEFAULT_MAX_DEPTH = 10
SKIPPED_FOLDERS = frozenset({
    "node_modules", "bower_components", "vendor", "Pods", "venv", "__pycache__", "dist", "build", "_build",
    "out", "obj", "target", "coverage", "_site", "storybook-static", "tmp", "temp",
})  # fmt: skip
SOURCE_EXTENSIONS = frozenset({
    "ts", "tsx", "js", "jsx", "mjs", "cjs", "vue", "svelte", "py", "pyi", "rs", "go", "java", "kt", "kts",
    "c", "cpp", "cc", "h", "hpp", "cs", "rb", "php", "swift", "scala", "ex", "exs", "hs", "lua", "r", "sql",
    "sh", "bash", "zsh", "yaml", "yml", "json", "toml", "xml", "html", "css", "scss", "md", "mdx", "txt",
    "rst", "tf", "hcl", "dockerfile", "graphql", "gql", "proto",
})  # fmt: skip
SOURCE_NAMES = frozenset({
    "Dockerfile", "docker-compose.yaml", "docker-compose.yml", "Makefile", "CMakeLists.txt", "Cargo.toml",
    "go.mod", "pyproject.toml", "setup.py", "setup.cfg", "Gemfile", "Rakefile",
})  # fmt: skip
_OURS = frozenset({CONTEXT_FILE, CONFIG_FILE})


@frozen
class ScanRules:
    """How a project wants to be scanned; `ignore` are lines of gitignore syntax, after those of its files."""

    min_tokens: float = DEFAULT_MIN_TOKENS
    max_depth: float = DEFAULT_MAX_DEPTH
    ignore: tuple[str, ...] = ()


def gather_rules(read: Callable[[str], bytes | None]) -> tuple[ScanRules, str, int]:
    """How to scan, the lines that hide folders, and how much of the configuration was not understood.

    `read` gives a file of the root: empty if there is none, None if it cannot be read.
    """
    data = {name: read(name) for name in (CONFIG_FILE, *IGNORE_FILES)}
    broken = 0
    try:
        config = parse(data[CONFIG_FILE] or b"")
    except Malformed:
        config, broken = None, 1
    rules, faults = read_rules(config)
    ignore = [data[name] for name in IGNORE_FILES]
    lines = [each.decode("utf-8", "surrogateescape").removeprefix("\ufeff") for each in ignore if each]
    unread = sum(each is None for each in data.values())
    return rules, "\n".join([*lines, *rules.ignore]), broken + faults + unread


def read_rules(config: object) -> tuple[ScanRules, int]:
    """The rules that a parsed configuration spells, and how many of its settings were not understood.

    Each setting counts alone; whatever else is in there belongs to other tools.
    """
    if config is None:
        return ScanRules(), 0
    if not isinstance(config, Mapping):
        return ScanRules(), 1
    fits = {"min_tokens": _is_number, "max_depth": _is_number, "ignore": _are_texts}
    given = {name: config[name] for name in fits if config.get(name) is not None}
    good: dict[str, Any] = {name: value for name, value in given.items() if fits[name](value)}
    if "ignore" in good:
        good["ignore"] = tuple(good["ignore"])
    return evolve(ScanRules(), **good), len(given) - len(good)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_entered(name: str) -> bool:
    """Whether a folder of that name is looked into, as far as its name decides."""
    return not name.startswith(".") and name not in SKIPPED_FOLDERS


def is_source(name: str) -> bool:
    """Whether a file of that name is a source; a name that only begins with a dot has no extension."""
    stem, _, extension = name.rpartition(".")
    if stem and (extension in SOURCE_EXTENSIONS or extension.lower() in SOURCE_EXTENSIONS):
        return name not in _OURS
    return name in SOURCE_NAMES


def tokens_of(source_bytes: int) -> int:
    """The tokens of sources of that size, four bytes each: they are not read for it."""
    return -(-source_bytes // 4)


def parent_of(scope: str) -> str | None:
    """The scope that a scope lies in; None for the root."""
    if scope == ROOT_SCOPE:
        return None
    return scope.rpartition("/")[0] or ROOT_SCOPE


def is_within(scope: str, top: str) -> bool:
    """Whether a scope is another one or lies in it."""
    return top == ROOT_SCOPE or scope == top or scope.startswith(f"{top}/")


def kept_scopes(sizes: Mapping[str, int], min_tokens: float) -> set[str]:
    """The scopes that are worth a context; `sizes` are the bytes of the sources of each that has some."""
    chosen: set[str] = {ROOT_SCOPE}
    for scope, size in sizes.items():
        at: str | None = scope if min_tokens <= 0 or tokens_of(size) >= min_tokens else None
        while at is not None and at not in chosen:
            chosen.add(at)
            at = parent_of(at)
    return chosen
