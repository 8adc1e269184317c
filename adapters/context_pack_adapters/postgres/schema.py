"""The tables of the team's database: made once, under one lock, from the SQL in `tables/`.

An owner role has the tables, a member role may use them; row-level security shows a login the rows of the
project it has named, if it has that project's role; functions look names up in `pg_catalog` alone, so that
nobody puts own ones in the way.

The tables are those of version 5, which 0.2.0 came with. Whoever changes them adds a file for the step from
the version before to the next, and has `_prepared` run it: a team upgrades one member at a time.
"""

from __future__ import annotations

from pkgutil import get_data
from typing import LiteralString

import psycopg
from psycopg import sql

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.postgres.connection import Address, Link, check_version, open_link
from context_pack_adapters.postgres.faults import failure_of


def _sql(name: str) -> str:
    return (get_data(__package__, f"tables/{name}.sql") or b"").decode().strip()


LOCK = f"SELECT pg_advisory_xact_lock({0x436F_6E50});"
"""One number for everybody who prepares a database."""
ROLES, TABLES = _sql("roles"), _sql("tables")
MEMBERS = "context_pack_member"
_VERSION: LiteralString = "SELECT max(version) FROM context_pack.cp_schema"
_REGISTER = sql.SQL("""\
INSERT INTO context_pack.cp_projects (project, members)
  VALUES ({project}, quote_ident({members})::regrole)
  ON CONFLICT (project) DO UPDATE SET members = excluded.members;""")
_FORBIDDEN = (
    "this login may not prepare the team's database; use one that may create roles and schemas, "
    "or give 'context-pack team init --print' to somebody who may"
)


def prepare(address: Address, project: str, members: str = MEMBERS) -> bool:
    """Make the tables if there are none, and register the project for that role; tells whether it made them.

    Raises:
        Failure: the database cannot be reached, is of another version, or the login may not do it.
    """
    try:
        with open_link(address) as link:
            return _prepared(link, project, members)
    except psycopg.errors.UndefinedObject:
        raise Failure(Code.INVALID_DATA, f"the database has no role {members!r}; create it first") from None
    except psycopg.errors.InsufficientPrivilege:
        raise Failure(Code.IO_ERROR, _FORBIDDEN, {"reason": "42501"}) from None
    except psycopg.Error as error:
        raise failure_of(error) from None


def _prepared(link: Link, project: str, members: str) -> bool:
    with link.transaction():
        for statements in (LOCK, ROLES):
            link.execute(statements.encode())
        ((version,),) = link.execute(_VERSION).fetchall()
        if version is None:
            link.execute(TABLES.encode())
        else:
            check_version(version)
        link.execute(_REGISTER.format(project=project, members=members))
    return version is None


def printed(project: str, members: str = MEMBERS) -> str:
    """The SQL that `prepare` runs on an empty database, for an administrator to run."""
    register = _REGISTER.format(project=project, members=members).as_string()
    return "\n".join(["BEGIN;", LOCK, ROLES, TABLES, register, "COMMIT;"])
