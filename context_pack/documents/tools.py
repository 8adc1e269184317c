"""The document tools: everything that names a field of their answers.

Failures are plain text: the sentence that says what is missing, then the nearest names. Search answers stay
within their budget; `documents_get_document` is always complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any
from urllib.parse import quote, unquote

from attrs import frozen

from context_pack.documents import commands
from context_pack.documents.model import Collection, Outcome
from context_pack.documents.search import Answered, Finder, RankedPassage, SearchAnswers
from context_pack.documents.shelf import NOTHING_CONFIGURED, DocumentShelf, find_section, outline
from context_pack.documents.sync import IndexFreshness
from context_pack.kernel.errors import Code, Failure
from context_pack.retrieval.headings import is_markdown
from context_pack.retrieval.model import Summary
from context_pack.toolkit.budget import MORE, fit, json_size, room_of, shrunk
from context_pack.toolkit.call import Call
from context_pack.toolkit.offers import ResourceEntry, ResourceFamily, ResourceText, best_first
from context_pack.toolkit.spec import FETCHES, Answer, FailedCall, Family, Tool, json_answer, shape, tool

Body = dict[str, Any]
DIGITS = 6
MOST_HEADING = 1000
"""Characters; a longer heading is no name of anything."""


def document_error(failure: Failure, failed: FailedCall) -> Answer:
    """A failure as plain text."""
    if failure.code is Code.INVALID_DATA and failure.details.get("problems"):
        return Answer("; ".join(one["message"] for one in failure.details["problems"]), is_error=True)
    if failure.code is Code.RATE_LIMITED:
        return Answer(f"{failure.message}; {failure.details.get('hint')}", is_error=True)
    if failure.code is Code.INTERNAL:
        return Answer(f"{failed.tool}: {failure.message}", is_error=True)
    return Answer(failure.message, is_error=True)


FAMILY = Family("documents", document_error)


def named(collection: Collection) -> Body:
    """A collection by its alias, and by its id where that is another."""
    if collection.alias == collection.id:
        return {"collection": collection.alias}
    return {"collection": collection.alias, "collectionId": collection.id}


def outcome_body(outcome: Outcome) -> Body:
    """What a sync has done, as JSON."""
    return {
        "collection": outcome.collection,
        "added": outcome.added,
        "updated": outcome.updated,
        "removed": outcome.removed,
        "failed": [{"document": one.document, "reason": one.reason} for one in outcome.failed],
    }


def hit_body(hit: RankedPassage) -> Body:
    """A hit as JSON."""
    piece, ranked = hit.ranked.found, hit.ranked
    return {
        **named(hit.collection),
        "documentId": piece.key,
        "documentTitle": piece.title,
        **({"sectionHeading": piece.heading[:MOST_HEADING]} if piece.heading else {}),
        "content": piece.text,
        "relevanceScore": round(ranked.relevance, DIGITS),
        "distance": round(ranked.distance, DIGITS),
        "chunkIndex": piece.index,
        "totalChunks": piece.total,
        "startLine": piece.start,
        "endLine": piece.end,
    }


BESIDE = 100
"""Room for line breaks and for the fields that tell of missing rows."""
FLATTER = "a smaller maxDepth shows fewer headings"
SMALLER = "ask for a section below it (documents_get_outline), or documents_get_document for the whole"
NARROWER = "narrow the question, lower limit or raise maxTokens to see the others"

_Run = Callable[[Any, Call], Answer]


_STATE = {"stale": "flag", "warning": "text"}
_WHICH = {"collection": "text", "collectionId": "text"}
_HEAD = {**_WHICH, "document": "text"}
_FOUND = {"more": "text", "embedder": "text", "semantic": "object", "truncated": "flag", **_STATE}


def build(shelf: DocumentShelf, finder: Finder) -> tuple[Tool, ...]:
    """The tools over a shelf."""
    serve = _DocumentAnswers(shelf, finder)
    long: Body = {"long_answers": True}
    slow: Body = {"long_answers": True, "slow": True, "budget": "maxTokens"}

    def make(
        name: str, title: str, about: str, command: type, run: _Run, shape: Body, **options: Any
    ) -> Tool:
        return tool(f"documents_{name}", title, about, FAMILY, command, run, output_schema=shape, **options)

    return (
        make(
            "list_collections", "List collections",
            "List document collections: names, sizes, what they are about.",
            commands.ListCollections, serve.collections, shape(collections="rows", **_STATE),
        ),
        make(
            "search", "Search documents",
            "Search documentation by meaning and keywords. Hits are passages with document, section, lines.",
            commands.SearchDocuments, serve.search, shape(results="rows", **_FOUND), **slow,
        ),
        make(
            "get_document", "Read a document",
            "Get a whole document.",
            commands.GetDocument, serve.document,
            shape(**_HEAD, title="text", size="whole", content="text", **_STATE), **long,
        ),
        make(
            "list_documents", "List documents",
            "List the documents of a collection (ids, titles, sizes): browse before searching.",
            commands.ListDocuments, serve.documents,
            shape(**_WHICH, documents="rows", total="whole", hasMore="flag", **_STATE),
        ),
        make(
            "get_outline", "Document outline",
            "Get a document's headings with their lines, to pick a section.",
            commands.GetOutline, serve.outline,
            shape(**_HEAD, title="text", outline="rows", truncated="flag", **_STATE),
        ),
        make(
            "get_section", "Read a section",
            "Get one section by its heading, without the whole document.",
            commands.GetSection, serve.section,
            shape(
                **_HEAD, more="text", section="text", level="whole", content="text", startLine="whole",
                endLine="whole", truncated="flag", **_STATE,
            ),
            **long,
        ),
        make(
            "search_batch", "Search several",
            "Run up to 10 searches in one call.",
            commands.SearchBatch, serve.batch, shape(results="rows", **_FOUND), **slow,
        ),
        make(
            "find_related", "Related documents",
            "Find content related to a document or chunk.",
            commands.FindRelated, serve.related, shape(source="object", related="rows", **_FOUND), **slow,
        ),
        make(
            "sync", "Sync collections",
            "Index what changed now, and fetch git sources.",
            commands.Sync, serve.sync, shape(collections="rows", warning="text"),
            annotations=FETCHES, slow=True,
        ),
    )  # fmt: skip


@frozen(eq=False)
class _DocumentAnswers:
    """Serves the commands."""

    shelf: DocumentShelf
    finder: Finder

    def collections(self, _: commands.ListCollections, call: Call) -> Answer:
        """`documents_list_collections`."""
        catalogue = self.shelf.catalogue()
        chosen = self.shelf.chosen((), catalogue)
        freshness = self.shelf.bring_up_to_date(chosen, call.check, catalogue.problems)
        rows = []
        for one in self.shelf.collections():
            row = {**named(one.collection), "documentCount": one.documents}
            about = {"description": one.description, "version": one.version}
            rows.append(row | {name: value for name, value in about.items() if value is not None})
        warnings = freshness.warnings if rows else (NOTHING_CONFIGURED, *freshness.warnings)
        return json_answer({"collections": rows, **_state(freshness.stale, "; ".join(warnings))})

    def documents(self, command: commands.ListDocuments, call: Call) -> Answer:
        """`documents_list_documents`; a page that is too heavy is cut and says so."""
        collection, freshness = self.shelf.current(command.collection, call.check)
        page, total = self.shelf.documents(collection, command.limit, command.offset)
        rows = [{"id": one.key, "title": one.title, "size": one.size} for one in page]
        body = {**named(collection), "documents": rows, "total": total, **_freshness(freshness)}
        body = _fitted(
            body, "documents", call.page_tokens, lambda end: f"continue with offset {command.offset + end}"
        )
        end = command.offset + len(body["documents"])
        more = {"nextOffset": end} if end < total and rows else {}
        return json_answer({**body, "hasMore": end < total, **more})

    def document(self, command: commands.GetDocument, call: Call) -> Answer:
        """`documents_get_document`."""
        collection, entry, freshness = self.shelf.document(command.collection, command.document, call.check)
        body = {**named(collection), "document": entry.key, "title": entry.title, "size": entry.size}
        return json_answer({**body, "content": entry.text, **_freshness(freshness)})

    def outline(self, command: commands.GetOutline, call: Call) -> Answer:
        """`documents_get_outline`."""
        collection, entry, freshness = self.shelf.document(command.collection, command.document, call.check)
        rows = [
            {"level": one.level, "text": one.text[:MOST_HEADING], "line": one.line}
            for one in outline(entry, command.max_depth)
        ]
        body = {**named(collection), "document": entry.key, "title": entry.title, "outline": rows}
        body |= _freshness(freshness)
        return json_answer(_fitted(body, "outline", call.page_tokens, lambda _: FLATTER))

    def section(self, command: commands.GetSection, call: Call) -> Answer:
        """`documents_get_section`; what is longer than an answer may be ends early, and says so."""
        collection, entry, freshness = self.shelf.document(command.collection, command.document, call.check)
        section = find_section(entry, command.section, command.subsections)
        row = {
            **named(collection),
            "document": entry.key,
            "section": section.heading[:MOST_HEADING],
            "level": section.level,
            "content": section.content,
            "startLine": section.start,
            "endLine": section.end,
            **_freshness(freshness),
        }
        body, more = shrunk(row, room_of(call.page_tokens) - 3 * BESIDE), []
        if "truncated" in body:
            more.append(f"lines {section.start}-{body['endLine']} of {section.end}; {SMALLER}")
        if section.others:
            lines = ", ".join(map(str, section.others[:10]))
            more.append(f"the same heading is at line {lines}; one is named by 'Heading above > Heading'")
        return json_answer({**({MORE: "; ".join(more)} if more else {}), **body})

    def search(self, command: commands.SearchDocuments, call: Call) -> Answer:
        """`documents_search`."""
        answers = self.finder.search(command, call.check)
        rows = [hit_body(hit) for hit in answers.answers[0].hits]
        return json_answer(_hits({"results": rows}, answers, command.max_tokens))

    def batch(self, command: commands.SearchBatch, call: Call) -> Answer:
        """`documents_search_batch`; the questions share one budget, so that each shows its best hit."""
        answers = self.finder.batch(command, call.check)
        tail = _about(answers, command.max_tokens)
        room = (room_of(command.max_tokens) - json_size(tail) - BESIDE) // len(answers.answers)
        most = min(max(10, room // 8), commands.MAX_QUERY)
        bodies = (_answered(one, answers.embedder, most) for one in answers.answers)
        rows = [fit(body, "results", room - 2, lambda _: NARROWER, cut_last=True) for body in bodies]
        return json_answer({"results": rows, **tail, **_cut(any(MORE in row for row in rows))})

    def related(self, command: commands.FindRelated, call: Call) -> Answer:
        """`documents_find_related`."""
        collection, document, answers = self.finder.related(command, call.check)
        source = {**named(collection), "document": document}
        rows = [{"document": row.pop("documentId"), **row} for row in map(hit_body, answers.answers[0].hits)]
        return json_answer(_hits({"source": source, "related": rows}, answers, command.max_tokens))

    def sync(self, command: commands.Sync, call: Call) -> Answer:
        """`documents_sync`; its progress rises over all collections."""
        names = () if command.collection is None else (command.collection,)
        numbers = count(1)
        outcomes = self.shelf.sync_all(
            self.shelf.chosen(names),
            report=lambda _, __, document: call.progress(next(numbers), None, document),
            check=call.check,
        )
        rows = [outcome_body(one) for one in outcomes]
        return json_answer({"collections": rows, **_state(False, "; ".join(self.shelf.catalogue().problems))})


def _hits(body: Body, answers: SearchAnswers, tokens: int) -> Body:
    """The body, whose last field are hits, with what describes the index, within so many tokens."""
    return _fitted({**body, **_about(answers, tokens)}, [*body][-1], tokens, lambda _: NARROWER, True)


def _fitted(body: Body, rows: str, tokens: int, rest: Callable[[int], str], cut_last: bool = False) -> Body:
    """The body within so many tokens; one that lacks rows says so twice, for people and for programs."""
    fitting = fit(body, rows, room_of(tokens) - BESIDE, rest, cut_last=cut_last)
    return {**fitting, **_cut(MORE in fitting)}


def _answered(answered: Answered, embedder: str, most: int) -> Body:
    """One question, its hits, why it failed, and what measured its distances if that is another embedder."""
    body: Body = {"query": answered.query[:most], "results": list(map(hit_body, answered.hits))}
    if answered.error is not None:
        body["error"] = answered.error[:most]
    if answered.embedder not in ("", embedder):
        body["embedder"] = answered.embedder
    return body


def _about(answers: SearchAnswers, max_tokens: int) -> Body:
    """The fields of an answer that describe the index behind it."""
    body: Body = {"embedder": answers.embedder}
    if answers.semantic is not None:
        body["semantic"] = {"done": answers.semantic.done, "total": answers.semantic.total}
    return {**body, **_state(answers.stale, (answers.warning or "")[: 2 * max_tokens])}


def _freshness(freshness: IndexFreshness) -> Body:
    return _state(freshness.stale, "; ".join(freshness.warnings))


def _state(stale: bool, warning: str) -> Body:
    """Whether the index lags behind, and the warnings for the caller; only what there is to say."""
    return {**({"stale": True} if stale else {}), **({"warning": warning} if warning else {})}


def _cut(was: bool) -> Body:
    return {"truncated": True} if was else {}


PREFIX = "context://document/"


def resources(shelf: DocumentShelf) -> ResourceFamily:
    """Documents as resources over a shelf: listed, read, each part of their address completed."""
    return ResourceFamily(
        prefix=PREFIX,
        uri_template=PREFIX + "{collection}/{id}",
        name="document",
        title="Document",
        description="A document of a collection, whole.",
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
            yield from ((collection, one) for one in shelf.documents(collection)[0])
    except Failure:
        return


def _read(shelf: DocumentShelf, uri: str) -> ResourceText | None:
    """The document of that URI; None if there is none."""
    alias, _, document = uri.removeprefix(PREFIX).partition("/")
    if not alias or not document:
        return None
    try:
        _, entry, _ = shelf.document(unquote(alias), unquote(document))
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
