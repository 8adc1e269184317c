"""Storing documents as they are read: a few at a time, each whole, counted once they are stored."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from context_pack.documents.domain.model import Changes, Failed, Text
from context_pack.documents.domain.sections import document_title, suffix_of
from context_pack.documents.ports import DocumentPorts
from context_pack.retrieval.chunking import chunks
from context_pack.retrieval.model import Entry

MOST_TITLE = 1000
BATCH_DOCUMENTS = 32
BATCH_CHARS = 400_000


def entry_of(corpus: str, found: Text) -> Entry:
    """The document as the index stores it."""
    suffix, title = suffix_of(found.document), document_title(found.document, found.text)[:MOST_TITLE]
    return Entry(
        corpus,
        found.document,
        found.digest,
        found.stamp,
        title,
        len(found.text),
        found.text,
        pieces=chunks(found.text, suffix=suffix, title=title, key=found.document),
    )


@define
class Storing:
    """One run over the documents of one collection."""

    ports: DocumentPorts
    corpus: str
    changes: Changes
    added: int = 0
    updated: int = 0
    failed: dict[str, tuple[str, str]] = field(factory=dict)
    make: Callable[[str, Text], Entry] = entry_of
    _batch: list[Entry] = field(factory=list, init=False)
    _stamps: dict[str, str] = field(factory=dict, init=False)
    _chars: int = field(default=0, init=False)

    def take(self, found: Text | Failed) -> None:
        """Deal with one document that was read."""
        known = self.changes.digests.get(found.document)
        if isinstance(found, Failed):
            survey = self.changes.survey
            file = survey.files.get(found.document) if survey is not None else None
            self.failed[found.document] = ("" if file is None else file.stamp, found.reason)
            if known is not None and not found.passing:
                self.ports.index.forget(self.corpus, [found.document])
            return
        if known == found.digest:
            self._stamps[found.document] = found.stamp
        else:
            try:
                entry = self.make(self.corpus, found)
            except Exception as error:  # a text that our own code cannot take apart keeps no other one out
                self.take(Failed(found.document, f"it cannot be taken apart ({type(error).__name__})"))
                return
            self._batch.append(entry)
            self._chars += len(found.text)
        if len(self._batch) + len(self._stamps) >= BATCH_DOCUMENTS or self._chars >= BATCH_CHARS:
            self.flush()

    def flush(self) -> None:
        """Store what was gathered; only what is stored is counted."""
        if self._stamps:
            self.ports.index.touch(self.corpus, self._stamps)
        if self._batch:
            self.ports.index.replace(self._batch)
            updated = sum(entry.key in self.changes.digests for entry in self._batch)
            self.updated += updated
            self.added += len(self._batch) - updated
        self._batch, self._stamps, self._chars = [], {}, 0
