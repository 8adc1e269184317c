"""The source files of one call, read once while they are kept; and what a tree holds of texts and names.

One walk over the tree serves all refs of a call, and says whether it saw everything. A text is known by its
longest line: files without that line are passed over. Only files that hold every part of a name are parsed.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from attrs import define, field, frozen

from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FileNames, Reason, SourceFile, SourceTree, Unreadable
from context_pack.kernel.syntax import Definition, Syntax, name_parts
from context_pack.kernel.text import LineRange
from context_pack.packs.anchors import SourceText
from context_pack.packs.following import Text
from context_pack.packs.model import CodeLocation

MOST_TEXT_CHARS = 64 * 1024 * 1024
"""How much text one call keeps."""


@define
class SourceFiles:
    """Reads files for one call; `check` raises when nobody wants them any more."""

    tree: SourceTree
    max_bytes: int
    check: Callable[[], None]
    syntax: Syntax
    _texts: OrderedDict[RelativePath, SourceText | Reason] = field(factory=OrderedDict, init=False)
    _chars: int = field(default=0, init=False)
    _parsed: dict[RelativePath, Sequence[Definition]] = field(factory=dict, init=False)

    def parsed(self, path: RelativePath) -> Text | Reason:
        """A file with its definitions."""
        text = self.text(path)
        return text if isinstance(text, Reason) else Text(path, text, self.definitions(path, text))

    def definitions(self, path: RelativePath, source: SourceText) -> Sequence[Definition]:
        """The definitions of a file with this text."""
        if path not in self._parsed:
            language = language_of(path.value)
            known = self.syntax.knows(language)
            self._parsed[path] = self.syntax.parse(language, source.text).definitions if known else ()
        return self._parsed[path]

    def text(self, path: RelativePath) -> SourceText | Reason:
        """The text of a file, read once while it is kept."""
        self.check()
        if path not in self._texts:
            self._keep(path, _text_of(self.tree.read(path, self.max_bytes)))
        return self._texts[path]

    def fetch(self, paths: Iterable[RelativePath]) -> None:
        """Read files that will be asked for, as far as they are kept until then."""
        new = [path for path in dict.fromkeys(paths) if path not in self._texts]
        most = self._chars + MOST_TEXT_CHARS // 2
        for path in new:
            self.check()
            self._keep(path, _text_of(self.tree.read(path, self.max_bytes)))
            if self._chars > most:
                return

    def read_all(self, paths: Iterable[RelativePath]) -> Iterator[tuple[RelativePath, SourceText | Reason]]:
        """The text of each of some listed files, which are not kept."""
        for path in paths:
            known = self._texts.get(path)
            yield path, _text_of(self.tree.read(path, self.max_bytes)) if known is None else known

    def _keep(self, path: RelativePath, text: SourceText | Reason) -> None:
        self._texts[path] = text
        self._chars += _weight(text)
        while self._chars > MOST_TEXT_CHARS and len(self._texts) > 1:
            self._chars -= _weight(self._texts.popitem(last=False)[1])


def _text_of(read: SourceFile | Unreadable) -> SourceText | Reason:
    return read.reason if isinstance(read, Unreadable) else SourceText(read.text)


def _weight(text: SourceText | Reason) -> int:
    return len(text.text) if isinstance(text, SourceText) else 0


MOST_COPIES = 32
"""Places of one text that are looked at; only what tells nothing has more."""
Texts = Callable[[Iterable[RelativePath]], Iterator[tuple[RelativePath, SourceText | Reason]]]


@frozen
class Held:
    """Where texts stand, by their digests, and files that hold the parts of names, by these."""

    copies: Mapping[str, list[CodeLocation]]
    defining: Mapping[str, list[Text]]


@define
class TreeSearch:
    """Looks through the files of a tree; `go_on` says no when its time is over."""

    names: FileNames
    texts: Texts
    """Reads files one after the other."""
    go_on: Callable[[], bool]
    syntax: Syntax
    stopped: bool = field(init=False)
    """Whether it was stopped before everything was looked at."""
    unread: RelativePath | None = field(default=None, init=False)
    """A file that could not be read, for a reason that may pass."""

    def __attrs_post_init__(self) -> None:
        self.stopped = not self.names.complete

    def _sources(self, paths: Iterable[RelativePath]) -> Iterator[tuple[RelativePath, SourceText]]:
        """Every one of these files that can be read, while there is time."""
        for path, text in self.texts(paths):
            if not self.go_on():
                self.stopped = True
                return
            if isinstance(text, SourceText):
                yield path, text
            elif text is Reason.IO:
                self.unread = self.unread or path

    def _every(self) -> list[RelativePath]:
        return [RelativePath(path) for paths in self.names.paths.values() for path in paths]

    def holding(self, texts: Mapping[str, str], names: Collection[str]) -> Held:
        """Where these texts stand, up to a few places, and the parsed files that hold all parts of a name."""
        by_line: dict[str, list[str]] = {}
        for digest, text in texts.items():
            by_line.setdefault(max(text.split("\n"), key=len), []).append(digest)
        parts = {name: name_parts(name) for name in names}
        copies: dict[str, list[CodeLocation]] = {}
        chosen: list[tuple[RelativePath, SourceText, list[str]]] = []
        for path, source in self._sources(self._every()) if texts or names else ():
            for line in by_line.keys() & set(source.lines) if by_line else ():
                for digest in by_line[line]:
                    _add_copies(copies.setdefault(digest, []), path, source, digest, texts[digest])
            here = [name for name, words in parts.items() if all(word in source.text for word in words)]
            if here and self.syntax.knows(language_of(path.value)):
                chosen.append((path, source, here))
        defining: dict[str, list[Text]] = {}
        parsed = self.syntax.parse_all((language_of(path.value), source.text) for path, source, _ in chosen)
        for (path, source, here), found in zip(chosen, parsed, strict=False):
            if not self.go_on():
                self.stopped = True
                break
            for name in here:
                defining.setdefault(name, []).append(Text(path, source, found.definitions))
        return Held(copies, defining)

    def words_like(self, name: str) -> dict[str, list[RelativePath]]:
        """The words that begin like a name and are about as long, with their files that can be parsed."""
        first = re.escape(name[0].lower() + name[0].upper())
        # Looking back from the first letter takes a third of the time of a search for the end of a word.
        pattern = re.compile(rf"[{first}](?<!\w.)\w{{{max(0, len(name) - 3)},{len(name) + 1}}}\b")
        parsed = (path for path in self._every() if self.syntax.knows(language_of(path.value)))
        files: dict[str, list[RelativePath]] = {}
        for path, source in self._sources(parsed):
            for word in set(pattern.findall(source.text)):
                files.setdefault(word, []).append(path)
        return files


def _add_copies(
    places: list[CodeLocation], path: RelativePath, source: SourceText, digest: str, text: str
) -> None:
    """Add the places of a text in a file, unless it is what a store kept of it, and no source."""
    if len(places) >= MOST_COPIES or path.name.startswith(digest):
        return
    last = text.count("\n")
    for start in islice(source.occurrences(text), MOST_COPIES):
        places.append(CodeLocation(path, LineRange(start, start + last)))
