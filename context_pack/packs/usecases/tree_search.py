"""What the rest of the tree holds of some refs: copies of their text and definitions of their names.

One walk for all refs of a call, bounded in time and in text, that says whether it saw everything. A text that
is known is looked for by its `probes`; one of which only the anchor is known by the hashes of its ends, as in
`places`, until a first file has it. Only files that hold every part of a name are parsed for it. A file that
was found to hold nothing is not read again while it is as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from attrs import define, field

from context_pack.kernel.languages import language_of
from context_pack.kernel.lines import LineRange
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FileNames, Reason, Stamp
from context_pack.kernel.syntax import Syntax, name_parts
from context_pack.kernel.text import sha256_hex
from context_pack.packs.domain.anchors import Anchor
from context_pack.packs.domain.ladder import Elsewhere, Text, at, is_copy, named
from context_pack.packs.domain.model import Ref
from context_pack.packs.domain.places import MOST_PLACES
from context_pack.packs.domain.probes import Probes
from context_pack.packs.domain.source import SourceText, length_of
from context_pack.packs.domain.states import Resolution, State

Texts = Callable[[Iterable[RelativePath], bool], Iterator[tuple[RelativePath, SourceText | Reason]]]
Unheld = tuple[RelativePath, Stamp | None]
"""A file that does not hold something, as it was then."""
Keys = frozenset[str]
"""What is looked for: digests of texts, names of definitions."""
MOST_COPIES = 1_000
"""Places of one text in one file that are looked at; only blank lines and braces have more."""


@define(eq=False)
class _SearchedRef:
    """A ref to look for, and what was found of it so far."""

    ref: Ref
    anchor: Anchor
    excerpt: str | None = None
    copies: list[Resolution] = field(factory=list)
    namesakes: list[Resolution] = field(factory=list)
    complete: bool = True


@define
class TreeSearch:
    """Looks through the files of a tree; `go_on` says no when its time is over."""

    names: FileNames
    texts: Texts
    """Reads files one after the other; the flag says if they will be asked for again."""
    go_on: Callable[[], bool]
    syntax: Syntax
    without: Mapping[RelativePath, Keys] = field(factory=dict)
    """Files that need not be read, by what they are known not to hold."""
    note: Callable[[Iterable[Unheld], Keys], None] = lambda _, __: None
    """Called for files that do not contain a searched text or name."""
    kept: Callable[[Collection[str]], Mapping[str, str]] = lambda _: {}
    """The texts with these digests, as far as they are kept."""
    complete: bool = field(init=False)
    """Whether everything was looked at."""

    def __attrs_post_init__(self) -> None:
        self.complete = self.names.complete

    def elsewhere(self, refs: Iterable[tuple[Ref, bool]]) -> dict[Ref, Elsewhere]:
        """What the tree holds of each ref outside its file; the flag says if its definition is wanted too."""
        wanted = dict(refs)
        sought = [_SearchedRef(ref, ref.anchor) for ref in wanted if ref.anchor is not None]
        self._at_same_lines(sought)
        unknown = [one for one in sought if one.excerpt is None]
        kept = self.kept({one.anchor.digest for one in unknown})
        for one in unknown:
            one.excerpt = kept.get(one.anchor.digest)
        self._copies(sought)
        self._namesakes([one for one in sought if wanted[one.ref] and not one.copies])
        return {
            one.ref: Elsewhere(one.copies, one.namesakes, self.complete and one.complete, one.excerpt)
            for one in sought
        }

    def _sources(
        self, paths: Iterable[RelativePath], keep: bool
    ) -> Iterator[tuple[RelativePath, SourceText]]:
        """Every one of these files that can be read, while there is time."""
        for path, text in self.texts(paths, keep):
            if not self.go_on():
                self.complete = False
                return
            if isinstance(text, SourceText):
                yield path, text

    def _every(self, keys: Keys) -> Iterator[tuple[RelativePath, SourceText]]:
        """Every file that may hold one of these."""
        paths = [RelativePath(path) for paths in self.names.paths.values() for path in paths]
        if self.without:
            paths = [path for path in paths if not keys <= self.without.get(path, frozenset())]
        return self._sources(paths, keep=False)

    def _at_same_lines(self, sought: Iterable[_SearchedRef]) -> None:
        """Look in files of the same name on the same lines first: most moved files match there."""
        alike = _grouped((one.ref.path.name, one) for one in sought)
        paths = (path for name in alike for path in self.names.named(name))
        for path, source in self._sources(paths, keep=True):
            for one in alike[path.name]:
                lines = one.ref.lines
                cut = source.cut(lines.start, lines.end) if path != one.ref.path else None
                if cut is not None and sha256_hex(cut) == one.anchor.digest:
                    one.excerpt = cut

    def _copies(self, sought: Sequence[_SearchedRef]) -> None:
        known = Probes[_SearchedRef]()
        for one in sought:
            if one.excerpt is not None:
                known.add(one.excerpt, one)
        unknown = _grouped((one.anchor.first, one) for one in sought if one.excerpt is None)
        keys = frozenset(one.anchor.digest for one in sought)
        without: list[Unheld] = []
        for path, source in self._every(keys) if sought else ():
            for one, one.excerpt in dict(_by_ends(source, unknown)).items() if unknown else ():
                known.add(one.excerpt, one)
                unknown[one.anchor.first].remove(one)
                if not unknown[one.anchor.first]:
                    del unknown[one.anchor.first]
            found = known.found(source.text)
            for one in found:
                _add_copies(one, path, source)
            if not found:
                without.append((path, source.stamp))
        self.note(without, keys)

    def _namesakes(self, sought: Sequence[_SearchedRef]) -> None:
        by_name = _grouped((one.anchor.symbol.name, one) for one in sought if one.anchor.symbol is not None)
        for text, here in self.defining(by_name):
            for one in (one for name in here for one in by_name[name] if one.ref.path != text.path):
                place = named(one.anchor, text)
                if place is not None:
                    one.namesakes.append(place)

    def defining(
        self, names: Collection[str], paths: Collection[RelativePath] | None = None
    ) -> Iterator[tuple[Text, list[str]]]:
        """The files, of these or all, that can be parsed and hold all parts of a name, with those names."""
        parts, keys = {name: name_parts(name) for name in names}, frozenset(names)
        chosen: list[tuple[RelativePath, SourceText, list[str]]] = []
        without: list[Unheld] = []
        every = paths is None and bool(parts)
        for path, source in self._every(keys) if every else self._sources(paths or (), keep=False):
            here = [name for name, words in parts.items() if all(word in source.text for word in words)]
            if here and self.syntax.knows(language_of(path.value)):
                chosen.append((path, source, here))
            else:
                without.append((path, source.stamp))
        self.note(without, keys)
        parsed = self.syntax.parse_all((language_of(path.value), text.text) for path, text, _ in chosen)
        for (path, source, here), found in zip(chosen, parsed, strict=False):
            if not self.go_on():
                self.complete = False
                return
            yield Text(path, source, found.definitions), here

    def words_like(self, name: str) -> dict[str, list[RelativePath]]:
        """The words that begin like a name and are about as long, with their files that can be parsed."""
        first = re.escape(name[0].lower() + name[0].upper())
        # Looking back from the first letter takes a third of the time of a search for the end of a word.
        pattern = re.compile(rf"[{first}](?<!\w.)\w{{{max(0, len(name) - 3)},{len(name) + 1}}}\b")
        paths = [RelativePath(path) for paths in self.names.paths.values() for path in paths]
        parsed = (path for path in paths if self.syntax.knows(language_of(path.value)))
        files: dict[str, list[RelativePath]] = {}
        for path, source in self._sources(parsed, keep=False):
            for word in set(pattern.findall(source.text)):
                files.setdefault(word, []).append(path)
        return files


def _grouped(pairs: Iterable[tuple[str, _SearchedRef]]) -> dict[str, list[_SearchedRef]]:
    groups: dict[str, list[_SearchedRef]] = {}
    for key, one in pairs:
        groups.setdefault(key, []).append(one)
    return groups


def _by_ends(
    source: SourceText, unknown: Mapping[str, Sequence[_SearchedRef]]
) -> Iterator[tuple[_SearchedRef, str]]:
    """The refs whose text is in a file, with that text, found by hashes of first and last line."""
    lines, lengths = source.lines, frozenset(map(length_of, unknown))
    for start, line in enumerate(lines):
        if len(line) not in lengths:
            continue
        for one in unknown.get(source.fingerprints[line], ()):
            end = start + one.anchor.lines
            if end <= len(lines) and source.fingerprints[lines[end - 1]] == one.anchor.last:
                text = "\n".join(lines[start:end])
                if sha256_hex(text) == one.anchor.digest:
                    yield one, text


def _add_copies(one: _SearchedRef, path: RelativePath, source: SourceText) -> None:
    if path == one.ref.path or len(one.copies) >= MOST_PLACES or one.excerpt is None:
        return
    if path.name.startswith(one.anchor.digest):
        return  # what some store kept of it, and no source
    starts = list(islice(source.occurrences(one.excerpt), MOST_COPIES))
    one.complete = one.complete and len(starts) < MOST_COPIES
    for start in starts:
        lines = LineRange(start, start + one.anchor.lines - 1)
        if is_copy(one.anchor, one.excerpt, lines, source):
            one.copies.append(at(State.MOVED, path, lines, one.excerpt))
