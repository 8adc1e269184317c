"""The tool `context_record`: everything that names a JSON field of its answers.

Apart from `context_search`, so that recording loads nothing that searches.
"""

from __future__ import annotations

from context_pack.memory.domain.code_place import shown
from context_pack.memory.family import FAMILY
from context_pack.memory.usecases.record import ContextRecord, Recorder
from context_pack.toolkit.call import Call
from context_pack.toolkit.shapes import shape
from context_pack.toolkit.spec import ADDS, Answer, Tool, json_answer, tool

RECORD_ABOUT = "Remember a discovery for later sessions."
RECORD_SCHEMA = shape(id="text", merged="flag", code="object", error="text")


def record_tool(recorder: Recorder) -> Tool:
    """`context_record`."""

    def run(command: ContextRecord, _: Call) -> Answer:
        recorded = recorder.record(command)
        code = recorded.discovery.code
        about = {} if code is None else {"code": shown(code, None)}
        return json_answer({"id": recorded.discovery.id, "merged": recorded.merged, **about})

    return tool(
        "context_record",
        "Record a discovery",
        RECORD_ABOUT,
        FAMILY,
        ContextRecord,
        run,
        ADDS,
        output_schema=RECORD_SCHEMA,
        mutates=lambda _: True,
        search_hint="project memory: remember a decision, rule, pattern or issue",
    )
