"""Where the settings say that packs and discoveries are kept, and whether they can be."""

from __future__ import annotations

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.files.opening import Place
from context_pack_adapters.files.placing import link_in_the_way
from context_pack_adapters.settings import Settings


def storage_place(settings: Settings) -> Place:
    """The storage root, from the project down if it is inside."""
    return Place.of(settings.root, settings.source_root)


def storage_trouble(settings: Settings) -> str | None:
    """Why nothing can be kept in the storage root, in words; None if nothing is known against it."""
    link = link_in_the_way(storage_place(settings))
    return link and (
        f"{link}: it is a link, and our files are not kept behind links; "
        "put a folder in its place, or set CONTEXT_PACK_ROOT to another folder"
    )


def check_settings(settings: Settings) -> None:
    """Refuse to read or write where a variable says something that is not understood.

    Raises:
        Failure: `invalid_data`, with what to set.
    """
    if settings.refusals:
        raise Failure(Code.INVALID_DATA, "; ".join(settings.refusals))


def check_storage(settings: Settings) -> None:
    """Refuse to keep anything behind a link, or where a variable is not understood.

    Raises:
        Failure: `io_error` or `invalid_data`, with what to do.
    """
    check_settings(settings)
    trouble = storage_trouble(settings)
    if trouble is not None:
        raise Failure(Code.IO_ERROR, trouble)
