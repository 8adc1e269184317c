"""The process that draws: started by `drawing`, given sources, ended by its own limits.

Protocol: standard input is a JSON list of Mermaid sources; standard output gets one JSON line per source, in
order and at once: `{"svg": …}` or `{"error": …}`. A source that takes too much processor time or memory ends
the process; whoever started it sees which source had no answer. Nothing of ours is imported here.
"""

from __future__ import annotations

import json
import sys

SECONDS_EACH = 5
MOST_BYTES = 2 * 1024**3
MOST_SVG = 2 * 1024**2
MOST_TOGETHER = 64 * 1024**2
NOT_INSTALLED = 3


def main() -> int:
    """Draw every source of standard input."""
    try:
        import mmdr
    except ImportError:
        return NOT_INSTALLED
    _limit_memory()
    room = MOST_TOGETHER
    for source in json.load(sys.stdin):
        _limit_time()
        try:
            svg = mmdr.render(source).svg()
        except ValueError as error:  # how the package reports sources it cannot draw
            answer = {"error": str(error)}
        else:
            fits = len(svg) <= min(MOST_SVG, room)
            answer = {"svg": svg} if fits else {"error": "the drawing is too large"}
            room -= len(svg) if fits else 0
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    return 0


def _limit_memory() -> None:
    """Never more memory than this, where the system can be asked so."""
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = MOST_BYTES if hard == resource.RLIM_INFINITY else min(MOST_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time() -> None:
    """From here on, never more processor time than this, where the system can be asked so."""
    if sys.platform != "win32":
        import resource

        spent = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        until = int(spent.ru_utime + spent.ru_stime) + 1 + SECONDS_EACH
        soft = until if hard == resource.RLIM_INFINITY else min(until, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


if __name__ == "__main__":
    raise SystemExit(main())
