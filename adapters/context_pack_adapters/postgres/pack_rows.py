"""The statements of `pack_store`: every one a constant with parameters."""

from __future__ import annotations

from datetime import timedelta
from typing import LiteralString

from context_pack_adapters.stores.pack_store import TRASH_DAYS

KEPT = timedelta(days=TRASH_DAYS)
"""So long a pack can be restored after its time is over, as with files."""

# `now` is NULL but in tests: then the database's own clock judges.
_LIVE: LiteralString = (
    "project = %(project)s AND expires_at > coalesce(%(now)s::timestamptz, clock_timestamp())"
)
_OVER: LiteralString = (
    "project = %(project)s AND expires_at <= coalesce(%(now)s::timestamptz, clock_timestamp())"
)
_TOO_OLD: LiteralString = """
    too_old AS (
      UPDATE context_pack.cp_history SET body = NULL
      WHERE project = %(project)s AND id = %(id)s AND revision <= %(revision)s - %(revisions)s
        AND body IS NOT NULL)"""
_BODY: LiteralString = "id, stamp, CASE WHEN stamp = ANY(%(known)s::uuid[]) THEN NULL ELSE body END, author"
GET: LiteralString = f"SELECT {_BODY} FROM context_pack.cp_packs WHERE {_LIVE} AND id = %(id)s"
FIND: LiteralString = f"SELECT {_BODY} FROM context_pack.cp_packs WHERE {_LIVE} AND name = %(name)s"
LIST: LiteralString = f"SELECT id, stamp FROM context_pack.cp_packs WHERE {_LIVE}"
SOME: LiteralString = f"SELECT {_BODY} FROM context_pack.cp_packs WHERE {_LIVE} AND id = ANY(%(ids)s)"
LOCK: LiteralString = f"{GET} FOR UPDATE"
IS_DONE: LiteralString = """
    SELECT 1 FROM context_pack.cp_history WHERE project = %(project)s AND stamp = %(stamp)s"""
CHANGE: LiteralString = f"""
    WITH changed AS (
      UPDATE context_pack.cp_packs
      SET revision = %(revision)s, expires_at = %(expires)s, body = %(body)s, stamp = %(stamp)s,
          author = %(author)s
      WHERE {_LIVE} AND id = %(id)s
      RETURNING project, stamp, id, revision, author, body),
    {_TOO_OLD}
    INSERT INTO context_pack.cp_history (project, stamp, id, revision, author, body) SELECT * FROM changed"""
REMOVE: LiteralString = """
    WITH gone AS (
      DELETE FROM context_pack.cp_packs WHERE project = %(project)s AND id = %(id)s RETURNING project, id),
    forgotten AS (
      UPDATE context_pack.cp_history SET body = NULL
      WHERE project = %(project)s AND id = %(id)s AND body IS NOT NULL)
    INSERT INTO context_pack.cp_history (project, stamp, id, author)
    SELECT project, %(stamp)s, id, %(author)s FROM gone"""
INSERT: LiteralString = """
    WITH made AS (
      INSERT INTO context_pack.cp_packs (project, id, name, revision, expires_at, body, stamp, author)
      VALUES (%(project)s, %(id)s, %(name)s, %(revision)s, %(expires)s, %(body)s, %(stamp)s, %(author)s)
      ON CONFLICT DO NOTHING
      RETURNING project, stamp, id, revision, author, body)
    INSERT INTO context_pack.cp_history (project, stamp, id, revision, author, body) SELECT * FROM made"""
TAKEN: LiteralString = """
    SELECT id FROM context_pack.cp_packs WHERE project = %(project)s AND name = %(name)s"""
FREE_NAME: LiteralString = f"""
    UPDATE context_pack.cp_packs SET name = NULL, former_name = name
    WHERE {_OVER} AND name = %(name)s"""
PURGE: LiteralString = f"""
    DELETE FROM context_pack.cp_packs WHERE project = %(project)s AND id IN (
      SELECT id FROM context_pack.cp_packs
      WHERE {_OVER} AND expires_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(kept)s
        AND name IS DISTINCT FROM %(name)s
      LIMIT 100 FOR UPDATE SKIP LOCKED)"""
EXPIRED: LiteralString = f"""
    SELECT id, stamp, body, author FROM context_pack.cp_packs
    WHERE {_OVER} AND expires_at > coalesce(%(now)s::timestamptz, clock_timestamp()) - %(kept)s"""
LOCK_EXPIRED: LiteralString = f"""
    SELECT id, stamp, body, author FROM context_pack.cp_packs
    WHERE {_OVER} AND (id = %(id)s OR name = %(id)s OR former_name = %(id)s)
    ORDER BY expires_at DESC LIMIT 1 FOR UPDATE"""
RESTORE: LiteralString = f"""
    WITH changed AS (
      UPDATE context_pack.cp_packs
      SET name = %(name)s, former_name = NULL, revision = %(revision)s, expires_at = %(expires)s,
          body = %(body)s, stamp = %(stamp)s, author = %(author)s
      WHERE project = %(project)s AND id = %(id)s
      RETURNING project, stamp, id, revision, author, body),
    {_TOO_OLD}
    INSERT INTO context_pack.cp_history (project, stamp, id, revision, author, body) SELECT * FROM changed"""
FORGET: LiteralString = """
    DELETE FROM context_pack.cp_history
    WHERE project = %(project)s AND at < clock_timestamp() - interval '90 days'"""
