"""The `Syntax` port over another process: a grammar that crashes or hangs fails only its text.

The process is started with the first text, ends after a while without any, and with us, however we end. One
that dies is started anew: by a signal of its own making, the text is the cause; else the text is tried once
more. Where no such process can be started, texts are parsed here. Several texts are sent at once, and while
their answers come, whoever asked goes on with what was parsed before. What was parsed lately is kept by
content, the longest unused going first; what that saves: `benches/side_by_side/read_file.py` (with imports).
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from attrs import define, field

from context_pack.kernel.syntax import NotParsed, Parsed, Spans, Syntax
from context_pack.kernel.text import sha256_hex
from context_pack_adapters.syntax.parser_process import ParseRequest, answer_of
from context_pack_adapters.syntax.records import from_record
from context_pack_adapters.syntax.sources import KNOWN
from context_pack_adapters.system import python_command, python_environment

if TYPE_CHECKING:
    from subprocess import Popen

START_SECONDS = 60.0
ANSWER_SECONDS = 60.0
"""Later than its own limit of processor time: it is for a process that was stopped."""
TEXTS_AT_ONCE = 16
MOST_KEPT = 256
READ_BYTES = 64 * 1024
CRASHED = NotParsed("parsing it crashed")
TOOK_LONG = NotParsed("parsing it took too long")
_PROGRAM = "from context_pack_adapters.syntax.parser_process import serve; serve()"
_CRASHES = frozenset(
    -number
    for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGSYS", "SIGTRAP")
    if (number := getattr(signal, name, None)) is not None
)
_LATE = -getattr(signal, "SIGPROF", 0)
_TROUBLE = (OSError, ValueError, LookupError, TypeError)
"""Errors of a broken pipe or an unreadable answer."""


class _AnswerTimeout(Exception):
    """No answer came in time."""


class GuardedSyntax:
    """Has texts parsed by another process; safe to share between threads, which take turns."""

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self._most = most_kept
        self._kept: OrderedDict[tuple[str, str], Parsed | NotParsed] = OrderedDict()
        self._lock = Lock()
        self._process = _Process()
        self._sent: _Batch | None = None
        self._closed = weakref.finalize(self, self._process.end)

    @property
    def process(self) -> int | None:
        """The other process, if there is one now."""
        return self._process.id

    def knows(self, language: str) -> bool:
        """Whether there is a grammar for a language."""
        return language in KNOWN

    def parse(self, language: str, text: str) -> Parsed | NotParsed:
        """The definitions and imports of a text; of one that was parsed lately, the same again."""
        # Without a lock: no step can be interrupted, and at worst a text is parsed once more.
        key = (language, sha256_hex(text))
        parsed = self._kept.pop(key, None)
        if parsed is None:
            parsed = self._ask(ParseRequest("parse", language, text))
        self._kept[key] = parsed
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return parsed

    def parse_all(self, texts: Iterable[tuple[str, str]]) -> Iterator[Parsed | NotParsed]:
        """The definitions and imports of each text; the next ones are parsed while one batch is used.

        None are kept: whoever asks for many stores what comes.
        """
        requests = (ParseRequest("parse", language, text) for language, text in texts)
        before: _Batch | None = None
        while some := list(islice(requests, TEXTS_AT_ONCE)):
            with self._lock:
                batch = self._send(some)
            if before is not None:
                yield from before.answers
            before = batch
        if before is not None:
            with self._lock:
                self._receive(before)
            yield from before.answers

    def spans(self, language: str, text: str) -> Spans | NotParsed:
        """Where the comments and strings of a text are."""
        answer: Spans | NotParsed = self._ask(ParseRequest("spans", language, text))
        return answer

    def occurrences(self, language: str, text: str, name: str) -> Sequence[int] | NotParsed:
        """Where an identifier stands that is `name`."""
        answer: Sequence[int] | NotParsed = self._ask(ParseRequest("occurrences", language, text, name))
        return answer

    def close(self) -> None:
        """End the other process; the next text starts it again."""
        with self._lock:
            self._process.end()

    def _ask(self, request: ParseRequest) -> Any:
        with self._lock:
            batch = self._send([request])
            self._receive(batch)
        return batch.answers[0]

    def _send(self, requests: list[ParseRequest]) -> _Batch:
        """Send requests, once the answers to those before have been received: no pipe fills up unread."""
        if self._sent is not None:
            self._receive(self._sent)
        self._sent = batch = _Batch(requests)
        self._process.send(requests)
        return batch

    def _receive(self, batch: _Batch) -> None:
        """Wait for the answers to a batch; after a crash the texts behind the cause are sent again."""
        tried_again = False
        while len(batch.answers) < len(batch.requests):
            try:
                batch.answers.append(self._process.receive())
                continue
            except _AnswerTimeout:
                self._process.end()
                batch.answers.append(TOOK_LONG)
            except _TROUBLE:
                code = self._process.end()
                blamed = code == _LATE or code in _CRASHES or tried_again
                if blamed:
                    batch.answers.append(TOOK_LONG if code == _LATE else CRASHED)
                tried_again = not blamed
            if not batch.waiting:
                break
            if not self._process.send(batch.waiting):
                batch.answers += [answer_of(self._here, each) for each in batch.waiting]
        if self._sent is batch:
            self._sent = None

    @cached_property
    def _here(self) -> Syntax:
        from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax

        return TreeSitterSyntax()


@define
class _Batch:
    """Requests that were sent together, and the answers that have come so far, in their order."""

    requests: list[ParseRequest]
    answers: list[Any] = field(factory=list)

    @property
    def waiting(self) -> list[ParseRequest]:
        """The requests without an answer."""
        return self.requests[len(self.answers) :]


class _Process:
    """The parser process, if it runs; one that cannot be started is not tried again."""

    def __init__(self) -> None:
        self._usable = bool(sys.executable)
        self._popen: Popen[bytes] | None = None
        self._unread = bytearray()

    @property
    def id(self) -> int | None:
        """Its process id while it runs."""
        return None if self._popen is None or self._popen.returncode is not None else self._popen.pid

    def start(self) -> bool:
        """Start it and wait until it is ready; whether it is."""
        from subprocess import DEVNULL, PIPE, Popen

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
        except (OSError, ValueError, RuntimeError, _AnswerTimeout):
            self.end()
            return False

    def send(self, requests: Sequence[ParseRequest]) -> bool:
        """Start it if it does not run, and send requests; whether it can be asked at all.

        It reads all of them before it answers the first; one that has ended meanwhile gets none.
        """
        if self._usable and self.id is None:
            self._usable = self.start()
        if not self._usable:
            return False
        assert self._popen is not None
        pipe = self._popen.stdin
        assert pipe is not None
        texts = [each.text.encode("utf-8", "surrogatepass") for each in requests]
        heads = [
            (each.call, each.language, len(text), each.name)
            for each, text in zip(requests, texts, strict=True)
        ]
        with suppress(OSError):
            pipe.write(json.dumps(heads).encode() + b"\n")
            pipe.writelines(texts)
            pipe.flush()
        return True

    def receive(self) -> Any:
        """The answer to the next request."""
        if self._popen is None:
            raise BrokenPipeError
        return from_record(json.loads(self._line(ANSWER_SECONDS)))

    def _line(self, seconds: float) -> bytes:
        """The next line that it writes; empty if it has ended."""
        assert self._popen is not None
        pipe = self._popen.stdout
        assert pipe is not None
        while not (end := self._unread.find(b"\n") + 1):
            wait = select.poll()
            wait.register(pipe, select.POLLIN)
            if not wait.poll(seconds * 1000):
                raise _AnswerTimeout
            came = os.read(pipe.fileno(), READ_BYTES)
            if not came:
                return b""
            self._unread += came
        line, self._unread = bytes(self._unread[:end]), self._unread[end:]
        return line

    def end(self) -> int | None:
        """Kill the process; returns its exit code."""
        popen, self._popen = self._popen, None
        self._unread.clear()
        if popen is None:
            return None
        for pipe in (popen.stdin, popen.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        popen.kill()  # does nothing to one that has died
        return popen.wait()
