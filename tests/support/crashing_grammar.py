"""A grammar for Python that crashes, hangs or fails on a marked text, in real processes.

It is a package of the same name that is found first, on `PYTHONPATH`: it loads the real grammar and puts a
parser before it that looks for the mark.
"""

from __future__ import annotations

import os
from pathlib import Path

CRASH, HANG, RAISE = "crash_the_grammar", "hang_the_grammar", "raise_in_the_grammar"
_PACKAGE = f'''
import ctypes, importlib.machinery, os, sys
import tree_sitter
from context_pack_adapters.syntax import tree_sitter_syntax, trees

tree_sitter_syntax.SECONDS_EACH = 1.0

class MarkedParser:
    def __init__(self, *given, **more):
        self.real = tree_sitter.Parser(*given, **more)

    def parse(self, data):
        if b"{CRASH}" in data:
            ctypes.string_at(0)
        if b"{RAISE}" in data:
            raise ZeroDivisionError
        while b"{HANG}" in data:
            pass
        return self.real.parse(data)

trees.Parser = MarkedParser
here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
places = [place for place in sys.path if os.path.abspath(place) != here]
__path__ = importlib.machinery.PathFinder.find_spec(__name__, places).submodule_search_locations
from tree_sitter_python._binding import language
'''


def plant(folder: Path) -> dict[str, str]:
    """Make the package in a folder; the environment in which it is found."""
    package = folder / "tree_sitter_python"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(_PACKAGE)
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH", ""))))}
