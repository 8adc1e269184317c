"""What a package manifest says of its project: name, description, what it depends on, how it is tested.

Each kind of manifest is read by its own small function into the same facts; what cannot be read says nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import frozen

from context_pack.kernel.text import toml_of

LOCK_FILES: Mapping[str, str] = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lockb": "bun",
    "bun.lock": "bun",
    "package-lock.json": "npm",
    "uv.lock": "uv",
    "poetry.lock": "poetry",
    "pdm.lock": "pdm",
    "Pipfile.lock": "pipenv",
    "Cargo.lock": "cargo",
    "composer.lock": "composer",
    "Gemfile.lock": "bundler",
}
FRAMEWORKS = (
    *("next", "nuxt", "@angular/core", "@nestjs/core", "react", "vue", "svelte", "express", "fastify", "koa"),
    *("django", "fastapi", "flask", "starlette", "tornado", "aiohttp", "actix-web", "axum", "rocket"),
    *("rails", "sinatra", "laravel/framework", "symfony/framework-bundle"),
    *("github.com/gin-gonic/gin", "github.com/labstack/echo", "github.com/gofiber/fiber"),
)
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*(?P<version>[^;#\s][^;#]*)?")
_GEM = re.compile(r"""^\s*gem ['"](?P<name>[^'"]+)['"](?:, *['"](?P<version>[^'"]+)['"])?""", re.MULTILINE)
_GO_MODULE = re.compile(r"^module\s+(?P<name>\S+)", re.MULTILINE)
_GO_REQUIRED = re.compile(
    r"^(?:require\s+|\t)(?P<name>[\w.~/-]+\.[\w.~/-]+)\s+(?P<version>v\S+)(?P<rest>[^\n]*)", re.MULTILINE
)
_SETUP = re.compile(r"^(?P<key>name|description)\s*=\s*(?P<value>.+)$", re.MULTILINE)


@frozen
class ManifestFacts:
    """The facts of one manifest; `depends` are lines such as `express ^4.19.0`, `needs` their bare names."""

    kind: str
    name: str = ""
    description: str = ""
    depends: tuple[str, ...] = ()
    test: str = ""
    package_manager: str = ""

    @property
    def needs(self) -> frozenset[str]:
        """The names of what it depends on."""
        return frozenset(line.partition(" ")[0] for line in self.depends)

    @property
    def framework(self) -> str:
        """The framework it is built on, if one of the well-known is among its dependencies."""
        known = {name.lower() for name in self.needs}
        return next((name for name in FRAMEWORKS if name in known), "")


def read_manifest(name: str, text: str) -> ManifestFacts | None:
    """The facts of a manifest of that file name; None when it is none, or cannot be read."""
    reader = _reader_of(name)
    try:
        return None if reader is None else reader(text)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def is_manifest(name: str) -> bool:
    """Whether a file of that name says something of its project."""
    return _reader_of(name) is not None


def _reader_of(name: str) -> Callable[[str], ManifestFacts] | None:
    listing = name.startswith("requirements") and name.endswith(".txt")
    return _requirements if listing else _READERS.get(name)


def joined(manifests: list[ManifestFacts], names: frozenset[str]) -> ManifestFacts | None:
    """The manifests of one folder as one: the first word counts; `names` are all files there."""
    if not manifests:
        return None

    def first(values: Iterator[str]) -> str:
        return next(filter(None, values), "")

    lock = first(manager for file, manager in LOCK_FILES.items() if file in names)
    return ManifestFacts(
        manifests[0].kind,
        first(each.name for each in manifests),
        first(each.description for each in manifests),
        tuple(dict.fromkeys(line for each in manifests for line in each.depends)),
        first(each.test for each in manifests),
        lock or first(each.package_manager for each in manifests),
    )


def _text(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _versioned(table: Any, mark: str = "") -> list[str]:
    """A table of name and version as lines."""
    if not isinstance(table, dict):
        return []
    lines = []
    for name, value in table.items():
        version = value.get("version", "") if isinstance(value, dict) else value
        lines.append(f"{name} {_text(version)}{mark}".strip().replace("  ", " "))
    return lines


def _stated(
    kind: str, about: Mapping[str, Any], depends: list[str], test: str, manager: str
) -> ManifestFacts:
    """The facts of a manifest whose table `about` has the name and the description."""
    name, description = _text(about.get("name")), _text(about.get("description"))
    return ManifestFacts(kind, name, description, tuple(depends), test, manager)


def _package_json(text: str) -> ManifestFacts:
    data = json.loads(text)
    scripts = data.get("scripts")
    test = _text(scripts.get("test")) if isinstance(scripts, dict) else ""
    run = test if "no test specified" not in test else ""
    manager = _text(data.get("packageManager")).partition("@")[0] or "npm"
    depends = _versioned(data.get("dependencies")) + _versioned(data.get("devDependencies"), " (dev)")
    return _stated("javascript", data, depends, run, manager)


def _pyproject(text: str) -> ManifestFacts:
    data = toml_of(text)
    tools = data.get("tool", {})
    poetry = tools.get("poetry", {}) if isinstance(tools, dict) else {}
    project = data.get("project", {}) or poetry
    lines = [line for item in data.get("project", {}).get("dependencies", ()) if (line := _requirement(item))]
    lines += [line for line in _versioned(poetry.get("dependencies")) if not line.startswith("python ")]
    test = "pytest" if "pytest" in tools or "pytest" in text else ""
    return _stated("python", project, lines, test, "poetry" if poetry else "pip")


def _requirement(line: str) -> str:
    found = _REQUIREMENT.match(line.strip())
    return f"{found['name']} {(found['version'] or '').strip()}".strip() if found else ""


def _requirements(text: str) -> ManifestFacts:
    lines = (line.strip() for line in text.splitlines())
    wanted = [line for line in lines if line and not line.startswith(("#", "-", "git+", "http"))]
    return ManifestFacts(
        "python", depends=tuple(filter(None, map(_requirement, wanted))), package_manager="pip"
    )


def _setup(text: str) -> ManifestFacts:
    found = {each["key"]: each["value"].strip().strip("'\",") for each in _SETUP.finditer(text)}
    return ManifestFacts("python", found.get("name", ""), found.get("description", ""), package_manager="pip")


def _cargo(text: str) -> ManifestFacts:
    data = toml_of(text)
    depends = _versioned(data.get("dependencies")) + _versioned(data.get("dev-dependencies"), " (dev)")
    return _stated("rust", data.get("package", {}), depends, "cargo test", "cargo")


def _go_mod(text: str) -> ManifestFacts:
    named = _GO_MODULE.search(text)
    required = (each for each in _GO_REQUIRED.finditer(text) if "indirect" not in each["rest"])
    depends = tuple(f"{each['name']} {each['version']}" for each in required)
    return ManifestFacts("go", named["name"] if named else "", "", depends, "go test ./...", "go")


def _composer(text: str) -> ManifestFacts:
    data = json.loads(text)
    depends = _versioned(data.get("require")) + _versioned(data.get("require-dev"), " (dev)")
    return _stated("php", data, depends, "", "composer")


def _gemfile(text: str) -> ManifestFacts:
    depends = tuple(f"{each['name']} {each['version'] or ''}".strip() for each in _GEM.finditer(text))
    return ManifestFacts("ruby", depends=depends, package_manager="bundler")


_READERS: Mapping[str, Callable[[str], ManifestFacts]] = {
    "package.json": _package_json,
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup,
    "setup.py": _setup,
    "Pipfile": lambda text: ManifestFacts("python", depends=tuple(_versioned(toml_of(text).get("packages")))),
    "Cargo.toml": _cargo,
    "go.mod": _go_mod,
    "composer.json": _composer,
    "Gemfile": _gemfile,
}
