"""The stores that a team shares through one database, and the name of the project in it."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Mapping
from typing import LiteralString

from attrs import frozen

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ports import IdSource
from context_pack_adapters.files.events import Tell
from context_pack_adapters.postgres.connection import VERSION, Address, Database
from context_pack_adapters.postgres.discoveries import PostgresDiscoveryStore
from context_pack_adapters.postgres.documents import PostgresExcerptStore, SharedCollection
from context_pack_adapters.postgres.packs import PostgresPackHistory, PostgresPackStore, change_token
from context_pack_adapters.postgres.schema import prepare, printed
from context_pack_adapters.settings import Settings, store_password

_SECONDS = 5.0
_SCP = re.compile(r"(?:[^/@]+@)?([^/:@]+):(?!//)(.+)")
_UNNAMED = (
    "the project has no name in the team's database: it has no remote 'origin' on another machine; "
    "set CONTEXT_PACK_PROJECT to the name that everybody in the team uses"
)


_COUNTS: LiteralString = """
    SELECT current_setting('server_version'), current_user, current_setting('is_superuser')::boolean,
           (SELECT count(*) FROM context_pack.cp_packs
            WHERE project = %(project)s AND expires_at > clock_timestamp()),
           (SELECT count(*) FROM context_pack.cp_discoveries WHERE project = %(project)s),
           (SELECT count(*) FROM context_pack.cp_documents WHERE project = %(project)s)"""


@frozen
class DatabaseStatus:
    """The state of the database."""

    project: str
    schema: int
    server: str
    login: str
    bypasses_security: bool
    latency_ms: float
    packs: int
    discoveries: int
    documents: int


class Team:
    """The stores of one project, over one set of connections."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], tell: Tell = lambda _: None) -> None:
        self.address = Address(settings.store, store_password(environ))
        self.database = Database(self.address, lambda: project_key(settings.source_root, settings.project))
        self._author = settings.author or None
        self._tell = tell

    def packs(self, ids: IdSource) -> PostgresPackStore:
        """The packs of the team; new ones have ids of that source."""
        return PostgresPackStore(self.database, ids, tell=self._tell, author=self._author)

    def history(self) -> PostgresPackHistory:
        """The last revisions of the team's packs."""
        return PostgresPackHistory(self.database)

    def excerpts(self) -> PostgresExcerptStore:
        """The excerpts that the refs of the team's packs were anchored to."""
        return PostgresExcerptStore(self.database)

    def discoveries(self) -> PostgresDiscoveryStore:
        """The discoveries of the team."""
        return PostgresDiscoveryStore(self.database, tell=self._tell, author=self._author)

    def collection(self, alias: str) -> SharedCollection:
        """The documents that the team shares under that name."""
        return SharedCollection(self.database, alias)

    def preparation(self, members: str) -> str:
        """The SQL that prepares the database for this project and the role of its members."""
        return printed(self.database.project, members)

    def prepare(self, members: str) -> bool:
        """Prepare the database for this project; tells whether it had no tables yet.

        Raises:
            Failure: it cannot be reached or changed.
        """
        return prepare(self.address, self.database.project, members)

    def status(self) -> DatabaseStatus:
        """The state of the database.

        Raises:
            Failure: it cannot be reached or used.
        """
        ((server, login, superuser, *counts),) = self.database.rows(_COUNTS)
        begun = time.perf_counter()  # the connection is there already
        self.database.rows("SELECT 1")
        latency = round((time.perf_counter() - begun) * 1000, 2)
        return DatabaseStatus(self.database.project, VERSION, server, login, superuser, latency, *counts)

    def change_token(self) -> str:
        """A text that differs when a live pack or a discovery of the team has changed.

        Raises:
            Failure: the database cannot be reached.
        """
        return change_token(self.database)

    def close(self) -> None:
        """Close the connections."""
        self.database.close()


def project_key(source_root: str, given: str) -> str:
    """The name of the project for everybody in the team; never a path of one machine.

    Raises:
        Failure: `invalid_data`, if there is none.
    """
    key = given or normalised(_remote(source_root))
    if not key:
        raise Failure(Code.INVALID_DATA, _UNNAMED, {"field": "CONTEXT_PACK_PROJECT"})
    return key


def normalised(remote: str) -> str:
    """`host/path` of a remote, however it is spelled; empty for a path of this machine."""
    scheme, separator, rest = remote.strip().partition("://")
    if separator:
        login, _, path = rest.partition("/")
        host = login.rpartition("@")[2].partition(":")[0]
    else:
        match = _SCP.fullmatch(scheme)
        host, path = match.groups() if match else ("", "")
    path = path.strip("/").removesuffix(".git").strip("/")
    drive = not separator and len(host) == 1  # C:\work\shop
    return f"{host.lower()}/{path}" if host and path and scheme != "file" and not drive else ""


def _remote(source_root: str) -> str:
    """The remote from the repository's own configuration, without included files, hooks or monitors."""
    quiet = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
    ask = ("config", "--local", "--no-includes", "--get", "remote.origin.url")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", source_root, *quiet, *ask],
            env={**environ, "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
