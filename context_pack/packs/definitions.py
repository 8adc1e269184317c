"""A definition's lines from its name, and what is wrong with the lines that a ref points at.

A name that no definition has, or several, gives no lines and is refused; what is near is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

from context_pack.kernel.errors import Failure, invalid
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason, near_paths
from context_pack.kernel.syntax import Definition, name_parts, named, with_bodies
from context_pack.kernel.text import MAX_LINES, MOST_NEAR, LineRange, close, counted
from context_pack.packs.anchors import SourceText
from context_pack.packs.claims import blocks_of
from context_pack.packs.model import Pack, Ref
from context_pack.packs.resolving import Resolver
from context_pack.packs.states import WORDS

Place = tuple[RelativePath, LineRange]
_FILE = re.compile(r"(?<!`)`((?:[\w@+~.-]+/)+[\w@+~.-]+\.\w+)`(?!`)")


def find_definition(symbol: str, path: RelativePath | None, resolver: Resolver) -> Place:
    """The file and lines of the definition of that name, in a file or in the tree.

    Raises:
        Failure: `invalid_data`, field `symbol` or `path`; `details.near` names what is near.
    """
    sources, complete = resolver.defining(symbol) if path is None else ([_file(path, resolver)], True)
    places = _definitions(symbol, sources)
    if not places and complete:
        names = {name for source in sources for name in source.names}
        if path is None:
            names |= resolver.names_like(symbol)
        last = name_parts(symbol)[-1]
        near = close(symbol, names) or sorted(name for name in names if name_parts(name)[-1] == last)
        raise _refusal(f"nothing called '{symbol}' is defined in {path or 'the project'}", near)
    near = [f"{each.qualified} in {source.path}, lines {each.start}-{each.end}" for source, each in places]
    if len(places) > 1:
        raise _refusal(f"'{symbol}' is defined {len(places)} times; give path and lines", near)
    if not complete:
        times = "found once" if places else "not found"
        raise _refusal(f"'{symbol}' was {times} before the time was over, with files left; give 'path'", near)
    ((source, definition),) = places
    if definition.end - definition.start >= MAX_LINES:
        raise invalid(f"'{symbol}' has more than {MAX_LINES} lines; give lines of it", "symbol")
    return source.path, LineRange(definition.start, definition.end)


def _definitions(symbol: str, sources: Iterable[SourceText]) -> list[tuple[SourceText, Definition]]:
    places = [(source, each) for source in sources for each in named(source.definitions, symbol)]
    parts = name_parts(symbol)
    places = [place for place in places if name_parts(place[1].qualified) == parts] or places
    doing = with_bodies([(each, source.lines) for source, each in places])
    return [place for place in places if any(place[1] is each for each in doing)]


def definition_count(symbol: str, resolver: Resolver) -> int:
    """How many definitions of the tree have that name."""
    return len(_definitions(symbol, resolver.defining(symbol)[0]))


def warning_of(ref: Ref, resolver: Resolver) -> str | None:
    """A warning if the lines of a ref do not exist, with near suggestions; else None."""
    source = resolver.file(ref.path)
    if isinstance(source, SourceText):
        end, lines = source.count, ref.lines
        if lines.end <= end:
            return None
        near = [f"{lines.start}-{end}"] if lines.start <= end else []
        return f"lines {lines} do not exist: {ref.path} has {counted(end, 'line')}{_did_you_mean(near)}"
    if source is not Reason.MISSING:
        return f"{ref.path} cannot be shown: {WORDS[source]}"
    return f"{ref.path} does not exist{_did_you_mean(near_paths(ref.path, resolver.names()))}"


def absent_files(pack: Pack, resolver: Resolver) -> dict[str, str]:
    """What prose calls by the path of a source file in backticks, and is none, each with what is near."""
    texts = (block.text for section in pack.sections for block in blocks_of(section.description))
    absent: list[RelativePath] = []
    for written in dict.fromkeys(path for text in texts for path in _FILE.findall(text)):
        with suppress(Failure):  # of what cannot be a path
            path = RelativePath(written)
            if resolver.syntax.knows(language_of(written)) and not resolver.tree.is_file(path):
                absent.append(path)
    if not absent:
        return {}
    names = resolver.names()
    return {
        str(path): f"{path} does not exist{_did_you_mean(near_paths(path, names))}"
        for path in absent
        if not any(str(each).endswith(f"/{path}") for each in names.named(path.name))
    }


def _file(path: RelativePath, resolver: Resolver) -> SourceText:
    source = resolver.file(path)
    if isinstance(source, SourceText):
        return source
    near = near_paths(path, resolver.names()) if source is Reason.MISSING else []
    raise invalid(f"'path' cannot be read: {WORDS[source]}{_did_you_mean(near)}", "path", near=near)


def _did_you_mean(near: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _refusal(words: str, near: Sequence[str]) -> Failure:
    return invalid(f"{words}{_did_you_mean(near[:MOST_NEAR])}", "symbol", near=list(near[:MOST_NEAR]))
