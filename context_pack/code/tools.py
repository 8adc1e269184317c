"""The tool `read_file`; the others of the code family are in `search_tools` and `outline_tools`.

Everything that names a JSON field of `read_file`'s answer is here; what a call means is in the use case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from math import inf
from typing import Any

from context_pack.code.domain.roles import role_of
from context_pack.code.family import FAMILY
from context_pack.code.ports import AccessLog
from context_pack.code.usecases.read_file import MAX_BYTES, WHOLE, Dependency, FileRead, FileReader, ReadFile
from context_pack.kernel.instants import file_time, format_instant
from context_pack.kernel.paths import RelativePath, module_of
from context_pack.kernel.ports import KnownNear, nothing_known
from context_pack.toolkit.budget import json_size, room_of
from context_pack.toolkit.call import Call
from context_pack.toolkit.shapes import shape
from context_pack.toolkit.spec import READS, Answer, Tool, json_answer, tool

READ_ABOUT = """\
Read a text file of the project, whole or a range of lines, with its language, size and role; on request \
with the files it imports. A long file comes in pages: `next` says how to go on."""

READ_SCHEMA = shape(
    more="text", known="texts", file="object", dependencies="rows", metadata="object", next="object",
    error="text",
)  # fmt: skip
"""What the three hold is in the contract: the list of tools has no room for it."""


def read_tool(
    reader: FileReader, access: AccessLog | None, now: Callable[[], datetime], near: KnownNear = nothing_known
) -> Tool:
    """`read_file` with what is known there; that a file was read is recorded after the reply has gone."""

    def run(command: ReadFile, call: Call) -> Answer:
        tokens = call.page_tokens if command.max_tokens is None else command.max_tokens
        # As many tokens as a file may have bytes: then it is wanted whole.
        room = room_of(tokens) if tokens < MAX_BYTES else WHOLE
        known = near(RelativePath.lenient(command.path).value, 1, inf, call.check)
        read = reader.read(command, call.check, room - (json_size(known) if known else 0))
        if known and read.span is not None:
            known = near(read.source.path.value, read.span.start, read.span.end, call.check)
        if access is not None:
            call.after(lambda: access.record(read.source.path, now()))
        return json_answer(_record(read, known))

    return tool(
        "read_file",
        "Read a file",
        READ_ABOUT,
        FAMILY,
        ReadFile,
        run,
        READS,
        output_schema=READ_SCHEMA,
        long_answers=True,
        budget="maxTokens",
    )


def _record(read: FileRead, known: Sequence[str]) -> dict[str, Any]:
    source = read.source
    file: dict[str, Any] = {
        "path": source.path.value,
        "content": read.content,
        "size": source.size,
        "lines": read.lines,
        "language": read.language,
    }
    if read.span is not None:
        file["range"] = {"startLine": read.span.start, "endLine": read.span.end}
    metadata: dict[str, Any] = {
        "module": module_of(source.path),
        "role": role_of(source.path, read.language).value,
        "lastModified": format_instant(file_time(source.modified_ns), whole_seconds=True),
    }
    if read.external is not None:
        metadata["external"] = list(read.external)
    about = {"known": known} if known else {}
    whole = {
        **about,
        "file": file,
        "dependencies": list(map(_dependency, read.dependencies)),
        "metadata": metadata,
    }
    more = "; ".join(_more(read))
    return {"more": more, **whole, **_next(read)} if more else whole


def _more(read: FileRead) -> Iterator[str]:
    """What a page leaves out, for the top of it; some clients cut the end of a long answer off."""
    if read.span is not None and (read.rest is not None or read.cut):
        yield f"lines {read.span.start}-{read.span.end} of {read.lines}"
    if read.span is not None and read.cut:
        yield f"line {read.span.start} is too long and lacks its last {read.cut} characters"
    if read.rest is not None:
        yield f"continue with startLine {read.rest}{f' and endLine {read.until}' if read.until else ''}"
    if read.unnamed:
        yield f"{read.unnamed} imports are not named"


def _next(read: FileRead) -> dict[str, Any]:
    if read.rest is None:
        return {}
    end = {} if read.until is None else {"endLine": read.until}
    return {"next": {"path": read.source.path.value, "startLine": read.rest, **end}}


def _dependency(dependency: Dependency) -> dict[str, Any]:
    record: dict[str, Any] = {
        "path": dependency.path,
        "type": "import",
        "level": dependency.level,
        "language": dependency.language,
        "size": dependency.size,
        "lines": dependency.lines,
        "content": dependency.content,
    }
    if dependency.omitted is not None:
        record["omitted"] = dependency.omitted
    return record
