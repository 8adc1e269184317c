"""Packs as MCP resources: `context://pack/{id}`, rendered as Markdown, listed while they live."""

from __future__ import annotations

from urllib.parse import unquote

from context_pack.kernel.errors import Code, Failure
from context_pack.packs.commands import RenderPack
from context_pack.packs.listing import handles, live_packs
from context_pack.packs.model import Pack
from context_pack.packs.ports import PackStore
from context_pack.packs.read import PackReader
from context_pack.toolkit.offers import ResourceEntry, ResourceFamily, ResourceText

PREFIX = "context://pack/"
TITLE = "Context pack"
ABOUT = "A context pack as Markdown, with the current code of its references."


def build(reader: PackReader, store: PackStore) -> ResourceFamily:
    """The resources over a reader and its store."""
    return ResourceFamily(
        prefix=PREFIX,
        uri_template=PREFIX + "{id}",
        name="pack",
        title=TITLE,
        description=ABOUT,
        mime_type="text/markdown",
        entries=lambda: [_entry(pack) for pack in live_packs(store)],
        read=lambda uri: _read(reader, uri),
        complete={"id": lambda typed, _: handles(store, typed)},
    )


def handle_in(uri: str) -> str:
    """The id or name that the URI of a pack spells; empty if it is no such URI."""
    return unquote(uri[len(PREFIX) :]).strip() if uri.startswith(PREFIX) else ""


def _entry(pack: Pack) -> ResourceEntry:
    return ResourceEntry(PREFIX + pack.id, pack.name or pack.id, pack.heading, pack.brief)


def _read(reader: PackReader, uri: str) -> ResourceText | None:
    """The pack of that URI; a name may stand in the id's place."""
    handle = handle_in(uri)
    if not handle:
        return None
    try:
        text = reader.render(RenderPack(id=handle)).text
    except Failure as failure:
        if failure.code is Code.NOT_FOUND:
            return None
        raise
    return ResourceText(uri, text)
