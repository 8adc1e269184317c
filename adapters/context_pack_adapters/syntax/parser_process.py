"""The process that parses: it answers one question after the other and ends by its own limits.

A text that takes too much time or memory, or that a grammar crashes on, ends it; whoever started it knows
which one it was. It ends with the one who started it, and when nobody asks for a while.
"""

from __future__ import annotations

import signal
from multiprocessing.connection import Connection
from typing import Any

from context_pack.kernel.syntax import NotParsed
from context_pack_adapters.child_limits import limit_memory, limit_time
from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax

IDLE_SECONDS = 60.0
SECONDS_EACH = 10.0


def serve(descriptor: int) -> None:
    """Worker loop: each question is the name of a method and its arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for those who started us
    limit_memory()
    syntax, questions = TreeSitterSyntax(), Connection(descriptor)
    while questions.poll(IDLE_SECONDS):
        try:
            method, *arguments = questions.recv()
        except EOFError:
            return
        limit_time(SECONDS_EACH)
        answer = _answer(syntax, method, arguments)
        limit_time(0)
        questions.send(answer)


def _answer(syntax: TreeSitterSyntax, method: str, arguments: list[str]) -> Any:
    try:
        return getattr(syntax, method)(*arguments)
    except Exception as error:
        return NotParsed(f"parsing it failed inside ({type(error).__name__})")
