"""The key of a project in the team's database: its repository's remote, or a configured name."""

from __future__ import annotations

import os
import re
import subprocess

from context_pack.kernel.errors import Code, Failure

_SECONDS = 5.0
_SCP = re.compile(r"(?:[^/@]+@)?([^/:@]+):(?!//)(.+)")
_UNNAMED = (
    "the project has no name in the team's database: it has no remote 'origin' on another machine; "
    "set CONTEXT_PACK_PROJECT to the name that everybody in the team uses"
)


def project_key(source_root: str, given: str) -> str:
    """The name of the project for everybody in the team; never a path of one machine.

    Raises:
        Failure: `invalid_data`, if there is none.
    """
    found = given or normalised(_remote(source_root))
    if not found:
        raise Failure(Code.INVALID_DATA, _UNNAMED, {"field": "CONTEXT_PACK_PROJECT"})
    return found


def normalised(remote: str) -> str:
    """`host/path` of a remote, however it is spelled; empty for a path of this machine."""
    scheme, found, rest = remote.strip().partition("://")
    if found:
        login, _, path = rest.partition("/")
        host = login.rpartition("@")[2].partition(":")[0]
    else:
        match = _SCP.fullmatch(scheme)
        host, path = match.groups() if match else ("", "")
    path = path.strip("/").removesuffix(".git").strip("/")
    drive = not found and len(host) == 1  # C:\work\shop
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
