"""The tables of the team's database: one list of steps, forwards only, each run once under one lock.

An owner role has the tables, a member role may use them; row-level security shows a login the rows of the
project it has named, if it has that project's role; functions look names up in `pg_catalog` alone, so that
nobody puts own ones in the way. The SQL is in `tables/`, one file for each step.
"""

from __future__ import annotations

from pkgutil import get_data
from typing import LiteralString

import psycopg

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.postgres.connection import VERSION, Address, Link, check_version, open_link
from context_pack_adapters.postgres.faults import failure_of

_INIT_LOCK = 0x436F_6E50  # one number for everybody who prepares a database


def _sql(name: str) -> str:
    return (get_data(__package__, f"tables/{name}.sql") or b"").decode().strip()


ROLES = _sql("roles")
STEPS = tuple(_sql(str(step)) for step in range(1, VERSION + 1))
_KNOWN: LiteralString = "SELECT coalesce(max(version), 0) FROM context_pack.cp_schema"
_NOTE: LiteralString = "INSERT INTO context_pack.cp_schema (version) VALUES (%(version)s)"
_REGISTER: LiteralString = """
    INSERT INTO context_pack.cp_projects (project, members)
    VALUES (%(project)s, quote_ident(%(members)s)::regrole)
    ON CONFLICT (project) DO UPDATE SET members = excluded.members"""
MEMBERS = "context_pack_member"
_FORBIDDEN = (
    "this login may not prepare the team's database; use one that may create roles and schemas, "
    "or give 'context-pack team init --print' to somebody who may"
)


def prepare(address: Address, project: str, members: str = MEMBERS) -> int:
    """Make or migrate the tables, and register the project for that role; returns how many steps were run.

    Raises:
        Failure: the database cannot be reached, is newer than this program, or the login may not do it.
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


def _prepared(link: Link, project: str, members: str) -> int:
    link.autocommit = False
    link.execute("SELECT pg_advisory_xact_lock(%(number)s)", {"number": _INIT_LOCK})
    link.execute(ROLES.encode())
    ((known,),) = link.execute(_KNOWN).fetchall()
    if known > VERSION:
        check_version(known)
    for version, step in enumerate(STEPS[known:], known + 1):
        link.execute(step.encode())
        link.execute(_NOTE, {"version": version})
    link.execute(_REGISTER, {"project": project, "members": members})
    link.commit()
    return VERSION - int(known)


def printed(project: str, members: str = MEMBERS) -> str:
    """The SQL that `prepare` runs on an empty database, for an administrator to run."""
    steps = [f"{step}\nINSERT INTO context_pack.cp_schema VALUES ({at});" for at, step in enumerate(STEPS, 1)]
    register = (
        "INSERT INTO context_pack.cp_projects (project, members)\n"
        f"  VALUES ({_literal(project)}, quote_ident({_literal(members)})::regrole)\n"
        "  ON CONFLICT (project) DO UPDATE SET members = excluded.members;"
    )
    lock = f"SELECT pg_advisory_xact_lock({_INIT_LOCK});"
    return "\n".join(["BEGIN;", lock, ROLES, *steps, register, "COMMIT;"])


def _literal(text: str) -> str:
    """A text as SQL shows it; for people to read and run, never run by us."""
    return "'" + text.replace("'", "''") + "'"
