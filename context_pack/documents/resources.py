"""Documents as MCP resources: `context://document/{collection}/{id}`, listed, each part completed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, unquote

from context_pack.documents.model import Collection
from context_pack.documents.shelf import DocumentShelf
from context_pack.kernel.errors import Code, Failure
from context_pack.retrieval.headings import is_markdown
from context_pack.retrieval.model import Summary
from context_pack.toolkit.offers import ResourceEntry, ResourceFamily, ResourceText, best_first

PREFIX = "context://document/"
TITLE = "Document"
ABOUT = "A document of a collection, whole."


def build(shelf: DocumentShelf) -> ResourceFamily:
    """The resources over a shelf."""
    return ResourceFamily(
        prefix=PREFIX,
        uri_template=PREFIX + "{collection}/{id}",
        name="document",
        title=TITLE,
        description=ABOUT,
        mime_type="text/markdown",
        entries=lambda: list(_entries(shelf)),
        read=lambda uri: _read(shelf, uri),
        complete={
            "collection": lambda typed, _: best_first(shelf.catalogue().collections, typed),
            "id": lambda typed, others: best_first(_documents(shelf, others), typed),
        },
    )


def _entries(shelf: DocumentShelf) -> Iterator[ResourceEntry]:
    for collection, one in _listed(shelf):
        uri = f"{PREFIX}{quote(collection.alias, safe='')}/{quote(one.key)}"
        yield ResourceEntry(uri, one.key, one.title, mime_type=_mime_type(one.key))


def _listed(shelf: DocumentShelf, *names: str) -> Iterator[tuple[Collection, Summary]]:
    """Every document that is indexed of these collections, or of all; a list always answers."""
    try:
        chosen = shelf.chosen(names)
        shelf.bring_up_to_date(chosen)
        for collection in chosen:
            yield from ((collection, one) for one in shelf.documents(collection).documents)
    except Failure:
        return


def _read(shelf: DocumentShelf, uri: str) -> ResourceText | None:
    """The document of that URI; None if there is none."""
    alias, _, document = uri.removeprefix(PREFIX).partition("/")
    if not alias or not document:
        return None
    try:
        collection, _ = shelf.current(unquote(alias))
        entry = shelf.document(collection, unquote(document))
    except Failure as failure:
        if failure.code is Code.NOT_FOUND:
            return None
        raise
    return ResourceText(uri, entry.text, _mime_type(entry.key))


def _mime_type(document: str) -> str:
    return "text/markdown" if is_markdown(document) else "text/plain"


def _documents(shelf: DocumentShelf, others: Mapping[str, str]) -> Iterable[str]:
    """The documents of the collection that the other argument names, or of all."""
    return [one.key for _, one in _listed(shelf, *filter(None, [others.get("collection")]))]
