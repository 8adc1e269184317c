"""Python as the syntax adapter reads it."""

from __future__ import annotations

from syntax_outline import imports, outline, parsed, spanned

PYTHON = r'''#!/usr/bin/env python3
# Sold under terms.
"""Orders.

More of them.
"""
from __future__ import annotations

import os, json.decoder as decoder
from . import near
from ..far . away import (first as one,  # import ghost
    second)
from shop import *

if True:
    import inner

# Most of them.
MOST: int = 10
names = other = ["def ghost(): pass"]
first, last = 1, 2
type Pair[T] = tuple[T, T]

@cache
# why
@app.route("/x", methods=["GET"])
async def load[T: (int, str)](
    path: str, *args: T, key: dict[str, int] = {"a": 1}, **more: object
) -> list[T]:
    """Loads it.

    Slowly.
    """
    text = f"""
def ghost(): {"}" + '}'}
    import ghost
"""
    def inner(x): return lambda y: x
    class Local:
        pass
    return [inner]

class Shop(Base, metaclass=Meta):
    r"""Keeps \d orders."""

    LIMIT = 3

    @property
    def size(self) -> int: return 1

    @size.setter
    def size(self, value): ...

    @staticmethod
    def make(): "Makes one."

    class Inner:
        # Goes deep.
        def deep(self):
            pass

def bare(): pass  # beside
print 'old'
'''


def test_definitions_of_python_have_names_lines_and_signatures() -> None:
    assert outline("python", PYTHON) == [
        "18-19@19 constant MOST | MOST: int | Most of them.",
        "20-20@20 constant names | names",
        "21-21@21 constant first | first, last",
        "21-21@21 constant last | first, last",
        "22-22@22 type Pair | type Pair[T]",
        "24-41@27 function load | async def load[T: (int, str)]( path: str, *args: T, key: dict[str, "
        'int] = {"a": 1}, **more: object ) -> list[T] | Loads it.\n\nSlowly.',
        "38-38@38 function load.inner | def inner(x)",
        "39-40@39 class load.Local | class Local",
        "43-60@43 class Shop | class Shop(Base, metaclass=Meta) | Keeps \\d orders.",
        "48-49@49 method Shop.size | def size(self) -> int",
        "51-52@52 method Shop.size | def size(self, value)",
        "54-55@55 method Shop.make | def make() | Makes one.",
        "57-60@57 class Shop.Inner | class Inner",
        "58-60@59 method Shop.Inner.deep | def deep(self) | Goes deep.",
        "62-62@62 function bare | def bare()",
    ]


def test_python_imports_package_and_head() -> None:
    assert imports("python", PYTHON) == [
        "9 import os",
        "9 import json.decoder",
        "10 from . near",
        "11 from ..far . away first second",
        "13 from shop *",
        "16 import inner",
    ]
    found = parsed("python", PYTHON)
    assert (found.package, found.heads, found.error_line) == (
        "",
        ("Sold under terms.", "Orders.\n\nMore of them."),
        None,
    )


def test_python_comments_and_strings() -> None:
    comments, strings = spanned("python", PYTHON)
    assert comments == [
        "#!/usr/bin/env python3",
        "# Sold under terms.",
        "# import ghost",
        "# Most of them.",
        "# why",
        "# Goes deep.",
        "# beside",
    ]
    assert strings == [
        '"""Orders.\n\nMore of them.\n"""',
        '"def ghost(): pass"',
        '"/x"',
        '"GET"',
        '"a"',
        '"""Loads it.\n\n    Slowly.\n    """',
        'f"""\ndef ghost(): {"}" + \'}\'}\n    import ghost\n"""',
        'r"""Keeps \\d orders."""',
        '"Makes one."',
        "'old'",
    ]
