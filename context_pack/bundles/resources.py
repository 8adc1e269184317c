"""Entities as MCP resources: `context://bundle/{bundle}/{type}/{id}`, as JSON.

They are not listed one by one: a bundle may have thousands, and a client that asks for the list should not
make every bundle load.
"""

from __future__ import annotations

import json
from urllib.parse import unquote

from context_pack.bundles.model import exported
from context_pack.bundles.opening import BundleShelf, EntityAddress, require
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.offers import ResourceFamily, ResourceText

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
    )


def _read(shelf: BundleShelf, uri: str) -> ResourceText | None:
    """The entity of that URI; None if it has no such shape.

    Raises:
        Failure: `not_found`.
    """
    parts = [unquote(part) for part in uri.removeprefix(PREFIX).split("/", 2)]
    if len(parts) < 3 or not all(parts):
        return None
    address = EntityAddress(*parts[1:])
    opened = shelf.open(parts[0], QuietCall())
    (entity,) = require(opened.bundle, opened.id, [address])
    return ResourceText(uri, json.dumps(exported(entity), ensure_ascii=False, indent=2), "application/json")
