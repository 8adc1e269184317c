"""Runs `context-pack` in processes forked from one that has loaded everything, so that a start costs little.

Such a process has an id, streams, a working directory, an environment and an exit code of its own; it shares
only that no module had to be loaded. Tests of starting, ending and missing packages start a new interpreter.
Run as a script, this is the process that the others are forked from.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from traceback import print_exc
from typing import IO

from waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
PYTHONPATH = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
READ_AT_START = ("PYTHON", "LC_", "LANG", "OPENBLAS_", "LD_")
"""How variables begin that only a new interpreter takes note of."""


class ForkedProcess:
    """A running `context-pack` and its three pipes; what of `subprocess.Popen` the tests use."""

    def __init__(self, words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self.returncode: int | None = None
        (reads, stdin), (stdout, writes), (stderr, complains) = (os.pipe() for _ in range(3))
        self.stdin, self.stdout, self.stderr = (
            os.fdopen(number, mode) for number, mode in ((stdin, "wb"), (stdout, "rb"), (stderr, "rb"))
        )
        self._news, theirs = socket.socketpair()
        with theirs:
            given = (reads, writes, complains)
            socket.send_fds(_parent("doctor" in words), [b"!"], [*given, theirs.fileno()])
        for number in given:
            os.close(number)
        self._news.sendall(json.dumps([list(words), str(cwd), dict(env)]).encode())
        self._news.shutdown(socket.SHUT_WR)
        self.pid = int(self._news.recv(10))

    def poll(self) -> int | None:
        """The exit code, if it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once it has ended."""
        if self.returncode is None:
            self._news.settimeout(timeout)
            try:
                self.returncode = int(self._news.recv(10))
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired("context-pack", timeout or 0) from None
            self._news.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Signal it, if it is still there."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def run_forked(words: Sequence[str], cwd: Path, env: Mapping[str, str], given: bytes) -> tuple[int, str, str]:
    """The exit code, the output and the errors of a whole run."""
    process = ForkedProcess(words, cwd, env)
    with process.stdin, process.stdout, process.stderr, ThreadPoolExecutor(3) as pool:
        both = [pool.submit(stream.read) for stream in (process.stdout, process.stderr)]
        pool.submit(_write_all, process.stdin, given)
        try:
            code = process.wait(PATIENCE)
        finally:
            process.kill()
        return code, both[0].result().decode(), both[1].result().decode()


def _write_all(pipe: IO[bytes], data: bytes) -> None:
    """Write to a pipe whose reader need not read all of it, and close it."""
    with suppress(BrokenPipeError), pipe:
        pipe.write(data)


def can_fork(env: Mapping[str, str]) -> bool:
    """Whether a forked process is what a new one would be in that environment."""
    ours = {**os.environ, "PYTHONPATH": PYTHONPATH}
    return sys.platform == "linux" and all(
        env.get(name) == ours.get(name) for name in {*env, *ours} if name.startswith(READ_AT_START)
    )


@cache
def _parent(grammars: bool) -> socket.socket:
    """The way to a process that others are forked from, with all grammars or none; it ends with this one."""
    ours, theirs = socket.socketpair()
    with theirs:
        parent = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno()), *(["grammars"] if grammars else [])],
            pass_fds=[theirs.fileno()],
            cwd="/",
            env={**os.environ, "PYTHONPATH": PYTHONPATH, "OPENBLAS_NUM_THREADS": "1"},
        )
    atexit.register(parent.wait)
    atexit.register(ours.close)  # before the other: the last that was registered is the first to run
    return ours


def _fork_on_request(door: socket.socket) -> bytes:
    """Fork for everybody who asks, tell them how it ended, and return what is asked of a forked process."""
    waker, waking = socket.socketpair()
    waker.setblocking(False)
    waking.setblocking(False)
    signal.set_wakeup_fd(waking.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    asking: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as ready:
        ready.register(door, selectors.EVENT_READ)
        ready.register(waker, selectors.EVENT_READ)
        while True:
            chosen = {key.fileobj for key, _ in ready.select()}
            if waker in chosen:
                waker.recv(4096)
                _tell_ends(asking)
            if door not in chosen:
                continue
            word, numbers, *_ = socket.recv_fds(door, 1, 4)
            if not word:
                os._exit(0)
            pid = os.fork()
            if pid:
                asking[pid] = socket.socket(fileno=numbers[3])
                for number in numbers[:3]:
                    os.close(number)
                continue
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for other in (door, waker, waking, *asking.values()):
                other.close()
            break
    for place, number in enumerate(numbers[:3]):
        os.dup2(number, place)
        os.close(number)
    with socket.socket(fileno=numbers[3]) as asker:
        asked = b"".join(iter(lambda: asker.recv(65536), b""))
        asker.sendall(b"%10d" % os.getpid())
    return asked


def _tell_ends(asking: dict[int, socket.socket]) -> None:
    """Reap whatever has ended and tell who asked for it."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with asking.pop(pid) as asker, suppress(OSError):
                asker.sendall(b"%10d" % os.waitstatus_to_exitcode(status))


def _load_everything(grammars: bool) -> None:
    """Import every module of ours that can be imported here, and with them what they need."""
    import context_pack
    import context_pack_adapters
    from context_pack_adapters.syntax.grammars import grammar_faults

    for package in (context_pack, context_pack_adapters):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                with suppress(ImportError):  # of an extra that is not installed
                    import_module(module.name)
    if grammars:
        grammar_faults()
    gc.collect()
    gc.freeze()


def _become(asked: bytes) -> None:
    """Be `python -m context_pack` as it was asked for, up to its end."""
    words, cwd, env = json.loads(asked)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    encoding, errors = sys.stdout.encoding, sys.stdout.errors
    sys.stdin = os.fdopen(0, "r", -1, encoding, errors, closefd=False)
    sys.stdout = os.fdopen(1, "w", -1, encoding, errors, "\n", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding, "backslashreplace", "\n", closefd=False)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    from context_pack import __main__ as start

    sys.argv = [str(start.__file__), *words]
    sys.orig_argv = [sys.executable, "-m", "context_pack", *words]
    sys.path[0] = os.getcwd()
    try:
        code = start.main()
    except BaseException:
        print_exc()
        code = 1
    # The end of an interpreter, but for taking its modules apart, which copies all of them.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _load_everything(sys.argv[2:] == ["grammars"])
    _become(_fork_on_request(socket.socket(fileno=int(sys.argv[1]))))
