"""A token for the state of a project's discoveries and live packs, in one round trip."""

from __future__ import annotations

from typing import LiteralString

from context_pack_adapters.postgres.connection import Database

_TOKEN: LiteralString = """
    SELECT md5(coalesce((
        SELECT string_agg(stamp::text, ' ' ORDER BY id) FROM context_pack.cp_packs
        WHERE project = %(project)s AND expires_at > clock_timestamp()), '')
      || '/' || coalesce((
        SELECT string_agg(stamp::text, ' ' ORDER BY id) FROM context_pack.cp_discoveries
        WHERE project = %(project)s), ''))"""


def change_token(database: Database) -> str:
    """The token: equal to the last one if nothing has changed since.

    Raises:
        Failure: the database cannot be reached.
    """
    ((token,),) = database.rows(_TOKEN, {})
    return f"{database.project} {token}"
