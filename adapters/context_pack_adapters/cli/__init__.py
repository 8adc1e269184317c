"""Entry point of the command line.

Without arguments this process is the stdio server, and that path loads nothing but the transport; every
command lives in `commands/` and is loaded when it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from context_pack_adapters.settings import current_settings

WAITING = (
    b"context-pack: an MCP server that waits for a client on stdin; Ctrl-D ends it, --help tells the rest\n"
)
"""Printed when the bare command is run on a terminal."""
BROKEN = "context-pack: the package {} does not load; install context-pack again, with what it needs\n"


def main(argv: Sequence[str]) -> int:
    """Serve when there are no arguments, else run the command they name; returns the exit code."""
    # Our matrices are small: numpy with threads of its own takes longer, and starves a busy machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        if not argv and "_CONTEXT_PACK_COMPLETE" not in os.environ:
            serve_and_end()
        from context_pack_adapters.cli.dispatch import run

        return run(argv)
    except KeyboardInterrupt:
        return 130
    except ImportError as error:
        os.write(2, BROKEN.format(error.name or "context-pack").encode())
        return 1


def serve_and_end() -> None:
    """Serve stdio until the conversation ends, and end the process with it.

    The process ends at once, because a thread of a cancelled call may still be busy and must not hold it.
    """
    from context_pack_adapters.bootstrap import serve

    if os.isatty(0) and os.isatty(2):
        os.write(2, WAITING)
    os._exit(serve(current_settings()))
