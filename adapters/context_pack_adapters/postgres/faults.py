"""The one place where an error of Postgres or its driver becomes a failure.

What passes by itself (down, full, read-only, too many connections) is `unavailable`. No message repeats what
the driver said: it may hold parts of the address that somebody wrote a password into.
"""

from __future__ import annotations

import re

import psycopg

from context_pack.kernel.errors import Code, Failure

STORE = "postgresql"
"""In the details of every failure of the database, by which it is told from one of a file."""
LOCAL = "code, contexts and files work without it"
_RAISED = Code.UNAVAILABLE
_WORDS: dict[str, tuple[Code, str]] = {
    "25006": (_RAISED, "is read-only; ask who runs it, or try again when it is writable"),
    "53100": (_RAISED, "has no space left on its disk; ask who runs it, then try again"),
    "53200": (_RAISED, "has no memory left; try again"),
    "53300": (_RAISED, "has no connection left for us; try again"),
    "28000": (Code.IO_ERROR, "refuses this login; check the user of CONTEXT_PACK_STORE"),
    "28P01": (Code.IO_ERROR, "refuses this password; check PGPASSWORD or ~/.pgpass"),
    "3D000": (Code.IO_ERROR, "does not exist on its server; check the name in CONTEXT_PACK_STORE"),
    "42501": (Code.IO_ERROR, "does not let this login do that; ask for the role context_pack_member"),
    "42P01": (Code.MIGRATION_REQUIRED, "has not been prepared; run 'context-pack team init' once"),
    "3F000": (Code.MIGRATION_REQUIRED, "has not been prepared; run 'context-pack team init' once"),
    "no_host": (Code.IO_ERROR, "is on a host that has no address; check CONTEXT_PACK_STORE"),
    "no_ssl": (Code.IO_ERROR, "does not speak SSL as it was asked to; check sslmode in CONTEXT_PACK_STORE"),
    "no_password": (Code.IO_ERROR, "wants a password; set PGPASSWORD, or use ~/.pgpass or a service file"),
    "setting": (Code.IO_ERROR, "has a setting that is not understood in its address, CONTEXT_PACK_STORE"),
}  # fmt: skip
# Before there is a connection the driver knows no SQLSTATE (psycopg 3.3, libpq 18): only the words of the
# server tell its refusals apart. Of a server that speaks another language, "does not answer" is said.
_WHILE_CONNECTING = {
    r'database ".*" does not exist': "3D000",
    r"password authentication failed": "28P01",
    r'role ".*" (?:does not exist|is not permitted)|pg_hba\.conf|authentication failed': "28000",
    r"too many clients|too many connections|connection slots": "53300",
    r"resolve host|translate host name": "no_host",
    r"does not support SSL|SSL error|root certificate": "no_ssl",
    r"connection is bad: invalid": "setting",
}
_LOST = f"does not answer; {LOCAL}, try again"


class NoAnswer(psycopg.OperationalError):
    """The server took too long."""


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection went with that error: it was cut, ended by the server, or closed by us."""
    state = error.sqlstate or ""
    return isinstance(error, psycopg.OperationalError) and (not state or state[:2] in ("08", "57"))


def lost_commit() -> Failure:
    """The failure for a change that may or may not be stored."""
    words = "did not say whether the change is stored; read it again before you retry"
    details = {"store": STORE, "reason": "lost"}
    return Failure(Code.UNAVAILABLE, f"the team's database {words}", details)


def failure_of(error: BaseException) -> Failure:
    """The failure for an error of the driver."""
    state = getattr(error, "sqlstate", None) or _state_while_connecting(error)
    code, words = _WORDS.get(state, (Code.UNAVAILABLE, _LOST))
    if state not in ("", *_WORDS) and state[:2] not in ("08", "53", "57", "58"):
        code, words = Code.IO_ERROR, f"refused a statement (SQLSTATE {state}); report this"
    return Failure(code, f"the team's database {words}", {"store": STORE, "reason": state or "lost"})


def _state_while_connecting(error: BaseException) -> str:
    """What was wrong before there was a connection; empty if that is not known."""
    if isinstance(error, psycopg.ProgrammingError):
        return "setting"  # the driver could not read the address
    if not isinstance(error, psycopg.OperationalError):
        return ""
    if error.pgconn is not None and error.pgconn.needs_password:
        return "no_password"
    return next((state for words, state in _WHILE_CONNECTING.items() if re.search(words, str(error))), "")


def locked_failure(name: str, seconds: float) -> Failure:
    """The failure for a row that stayed locked for that long."""
    hint = "another call is writing; wait a moment, read the pack again and retry"
    details = {"lock": name, "timeout_seconds": seconds, "hint": hint}
    return Failure(Code.LOCK_TIMEOUT, f"{name} stayed locked for {seconds:g} s: {hint}", details)
