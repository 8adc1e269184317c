"""Entities as MCP resources: `context://bundle/{bundle}/{type}/{id}`, as JSON, with completion of each part.

They are not listed one by one: a bundle may have thousands, and a client that asks for the list should not
make every bundle load.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from context_pack.bundles.model import Bundle, Entity, exported
from context_pack.bundles.opening import BundleShelf, EntityAddress, OpenedBundle, require
from context_pack.kernel.errors import Failure
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.offers import ResourceFamily, ResourceText, best_first

PREFIX = "context://bundle/"
ABOUT = "An entity of a spec bundle as JSON: its type, id, data and when it was last modified."


def build(shelf: BundleShelf) -> ResourceFamily:
    """The resources over a shelf."""
    return ResourceFamily(
        prefix=PREFIX,
        uri_template=PREFIX + "{bundle}/{type}/{id}",
        name="entity",
        title="Bundle entity",
        description=ABOUT,
        mime_type="application/json",
        entries=lambda: (),
        read=lambda uri: _read(shelf, uri),
        complete={
            "bundle": lambda typed, _: best_first((place.id for place in shelf.places()), typed),
            "type": lambda typed, others: best_first(_types(shelf, others), typed),
            "id": lambda typed, others: best_first(_ids(shelf, others), typed),
        },
    )


def _read(shelf: BundleShelf, uri: str) -> ResourceText | None:
    """The entity of that URI; None if it has no such shape.

    Raises:
        Failure: `not_found`.
    """
    bundle_id, _, rest = uri.removeprefix(PREFIX).partition("/")
    entity_type, _, entity_id = rest.partition("/")
    if not (bundle_id and entity_type and entity_id):
        return None
    address = EntityAddress(unquote(entity_type), unquote(entity_id))

    def find(opened: OpenedBundle) -> Entity:
        return require(opened.bundle, opened.id, [address])[0]

    entity = shelf.serve(unquote(bundle_id), QuietCall(), find)
    text = json.dumps(exported(entity), ensure_ascii=False, indent=2)
    return ResourceText(uri, text, "application/json")


def _bundle(shelf: BundleShelf, others: Mapping[str, str]) -> Bundle | None:
    """The bundle that the other arguments name, or the only one; None when there is no such thing."""
    try:
        return shelf.serve(others.get("bundle") or None, QuietCall(), lambda opened: opened.bundle)
    except Failure:
        return None


def _types(shelf: BundleShelf, others: Mapping[str, str]) -> Iterable[str]:
    bundle = _bundle(shelf, others)
    return () if bundle is None else bundle.kinds


def _ids(shelf: BundleShelf, others: Mapping[str, str]) -> Iterator[str]:
    bundle, wanted = _bundle(shelf, others), others.get("type")
    if bundle is not None:
        yield from (one.id for one in bundle.entities.values() if not wanted or one.type == wanted)
