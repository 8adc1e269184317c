"""The settings, read once from the environment into one frozen value by one table of variables.

The only module that reads `CONTEXT_PACK_*`. A variable that is absent or empty has its default. One that
cannot be understood has its default too and leaves one line in `complaints` for the log, unless it says where
data is or goes: that is never guessed, and the line in `refusals` is all that is served.

Two roots: the source root (what refs point into) is the project that the working directory is in; the storage
root is taken relative to the source root, so that a project's packs stay with the project wherever a client
starts us.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, get_origin, get_type_hints
from urllib.parse import unquote, urlsplit

PREFIX = "CONTEXT_PACK_"
REPOSITORY = ".git"
WORKING_DIRECTORY = "the working directory"
"""The reason given when the working directory is the source root by default."""
DEFAULT_ROOT = os.path.join(".agents", "mcp", "context_pack")
CWD_ALIASES = frozenset({"__SESSION_CWD__", "session_cwd", "cwd", "."})
LOG_LEVELS = frozenset({"off", "error", "warn", "info", "debug"})
LONGEST_TIMEOUT_MS = 2_147_483_647
DEFAULT_MAX_SOURCE_BYTES = 2 * 1024 * 1024
LARGEST_SIZE = 1024 * 1024 * 1024
AUTO = "auto"
TOOL_FAMILIES = frozenset({"packs", "code", "memory", "documents", "contexts", "bundles"})
DEFAULT_RATE_LIMITS: Mapping[str, int] = {"context_search": 30, "read_file": 100, "grep_codebase": 60}
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def parse_place(text: str) -> str | None:
    """The name of a folder; None for one with a variable in it that its client did not put a value for."""
    return None if "${" in text else text.strip()


def parse_own_folder(text: str) -> str | None:
    """An absolute folder; None for any other, which would lie in whatever project we are started in."""
    folder = os.path.expanduser(text.strip())
    return os.path.normpath(folder) if os.path.isabs(folder) and "${" not in text else None


def separated(by: str) -> Callable[[str], tuple[str, ...]]:
    """Parses the parts of a text that are not blank."""
    return lambda text: tuple(filter(None, map(str.strip, text.split(by))))


def parse_allowed(text: str) -> tuple[str, ...] | None:
    """Names that may be read; None if one is a path, because names are opened wherever they stand."""
    names = separated(",")(text)
    return None if any("/" in name for name in names) else names


def parse_tools(text: str) -> tuple[str, ...] | None:
    """`all`, `auto` or names of families; None when one of them is none."""
    names = tuple(dict.fromkeys(filter(None, map(str.strip, text.lower().split(",")))))
    if names == ("all",):
        return ()
    return names if names == (AUTO,) or (names and TOOL_FAMILIES.issuperset(names)) else None


def parse_embedder(text: str) -> str | None:
    """The name of an embedder or the URL of one; None for any other word."""
    name = text.strip()
    if name.lower() in ("auto", "fast", "semantic"):
        return name.lower()
    try:
        return name if urlsplit(name).scheme in ("http", "https") else None
    except ValueError:
        return None


def split_store(text: str) -> tuple[str, str | None] | None:
    """The address of a Postgres database and the password in it, apart; None for anything else."""
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        return None
    login, at, hosts = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    ports = [host.rpartition("]")[2].partition(":")[2] for host in hosts.split(",")]
    odd = "@" in parts.path or parts.fragment or not all(port.isdigit() for port in ports if port)
    if parts.scheme not in ("postgresql", "postgres") or odd or any(map(str.isspace, text.strip())):
        return None
    words = parts.query.split("&")
    spelled = [word.removeprefix("password=") for word in words if word.startswith("password=")]
    query = "&".join(word for word in words if not word.startswith("password="))
    address = f"{parts.scheme}://{user}{at}{hosts}{parts.path}{query and '?'}{query}"
    return address, unquote([*spelled, password][0]) or None


def parse_store(text: str) -> str | None:
    """The address of the team's database without its password; None for anything else."""
    parts = split_store(text)
    return None if parts is None else parts[0]


def parse_label(text: str) -> str | None:
    """A name of one line; None for one that is too long, or has a variable in it that has no value."""
    name = text.strip()
    return name if len(name) <= 200 and name.isprintable() and "${" not in name else None


def parse_level(text: str) -> str | None:
    """The level of `level` or `name=level`; None when there is none."""
    level = text.lower().rpartition("=")[2].strip()
    level = {"warning": "warn", "trace": "debug"}.get(level, level)
    return level if level in LOG_LEVELS and "," not in text else None


def parse_rate_limits(text: str) -> Mapping[str, int] | None:
    """`off`, or `tool=n,…` over the default numbers (`tool=off` lifts one limit); None when it is neither."""
    if text.strip().lower() == "off":
        return {}
    limits = dict(DEFAULT_RATE_LIMITS)
    for item in separated(",")(text.lower()):
        match = re.fullmatch(r"(\w+)\s*=\s*(?:off|(\d{1,18}))", item, re.ASCII)
        if match is None:
            return None
        limits.pop(match[1], None)
        limits |= {match[1]: int(match[2])} if match[2] else {}
    return limits


def whole(low: int, high: int, most: int | None = None) -> Callable[[str], int | None]:
    """Parses a whole number in plain digits within bounds; one above `most` counts as that."""

    def parse(text: str) -> int | None:
        match = re.fullmatch(r"\d{1,18}", text.strip(), re.ASCII)
        number = int(match[0]) if match else -1
        return min(number, most or number) if low <= number <= high else None

    return parse


class Settings(NamedTuple):
    """The settings of one process or one workspace, with their defaults; both roots are absolute.

    A field with a parser has a variable; docs/configuration.md says what each is for.
    """

    root: Annotated[str, parse_place]
    source_root: Annotated[str, parse_place]
    source_because: str = "it was given"
    """Why this is the source root, in words."""
    log_level: Annotated[str, parse_level] = "info"
    log_level_given: bool = False
    initialize_timeout_ms: Annotated[int, whole(1, 10**18, LONGEST_TIMEOUT_MS)] = 20_000
    call_seconds: Annotated[int, whole(1, 86_400)] = 45
    tools: Annotated[tuple[str, ...], parse_tools] = ()
    """The families of tools to list; none means all, `auto` those with something to serve."""
    page_tokens: Annotated[int | None, whole(500, 200_000)] = None
    """The largest answer in tokens; None to choose by client."""
    max_message_bytes: Annotated[int, whole(1, LARGEST_SIZE)] = 10 * 1024 * 1024
    max_source_bytes: Annotated[int, whole(1, LARGEST_SIZE)] = DEFAULT_MAX_SOURCE_BYTES
    deny: Annotated[tuple[str, ...], separated(",")] = ()
    allow: Annotated[tuple[str, ...], parse_allowed] = ()
    """Names that the table of secrets denies and that may be read nevertheless."""
    rate_limits: Annotated[Mapping[str, int], parse_rate_limits] = DEFAULT_RATE_LIMITS
    bundles: Annotated[tuple[str, ...], separated(os.pathsep)] = ()
    allowed_roots: Annotated[tuple[str, ...], separated(os.pathsep)] = ()
    embedder: Annotated[str, parse_embedder] = AUTO
    model: Annotated[str, str.strip] = ""
    user_config: str = ""
    """The user-wide `context.json`; empty means that none is read."""
    cache: Annotated[str, parse_own_folder] = ""
    """A folder for what is derived or private; empty means the user's cache and state folders."""
    store: Annotated[str, parse_store] = ""
    """The address of the team's database, without a password; empty means files."""
    project: Annotated[str, parse_label] = ""
    author: Annotated[str, parse_label] = ""
    complaints: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    """Why nothing may be served, with what to set instead; empty if something may."""


def variable_of(field: str) -> str:
    """The variable of a setting."""
    return PREFIX + {"log_level": "LOG"}.get(field, field.upper())


PARSERS: Mapping[str, Callable[[str], Any]] = {
    field: hint.__metadata__[0]
    for field, hint in get_type_hints(Settings, include_extras=True).items()
    if get_origin(hint) is Annotated
}
"""How the text of each setting's variable is read."""
VARIABLES = (*map(variable_of, PARSERS), f"{PREFIX}EMBEDDER_KEY", f"{PREFIX}EMBEDDER_MODEL")
"""Every variable that is read; those of an endpoint when they are needed, and kept in no settings."""
NEVER_GUESSED: Mapping[str, str] = {
    "root": "set it to the folder for packs, or unset it",
    "source_root": "set it to the folder of the project, or unset it and start in that folder",
    "store": "set it to postgresql://USER@HOST/DATABASE, or unset it to keep packs in files",
    "project": "set it to a name of one line with at most 200 characters, or unset it",
}
"""Settings whose variable is refused when it is not understood, and what to do then."""


def read_settings(environ: Mapping[str, str], cwd: str) -> Settings:
    """The settings that `environ` spells for a process working in `cwd`."""
    values: dict[str, Any] = {}
    complaints: list[str] = []
    refusals: list[str] = []
    for field, parse in PARSERS.items():
        name = variable_of(field)
        text = environ.get(name, "")
        if not text.strip():
            continue
        value = parse(text)
        if value is not None:
            values[field] = value
        elif field in NEVER_GUESSED:
            refusals.append(f"{name} is not understood; {NEVER_GUESSED[field]}")
        else:
            complaints.append(f"{name} is not understood: {_quoted(text)}; using the default")
    given, storage = values.pop("source_root", ""), values.pop("root", "")
    folder, because = project_of(os.path.normpath(cwd), storage or DEFAULT_ROOT)
    source_root = resolve_source_root(given, cwd) if given else folder
    roots = values.pop("allowed_roots", ())
    model = values.pop("model", "")
    return Settings(
        root=resolve_root(storage, source_root),
        source_root=source_root,
        source_because=variable_of("source_root") if given else because,
        log_level_given=bool(environ.get(variable_of("log_level"), "").strip()),
        user_config=user_config_file(environ),
        allowed_roots=tuple(resolve_root(place, source_root) for place in roots),
        model=resolve_root(model, source_root) if model else "",
        complaints=tuple(complaints),
        refusals=tuple(refusals),
        **values,
    )


def no_project(settings: Settings) -> str:
    """Which place is taken for the project although nobody named it and it is none; empty if none is."""
    if settings.source_because == WORKING_DIRECTORY:
        if settings.source_root == os.sep:
            return "the whole disk"
        if settings.source_root == os.path.normpath(os.path.expanduser("~")):
            return "your home folder"
    return ""


def project_of(folder: str, storage: str) -> tuple[str, str]:
    """The nearest folder from `folder` up that holds `storage`, else the repository's root, else itself.

    With it, why it was taken. Nothing above the repository counts, and without one nothing from the home
    folder on: what somebody keeps there is no project of everything below.
    """
    above = list(_above(folder))
    for place in above if not os.path.isabs(storage) else ():
        if os.path.isdir(os.path.join(place, storage)):
            return place, "it holds our files" if place != folder else WORKING_DIRECTORY
    if os.path.lexists(os.path.join(above[-1], REPOSITORY)):
        return above[-1], "the root of the repository"
    return folder, WORKING_DIRECTORY


def _above(folder: str) -> Iterator[str]:
    """The folder and those above it, up to the root of its repository, else to just below the home folder."""
    home, place = os.path.expanduser("~"), folder
    while True:
        yield place
        parent = os.path.dirname(place)
        if os.path.lexists(os.path.join(place, REPOSITORY)) or parent in (place, home) or place == home:
            return
        place = parent


def user_config_file(environ: Mapping[str, str]) -> str:
    """Where the user-wide `context.json` is, by the rules for configuration below a home."""
    home = environ.get("HOME") or os.path.expanduser("~")
    given = environ.get("XDG_CONFIG_HOME", "")
    folder = given if os.path.isabs(given) else os.path.join(home, ".config")
    return os.path.join(folder, "context-pack", "context.json")


def current_settings() -> Settings:
    """The settings of this process, from its environment and working directory."""
    return read_settings(os.environ, working_directory())


def working_directory() -> str:
    """The working directory, or its last known name when it was removed under us.

    A name that is gone makes reads say "missing"; any other folder would be the wrong tree.
    """
    try:
        return os.getcwd()
    except OSError:
        return os.environ.get("PWD") or os.path.join(os.sep, "missing-working-directory")


def resolve_source_root(given: str, cwd: str) -> str:
    """The source root as an absolute path: `given` taken from `cwd`, with `~` expanded."""
    name = given.strip()
    if not name or name in CWD_ALIASES:
        return os.path.normpath(cwd)
    return os.path.normpath(os.path.join(cwd, os.path.expanduser(name)))


def resolve_root(given: str, source_root: str) -> str:
    """The storage root as an absolute path: `given`, or the default, taken from the source root."""
    return os.path.normpath(os.path.join(source_root, os.path.expanduser(given.strip() or DEFAULT_ROOT)))


def given_cache(environ: Mapping[str, str]) -> str:
    """The folder for what is derived or private, as the environment gives it; empty if it gives none."""
    return parse_own_folder(environ.get("CONTEXT_PACK_CACHE", "")) or ""


def embedder_key(environ: Mapping[str, str], url: str) -> str | None:
    """The key for the endpoint at `url`; secrets are asked for when they are needed and kept in no settings.

    The widely set `OPENAI_API_KEY` is not sent over an open line.
    """
    own, parts = environ.get("CONTEXT_PACK_EMBEDDER_KEY", "").strip(), urlsplit(url)
    safe = parts.scheme == "https" or parts.hostname in LOOPBACK
    return own or (environ.get("OPENAI_API_KEY", "").strip() if safe else "") or None


def embedder_model(environ: Mapping[str, str]) -> str | None:
    """The model that an endpoint is asked for, where it offers several."""
    return environ.get("CONTEXT_PACK_EMBEDDER_MODEL", "").strip() or None


def store_password(environ: Mapping[str, str]) -> str | None:
    """The password that the address of the team's database spells; the driver knows the other places."""
    parts = split_store(environ.get("CONTEXT_PACK_STORE", ""))
    return None if parts is None else parts[1]


def _quoted(text: str) -> str:
    """A value safe to repeat in one log line."""
    quoted = ascii(text)
    return quoted if len(quoted) <= 80 else quoted[:80] + "..."
