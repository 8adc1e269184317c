"""What the bundle use cases ask of the world: where bundles are, and the files of one as parsed values.

Files come as values because parsing is the adapter's work; what a value means is decided here. An adapter
gives the very same `Document` again while its file has not changed, so that the core has only to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from attrs import frozen

from context_pack.bundles.model import Diagnostic
from context_pack.kernel.paths import RelativePath

T = TypeVar("T")


@frozen(eq=False)
class Document:
    """A file that was read whole: its value, and when it was last modified; both of the same moment."""

    path: str
    value: Any
    modified_ns: int


@frozen
class Flaw:
    """A file or folder that cannot be used, and why; the words name the place in the file.

    `absent` ones are simply not there.
    """

    path: str
    reason: str
    severity: str = "error"
    absent: bool = False


class BundleFiles(Protocol):
    """The files of one bundle; no path and no link leads out of it."""

    def document(self, path: RelativePath) -> Document | Flaw:
        """One JSON or YAML file."""

    def folder(self, path: RelativePath | None) -> Iterable[Document | Flaw] | Flaw:
        """The `.yaml` and `.yml` files right in a folder (None: the bundle's), by name, as they come."""


@frozen
class BundlePlace:
    """Where a bundle was found: its id, and its folder as messages show it."""

    id: str
    path: str


@frozen
class FoundBundles:
    """The bundles that were found, in a fixed order, and what was wrong with the search."""

    places: tuple[BundlePlace, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class BundleStore(Protocol):
    """Where bundles are found."""

    def discover(self) -> FoundBundles:
        """The bundles that there are."""

    def files(self, place: BundlePlace) -> BundleFiles:
        """The files of a bundle."""

    def load(self, place: BundlePlace, make: Callable[[BundleFiles, T | None], T]) -> T:
        """What `make` makes of the files and of what it made last time, one call at a time per bundle.

        What `make` raises passes through, and the last thing made stays.

        Raises:
            Failure: `timed_out`; a schema can cost more than anybody waits for.
        """
