"""The `Syntax` port over another process: a grammar that crashes or hangs costs the text it was at, not us.

The process is started with the first text, ends after a while without any, and with us, however we end. One
that dies is started anew: by a signal of its own making, the text is the cause; else the text is tried once
more. Where no such process can be started, texts are parsed here.
"""

from __future__ import annotations

import json
import select
import signal
import sys
import weakref
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock, Thread
from typing import IO, Any

from context_pack.kernel.syntax import NotParsed, Parsed, Spans, Syntax
from context_pack_adapters.syntax.parser_process import answer_of
from context_pack_adapters.syntax.records import from_record
from context_pack_adapters.syntax.sources import knows
from context_pack_adapters.system import python_command, python_environment

START_SECONDS = 60.0
ANSWER_SECONDS = 60.0
"""Later than its own limit of processor time: it is for a process that was stopped."""
CRASHED = NotParsed("parsing it crashed")
TOOK_LONG = NotParsed("parsing it took too long")
_PROGRAM = "from context_pack_adapters.syntax.parser_process import serve; serve()"
_CRASHES = frozenset(
    -number
    for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGSYS", "SIGTRAP")
    if (number := getattr(signal, name, None)) is not None
)
_LATE = -getattr(signal, "SIGPROF", 0)
_TROUBLE = (OSError, ValueError)


class _Late(Exception):
    """No answer came in time."""


class GuardedSyntax:
    """Has texts parsed by another process; safe to share between threads, which take turns."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process = _Process()
        self._usable = bool(sys.executable)
        self._closed = weakref.finalize(self, self._process.end)

    @property
    def process(self) -> int | None:
        """The other process, if there is one now."""
        return self._process.id

    def knows(self, language: str) -> bool:
        """Whether there is a grammar for a language."""
        return knows(language)

    def parse(self, language: str, text: str) -> Parsed | NotParsed:
        """The definitions and imports of a text."""
        answer: Parsed | NotParsed = self._ask("parse", language, text)
        return answer

    def spans(self, language: str, text: str) -> Spans | NotParsed:
        """Where the comments and strings of a text are."""
        answer: Spans | NotParsed = self._ask("spans", language, text)
        return answer

    def occurrences(self, language: str, text: str, name: str) -> Sequence[int] | NotParsed:
        """Where an identifier stands that is `name`."""
        answer: Sequence[int] | NotParsed = self._ask("occurrences", language, text, name)
        return answer

    def close(self) -> None:
        """End the other process; the next text starts it again."""
        with self._lock:
            self._process.end()

    def _ask(self, call: str, language: str, text: str, name: str = "") -> Any:
        with self._lock:
            for _ in range(2):
                if not self._ready():
                    break
                try:
                    return self._process.answer(call, language, text, name)
                except _Late:
                    self._process.end()
                    return TOOK_LONG
                except _TROUBLE:
                    code = self._process.end()
                    if code == _LATE or code in _CRASHES:
                        return TOOK_LONG if code == _LATE else CRASHED
            else:
                return CRASHED
        return answer_of(self._here, call, language, text, name)

    def _ready(self) -> bool:
        """Whether the other process can be asked; one that cannot be started is not tried again."""
        if self._usable and self._process.id is None:
            self._usable = self._process.start()
        return self._usable

    @cached_property
    def _here(self) -> Syntax:
        from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax

        return TreeSitterSyntax()


class _Process:
    """The other process, or none."""

    def __init__(self) -> None:
        self._popen: Popen[bytes] | None = None

    @property
    def id(self) -> int | None:
        """Its number while it runs."""
        return None if self._popen is None or self._popen.returncode is not None else self._popen.pid

    def start(self) -> bool:
        """Start it and wait until it is ready; whether it is."""
        self.end()
        try:
            self._popen = Popen(
                python_command(_PROGRAM),
                env=python_environment(),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
            )
            # Somebody must take its exit code when it ends for want of work.
            Thread(target=self._popen.wait, daemon=True, name="parser").start()
            return self._line(START_SECONDS) == b"\n"
        except (OSError, ValueError, RuntimeError, _Late):
            self.end()
            return False

    def answer(self, call: str, language: str, text: str, name: str) -> Any:
        """What it answers to a request."""
        assert self._popen is not None
        pipe = self._popen.stdin
        assert pipe is not None
        data = text.encode("utf-8", "surrogatepass")
        pipe.write(json.dumps([call, language, len(data), name]).encode() + b"\n" + data)
        pipe.flush()
        return from_record(json.loads(self._line(ANSWER_SECONDS)))

    def _line(self, seconds: float) -> bytes:
        """The next line that it writes; empty if it has ended."""
        assert self._popen is not None
        pipe = self._popen.stdout
        assert pipe is not None
        if not _readable(pipe, seconds):
            raise _Late
        return pipe.readline()

    def end(self) -> int | None:
        """Make an end of it; what its exit code is."""
        popen, self._popen = self._popen, None
        if popen is None:
            return None
        for pipe in (popen.stdin, popen.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        popen.kill()  # does nothing to one that has died
        return popen.wait()


def _readable(pipe: IO[bytes], seconds: float) -> bool:
    """Whether something comes in time; where waiting cannot be bounded, it always does."""
    if sys.platform == "win32":
        return True
    wait = select.poll()
    wait.register(pipe, select.POLLIN)
    return bool(wait.poll(seconds * 1000))
