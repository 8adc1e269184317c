"""Which files an agent read and changed, by the transcript that its client keeps of the session.

Clients write JSON (one object, or one a line) in forms of their own that change. What they share is a call of
a tool with its arguments, somewhere inside: a name, and a path among the arguments. Only these paths are
taken, and of our own tools the names of packs; what was said is never looked at.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath

_PATH_KEYS = ("file_path", "absolute_path", "filePath", "notebook_path", "path")
_ARGUMENT_KEYS = ("input", "args", "arguments", "parameters")
_OURS = re.compile(r"context[-_]pack\w*_(input|output)$")
"""Our tools of packs, behind the name that a client gives the server."""
_PACK_KEYS = ("name", "id")
_CHANGING = re.compile(r"edit|write|replace|patch|create", re.IGNORECASE)
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add) File: (.+)$", re.MULTILINE)
"""How a patch of Codex names its files."""
MOST_DEPTH = 12
MOST_BYTES = 64 << 20
CUT = f"Its transcript has more than {MOST_BYTES >> 20} MiB: files that only its beginning names are missing."


@frozen
class FilesOfSession:
    """What a session read and changed of a project, in the order in which it first did."""

    changed: tuple[str, ...]
    read: tuple[str, ...]
    packs: tuple[str, ...] = ()
    """The packs that it read or changed by our tools, as it named them."""


def read_end(path: str) -> tuple[str, str]:
    """The text of a transcript, of a very large one its end; and what is missing then, in words."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is no file")
    with open(path, "rb") as file:
        file.seek(max(0, status.st_size - MOST_BYTES))
        text = file.read(MOST_BYTES).decode("utf-8", "replace")
    return text, CUT if status.st_size > MOST_BYTES else ""


def files_in(transcript: str, project: str) -> FilesOfSession:
    """The files of a project that the calls in a transcript name."""
    changed: dict[str, None] = {}
    read: dict[str, None] = {}
    packs: dict[str, None] = {}
    for name, named in _calls(transcript):
        inside = None if _OURS.search(name) else _inside(named, project)
        if _OURS.search(name):
            packs[named] = None
        elif inside is not None:
            (changed if _CHANGING.search(name) else read)[inside] = None
    return FilesOfSession(tuple(changed), tuple(path for path in read if path not in changed), tuple(packs))


def _calls(transcript: str) -> Iterator[tuple[str, str]]:
    """The tools that were called, each with the paths, or of ours the packs, that its arguments name."""
    for entry in _entries(transcript):
        for call in _objects(entry, MOST_DEPTH):
            name = call.get("name") or call.get("tool")
            arguments = next((call[key] for key in _ARGUMENT_KEYS if key in call), None)
            if not isinstance(name, str):
                continue
            texts = [arguments] if isinstance(arguments, str) else []
            if isinstance(arguments, str):
                arguments = _json(arguments)
            if isinstance(arguments, Mapping):
                texts += [value for value in arguments.values() if isinstance(value, str)]
                values = map(arguments.get, _PACK_KEYS if _OURS.search(name) else _PATH_KEYS)
                yield from ((name, value) for value in values if isinstance(value, str))
            for text in texts:
                yield from ((name, path) for path in _PATCHED.findall(text.replace("\\n", "\n")))


def _entries(transcript: str) -> Iterator[Any]:
    whole = _json(transcript)
    if whole is not None:
        yield whole
        return
    for line in transcript.splitlines():
        yield _json(line)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _objects(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    """Every object inside a value, not too deep."""
    if depth and isinstance(value, Mapping):
        yield value
        for each in value.values():
            yield from _objects(each, depth - 1)
    elif depth and isinstance(value, list):
        for each in value:
            yield from _objects(each, depth - 1)


def _inside(path: str, project: str) -> str | None:
    """The path from the project on; None for one that is elsewhere, is refused or is no file."""
    relative = os.path.relpath(os.path.join(project, path), project).replace(os.sep, "/")
    try:
        name = RelativePath(relative).value
    except Failure:
        return None
    return name if os.path.isfile(os.path.join(project, name)) else None
