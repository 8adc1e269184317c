"""The tools `code_outline` and `find_usages`: their words, and their answers as lists to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import inf

from context_pack.code.domain.outline import INDENT, outline_lines
from context_pack.code.family import FAMILY
from context_pack.code.usecases.outline import ROOT, CodeOutline, Outlined, Outliner
from context_pack.code.usecases.read_file import within_root
from context_pack.code.usecases.usages import FindUsages, Usage, UsageFinder, Usages
from context_pack.kernel.ports import KnownNear, nothing_known
from context_pack.kernel.sentences import counted
from context_pack.toolkit.budget import room_of, size
from context_pack.toolkit.call import Call
from context_pack.toolkit.spec import READS, Answer, Tool, tool

OUTLINE_ABOUT = """\
The definitions of a file or folder as an indented list with line ranges and signatures. Call it before \
reading a long file."""
USAGES_ABOUT = """\
Where a name is defined and used, outside comments and strings, by file with the definition around each use. \
By name, not by type."""
MOST_UNPARSED = 10


def outline_tool(outliner: Outliner, near: KnownNear = nothing_known) -> Tool:
    """`code_outline` over the source tree, with what is known of the file or folder."""

    def run(command: CodeOutline, call: Call) -> Answer:
        in_time = call.request_id is not None  # commands and the library have all the time
        outlined = outliner.outline(command, call.check, in_time)
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
    """Usages as a list in so many bytes, or in the few more that one definition and one use take."""
    room -= size("\n".join(usage_lines(usages, 0, 0))) + 20  # counts have more digits than 0
    definitions = [size(_definition(usage)) + 1 for usage in _definitions(usages)[: usages.limit]]
    paths = [None, *(usage.path for usage in usages.uses)]
    uses = [
        size(_use(usage)) + 1 + (0 if usage.path == before else size(usage.path) + 1)
        for usage, before in zip(usages.uses, paths, strict=False)
    ]
    first = _fitting(definitions, max(room // 2, room - sum(uses)))
    return "\n".join(usage_lines(usages, first, _fitting(uses, room - sum(definitions[:first]))))


def _fitting(sizes: Sequence[int], room: int) -> int:
    """How many of the first fit, but one at least."""
    return max(1, sum(total <= room for total in accumulate(sizes)))


def _definitions(usages: Usages) -> Sequence[Usage]:
    """The definitions that a page may show: they stand on the first one."""
    return () if usages.offset else usages.definitions


def _definition(usage: Usage) -> str:
    return f"defined {usage.path}:{usage.line} {usage.inside}: {usage.text}"


def _use(usage: Usage) -> str:
    return f"{INDENT}{usage.line}{f' in {usage.inside}' if usage.inside else ''}: {usage.text}"


def usage_lines(usages: Usages, first: int, most: int) -> Iterator[str]:
    """So many definitions and uses as a list by file, definitions first."""
    known = _definitions(usages)
    definitions, uses = known[:first], usages.uses[:most]
    counts = f"{counted(len(usages.definitions), 'definition')}, {counted(usages.total, 'use')}"
    yield f"{usages.name}: {counts}; by name, not by type"
    cut = [f"{len(definitions)} of {len(known)} definitions"] * (len(definitions) < len(known))
    if len(uses) < usages.total or not usages.complete:
        cut.append(f"{len(uses)} of {'at least ' * (not usages.complete)}{usages.total} uses")
    end = usages.offset + len(uses)
    how = f"[{' and '.join(cut)} shown; narrow path{f', or go on with offset {end}' * (end < usages.total)}]"
    if cut:
        yield how
    if usages.unsearched:
        late = counted(usages.unsearched, "more file")
        yield f"[the time was over before {late} could be searched; narrow path]"
    for usage in definitions:
        yield _definition(usage)
    last = None
    for usage in uses:
        if usage.path != last:
            last = usage.path
            yield usage.path
        yield _use(usage)
    if usages.unparsed:
        named = ", ".join(
            f"{path} ({count})" for path, count in list(usages.unparsed.items())[:MOST_UNPARSED]
        )
        more = len(usages.unparsed) - MOST_UNPARSED
        yield f"Not parsed, with matching lines: {named}{f' and {more} more files' if more > 0 else ''}"
    if end < usages.total:
        yield how
