"""The tools of the code family: `read_file`, `grep_codebase`, `code_outline` and `find_usages`.

Everything that names a JSON field of an answer is here; what a call means is in the use cases. An answer has
what fits its budget and says how to see the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import accumulate
from math import inf
from typing import Any

from attrs import asdict

from context_pack.code.access import AccessLog
from context_pack.code.grep import CodeSearch, FoundLines, GrepCodebase, LineHit, query_of
from context_pack.code.outline import INDENT, ROOT, CodeOutline, Outlined, Outliner, outline_lines
from context_pack.code.reading import (
    MAX_BYTES,
    WHOLE,
    Dependency,
    FileRead,
    FileReader,
    ReadFile,
    within_root,
)
from context_pack.code.roles import role_of
from context_pack.code.usages import FindUsages, Usage, UsageFinder, Usages
from context_pack.kernel.paths import RelativePath, module_of
from context_pack.kernel.ports import KnownNear
from context_pack.kernel.text import counted
from context_pack.kernel.times import file_time, format_instant
from context_pack.toolkit.budget import MORE, fit, json_size, room_of, size
from context_pack.toolkit.call import Call
from context_pack.toolkit.spec import READS, Answer, Family, Tool, json_answer, shape, tool, worded_error

FAMILY = Family("code", worded_error)
"""Errors of these tools are `{"error": text, …}`."""

READ_ABOUT = """\
Read a text file of the project, whole or a range of lines, with its language, size and role; on request \
with the files it imports. A long file comes in pages: `next` says how to go on."""

READ_SCHEMA = shape(
    more="text", known="texts", file="object", dependencies="rows", metadata="object", next="object",
    error="text",
)  # fmt: skip
"""What the three hold is in the contract: the list of tools has no room for it."""


def build(
    reader: FileReader,
    outliner: Outliner,
    search: CodeSearch | None,
    usages: UsageFinder | None,
    access: AccessLog | None,
    now: Callable[[], datetime],
    near: KnownNear,
) -> Iterator[Tool]:
    """The tools over these use cases, in the order in which clients list them."""
    yield outline_tool(outliner, near)
    if usages is not None and search is not None:
        yield usages_tool(usages)
        yield grep_tool(search)
    yield read_tool(reader, access, now, near)


def read_tool(
    reader: FileReader, access: AccessLog | None, now: Callable[[], datetime], near: KnownNear
) -> Tool:
    """`read_file` with what is known there."""

    def run(command: ReadFile, call: Call) -> Answer:
        tokens = call.page_tokens if command.max_tokens is None else command.max_tokens
        # As many tokens as a file may have bytes: then it is wanted whole.
        room = room_of(tokens) if tokens < MAX_BYTES else WHOLE
        known = near(RelativePath.lenient(command.path).value, 1, inf, call.check)
        read = reader.read(command, call.check, room - (json_size(known) if known else 0))
        if known and read.span is not None:
            known = near(read.source.path.value, read.span.start, read.span.end, call.check)
        if access is not None:
            access.record(read.source.path, now())
        return json_answer(_read_record(command, read, known))

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


def _read_record(command: ReadFile, read: FileRead, known: Sequence[str]) -> dict[str, Any]:
    """The file and what it imports; of a part that was asked for, only the part and where it is."""
    source, span = read.source, read.span
    is_part = (command.symbol, command.start_line, command.end_line) != (None, None, None)
    is_short = is_part and read.external is None
    file = {
        "path": source.path.value,
        "content": read.content,
        "size": None if is_short else source.size,
        "lines": read.lines,
        "language": None if is_short else read.language,
        "range": None if span is None else {"startLine": span.start, "endLine": span.end},
    }
    metadata = {
        "module": module_of(source.path),
        "role": role_of(source.path, read.language).value,
        "lastModified": format_instant(file_time(source.modified_ns), whole_seconds=True),
        "external": None if read.external is None else list(read.external),
    }
    record = {
        "more": "; ".join(_more(command, read)) or None,
        "known": known or None,
        "file": _without_none(file),
        "dependencies": None if is_short else list(map(_dependency, read.dependencies)),
        "metadata": None if is_short else _without_none(metadata),
    }
    return {**_without_none(record), **_next(read)}


def _without_none(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if value is not None}


def _more(command: ReadFile, read: FileRead) -> Iterator[str]:
    """What a page leaves out, for the top of it; some clients cut the end of a long answer off."""
    if command.start_line is not None and command.start_line > read.lines:
        lines = counted(read.lines, "line")
        last = "; this is the last" if read.lines else ""
        yield f"startLine {command.start_line} is beyond the end: the file has {lines}{last}"
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
    record = {"path": dependency.path, "type": "import", "level": 1, **asdict(dependency)}
    if dependency.omitted is None:
        del record["omitted"]
    return record


GREP_ABOUT = """\
Search the project's text files for a regular expression, line by line; respects .gitignore. Matches come \
with line, column and two lines of context; context 0 is far shorter."""
_NARROW = "narrow the pattern or filePattern"

GREP_SCHEMA = shape(
    matches="rows", totalMatches="whole", filesSearched="whole", pattern="text", searchTime="whole",
    truncated="flag", more="text", message="text", error="text",
)  # fmt: skip


def grep_tool(engine: CodeSearch) -> Tool:
    """`grep_codebase` over a search engine."""

    def run(command: GrepCodebase, call: Call) -> Answer:
        return json_answer(_grep_record(command, engine.search(query_of(command), call)))

    return tool(
        "grep_codebase",
        "Search the code",
        GREP_ABOUT,
        FAMILY,
        GrepCodebase,
        run,
        READS,
        output_schema=GREP_SCHEMA,
        long_answers=True,
        slow=True,
        budget="maxTokens",
        search_hint="grep the codebase: search code for text or a regular expression",
    )


def _grep_record(command: GrepCodebase, lines: FoundLines) -> dict[str, Any]:
    over = ""
    if lines.unsearched:
        over = f"the time was over after {lines.files} of {lines.files + lines.unsearched} files; {_NARROW}"
    skipped = _skipped(lines.skipped)
    if not lines.total:
        none = f"No matches found for pattern '{command.pattern}'{f'; {skipped}' if skipped else ''}"
        return {
            "matches": [],
            "totalMatches": 0,
            "filesSearched": lines.files,
            "message": f"{none} so far: {over}" if over else none,
            **({"truncated": True} if over else {}),
        }
    rows = [_match(hit, command.context) for hit in lines.hits] if command.context else by_file(lines.hits)
    body: dict[str, Any] = {
        "matches": rows,
        "pattern": command.pattern,
        "totalMatches": lines.total,
        "filesSearched": lines.files,
        "searchTime": lines.milliseconds,
    }
    how = f"{'ask with context 0, or ' if command.context else ''}{_NARROW} to see the others"
    body = fit(body, "matches", room_of(command.max_tokens), lambda _: how, cut_last=not command.context)
    count = sum(len(row.get("lines", [row])) for row in body["matches"])
    if MORE in body:  # a row may be a file with many matches
        body[MORE] = f"{count} of {len(lines.hits)} matches are here; {how}"
    if over or skipped:
        body = {"message": f"These are not all matches: {over}" if over else skipped, **body}
    return {**body, "truncated": True} if count < lines.total or over else body


def _skipped(paths: Sequence[str]) -> str:
    """Which files of code were not searched, in words."""
    if not paths:
        return ""
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return f"not searched, too large or not UTF-8: {', '.join(paths[:3])}{more}"


def by_file(hits: Sequence[LineHit]) -> list[dict[str, Any]]:
    """The matching lines of each file as `line: text`."""
    files: dict[str, list[str]] = {}
    for hit in hits:
        files.setdefault(hit.path, []).append(f"{hit.line}: {hit.text}")
    return [{"file": path, "lines": lines} for path, lines in files.items()]


def _match(hit: LineHit, most: int) -> dict[str, Any]:
    """The hit with so many lines around it."""
    around = {"before": list(hit.before[-most:]), "after": list(hit.after[:most])}
    return {"file": hit.path, "line": hit.line, "column": hit.column, "text": hit.text, "context": around}


OUTLINE_ABOUT = """\
The definitions of a file or folder as an indented list with line ranges and signatures. Call it before \
reading a long file."""
USAGES_ABOUT = """\
Where a name is defined and used, outside comments and strings, by file with the definition around each use. \
By name, not by type."""
MOST_UNPARSED = 10


def outline_tool(outliner: Outliner, near: KnownNear) -> Tool:
    """`code_outline` over the source tree, with what is known of the file or folder."""

    def run(command: CodeOutline, call: Call) -> Answer:
        outlined = outliner.outline(command, call)
        place = within_root(command.path)
        known = near("." if place is None else place.value, 1, inf, call.check)
        said = ["Known here:", *(f"{INDENT}{each}" for each in known)] if known else []
        return Answer("\n".join([*outlined_lines(command, outlined), *said]))

    return tool(
        "code_outline", "Outline code", OUTLINE_ABOUT, FAMILY, CodeOutline, run, READS,
        slow=True, budget="maxTokens",
    )  # fmt: skip


def usages_tool(finder: UsageFinder) -> Tool:
    """`find_usages` over the source tree."""

    def run(command: FindUsages, call: Call) -> Answer:
        return Answer(usages_within(finder.find(command, call), room_of(call.page_tokens)))

    return tool("find_usages", "Find usages", USAGES_ABOUT, FAMILY, FindUsages, run, READS, slow=True)


def outlined_lines(command: CodeOutline, outlined: Outlined) -> Iterator[str]:
    """An outline as a list; a first line says what is missing and how to see it."""
    if outlined.cut or outlined.left:
        missing = " and ".join(
            ["more definitions"] * outlined.cut + [f"{outlined.left} more files"] * (outlined.left > 0)
        )
        why, how = f"cut at maxTokens {command.max_tokens}", "path, query or depth, or raise maxTokens"
        if outlined.timed_out:
            why, how = "out of time", "path"
        yield f"[{why}: {missing} not shown; narrow {how}]"
    if not outlined.complete:
        yield "[the tree is too large to be listed whole; name a folder]"
    for outline in outlined.outlines:
        yield from outline_lines(outline)
    if not outlined.timed_out and not any(outline.definitions for outline in outlined.outlines):
        asked = f" whose name contains '{command.query}'" if command.query else ""
        yield f"No definitions{asked} in {'the project' if command.path == ROOT else command.path}."


def usages_within(usages: Usages, room: int) -> str:
    """Usages as a list in so many bytes: half of them for definitions, if the uses need the rest.

    One definition and one use are shown in any case.
    """
    room -= size("\n".join(usage_lines(usages, 0, 0))) + 20  # counts have more digits than 0
    definitions = [size(_definition(usage)) + 1 for usage in _definitions(usages)]
    uses = [
        size(_use(usage, before)) + 1 + (0 if before and usage.path == before.path else size(usage.path) + 1)
        for before, usage in zip([None, *usages.uses], usages.uses, strict=False)
    ]
    first = _fitting(definitions[: usages.limit], max(room // 2, room - sum(uses)))
    return "\n".join(usage_lines(usages, first, _fitting(uses, room - sum(definitions[:first]))))


def _fitting(sizes: Sequence[int], room: int) -> int:
    """How many of the first fit, but one at least."""
    return max(1, sum(total <= room for total in accumulate(sizes)))


def _definitions(usages: Usages) -> Sequence[Usage]:
    """The definitions that a page may show: they stand on the first one."""
    return () if usages.offset else usages.definitions


def _definition(usage: Usage) -> str:
    """A definition; its name is in its head, if nothing is around it."""
    qualified = f" {usage.inside}" if "." in usage.inside else ""
    return f"defined {usage.path}:{usage.line}{qualified}: {usage.text}"


def _use(usage: Usage, before: Usage | None) -> str:
    """A use with what it is in, unless that stands with the use before it."""
    same = before is not None and (usage.path, usage.inside) == (before.path, before.inside)
    return f"{INDENT}{usage.line}{f' in {usage.inside}' if usage.inside and not same else ''}: {usage.text}"


def usage_lines(usages: Usages, first: int, most: int) -> Iterator[str]:
    """So many definitions and uses as a list by file, definitions first."""
    known = _definitions(usages)
    definitions, uses = known[:first], usages.uses[:most]
    counts = f"{counted(len(usages.definitions), 'definition')}, {counted(usages.total, 'use')}"
    yield f"{usages.name}: {counts}"
    cut = [f"{len(definitions)} of {len(known)} definitions"] * (len(definitions) < len(known))
    if len(uses) < usages.total or not usages.complete:
        cut.append(f"{len(uses)} of {'at least ' * (not usages.complete)}{usages.total} uses")
    end = usages.offset + len(uses)
    way = f"narrow path{f', or go on with offset {end}' * (end < usages.total)}"
    if usages.complete and 0 < usages.total <= usages.offset:
        way = f"offset {usages.offset} is past the last"
    how = f"[{' and '.join(cut)} shown; {way}]"
    if cut:
        yield how
    if usages.unsearched:
        late = counted(usages.unsearched, "more file")
        yield f"[the time was over before {late} could be searched; narrow path]"
    for usage in definitions:
        yield _definition(usage)
    for before, usage in zip([None, *uses], uses, strict=False):
        if before is None or usage.path != before.path:
            yield usage.path
        yield _use(usage, before)
    if usages.unparsed:
        named = ", ".join(
            f"{path} ({count})" for path, count in list(usages.unparsed.items())[:MOST_UNPARSED]
        )
        more = len(usages.unparsed) - MOST_UNPARSED
        yield f"Not parsed, with matching lines: {named}{f' and {more} more files' if more > 0 else ''}"
    if end < usages.total:
        yield how
