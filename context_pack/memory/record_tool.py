"""The tool `context_record`: everything that names a JSON field of its answers.

Apart from `context_search`, so that recording loads nothing that searches.
"""

from __future__ import annotations

from context_pack.memory.family import FAMILY
from context_pack.memory.usecases.record import ContextRecord, Recorder
from context_pack.toolkit.call import Call
from context_pack.toolkit.shapes import shape
from context_pack.toolkit.spec import ADDS, Answer, Tool, json_answer, tool

RECORD_ABOUT = "Remember a discovery for later sessions."
RECORD_SCHEMA = shape(id="text", merged="flag", error="text")


def record_tool(recorder: Recorder) -> Tool:
    """`context_record`."""

    def run(command: ContextRecord, _: Call) -> Answer:
        recorded = recorder.record(command)
        return json_answer({"id": recorded.discovery.id, "merged": recorded.merged})

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
    )
