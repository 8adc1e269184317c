"""The tools `context_record` and `context_search`: everything that names a JSON field of their answers.

Errors are `{"error": text, …}`, and a search that fails inside names its fallback. Code is shown by its head
and the lines that matter. An answer has the results that fit its budget, the last of them perhaps only in
part, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ports import KnownNear
from context_pack.memory.discovery import ID_CHARS, Discovery, place_shown
from context_pack.memory.entries import CODE, DISCOVERY, PACK
from context_pack.memory.record import (
    COMMANDS,
    ContextRecord,
    ForgetDiscovery,
    ListDiscoveries,
    Recorder,
)
from context_pack.memory.search import ContextSearch, FoundInMemory, MemorySearcher, check_query, excerpt
from context_pack.retrieval.model import FoundPiece, Progress, Ranked
from context_pack.retrieval.words import tokens
from context_pack.toolkit.budget import fit, room_of
from context_pack.toolkit.call import Call
from context_pack.toolkit.spec import (
    READS,
    WRITES,
    Answer,
    FailedCall,
    Family,
    Tool,
    json_answer,
    shape,
    worded_error,
)

SEARCH = "context_search"
SEARCH_FAILED = "Search failed"
FALLBACK = "Try using grep_codebase for text search"
_INSIDE = frozenset({Code.INTERNAL, Code.IO_ERROR, Code.LOCK_TIMEOUT, Code.MALFORMED_DISCOVERY})


def memory_error(failure: Failure, failed: FailedCall) -> Answer:
    """A failure as the tools of this family word it."""
    if failed.tool == SEARCH and failure.code in _INSIDE:
        body = {"error": SEARCH_FAILED, "message": failure.message, "fallback": FALLBACK, **failure.details}
        return json_answer(body, is_error=True)
    return worded_error(failure, failed)


FAMILY = Family("memory", memory_error)


RECORD_ABOUT = "Remember a discovery for later sessions; list or forget what you recorded."
NONE_HERE = "nothing was recorded in this session; context_search finds what others recorded"
RECORD_SCHEMA = shape(
    id="text", merged="flag", code="object", discoveries="rows", forgotten="text", error="text",
    message="text",
)  # fmt: skip


def record_tool(recorder: Recorder) -> Tool:
    """`context_record`."""

    def run(command: ContextRecord | ListDiscoveries | ForgetDiscovery, _: Call) -> Answer:
        if isinstance(command, ListDiscoveries):
            rows = [
                {"id": each.id[:ID_CHARS], "type": each.type.value, "content": each.content, **_about(each)}
                for each in recorder.own(command)
            ]
            return json_answer({"discoveries": rows, **({} if rows else {"message": NONE_HERE})})
        if isinstance(command, ForgetDiscovery):
            return json_answer({"forgotten": recorder.forget_own(command)[:ID_CHARS]})
        recorded = recorder.record(command)
        own_id = recorded.discovery.id[:ID_CHARS]
        return json_answer({"id": own_id, "merged": recorded.merged, **_about(recorded.discovery)})

    return Tool(
        name="context_record",
        title="Record a discovery",
        description=RECORD_ABOUT,
        family=FAMILY,
        annotations=WRITES,
        commands=COMMANDS,
        choose=lambda arguments: COMMANDS.get(str(arguments.get("action", "record")), ContextRecord),
        run=run,
        output_schema=RECORD_SCHEMA,
        mutates=lambda arguments: arguments.get("action") != "list",
        selector={"type": "string", "enum": list(COMMANDS), "description": "record when absent"},
        search_hint="project memory: remember a decision, rule, pattern or issue",
    )


def _about(discovery: Discovery) -> dict[str, Any]:
    """The code that a discovery is about."""
    return {} if discovery.code is None else {"code": place_shown(discovery.code, None)}


SEARCH_ABOUT = """\
Search discoveries, sessions, packs and code by meaning and name. For exact text: grep_codebase."""
PARTIAL = "not all is indexed yet ({done} of {total} files): ask again soon, or use grep_codebase"
REST = "ask for less (sources, module or a smaller limit), or raise maxTokens, to see the others whole"

SEARCH_SCHEMA = shape(
    partial="text", more="text", results="rows", query="text", totalFound="whole", searchTime="number",
    indexing="object", semantic="object", mode="text", warning="text", error="text", message="text",
    fallback="text",
)  # fmt: skip


def search_tool(searcher: MemorySearcher, near: KnownNear) -> Tool:
    """`context_search`; code comes with what is known of it."""

    def choose(arguments: Mapping[str, Any]) -> type:
        check_query(arguments.get("query"))
        return ContextSearch

    def run(command: ContextSearch, call: Call) -> Answer:
        def tell(done: int, total: int) -> None:
            call.progress(done, total, f"indexing: {done} of {total} files")

        found = searcher.search(command, call.check, tell)
        return json_answer(_searched(command, found, partial(_known_of, near, call.check)))

    return Tool(
        name=SEARCH,
        title="Search memory",
        description=SEARCH_ABOUT,
        family=FAMILY,
        annotations=READS,
        commands={SEARCH: ContextSearch},
        choose=choose,
        run=run,
        output_schema=SEARCH_SCHEMA,
        slow=True,
        budget="maxTokens",
        search_hint="project memory: search code, past decisions, discoveries, sessions and packs by meaning",
    )


def _searched(
    command: ContextSearch, search: FoundInMemory, known: Callable[[Ranked], dict[str, Any]]
) -> dict[str, Any]:
    words = tokens(command.query)
    rows = [{**shortened(hit, words), **known(hit)} for hit in search.hits]
    progress = {name: {"done": each.done, "total": each.total} for name, each in _unfinished(search)}
    record: dict[str, Any] = {
        **progress,
        "results": rows,
        "query": command.query,
        "totalFound": search.total,
        "searchTime": search.milliseconds,
    }
    if search.more:
        record["totalIsLowerBound"] = True
    if search.indexing is not None:
        record = {"partial": PARTIAL.format(**progress["indexing"]), **record}
    if search.keyword_only:
        record["mode"] = "keyword"
    if search.warnings:
        record["warning"] = "; ".join(search.warnings)
    return fit(record, "results", room_of(command.max_tokens), lambda _: REST, cut_last=True)


def _known_of(near: KnownNear, check: Callable[[], None], hit: Ranked) -> dict[str, Any]:
    """What is known of the lines of a hit, if it is code."""
    found = hit.found
    known = near(found.key, found.start, found.end, check) if found.corpus == CODE else ()
    return {"known": known} if known else {}


def _unfinished(search: FoundInMemory) -> Iterator[tuple[str, Progress]]:
    """How far the index and the semantic vectors are, as long as they are incomplete."""
    for name, progress in (("indexing", search.indexing), ("semantic", search.semantic)):
        if progress is not None:
            yield name, progress


def shortened(hit: Ranked, words: Sequence[str]) -> dict[str, Any]:
    """One result; of code only the head and the lines that hold the words of the question."""
    record = result(hit)
    if hit.found.corpus == CODE:
        shown = excerpt(hit.found.text, words)
        record |= {} if shown == hit.found.text else {"content": shown, "excerpt": True}
    return record


def result(hit: Ranked) -> dict[str, Any]:
    """One result; which fields it has depends on where it was found."""
    found, score = hit.found, round(hit.relevance, 4)
    if found.corpus == CODE:
        return _code(found, score)
    facts = dict(found.entry_facts)
    name = found.key[:ID_CHARS] if found.corpus == DISCOVERY else found.key
    record: dict[str, Any] = {"id": name, "type": facts.pop("type", found.corpus), "content": found.text}
    if found.corpus == DISCOVERY:
        module = facts.pop("module", None)
        if "supersededBy" in facts:
            facts["supersededBy"] = str(facts["supersededBy"])[:ID_CHARS]
        record |= {} if module is None else {"module": module}
    elif found.corpus == PACK and found.module:
        record["module"] = found.module
    return {**record, **facts, "score": score, "source": found.corpus}


def _code(found: FoundPiece, score: float) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": f"{found.key}#L{found.start}-L{found.end}",
        "type": CODE,
        "content": found.text,
        "module": found.module,
        "path": found.key,
        "startLine": found.start,
        "endLine": found.end,
    }
    if found.heading:
        record["symbol"] = found.heading
    return {**record, "score": score, "source": CODE}
