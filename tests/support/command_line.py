"""Runs the command line: in this process over files, or as people do, in a process on a terminal.

In this process the three descriptors, the folder and the environment are those of the command meanwhile, so
that everything but the start of an interpreter is as it is for a user.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from stdio_client import MAIN, PATIENCE, environment

from context_pack_adapters.cli import main

__all__ = ["MAIN", "CommandLine", "Done", "standing_in"]

READ_AT_START = ("PYTHON", "LC_", "LANG", "OPENBLAS_", "LD_")
"""How variables begin that only a new interpreter takes note of."""


class Done(NamedTuple):
    """What a finished command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output as the JSON it must be."""
        assert self.out, f"nothing was printed; it ended with {self.code}: {self.err}"
        return json.loads(self.out)


class CommandLine:
    """`context-pack` in one folder; no run ever shows a traceback."""

    def __init__(self, folder: Path, *, afresh: bool = False) -> None:
        """Run commands in a folder; `afresh`, in a new process each."""
        self.folder, self.afresh = folder, afresh

    def __call__(self, *words: str, stdin: str | bytes = b"", **variables: str) -> Done:
        """Run one command whose streams are no terminal."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        is_server = not words or words[0] == "serve"
        if self.afresh or is_server or any(name.startswith(READ_AT_START) for name in variables):
            ended = subprocess.run(
                [*MAIN, *words], cwd=self.folder, env=environment(**variables), input=given,
                capture_output=True, timeout=PATIENCE, check=False,
            )  # fmt: skip
            done = Done(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
        else:
            done = _run_here(words, self.folder, environment(**variables), given)
        assert "Traceback" not in done.err, done.err
        return done

    def on_terminal(self, *words: str, **variables: str) -> Done:
        """Run one command whose output is a terminal."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [*MAIN, *words],
            cwd=self.folder,
            env=environment(**{"TERM": "xterm", "NO_COLOR": "", **variables}),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
        ) as process:
            os.close(theirs)
            out = _read_all(ours)
            assert process.stderr is not None
            err = process.stderr.read()
            code = process.wait(PATIENCE)
        return Done(code, out.replace("\r\n", "\n"), err.decode())

    def watched(self, *words: str, columns: int, **variables: str) -> tuple[Done, str]:
        """Run one command whose stderr is a terminal so wide; and what that terminal was sent."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        ended = subprocess.run(
            [*MAIN, *words],
            cwd=self.folder,
            env=environment(**{"TERM": "xterm", **variables}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
            timeout=PATIENCE,
            check=False,
        )
        os.close(theirs)
        return Done(ended.returncode, ended.stdout.decode(), ""), _read_all(ours)

    def payload(self, *words: str) -> Any:
        """The payload of a successful `call input`."""
        done = self("call", "input", *words)
        assert done.code == 0, done
        return done.json["payload"]


def _run_here(words: Sequence[str], folder: Path, env: Mapping[str, str], given: bytes) -> Done:
    with tempfile.TemporaryFile() as reads, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        reads.write(given)
        reads.seek(0)
        with standing_in(folder, env), _streams(reads, out, err):
            try:
                code = main(list(words))
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        out.seek(0)
        err.seek(0)
        return Done(code, out.read().decode(), err.read().decode())


@contextlib.contextmanager
def standing_in(folder: Path, env: Mapping[str, str]) -> Iterator[None]:
    """With another working directory and another environment."""
    before, place = dict(os.environ), os.getcwd()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        os.chdir(place)


@contextlib.contextmanager
def _streams(reads: IO[bytes], out: IO[bytes], err: IO[bytes]) -> Iterator[None]:
    """With these files as the descriptors 0, 1 and 2, and Python's streams upon them."""
    python = sys.stdin, sys.stdout, sys.stderr
    python[1].flush()
    python[2].flush()
    kept = [os.dup(number) for number in range(3)]
    for number, file in enumerate((reads, out, err)):
        os.dup2(file.fileno(), number)
    text: dict[str, Any] = {"encoding": "utf-8", "newline": "\n", "closefd": False}
    try:
        with (
            open(0, **text) as sys.stdin,
            open(1, "w", **text) as sys.stdout,
            open(2, "w", 1, errors="backslashreplace", **text) as sys.stderr,
        ):
            yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = python
        for number, before in enumerate(kept):
            os.dup2(before, number)
            os.close(before)


def _read_all(terminal: int) -> str:
    data = b""
    with contextlib.suppress(OSError):  # how Linux tells that nobody holds the other end
        while piece := os.read(terminal, 65536):
            data += piece
    os.close(terminal)
    return data.decode()
