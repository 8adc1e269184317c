"""Runs the command line as people do: a process of its own, over a pipe or on a terminal.

Over pipes it is a forked process unless that would make a difference (`forking.py`).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path
from typing import Any, NamedTuple

from forking import can_fork, run_forked
from stdio_client import MAIN, PATIENCE, environment

__all__ = ["MAIN", "CommandLine", "Done"]


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
        """Run commands in a folder; `afresh`, in processes that load everything by themselves."""
        self.folder, self.afresh = folder, afresh

    def __call__(self, *words: str, stdin: str | bytes = b"", **variables: str) -> Done:
        """Run one command over pipes."""
        env, given = environment(**variables), stdin.encode() if isinstance(stdin, str) else stdin
        if can_fork(env) and not self.afresh:
            found = Done(*run_forked(words, self.folder, env, given))
        else:
            done = subprocess.run(
                [*MAIN, *words],
                cwd=self.folder,
                env=env,
                input=given,
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
            found = Done(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in found.err, found.err
        return found

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
            out = b""
            while True:
                try:
                    data = os.read(ours, 65536)
                except OSError:  # how Linux tells that nobody holds the other end
                    break
                if not data:
                    break
                out += data
            os.close(ours)
            assert process.stderr is not None
            err = process.stderr.read()
            code = process.wait(PATIENCE)
        return Done(code, out.decode().replace("\r\n", "\n"), err.decode())

    def watched(self, *words: str, columns: int, **variables: str) -> tuple[Done, str]:
        """Run one command whose stderr is a terminal so wide; and what that terminal was sent."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        done = subprocess.run(
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
        seen = b""
        with contextlib.suppress(OSError):  # how Linux tells that nobody holds the other end
            while data := os.read(ours, 65536):
                seen += data
        os.close(ours)
        return Done(done.returncode, done.stdout.decode(), ""), seen.decode()

    def payload(self, *words: str) -> Any:
        """The payload of a successful `call input`."""
        done = self("call", "input", *words)
        assert done.code == 0, done
        return done.json["payload"]
