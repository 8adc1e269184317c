"""The document tools: everything that names a field of their answers.

Failures are plain text: the sentence that says what is missing, then the nearest names. Search answers stay
within their budget; `documents_get_document` is always complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen

from context_pack.documents.domain.model import Collection
from context_pack.documents.family import FAMILY, MOST_HEADING, Body, hit_body, named, outcome_body
from context_pack.documents.usecases import commands
from context_pack.documents.usecases.freshness import IndexFreshness
from context_pack.documents.usecases.search import Answered, Finder, SearchAnswers
from context_pack.documents.usecases.shelf import NOTHING_CONFIGURED, DocumentShelf
from context_pack.documents.usecases.sync_all import sync_all, under_every_name
from context_pack.retrieval.model import IndexEntry
from context_pack.retrieval.searching import retry_if_damaged
from context_pack.toolkit.call import Call
from context_pack.toolkit.rows import fitted, leading, weight
from context_pack.toolkit.shapes import shape
from context_pack.toolkit.spec import FETCHES, Answer, Tool, json_answer, tool
from context_pack.toolkit.tokens import fitting

ENVELOPE_BYTES = 1000
"""Room for what is beside the rows, but for long names and warnings, which are counted."""


_Run = Callable[[Any, Call], Answer]


_STATE = {"stale": "flag", "warning": "text"}
_WHICH = {"collection": "text", "collectionId": "text"}
_HEAD = {**_WHICH, "document": "text"}
_FOUND = {"embedder": "text", "semantic": "object", "truncated": "flag", **_STATE}


def build(shelf: DocumentShelf, finder: Finder) -> tuple[Tool, ...]:
    """The tools over a shelf."""
    serve = _DocumentAnswers(shelf, finder)
    long: Body = {"long_answers": True}
    slow: Body = {"long_answers": True, "slow": True, "budget": "maxTokens"}

    def make(
        name: str, title: str, about: str, command: type, run: _Run, shape: Body, **options: Any
    ) -> Tool:
        serve = retry_if_damaged(run)
        return tool(f"documents_{name}", title, about, FAMILY, command, serve, output_schema=shape, **options)

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
                **_HEAD, section="text", level="whole", content="text", startLine="whole", endLine="whole",
                truncated="flag", **_STATE,
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
            row.update({"description": one.description} if one.description is not None else {})
            row.update({"version": one.version} if one.version is not None else {})
            rows.append(row)
        warnings = freshness.warnings if rows else (NOTHING_CONFIGURED, *freshness.warnings)
        return json_answer({"collections": rows, **_state(IndexFreshness(freshness.stale, warnings))})

    def documents(self, command: commands.ListDocuments, call: Call) -> Answer:
        """`documents_list_documents`; a page that is too heavy is cut and says so."""
        collection, freshness = self.shelf.current(command.collection, call.check)
        listed = self.shelf.documents(collection, command.limit, command.offset)
        rows = [{"id": one.key, "title": one.title, "size": one.size} for one in listed.documents]

        def answer(room: int) -> Answer:
            shown = leading(rows, room - ENVELOPE_BYTES)
            end = command.offset + len(shown)
            more = {"nextOffset": end} if end < listed.total and shown else {}
            body = {
                **named(collection),
                "documents": shown,
                "total": listed.total,
                "hasMore": end < listed.total,
                **more,
                **_cut(len(shown) < len(rows)),
                **_state(freshness),
            }
            return json_answer(body)

        return fitting(call.page_tokens, answer)

    def _entry(
        self, command: commands.GetDocument | commands.GetOutline | commands.GetSection, call: Call
    ) -> tuple[Collection, IndexFreshness, IndexEntry]:
        """The document that a call names, in its collection, which is brought up to date first."""
        collection, freshness = self.shelf.current(command.collection, call.check)
        entry = self.shelf.document(collection, command.document, command.collection, freshness.stale)
        return collection, freshness, entry

    def document(self, command: commands.GetDocument, call: Call) -> Answer:
        """`documents_get_document`."""
        collection, freshness, entry = self._entry(command, call)
        body = {**named(collection), "document": entry.key, "title": entry.title, "size": entry.size}
        return json_answer({**body, "content": entry.text, **_state(freshness)})

    def outline(self, command: commands.GetOutline, call: Call) -> Answer:
        """`documents_get_outline`."""
        collection, freshness, entry = self._entry(command, call)
        rows = [
            {"level": one.level, "text": one.text[:MOST_HEADING], "line": one.line}
            for one in self.shelf.outline(entry, command.max_depth)
        ]

        def answer(room: int) -> Answer:
            shown = leading(rows, room - ENVELOPE_BYTES - weight(entry.title))
            body = {**named(collection), "document": entry.key, "title": entry.title, "outline": shown}
            return json_answer({**body, **_cut(len(shown) < len(rows)), **_state(freshness)})

        return fitting(call.page_tokens, answer)

    def section(self, command: commands.GetSection, call: Call) -> Answer:
        """`documents_get_section`; what is longer than an answer may be ends early, and says so."""
        collection, freshness, entry = self._entry(command, call)
        found = self.shelf.section(entry, command.section, command.subsections)
        row = {
            **named(collection),
            "document": entry.key,
            "section": found.heading[:MOST_HEADING],
            "level": found.level,
            "content": found.content,
            "startLine": found.start,
            "endLine": found.end,
            **_state(freshness),
        }
        return fitting(call.page_tokens, lambda room: json_answer(fitted([row], room)[0][0]))

    def search(self, command: commands.SearchDocuments, call: Call) -> Answer:
        """`documents_search`."""
        found = self.finder.search(command, call.check)
        tail, rows = _about(found, command.max_tokens), list(map(hit_body, found.answers[0].hits))

        def answer(room: int) -> Answer:
            shown, fewer = fitted(rows, _room(room, tail))
            return json_answer({"results": shown, **tail, **_cut(fewer)})

        return fitting(command.max_tokens, answer)

    def batch(self, command: commands.SearchBatch, call: Call) -> Answer:
        """`documents_search_batch`; all questions share one budget, rank by rank."""
        found = self.finder.batch(command, call.check)
        lists = [list(map(hit_body, answered.hits)) for answered in found.answers]
        tail = _about(found, command.max_tokens)
        return fitting(command.max_tokens, lambda room: _batch(found, lists, tail, room))

    def related(self, command: commands.FindRelated, call: Call) -> Answer:
        """`documents_find_related`."""
        collection, document, found = self.finder.related(command, call.check)
        head = {"source": {**named(collection), "document": document}}
        tail = _about(found, command.max_tokens)
        rows = [{"document": row.pop("documentId"), **row} for row in map(hit_body, found.answers[0].hits)]

        def answer(room: int) -> Answer:
            shown, fewer = fitted(rows, _room(room, [head, tail]))
            return json_answer({**head, "related": shown, **tail, **_cut(fewer)})

        return fitting(command.max_tokens, answer)

    def sync(self, command: commands.Sync, call: Call) -> Answer:
        """`documents_sync`."""
        wanted = () if command.collection is None else (command.collection,)
        chosen = self.shelf.chosen(wanted)

        outcomes = sync_all(self.shelf, chosen, report=_rising(call), check=call.check)
        if not wanted:
            outcomes = under_every_name(self.shelf, outcomes)
        problems = self.shelf.catalogue().problems
        body: Body = {"collections": [outcome_body(one) for one in outcomes]}
        return json_answer({**body, **({"warning": "; ".join(problems)} if problems else {})})


def _batch(found: SearchAnswers, lists: Sequence[Sequence[Body]], tail: Body, most: int) -> Answer:
    """The answers to several questions in `most` bytes."""
    heads = _heads(found, most)
    order = sorted((rank, number) for number, rows in enumerate(lists) for rank in range(len(rows)))
    room = _room(most, [tail, heads]) - len('"results":[],') * len(heads)
    rows, fewer = fitted([lists[number][rank] for rank, number in order], room, max(1, sum(map(bool, lists))))
    shown: list[list[Body]] = [[] for _ in lists]
    for (_, number), row in zip(order, rows, strict=False):
        shown[number].append(row)
    results = [
        {"query": head.pop("query"), "results": mine, **head} for head, mine in zip(heads, shown, strict=True)
    ]
    return json_answer({"results": results, **tail, **_cut(fewer)})


def _heads(found: SearchAnswers, room: int) -> list[Body]:
    """The questions as their answers repeat them; long ones are clipped where they leave too little room."""
    heads = [_head(one, found.embedder, commands.MAX_QUERY) for one in found.answers]
    if 2 * weight(heads) > room:
        most = max(10, room // (8 * len(heads)))
        heads = [_head(one, found.embedder, min(most, commands.MAX_QUERY)) for one in found.answers]
    return heads


def _head(answered: Answered, embedder: str, most: int) -> Body:
    """One question, why it failed, and what measured its distances if that is another embedder."""
    body: Body = {"query": answered.query[:most]}
    if answered.error is not None:
        body["error"] = answered.error[:most]
    if answered.embedder not in ("", embedder):
        body["embedder"] = answered.embedder
    return body


def _about(found: SearchAnswers, max_tokens: int) -> Body:
    """The fields of an answer that describe the index behind it."""
    warning = (found.warning or "")[: 2 * max_tokens]
    body: Body = {"embedder": found.embedder, **({"stale": True} if found.stale else {})}
    if found.semantic is not None:
        body["semantic"] = {"done": found.semantic.done, "total": found.semantic.total}
    return {**body, **({"warning": warning} if warning else {})}


def _state(freshness: IndexFreshness) -> Body:
    """The freshness of the index and the warnings for the caller."""
    warning = "; ".join(freshness.warnings)
    return {**({"stale": True} if freshness.stale else {}), **({"warning": warning} if warning else {})}


def _cut(was: bool) -> Body:
    return {"truncated": True} if was else {}


def _rising(call: Call) -> Callable[[int, int, str], None]:
    """A report of several collections as one progress that only rises."""
    before = last = whole = 0

    def report(done: int, total: int, document: str) -> None:
        nonlocal before, last, whole
        if done <= last:
            before, last = before + whole, 0
        last, whole = done, total
        n, of = before + done, before + total
        call.progress(n, of, f"{n} of {of}: {document}")

    return report


def _room(most: int, beside: Any) -> int:
    """The bytes that are left for rows."""
    return most - weight(beside) - 60
