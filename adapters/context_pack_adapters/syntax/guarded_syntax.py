"""The `Syntax` port over one worker process: a grammar that crashes or hangs fails only its text.

The process is started with the first text. One that dies is started anew: by a signal of its own making, the
text is the cause; else (idle, or killed by somebody) the text is tried once more. What was parsed lately is
kept by content.

Why no `ProcessPoolExecutor`: with `spawn` it runs the main module of whoever uses the library again, which a
script without `if __name__ == "__main__"` does not survive, and its workers outlive a parent that was killed.
A pipe to one process of our own has neither fault.
"""

from __future__ import annotations

import signal
import subprocess
import weakref
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from context_pack.kernel.syntax import NotParsed, Parsed, Spans, Syntax
from context_pack.kernel.text import sha256_hex
from context_pack_adapters.syntax.languages import KNOWN
from context_pack_adapters.system import python_command, python_environment

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

ANSWER_SECONDS = 60.0
"""Later than its own limit of processor time: it is for a process that was stopped."""
TEXTS_AHEAD = 16
MOST_KEPT = 256
CRASHED = NotParsed("parsing it crashed")
TOOK_LONG = NotParsed("parsing it took too long")
NOT_STARTED = NotParsed("the process that parses could not be started")
_PROGRAM = (
    "import sys; from context_pack_adapters.syntax.tree_sitter_syntax import serve; serve(int(sys.argv[1]))"
)
_CRASHES = {-each for each in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)}


class GuardedSyntax:
    """Has texts parsed by another process; safe to share between threads, which take turns."""

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self._most = most_kept
        self._kept: OrderedDict[tuple[str, str], Parsed | NotParsed] = OrderedDict()
        self._lock = Lock()
        self._worker = _Worker()
        weakref.finalize(self, self._worker.end)

    @property
    def process(self) -> int | None:
        """The other process, if there is one now."""
        return self._worker.id

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
            self._worker.end()

    def _ask(self, *question: str) -> Any:
        with self._lock:
            for _ in range(2):
                try:
                    return self._worker.answer(question)
                except TimeoutError:
                    self._worker.end()
                    return TOOK_LONG
                except (OSError, EOFError):
                    code = self._worker.end()
                if code == -signal.SIGPROF:
                    return TOOK_LONG
                if code in _CRASHES:
                    return CRASHED
            return NOT_STARTED if code is None else CRASHED


@cache
def shared_syntax() -> Syntax:
    """The `Syntax` of this process: one parser process and one cache for all callers."""
    return GuardedSyntax()


class _Worker:
    """The process that parses, if it runs."""

    def __init__(self) -> None:
        self._popen: subprocess.Popen[bytes] | None = None
        self._questions: Connection | None = None

    @property
    def id(self) -> int | None:
        """Its process id while it runs."""
        return None if self._popen is None or self._popen.poll() is not None else self._popen.pid

    def answer(self, question: tuple[str, ...]) -> Any:
        """The answer to a question; the process is started if it does not run.

        Raises:
            TimeoutError: there is none.
            OSError, EOFError: the process has ended, or cannot be started.
        """
        if self._questions is None:
            self._start()
        assert self._questions is not None
        self._questions.send(question)
        if not self._questions.poll(ANSWER_SECONDS):
            raise TimeoutError
        return self._questions.recv()

    def _start(self) -> None:
        from multiprocessing import Pipe  # whoever parses nothing does not load it

        ours, theirs = Pipe()
        with theirs:
            try:
                self._popen = subprocess.Popen(
                    python_command(_PROGRAM, str(theirs.fileno())),
                    env=python_environment(),
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            except BaseException:
                ours.close()
                raise
        self._questions = ours

    def end(self) -> int | None:
        """Kill the process; its exit code, or None if there was none."""
        popen, self._popen = self._popen, None
        if self._questions is not None:
            self._questions.close()
            self._questions = None
        if popen is None:
            return None
        popen.kill()  # does nothing to one that has died
        return popen.wait()
