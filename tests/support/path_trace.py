"""Which paths below a project the product opens, lists, looks at or changes: told by the calls themselves.

`python path_trace.py WORLD` runs every tool and every command over the project of a world (`hostile_world`)
and prints the paths as JSON. Every function of `os` that takes a path is wrapped before the product is
loaded; a path that starts at a descriptor is resolved through the descriptor's own.
"""

from __future__ import annotations

import builtins
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from stdio_client import environment

SEVERAL = {"rename": 2, "replace": 2, "link": 2, "symlink": 2}
TRACED = (
    *("open", "stat", "lstat", "scandir", "listdir", "readlink", "access", "mkdir", "rmdir", "unlink"),
    *("remove", "chmod", "chown", "utime", "truncate", "mkfifo", "mknod", "rename", "replace", "link"),
    *("symlink", "chdir", "statvfs", "getxattr", "listxattr"),
)
UNFORESEEABLE = re.compile(r"\.[0-9a-f]{16}\.tmp|pk_[a-z2-7]{8}|[0-9a-f]{8}-[0-9a-f-]{27}")
"""What has a random name: no hostile hand could have prepared it."""


def paths_of(world: Path) -> list[str]:
    """Every path that the whole tool list and all commands come to, from the project on, with its parents."""
    command = [sys.executable, __file__, str(world)]
    told = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, check=True, text=True).stdout
    found: list[str] = json.loads(told.splitlines()[-1])
    return found


def chosen(seen: set[str], project: str, made: Path) -> list[str]:
    """The paths below a project, and their parents, that somebody could have prepared."""
    below = {path[len(project) + 1 :] for path in seen if path.startswith(project + "/")}
    whole = {"/".join(path.split("/")[:depth]) for path in below for depth in range(1, path.count("/") + 2)}
    return sorted(
        path
        for path in whole
        if not UNFORESEEABLE.search(path) or (made / path.removesuffix(".lock")).exists()
    )


def _traced(name: str, seen: set[str]) -> Callable[..., Any]:
    """The function of that name, which also notes the paths that it is given."""
    function = getattr(os, name)

    def noting(*given: Any, **options: Any) -> Any:
        starts = (options.get("src_dir_fd"), options.get("dst_dir_fd")) if name in SEVERAL else ()
        for number in range(SEVERAL.get(name, 1)):
            start = starts[number] if starts else options.get("dir_fd")
            with suppress(OSError, TypeError, ValueError, IndexError):
                seen.add(_resolved(given[number] if given else ".", start))
        return function(*given, **options)

    return noting


def _resolved(path: Any, start: int | None) -> str:
    if isinstance(path, int):
        return _READLINK(f"/proc/self/fd/{path}")
    spelled = os.fsdecode(path)
    if start is not None and not os.path.isabs(spelled):
        spelled = os.path.join(_READLINK(f"/proc/self/fd/{start}"), spelled)
    return os.path.abspath(spelled)


_READLINK = os.readlink


def trace(seen: set[str]) -> None:
    """Note every path from now on; before the product is loaded."""
    for name in TRACED:
        function, noting = getattr(os, name), _traced(name, seen)
        for capable in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
            if function in capable:
                capable.add(noting)
        setattr(os, name, noting)
    plain = builtins.open

    def opened(file: Any, *given: Any, **options: Any) -> Any:
        if not isinstance(file, int):
            seen.add(_resolved(file, None))
        return plain(file, *given, **options)

    builtins.open = opened


def main(top: str) -> None:
    """Run everything once and print what was come to."""
    from hostile_world import CALLS, COMMANDS, World

    world = World(Path(top))
    os.environ.update(world.environment)
    os.chdir(world.project)
    seen: set[str] = set()
    trace(seen)
    from context_pack_adapters.cli import main as command_line
    from context_pack_adapters.disk_ports import open_ports
    from context_pack_adapters.library import Workspace
    from context_pack_adapters.settings import current_settings

    with Workspace(open_ports(current_settings())) as workspace:
        for tool, arguments in CALLS:
            workspace.call(tool, arguments)
        missing = set(workspace.tools) - {tool for tool, _ in CALLS}
    for words in COMMANDS:
        command_line(words)
    from context_pack_adapters.cli.dispatch import COMMANDS as KNOWN

    named = {" ".join(words[:2]) if " ".join(words[:2]) in KNOWN else words[0] for words in COMMANDS}
    missing |= set(KNOWN) - named - {"serve"}
    if missing:
        sys.exit(f"not called: {sorted(missing)}")
    print(json.dumps(chosen(seen, str(world.project), world.template)))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
