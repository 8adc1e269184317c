"""The tools `export_context`, `get_context` and `export_entity_markdown`, and entities as resources.

Everything that names a field of an answer is here: `{ok, tool, data, bundleId, meta, diagnostics}`, and for
failures `{ok, tool, error: {code, message, details}}` with one of three codes. Answers are built as text and
read back, so that whoever changes an answer never changes what the bundle keeps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from attrs import evolve

from context_pack.bundles.exports import (
    EntityNeighbours,
    ExportContext,
    ExportMarkdown,
    GetContext,
    Target,
    export,
    fit_to_budget,
    look_around,
    neighbour_record,
    require,
    target_record,
    write_document,
)
from context_pack.bundles.loading import BundleShelf
from context_pack.bundles.markdown import MORE
from context_pack.bundles.model import Bundle, Entity, compact, exported
from context_pack.kernel.errors import Code, Failure, Kind, invalid
from context_pack.kernel.ports import Clock
from context_pack.kernel.yaml_documents import dump
from context_pack.toolkit.budget import room_of
from context_pack.toolkit.call import Call
from context_pack.toolkit.offers import ResourceFamily, ResourceText
from context_pack.toolkit.spec import Answer, FailedCall, Family, Tool, json_answer, shape, tool

EXPORT, NEAR, DOCUMENT = "export_context", "get_context", "export_entity_markdown"

EXPORT_ABOUT = """\
Export entities of a spec bundle (features, requirements, …) with all they depend on, their relations and \
JSON Schemas, as one complete snapshot."""
NEAR_ABOUT = (
    "Look up one entity of a spec bundle and its neighbours, both what it references and what references it."
)
DOCUMENT_ABOUT = (
    "Write one entity of a spec bundle, with what it depends on, as a readable Markdown document."
)
BARE_HINT = "entities marked truncated come without data: ask for each by its id, or includeRelated: summary"

BESIDE = 1_000
"""Room for the envelope of an answer: meta and diagnostics."""

ANSWER_SCHEMA = shape(
    ok="flag", tool="text", data="object", bundleId="text", meta="object", diagnostics="rows", error="object"
)


def bundle_error(failure: Failure, failed: FailedCall) -> Answer:
    """A failure in the shape that the three tools share."""
    callers_doing = failure.kind is Kind.VALIDATION or failure.code is Code.RATE_LIMITED
    code = "BAD_REQUEST" if callers_doing else "INTERNAL"
    code = "NOT_FOUND" if failure.code is Code.NOT_FOUND else code
    error = {"code": code, "message": failure.message, "details": dict(failure.details)}
    return json_answer({"ok": False, "tool": failed.tool, "error": error}, is_error=True)


FAMILY = Family("bundles", bundle_error)


def build(shelf: BundleShelf, clock: Clock) -> tuple[Tool, ...]:
    """The three tools over a shelf."""

    def export_context(command: ExportContext, _: Call) -> Answer:
        made = export(shelf.open(command.bundle_id), command, clock)
        text = _envelope(EXPORT, made.bundle_id, made.data, made.meta, made.diagnostics)
        value = json.loads(text)
        return Answer(text if command.format == "json" else dump(value), value)

    def get_context(command: GetContext, call: Call) -> Answer:
        bundle = shelf.open(command.bundle_id)
        return _neighbours(bundle, command, look_around(bundle, command), room_of(call.page_tokens) - BESIDE)

    def export_markdown(command: ExportMarkdown, call: Call) -> Answer:
        return _document(shelf.open(command.bundle_id), command, room_of(call.page_tokens) - BESIDE)

    long: dict[str, Any] = {"output_schema": ANSWER_SCHEMA, "long_answers": True}
    return (
        tool(EXPORT, "Export context", EXPORT_ABOUT, FAMILY, ExportContext, export_context, **long),
        evolve(
            tool(NEAR, "Entity and neighbours", NEAR_ABOUT, FAMILY, GetContext, get_context, **long),
            choose=_choose_near,
        ),
        tool(DOCUMENT, "Entity as Markdown", DOCUMENT_ABOUT, FAMILY, ExportMarkdown, export_markdown, **long),
    )


def _choose_near(arguments: Mapping[str, Any]) -> type:
    """The one command; who asks for a folder or file means another tool.

    Raises:
        Failure: `invalid_data`.
    """
    for name in ("path", "scope"):
        if name in arguments and "id" not in arguments:
            words = "get_context reads an entity of a bundle; query_context {scope} reads a folder's context"
            raise invalid(words, name)
    return GetContext


def _neighbours(bundle: Bundle, command: GetContext, around: EntityNeighbours, room: int) -> Answer:
    """`get_context` in so many bytes."""
    shown = around.neighbours
    ids = {name: kind.id_field for name, kind in bundle.kinds.items()}
    target = target_record(around.entity, ids[around.entity.type], command.fields)
    whole = [neighbour_record(one, ids[one.entity.type], command.include_related) for one in shown]
    related, bare = fit_to_budget(target, whole, room)
    meta = {
        "bundleId": bundle.id,
        "relatedCount": len(shown),
        "totalRelated": around.total,
        "truncated": around.total > len(shown) or bare > 0,
        "depth": command.depth,
        "maxRelated": command.max_related,
        "includeRelated": command.include_related,
        **({"withoutData": bare, "hint": BARE_HINT} if bare else {}),
    }
    entities = [around.entity, *(one.entity for one in shown)]
    return _answer(NEAR, bundle, {"target": target, "related": related}, meta, entities)


def _document(bundle: Bundle, command: ExportMarkdown, room: int) -> Answer:
    """`export_entity_markdown` in so many bytes."""
    made = write_document(bundle, command, room)
    data = {
        "markdown": made.markdown,
        "entityType": made.entity.type,
        "entityId": made.entity.id,
        "includedDependencies": [{"entityType": one.type, "id": one.id} for one in made.related],
    }
    meta = {
        "bundleId": bundle.id,
        "dependencyCount": len(made.related),
        "dependencyDepth": made.depth,
        "characterCount": len(made.markdown),
        "truncated": made.left_out > 0,
        **({"leftOut": made.left_out, "hint": MORE} if made.left_out else {}),
    }
    return _answer(DOCUMENT, bundle, data, meta, [made.entity, *made.related])


def _answer(
    name: str, bundle: Bundle, data: Mapping[str, Any], meta: Mapping[str, Any], shown: Sequence[Entity]
) -> Answer:
    """The envelope with the diagnostics of the entities that it shows, and a count of the others."""
    own, others = bundle.troubles_of(shown)
    counted = {"otherDiagnostics": others} if others else {}
    text = _envelope(name, bundle.id, compact(data), {**meta, **counted}, [one.record() for one in own])
    return Answer(text, json.loads(text))


def _envelope(
    name: str, bundle_id: str, data: str, meta: Mapping[str, Any], diagnostics: Sequence[Mapping[str, str]]
) -> str:
    head, tail = {"ok": True, "tool": name}, {"bundleId": bundle_id, "meta": meta, "diagnostics": diagnostics}
    return f'{compact(head)[:-1]},\n"data":{data},\n{compact(tail)[1:]}'


PREFIX, JSON = "context://bundle/", "application/json"


def resources(shelf: BundleShelf) -> ResourceFamily:
    """Entities as JSON. They are not listed: a bundle may have thousands, and a list would load them all."""

    def read(uri: str) -> ResourceText | None:
        parts = [unquote(part) for part in uri.removeprefix(PREFIX).split("/", 2)]
        if len(parts) < 3 or not all(parts):
            return None
        target = Target(entity_type=parts[1], entity_id=parts[2])
        (entity,) = require(shelf.open(parts[0]), [target])
        return ResourceText(uri, json.dumps(exported(entity), ensure_ascii=False, indent=2), JSON)

    about = "An entity of a bundle: its type, id, data and when it was last modified."
    uris = f"{PREFIX}{{bundle}}/{{type}}/{{id}}"
    return ResourceFamily(PREFIX, uris, "entity", "Bundle entity", about, JSON, tuple, read)
