"""The command `doctor`: each question looks at one thing and says what it found and how to mend it.

Looking changes nothing: no file is written, and a folder that does not exist is not made, but for the user's
own folders, which are opened as a server opens them.
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
from typing import NamedTuple

from context_pack import __version__
from context_pack.kernel.errors import Failure
from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.about import install_command
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.cli.words import nearest, words_for
from context_pack_adapters.index.database import pieces_in
from context_pack_adapters.postgres.opening import load_team
from context_pack_adapters.private_places import DOCUMENTS_INDEX, MEMORY_INDEX, open_places, project_folders
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
FORMER = ("derived", "stats", "access", "memory/sessions")
"""What older versions kept in the storage root; it is neither read nor removed."""


class Finding(NamedTuple):
    """One thing looked at: `state` is ok, warn (works less well) or broken."""

    subject: str
    state: str
    found: str
    mend: str | None = None


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
    findings = list(_findings(app.settings))
    broken = sum(finding.state == "broken" for finding in findings)
    if app.json:
        checks = [finding._asdict() for finding in findings]
        output.value({"ok": not broken, "settings": settings, "checks": checks})
        return 1 if broken else 0
    output.line(("bold", "Settings"))
    for name, value in settings.items():
        output.line(f"  {name.ljust(max(map(len, settings)))}  {value}")
    output.line(("bold", "\nChecks"))
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        state = (COLOURS[finding.state], finding.state.ljust(6))
        output.line("  ", state, f"  {finding.subject.ljust(width)}  {finding.found}")
        if finding.mend is not None:
            output.line(" " * (width + 12), ("cyan", f"→ {finding.mend}"))
    output.line(f"\n{broken} broken." if broken else "\nEverything needed is in place.")
    return 1 if broken else 0


def settings_shown(settings: Settings) -> dict[str, str]:
    """Every setting in effect, as text."""
    cache, state = project_folders(settings)
    shown: dict[str, object] = {
        "version": f"{__version__}, from {Path(__file__).resolve().parents[2]}",
        **settings._asdict(),
        "cache": cache.path,
        "state": state.path,
        "embedder": _without_secrets(settings.embedder),
        "store": _without_secrets(settings.store),
        "rate_limits": [f"{tool}={count}" for tool, count in settings.rate_limits.items()],
    }
    for told_elsewhere in ("complaints", "refusals", "log_level_given"):
        del shown[told_elsewhere]
    return {
        name.replace("_", " "): ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        for name, value in shown.items()
        if value not in (None, "", (), [])
    }


def _without_secrets(address: str) -> str:
    """A name; of a URL only the host, because the rest may hold a secret."""
    scheme, slashes, rest = address.partition("://")
    return f"{scheme}{slashes}{rest.partition('/')[0].rpartition('@')[2]}"


def _findings(settings: Settings) -> Iterator[Finding]:
    """Everything worth knowing about this installation and these settings."""
    yield Finding("python", "ok", ".".join(map(str, sys.version_info[:3])))  # pip refuses an older one
    yield from _packages()
    yield from _variables(settings)
    yield _source_root(Path(settings.source_root))
    yield from _storage(settings)
    yield from _programs()
    yield _sqlite()
    yield _vector_index(settings)
    if _loads("mmdr"):
        yield Finding("mmdr", "ok", "loads")
    else:
        found = "does not load: exported pages show diagrams as their source"
        yield Finding("mmdr", "warn", found, install_command("html"))
    yield _embedder(settings)
    yield from _team(settings)


def _packages() -> Iterator[Finding]:
    """One line for what we cannot do without; each package and grammar that is missing has its own."""
    faults: dict[str, str] = {}
    for package, module in PACKAGES.items():
        try:
            import_module(module)
        except (ImportError, OSError) as error:
            faults[package] = str(error)
            yield Finding(package, "broken", f"does not load: {error}", f"pip install --upgrade {package}")
    if "tree-sitter" in faults:
        return
    from context_pack_adapters.syntax.grammars import grammar_faults

    for package, fault in grammar_faults().items():
        if fault:
            faults[package] = fault
            found = f"does not load, its language is not parsed: {fault}"
            yield Finding(package, "warn", found, f"pip install --upgrade {package}")
    if not faults:
        yield Finding("packages", "ok", f"all {len(PACKAGES)} load, and every grammar")


def _variables(settings: Settings) -> Iterator[Finding]:
    """Variables with bad values, and unknown variables with our prefix."""
    for refusal in settings.refusals:
        yield Finding("environment", "broken", refusal, "set or unset it; until then nothing is served")
    for complaint in settings.complaints:
        yield Finding("environment", "warn", complaint, "correct or unset it")
    for name in sorted(os.environ):
        if name.startswith("CONTEXT_PACK_") and name not in VARIABLES:
            hint = nearest(name, list(VARIABLES))
            yield Finding("environment", "warn", f"{name} is not a setting{hint}", "unset it")


def _source_root(root: Path) -> Finding:
    """The folder that refs point into."""
    mend = "set CONTEXT_PACK_SOURCE_ROOT, or start in the project's folder"
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        return Finding("source root", "broken", f"{root} {what}", mend)
    if not os.access(root, os.R_OK | os.X_OK):
        return Finding("source root", "broken", f"{root} cannot be read", f"make it readable, or {mend}")
    return Finding("source root", "ok", "readable")


def _storage(settings: Settings) -> Iterator[Finding]:
    """The folder where packs are kept, the packs in it, and the user's own folders."""
    root, mend = Path(settings.root), "mend that, or set CONTEXT_PACK_ROOT"
    parent = next(place for place in (root, *root.parents) if place.exists())
    writable = parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)
    if parent != root:
        found = "not there yet; the first pack makes it" if writable else f"cannot be made in {parent}"
        state = Finding("storage root", "ok" if writable else "broken", found, None if writable else mend)
        yield state
    elif not root.is_dir():
        yield Finding("storage root", "broken", f"{root} is not a folder", mend)
    elif not os.access(root, os.R_OK | os.X_OK):
        yield Finding("storage root", "broken", f"{root} cannot be read", mend)
    else:
        packs = root / "packs"
        if writable and (not packs.exists() or os.access(packs, os.W_OK)):
            yield Finding("storage root", "ok", "readable and writable")
        else:
            yield Finding("storage root", "warn", "read-only: packs can be read, not changed", mend)
        yield _packs(settings)
    if trouble := open_places(settings).trouble:
        found = f"temporary, so that every server indexes anew: {trouble}"
        mend = "mend that, or set CONTEXT_PACK_CACHE to another folder"
        yield Finding("cache and state", "warn", found, mend)
    else:
        yield Finding("cache and state", "ok", "for this user only")
    left = [name for name in FORMER if os.path.lexists(root / name)]
    if left:
        found = f"not used any more: {', '.join(left)}"
        yield Finding("older storage", "warn", found, f"safe to delete, in {root}")


def _packs(settings: Settings) -> Finding:
    """Whether every pack file is sound."""
    if settings.refusals:
        return Finding("packs", "warn", "not looked at: where they are is not understood", "see environment")
    try:
        from context_pack_adapters.disk_ports import open_ports

        packs = open_ports(settings).packs.all()
    except ImportError:
        return Finding("packs", "warn", "not looked at: a package is missing", "mend the packages first")
    except Failure as failure:
        mend = "mend the files by hand or move them out of the packs folder"
        return Finding("packs", "broken", "; ".join(map(str.strip, words_for(failure))), mend)
    return Finding("packs", "ok", f"{len(packs)} live, all sound")


def _programs() -> Iterator[Finding]:
    """Whether the programs that we run where they are there are there."""
    for name, program, without, mend in (
        ("ripgrep", "rg", "searches use the built-in engine", install_command("ripgrep")),
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
    return Finding("hnswlib", "warn", found, f"{install_command('hnswlib')} (it needs a C++ compiler)")


def _loads(module: str) -> bool:
    """Whether a compiled module loads; asked of a child: a build for another processor ends the process."""
    command = [sys.executable, "-c", f"import {module}"]
    try:
        child = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=CHILD_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return child.returncode == 0


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
        found = f"{chosen.semantic.id} works"
        if settings.embedder.startswith("http"):
            found = f"an endpoint ({chosen.semantic.id}); it was not asked"
        else:
            chosen.semantic.embed(["probe"], "query")
    except ImportError:
        return Finding("embedder", "warn", "not looked at: a package is missing", "mend the packages first")
    except EmbedderFailed as failure:
        mend = "correct CONTEXT_PACK_MODEL" if settings.model else granite.REINSTALL
        return Finding("embedder", "warn", f"{failure}; searches use the fast one", mend)
    path = Path(project_folders(settings)[0].path) / MEMORY_INDEX
    if total := pieces_in(path):
        done = pieces_in(path, chosen.semantic.id)
        found += f"; {done:,} of {total:,} pieces of the project are embedded"
    return Finding("embedder", "ok", found)


def _team(settings: Settings) -> Iterator[Finding]:
    """Whether the team's database can be used, if one is configured."""
    if not settings.store:
        return
    try:
        found = load_team(settings, os.environ).status()
    except Failure as failure:
        mend = "context-pack team status; docs/team.md tells the rest"
        yield Finding("team", "warn", failure.message, mend)
    else:
        yield Finding("team", "ok", f"{found.project}, {found.packs} packs, {found.latency_ms} ms away")
