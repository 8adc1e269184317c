"""The process that draws: started by `drawing`, given sources, ended by its own limits.

Protocol: standard input is a JSON list of Mermaid sources; standard output gets one JSON line per source, in
order and at once: `{"svg": …}`, `{"fault": …}` of the source, or `{"error": …}`. A source that takes too much
processor time or memory ends the process; whoever started it sees which source had no answer.
"""

from __future__ import annotations

import json
import sys

from context_pack_adapters.child_limits import limit_memory, limit_time

SECONDS_EACH = 5
MOST_SVG = 2 * 1024**2
MOST_TOGETHER = 64 * 1024**2
NOT_INSTALLED = 3


def main() -> int:
    """Draw every source of standard input."""
    try:
        import mmdr
    except ImportError:
        return NOT_INSTALLED
    limit_memory()
    room = MOST_TOGETHER
    for source in json.load(sys.stdin):
        limit_time(SECONDS_EACH)
        try:
            svg = mmdr.render(source).svg()
        except ValueError as error:  # how the package reports sources it cannot draw
            answer = {"fault": str(error)}
        else:
            fits = len(svg) <= min(MOST_SVG, room)
            answer = {"svg": svg} if fits else {"error": "the drawing is too large"}
            room -= len(svg) if fits else 0
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    return 0
