"""The source files of one call: read once while they are kept, parsed when definitions are asked for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import define, field

from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason, SourceFile, SourceTree, Unreadable
from context_pack.kernel.syntax import Definition, Syntax
from context_pack.packs.domain.following import Text
from context_pack.packs.domain.source import SourceText

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
        """Read files that will be asked for, quicker than one by one, as far as they are kept until then."""
        new = [path for path in dict.fromkeys(paths) if path not in self._texts]
        most = self._chars + MOST_TEXT_CHARS // 2
        for path, read in zip(new, self.tree.read_all(new, self.max_bytes), strict=True):
            self.check()
            self._keep(path, _text_of(read))
            if self._chars > most:
                return

    def read_all(self, paths: Iterable[RelativePath]) -> Iterator[tuple[RelativePath, SourceText | Reason]]:
        """The text of each of some listed files, which are not kept."""
        asked = list(paths)
        known = {path: self._texts[path] for path in asked if path in self._texts}
        reading = self.tree.read_all([path for path in asked if path not in known], self.max_bytes, True)
        for path in asked:
            yield path, known[path] if path in known else _text_of(next(reading))

    def _keep(self, path: RelativePath, text: SourceText | Reason) -> None:
        self._texts[path] = text
        self._chars += _weight(text)
        while self._chars > MOST_TEXT_CHARS and len(self._texts) > 1:
            self._chars -= _weight(self._texts.popitem(last=False)[1])


def _text_of(read: SourceFile | Unreadable) -> SourceText | Reason:
    return read.reason if isinstance(read, Unreadable) else SourceText(read.text)


def _weight(text: SourceText | Reason) -> int:
    return len(text.text) if isinstance(text, SourceText) else 0
