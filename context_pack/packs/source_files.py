"""The source files of one call, read once while they are kept; and what the tree holds of texts and names.

One walk over the tree serves all refs of a call, and says whether it saw everything. A text is known by its
longest line: files without that line are passed over. Only files that hold every part of a name are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from math import inf

from attrs import define, field

from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FileNames, Reason, SourceTree, Unreadable
from context_pack.kernel.syntax import Definition, Syntax, name_parts
from context_pack.kernel.text import LineRange
from context_pack.packs.anchors import SourceText
from context_pack.packs.following import Text
from context_pack.packs.model import CodeLocation

MOST_TEXT_CHARS = 64 * 1024 * 1024
"""How much text one call keeps."""
MOST_COPIES = 32
"""Places of one text that are looked at; only what tells nothing has more."""


@define
class Held:
    """What the tree holds: places of texts, by their digests; files with the parts of names, by these."""

    copies: dict[str, list[CodeLocation]] = field(factory=dict)
    defining: dict[str, list[Text]] = field(factory=dict)
    stopped: bool = False
    """Whether the search was stopped before everything was looked at."""
    unread: RelativePath | None = None
    """A file that could not be read, for a reason that may pass."""


@define
class SourceFiles:
    """Reads and searches files for one call; `check` raises when nobody wants them any more."""

    tree: SourceTree
    max_bytes: int
    check: Callable[[], None]
    syntax: Syntax
    monotonic: Callable[[], float] = lambda: 0.0
    seconds: float = inf
    """How long all searches of the tree together may take."""
    _texts: dict[RelativePath, SourceText | Reason] = field(factory=dict, init=False)
    _chars: int = field(default=0, init=False)
    _parsed: dict[RelativePath, Sequence[Definition]] = field(factory=dict, init=False)
    _end: float | None = field(default=None, init=False)
    _names: FileNames | None = field(default=None, init=False)

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
            text = self._read(path)
            if self._chars > MOST_TEXT_CHARS:
                self._texts.clear()
                self._chars = 0
            self._texts[path] = text
            self._chars += len(text.text) if isinstance(text, SourceText) else 0
        return self._texts[path]

    def _read(self, path: RelativePath) -> SourceText | Reason:
        read = self.tree.read(path, self.max_bytes)
        return read.reason if isinstance(read, Unreadable) else SourceText(read.text)

    def go_on(self) -> bool:
        """Whether there is time left to search.

        Raises:
            Cancelled: the caller does not want the answer any more.
        """
        self.check()
        if self._end is None:
            self._end = self.monotonic() + self.seconds
        return self.monotonic() <= self._end

    def names(self, *, quick: bool = False) -> FileNames:
        """Files of the tree, as many as there is time for; with `quick`, those that are known or at hand."""
        if quick:
            return self._names or self.tree.names()
        if self._names is None or not self._names.complete:
            self._names = self.tree.names(self.go_on)
        return self._names

    def _sources(
        self, held: Held, wanted: Callable[[RelativePath], bool] = lambda _: True
    ) -> Iterator[tuple[RelativePath, SourceText]]:
        """Every file that can be read, while there is time; those not kept already are not kept now."""
        names = self.names()
        held.stopped = not names.complete
        for path in filter(wanted, (RelativePath(path) for paths in names.paths.values() for path in paths)):
            text = self._texts.get(path) or self._read(path)
            if not self.go_on():
                held.stopped = True
                return
            if isinstance(text, SourceText):
                yield path, text
            elif text is Reason.IO:
                held.unread = held.unread or path

    def holding(self, texts: Mapping[str, str], names: Collection[str]) -> Held:
        """Where these texts stand, up to a few places, and the parsed files that hold all parts of a name."""
        held = Held()
        by_line: dict[str, list[str]] = {}
        for digest, text in texts.items():
            by_line.setdefault(max(text.split("\n"), key=len), []).append(digest)
        parts = {name: name_parts(name) for name in names}
        chosen: list[tuple[RelativePath, SourceText, list[str]]] = []
        for path, source in self._sources(held):
            for line in by_line.keys() & set(source.lines) if by_line else ():
                for digest in by_line[line]:
                    _add_copies(held.copies.setdefault(digest, []), path, source, digest, texts[digest])
            here = [name for name, words in parts.items() if all(word in source.text for word in words)]
            if here and self.syntax.knows(language_of(path.value)):
                chosen.append((path, source, here))
        parsed = self.syntax.parse_all((language_of(path.value), source.text) for path, source, _ in chosen)
        for (path, source, here), found in zip(chosen, parsed, strict=False):
            if not self.go_on():
                held.stopped = True
                break
            for name in here:
                held.defining.setdefault(name, []).append(Text(path, source, found.definitions))
        return held

    def words_like(self, name: str) -> tuple[dict[str, list[RelativePath]], bool]:
        """Words that begin like a name and are about as long, with their files; and if all were looked at."""
        held, files = Held(), dict[str, list[RelativePath]]()
        first = re.escape(name[0].lower() + name[0].upper())
        # Looking back from the first letter takes a third of the time of a search for the end of a word.
        pattern = re.compile(rf"[{first}](?<!\w.)\w{{{max(0, len(name) - 3)},{len(name) + 1}}}\b")
        for path, source in self._sources(held, lambda path: self.syntax.knows(language_of(path.value))):
            for word in set(pattern.findall(source.text)):
                files.setdefault(word, []).append(path)
        return files, not held.stopped


def _add_copies(
    places: list[CodeLocation], path: RelativePath, source: SourceText, digest: str, text: str
) -> None:
    """Add the places of a text in a file, unless it is what a store kept of it, and no source."""
    if len(places) < MOST_COPIES and not path.name.startswith(digest):
        last = text.count("\n")
        for start in islice(source.occurrences(text), MOST_COPIES):
            places.append(CodeLocation(path, LineRange(start, start + last)))
