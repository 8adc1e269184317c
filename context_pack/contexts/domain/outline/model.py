"""What a source file says about itself: a line about it, what it offers, what it takes from elsewhere."""

from __future__ import annotations

from attrs import frozen


@frozen
class Export:
    """Something that others can use: its name, how it is called, and a line about it."""

    name: str
    signature: str
    about: str = ""


@frozen
class Outline:
    """A source file in short; `imports` are written as the file writes them."""

    about: str = ""
    exports: tuple[Export, ...] = ()
    imports: tuple[str, ...] = ()
