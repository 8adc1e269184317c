"""Forty questions about this project's own source, each with the functions that answer it.

Written from what the functions do and not from their docstrings; any of the named symbols is right. One is
compared without its class where it has no dot, and `*` means any symbol of the file.
"""

from __future__ import annotations

from typing import NamedTuple


class Question(NamedTuple):
    """What somebody asks, the file that answers, and the symbols in it that do."""

    text: str
    path: str
    symbols: tuple[str, ...]


CORE, OUTER = "context_pack/", "adapters/context_pack_adapters/"


def _core(text: str, path: str, *symbols: str) -> Question:
    return Question(text, CORE + path, symbols)


def _outer(text: str, path: str, *symbols: str) -> Question:
    return Question(text, OUTER + path, symbols)


QUESTIONS = (
    _outer(
        "how is a file written so that a crash never leaves half of it",
        "files/writing.py",
        "put",
        "temporary",
        "*",
    ),
    _outer("wait for an exclusive lock on a path until a timeout", "files/locking.py", "PathLock", "acquire"),
    _core(
        "refuse paths that are absolute or climb out of the project with dot dot",
        "kernel/paths.py",
        "_check",
        "RelativePath",
        "parse",
        "lenient",
    ),
    _core(
        "which file names hold secrets and may never be opened",
        "kernel/paths.py",
        "PathPolicy",
        "denies",
        "denies_name",
        "",
    ),
    _core("allow only so many calls per minute for each tool", "toolkit/limits.py", "RateLimiter", "admit"),
    _core(
        "95th percentile latency of the calls of a tool",
        "toolkit/limits.py",
        "quantile",
        "snapshot",
        "ToolMetrics",
    ),
    _outer("cut a byte stream into messages with a Content-Length header", "mcp/framing.py", "*"),
    _core(
        "where an exception becomes the error answer of a tool call",
        "toolkit/registry.py",
        "call",
        "Registry",
    ),
    _core("guess how many tokens a text has", "toolkit/budget.py", "tokens_of"),
    _core("parse a date and time with a time zone offset", "kernel/times.py", "parse_instant", "_zone"),
    _core("make an opaque cursor for the next page of a list", "kernel/paging.py", "encode_cursor"),
    _core("programming language of a file by its extension", "kernel/languages.py", "language_of", ""),
    _core(
        "is this file a test, a config file or an entry point",
        "code/roles.py",
        "role_of",
        "_is_test",
        "",
    ),
    _core(
        "rank files by how lately and how often they were read",
        "code/access.py",
        "score",
        "ranked",
        "ContextItem",
        "",
    ),
    _core("which files does a python module import", "code/imports/languages.py", "*"),
    _core("path aliases of typescript compiler options", "code/imports/manifests.py", "*"),
    _outer(
        "does a gitignore pattern exclude this path",
        "files/gitignore.py",
        "verdict",
        "IgnoreFile",
        "_Rule",
        "*",
    ),
    _outer(
        "go through all folders of the tree and leave out what is ignored",
        "files/ignore.py",
        "walk",
        "folder",
        "_inside",
        "walk_entries",
        "",
    ),
    _outer("start the rg program and read its output", "source/ripgrep.py", "*"),
    _core("markdown pages of a pack that never exceed a budget", "packs/domain/render.py", "*"),
    _core(
        "find anchored code again after it has moved to other lines",
        "packs/domain/states.py",
        "resolve",
        "Hunt",
        "*",
    ),
    _core("random bytes become the id of a pack", "kernel/text.py", "pack_id"),
    _core(
        "remaining time to live in words people understand", "kernel/times.py", "human", "remaining_seconds"
    ),
    _core(
        "conflict when somebody else changed the pack since the caller saw it",
        "packs/domain/model.py",
        "check_revision",
    ),
    _core(
        "finalizing checks that every reference still finds its code",
        "packs/usecases/write.py",
        "set_status",
        "_finalized",
    ),
    _core("many edits of a pack in one step, all or nothing", "packs/usecases/write.py", "batch", "_change"),
    _core("fingerprint of the contents of a directory", "contexts/domain/fingerprint.py", "*"),
    _core("is the description of a folder out of date", "contexts/usecases/reading.py", "freshness_of"),
    _core(
        "everything reachable in a graph up to a certain depth",
        "bundles/usecases/export.py",
        "_reach",
        "select",
    ),
    _core("check an entity against its JSON schema", "bundles/domain/validation.py", "*"),
    _core(
        "split camelCase and snake_case names into words",
        "retrieval/words.py",
        "split_identifier",
        "_shape",
        "tokens",
    ),
    _core(
        "combine keyword scores and vector similarity into one order",
        "retrieval/fusion.py",
        "fused",
        "relevances",
        "",
    ),
    _outer("vectors from hashed n-grams without any model weights", "embed/hashed.py", "*"),
    _outer(
        "configuration from environment variables with defaults",
        "settings.py",
        "read_settings",
        "_Reader",
        "read",
        "",
    ),
    _outer(
        "a log line on stderr must never block the server", "logs.py", "write", "_put", "Log", "readiness", ""
    ),
    _outer(
        "stop the process when its parent has died", "mcp/process.py", "follow_parent", "orphaned", "Signals"
    ),
    _outer(
        "make control characters of a file visible and harmless on a terminal",
        "commands/terminal.py",
        "harmless",
        "_picture",
        "style",
    ),
    _outer("did you mean: closest known word to a typo", "commands/shell.py", "nearest"),
    _core(
        "two notes that say the same thing in the same words",
        "memory/discovery.py",
        "normalised",
        "again",
        "id_of",
        "",
    ),
    _outer("child process that indexes in the background and dies with us", "index/background.py", "*"),
)
