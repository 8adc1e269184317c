"""`python -m context_pack`: the same-tree guard, then the adapters' command line.

In a checkout the adapters live in the sibling folder `adapters/`; putting it first on `sys.path`
makes core and adapters always come from one tree, whatever else is installed.
"""

from __future__ import annotations

import os
import sys


def use_same_tree() -> None:
    """Put the sibling `adapters/` of this checkout first on `sys.path`, when there is one."""
    sibling = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "adapters")
    if sys.path[:1] != [sibling] and os.path.isdir(os.path.join(sibling, "context_pack_adapters")):
        sys.path[:] = [sibling, *(place for place in sys.path if place != sibling)]


def main() -> int:
    """Run the command line and return its exit code."""
    use_same_tree()
    from context_pack_adapters.cli import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
