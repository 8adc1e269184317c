"""Collections, the files they consist of, and what came of bringing one up to date.

A collection is a source under an alias; its documents are known by their path inside the source. A failed
document is a value: it is told, never raised, and never hides the others.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from context_pack.documents.places import SourceAddress
from context_pack.retrieval.upkeep import File


@frozen
class Collection:
    """A configured collection: what people call it, what the index calls it, and where it is."""

    alias: str
    id: str
    where: SourceAddress
    description: str | None = None
    """What `context.json` says; it wins over the manifest."""
    user_wide: bool = False
    shared: bool = False
    """Whether its documents are those that the team shares under its alias, published by whoever syncs it."""


@frozen
class Catalogue:
    """Every collection by alias, in the order of the files, and what is wrong with those files."""

    collections: Mapping[str, Collection] = field(factory=dict)
    problems: tuple[str, ...] = ()
    allowed: Mapping[str, bool] = field(factory=dict)
    """The repositories that may be fetched for projects, with whether credentials may be used."""


@frozen
class Failed:
    """A document that cannot be had, and why, in words."""

    document: str
    reason: str
    passing: bool = False
    """Whether it (or what is in it, of a folder) may be there unchanged, and only cannot be read now."""


@frozen
class SourceDescription:
    """What a source says of itself."""

    name: str = ""
    version: str | None = None
    description: str | None = None


@frozen
class Survey:
    """What a source holds now: documents by path, entries that fail, and the state of the whole."""

    about: SourceDescription
    files: Mapping[str, File]
    failed: tuple[Failed, ...] = ()
    signature: str = ""
    """The same signature needs no second look; empty where only a look can tell."""


@frozen
class DocumentText:
    """The content of one document, with the state it was read in."""

    document: str
    text: str
    digest: str
    """Hex SHA-256 of the bytes."""
    stamp: str


@frozen
class Outcome:
    """What bringing one collection up to date has done."""

    collection: str
    added: int = 0
    updated: int = 0
    removed: int = 0
    failed: tuple[Failed, ...] = ()
    finished: bool = True
