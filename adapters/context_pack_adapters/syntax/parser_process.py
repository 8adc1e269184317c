"""The process that parses: started by `guarded_syntax`, given texts, ended by its own limits.

Protocol: an empty line says that it is ready. Requests come together: a line of JSON with
`[call, language, size, name]` for each, then the texts in UTF-8. All are read before the first is answered,
by one line of JSON each. A text that takes too much time or memory, or that
a grammar crashes on, ends the process; whoever started it knows which one it was.
"""

from __future__ import annotations

import json
import os
import select
import signal
from typing import IO, NamedTuple

from context_pack.kernel.syntax import NotParsed, Syntax
from context_pack_adapters.child_limits import limit_memory, limit_time
from context_pack_adapters.syntax.records import Answer, to_record

IDLE_SECONDS = 60.0
SECONDS_EACH = 10.0


class ParseRequest(NamedTuple):
    """One call of a `Syntax`."""

    call: str
    language: str
    text: str
    name: str = ""


def serve() -> None:
    """Worker loop; exits at end of input or when idle."""
    from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for those who started us
    limit_memory()
    syntax = TreeSitterSyntax()
    asked = os.fdopen(0, "rb")
    answered = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # no stray print gets between the answers
    _send(answered, b"")
    while _comes(asked):
        line = asked.readline()
        if not line:
            return
        requests = [
            ParseRequest(call, language, asked.read(size).decode("utf-8", "surrogatepass"), name)
            for call, language, size, name in json.loads(line)
        ]
        for request in requests:
            limit_time(SECONDS_EACH)
            answer = json.dumps(to_record(answer_of(syntax, request))).encode()
            limit_time(0)
            _send(answered, answer)


def answer_of(syntax: Syntax, request: ParseRequest) -> Answer:
    """The answer to a request."""
    call, language, text, name = request
    try:
        if call == "parse":
            return syntax.parse(language, text)
        return syntax.spans(language, text) if call == "spans" else syntax.occurrences(language, text, name)
    except Exception as error:
        return NotParsed(f"parsing it failed inside ({type(error).__name__})")


def _comes(asked: IO[bytes]) -> bool:
    """Whether input arrives before the idle timeout; always true where that cannot be asked."""
    return bool(select.select([asked], [], [], IDLE_SECONDS)[0])


def _send(answered: IO[bytes], line: bytes) -> None:
    answered.write(line + b"\n")
    answered.flush()
