"""Texts that a team shares: the documents of collections, and the excerpts that refs were anchored to.

Whoever has the files of a shared collection publishes them, and everybody indexes the copy.

The database keeps the texts and nothing else, so that a shared collection is searched and ranked as every
other one is, in the local index, and still is while the database cannot be reached.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, LiteralString

from attrs import asdict, frozen
from psycopg.types.json import Jsonb

from context_pack.documents.model import DocumentText, Failed, SourceDescription, Survey
from context_pack.documents.ports import CollectionSource
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ports import Clock
from context_pack.packs.anchors import digest_of
from context_pack.packs.ports import EXCERPT_BYTES, IDLE_SECONDS
from context_pack.retrieval.upkeep import File
from context_pack_adapters.postgres.connection import Database, Link

_LOCK_SECONDS = 10.0
_READ_AT_ONCE = 200
_COLLECTION: LiteralString = """
    SELECT stamp::text, about FROM context_pack.cp_collections
    WHERE project = %(project)s AND alias = %(alias)s"""
_FILES: LiteralString = """
    SELECT path, digest, length(content) FROM context_pack.cp_documents
    WHERE project = %(project)s AND alias = %(alias)s"""
_TEXTS: LiteralString = """
    SELECT path, digest, content FROM context_pack.cp_documents
    WHERE project = %(project)s AND alias = %(alias)s AND path = ANY(%(paths)s::bytea[])"""
_PUBLISH: LiteralString = """
    INSERT INTO context_pack.cp_collections (project, alias, about)
    VALUES (%(project)s, %(alias)s, %(about)s)
    ON CONFLICT (project, alias) DO UPDATE SET about = excluded.about, stamp = gen_random_uuid()"""
_PUT: LiteralString = """
    INSERT INTO context_pack.cp_documents (project, alias, path, digest, content)
    VALUES (%(project)s, %(alias)s, %(path)s, %(digest)s, %(content)s)
    ON CONFLICT (project, alias, path) DO UPDATE SET digest = excluded.digest, content = excluded.content"""
_REMOVE: LiteralString = """
    DELETE FROM context_pack.cp_documents
    WHERE project = %(project)s AND alias = %(alias)s AND path = ANY(%(paths)s::bytea[])"""

_GET_EXCERPTS: LiteralString = """
    SELECT left(digest, 16), text FROM context_pack.cp_excerpts
    WHERE project = %(project)s AND left(digest, 16) = ANY(%(digests)s)"""
_PUT_EXCERPTS: LiteralString = """
    INSERT INTO context_pack.cp_excerpts (project, digest, text)
    SELECT %(project)s, digest, text
    FROM unnest(%(digests)s::text[], %(texts)s::bytea[]) AS given (digest, text)
    ON CONFLICT (project, digest) DO UPDATE SET text = excluded.text, at = clock_timestamp()
    RETURNING digest"""
_REMOVE_EXCERPTS: LiteralString = """
    DELETE FROM context_pack.cp_excerpts
    WHERE project = %(project)s AND left(digest, 16) = ANY(%(digests)s)
    RETURNING digest"""
_IDLE_EXCERPTS: LiteralString = """
    SELECT left(digest, 16) FROM context_pack.cp_excerpts
    WHERE project = %(project)s
      AND at < coalesce(%(now)s::timestamptz, clock_timestamp()) - make_interval(secs => %(seconds)s)"""


@frozen(eq=False)
class SharedCollection:
    """A `CollectionSource` whose documents are in the team's database, under the collection's alias."""

    _database: Database
    _alias: str

    def survey(self, since: str = "") -> Survey | None:
        """What was published last; None if that is what it was at the signature `since`."""
        rows = self._database.rows(_COLLECTION, **self._values())
        if not rows:
            words = (
                "is shared, and nobody has synced it yet: whoever has its files runs 'context-pack docs sync'"
            )
            raise Failure(Code.NOT_FOUND, f'collection "{self._alias}" {words}')
        ((stamp, about),) = rows
        if stamp == since:
            return None
        return Survey(SourceDescription(**about), self._files(), signature=stamp)

    def _files(self) -> dict[str, File]:
        rows = self._database.rows(_FILES, **self._values())
        return {_text(path): File(digest, size) for path, digest, size in rows}

    def read(self, documents: Sequence[str]) -> Iterator[DocumentText | Failed]:
        """The contents of these documents."""
        for start in range(0, len(documents), _READ_AT_ONCE):
            paths = [_bytes(path) for path in documents[start : start + _READ_AT_ONCE]]
            for path, digest, content in self._database.rows(_TEXTS, **self._values(paths=paths)):
                yield DocumentText(_text(path), _text(content), digest, digest)

    def publish(self, source: CollectionSource) -> None:
        """Make the shared documents those of a source; a document that cannot be read stays as it was.

        Raises:
            Failure: the source or the database cannot be had; what was published before stays.
        """
        survey = source.survey()
        assert survey is not None
        there = self._files()
        gone = [_bytes(path) for path in there.keys() - survey.files.keys()]
        changed = [
            one
            for one in source.read(list(survey.files))
            if isinstance(one, DocumentText)
            and (one.document not in there or there[one.document].stamp != one.digest)
        ]

        def work(link: Link) -> None:
            link.run(_PUBLISH, **self._values(about=Jsonb(asdict(survey.about))))
            link.run(_REMOVE, **self._values(paths=gone))
            rows = [
                self._values(
                    project=link.project,
                    path=_bytes(one.document),
                    digest=one.digest,
                    content=_bytes(one.text),
                )
                for one in changed
            ]
            link.cursor().executemany(_PUT, rows)

        if gone or changed or not self._database.rows(_COLLECTION, **self._values()):
            self._database.change(work, f"{self._alias}.lock", _LOCK_SECONDS)

    def _values(self, **values: Any) -> dict[str, Any]:
        return {"alias": self._alias, **values}


@frozen(eq=False)
class PostgresExcerptStore:
    """An `ExcerptStore` in the table `cp_excerpts`; losing a text costs a comparison and nothing else."""

    _database: Database
    _clock: Clock | None = None

    def texts(self, digests: Collection[str]) -> Mapping[str, str]:
        """The texts with these digests, but for those that are not there, or cannot be had now."""
        rows = self._database.tried(_GET_EXCERPTS, digests=list(digests)) if digests else ()
        texts = {digest: _text(data) for digest, data in rows}
        return {digest: text for digest, text in texts.items() if digest_of(text) == digest}

    def put(self, texts: Mapping[str, str]) -> None:
        """Keep texts by their digests, but for those that are too long."""
        encoded = {digest: _bytes(text) for digest, text in texts.items()}
        small = {digest: data for digest, data in encoded.items() if len(data) <= EXCERPT_BYTES}
        if small:
            self._database.rows(_PUT_EXCERPTS, digests=list(small), texts=list(small.values()))

    def remove(self, digests: Iterable[str]) -> None:
        """Remove texts; what is not there, or cannot be removed now, is no error."""
        gone = list(digests)
        if gone:
            self._database.tried(_REMOVE_EXCERPTS, digests=gone)

    def idle(self) -> Collection[str]:
        """The digests of texts that were written more than an hour ago."""
        now: datetime | None = None if self._clock is None else self._clock.now()
        return [digest for (digest,) in self._database.tried(_IDLE_EXCERPTS, now=now, seconds=IDLE_SECONDS)]


def _bytes(text: str) -> bytes:
    """Names and texts as bytes: a `text` column takes neither NUL nor half characters."""
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")
