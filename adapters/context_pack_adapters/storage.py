"""Where the settings say that packs and discoveries are kept, and whether they can be."""

from __future__ import annotations

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.files.opening import Place
from context_pack_adapters.settings import Settings


def storage_place(settings: Settings) -> Place:
    """The storage root, from the project down if it is inside."""
    return Place.of(settings.root, settings.source_root)


def check_settings(settings: Settings) -> None:
    """Refuse to read or write where a variable says something that is not understood.

    Raises:
        Failure: `invalid_data`, with what to set.
    """
    if settings.refusals:
        raise Failure(Code.INVALID_DATA, "; ".join(settings.refusals))
