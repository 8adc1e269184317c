"""What refs were anchored to, in the table `cp_excerpts`; losing one costs a comparison and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import LiteralString

from context_pack.kernel.ports import Clock
from context_pack.kernel.text import sha256_hex
from context_pack.packs.ports import EXCERPT_BYTES, IDLE_SECONDS
from context_pack_adapters.postgres.connection import Database

_GET: LiteralString = """
    SELECT digest, text FROM context_pack.cp_excerpts
    WHERE project = %(project)s AND digest = ANY(%(digests)s)"""
_PUT: LiteralString = """
    INSERT INTO context_pack.cp_excerpts (project, digest, text)
    SELECT %(project)s, digest, text
    FROM unnest(%(digests)s::text[], %(texts)s::bytea[]) AS given (digest, text)
    ON CONFLICT (project, digest) DO UPDATE SET text = excluded.text, at = clock_timestamp()
    RETURNING digest"""
_REMOVE: LiteralString = """
    DELETE FROM context_pack.cp_excerpts WHERE project = %(project)s AND digest = ANY(%(digests)s)
    RETURNING digest"""
_IDLE: LiteralString = """
    SELECT digest FROM context_pack.cp_excerpts
    WHERE project = %(project)s
      AND at < coalesce(%(now)s::timestamptz, clock_timestamp()) - make_interval(secs => %(seconds)s)"""


class PostgresExcerptStore:
    """An `ExcerptStore` in a database."""

    def __init__(self, database: Database, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock

    def texts(self, digests: Collection[str]) -> Mapping[str, str]:
        """The texts with these digests, but for those that are not there, or cannot be had now."""
        rows = self._database.tried(_GET, digests=list(digests)) if digests else ()
        found = {digest: data.decode("utf-8", "surrogatepass") for digest, data in rows}
        return {digest: text for digest, text in found.items() if sha256_hex(text) == digest}

    def put(self, texts: Mapping[str, str]) -> None:
        """Keep texts by their digests, but for those that are too long."""
        encoded = {digest: text.encode("utf-8", "surrogatepass") for digest, text in texts.items()}
        small = {digest: data for digest, data in encoded.items() if len(data) <= EXCERPT_BYTES}
        if small:
            self._database.rows(_PUT, {"digests": list(small), "texts": list(small.values())})

    def remove(self, digests: Iterable[str]) -> None:
        """Remove texts; what is not there, or cannot be removed now, is no error."""
        gone = list(digests)
        if gone:
            self._database.tried(_REMOVE, digests=gone)

    def idle(self) -> Collection[str]:
        """The digests of texts that were written more than an hour ago."""
        now: datetime | None = None if self._clock is None else self._clock.now()
        return [digest for (digest,) in self._database.tried(_IDLE, now=now, seconds=IDLE_SECONDS)]
