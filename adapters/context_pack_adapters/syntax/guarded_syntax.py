"""The `Syntax` port over one process of our own: a text that crashes or hangs its grammar fails alone.

The process is started with the first text, is sent one question at a time through a pipe, and ends with the
pipe. If it dies by a signal of its own making, the text is the cause; else (idle, or killed by somebody) the
text is tried once more. What was parsed lately is kept by content.

Why no `ProcessPoolExecutor`: with `spawn` it runs the main module of whoever uses the library again, which a
script without `if __name__ == "__main__"` does not survive, and its workers outlive a parent that was killed.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import Any

from context_pack.kernel.syntax import NotParsed, Parsed, Spans, Syntax
from context_pack.kernel.text import sha256_hex
from context_pack_adapters.syntax.languages import KNOWN
from context_pack_adapters.system import python_command, python_environment

TEXTS_AHEAD = 16
MOST_KEPT = 256
CRASHED = NotParsed("parsing it crashed")
TOOK_LONG = NotParsed("parsing it took too long")
NOT_STARTED = NotParsed("the process that parses could not be started")
_PROGRAM = "from context_pack_adapters.syntax.tree_sitter_syntax import serve; serve()"
_CRASHES = {-each for each in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)}


class GuardedSyntax:
    """Has texts parsed by another process; safe to share between threads, which take turns."""

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self._most = most_kept
        self._kept: OrderedDict[tuple[str, str], Parsed | NotParsed] = OrderedDict()
        self._lock = Lock()
        self._worker: subprocess.Popen[bytes] | None = None
        self._end: Callable[[], int | None] = lambda: None
        """Kills the process; its exit code, or None if there is none."""

    @property
    def process(self) -> int | None:
        """The other process, if there is one now."""
        worker = self._worker
        return None if worker is None or worker.poll() is not None else worker.pid

    def knows(self, language: str) -> bool:
        """Whether there is a grammar for a language."""
        return language in KNOWN

    def parse(self, language: str, text: str) -> Parsed | NotParsed:
        """The definitions and imports of a text; of one that was parsed lately, the same again."""
        # Without a lock: no step can be interrupted, and at worst a text is parsed once more.
        key = (language, sha256_hex(text))
        parsed = self._kept.pop(key, None)
        if parsed is None:
            parsed = self._ask("parse", language, text)
        self._kept[key] = parsed
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return parsed

    def parse_all(self, texts: Iterable[tuple[str, str]]) -> Iterator[Parsed | NotParsed]:
        """The definitions and imports of each text; the next ones are parsed while one is used.

        None are kept: whoever asks for many stores what comes.
        """
        ahead: deque[Future[Any]] = deque()
        pool = ThreadPoolExecutor(1, "parser")
        try:
            for language, text in texts:
                ahead.append(pool.submit(self._ask, "parse", language, text))
                if len(ahead) > TEXTS_AHEAD:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

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
            self._end()
            self._worker = None

    def _ask(self, *question: str) -> Any:
        """What the process answers; it is started if it does not run."""
        with self._lock:
            for _ in range(2):
                try:
                    worker = self._worker or self._start()
                except OSError:
                    return NOT_STARTED
                try:
                    pickle.dump(question, worker.stdin)  # type: ignore[arg-type]
                    worker.stdin.flush()  # type: ignore[union-attr]
                    return pickle.load(worker.stdout)  # type: ignore[arg-type]
                except (OSError, EOFError, pickle.UnpicklingError):
                    code, self._worker = self._end(), None
                except BaseException:  # interrupted: the next question would be given this one's answer
                    self._end()
                    self._worker = None
                    raise
                if code == -signal.SIGPROF:
                    return TOOK_LONG
                if code in _CRASHES:
                    break
            return CRASHED

    def _start(self) -> subprocess.Popen[bytes]:
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        self._worker = subprocess.Popen(
            python_command(_PROGRAM), env=python_environment(), stdin=pipe, stdout=pipe, stderr=nothing
        )
        self._end = weakref.finalize(self, _kill, self._worker)
        return self._worker


def _kill(worker: subprocess.Popen[bytes]) -> int:
    worker.kill()  # does nothing to one that has died
    for pipe in (worker.stdin, worker.stdout):
        with suppress(OSError):  # a question that was not sent whole
            pipe.close()  # type: ignore[union-attr]
    return worker.wait()


@cache
def shared_syntax() -> Syntax:
    """The `Syntax` of this process: one parser process and one cache for all callers."""
    return GuardedSyntax()
