"""Runs the `git` command without prompts, without credentials unless trusted, and for a limited time.

Git works on a repository of our own, over one protocol, with a time limit. For a repository that a project
names it gets none of the user's credentials: no configuration, no credential helper, no netrc, no keys, no
agent. What git says is never repeated: it quotes what it reads, which may be a line of a private file; it is
only used to choose one of our own sentences. A call that is withdrawn kills git with all that it started; of
a process that is killed git is left behind, and gives up when nothing comes for a minute.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.files.folder import FOLDER_MODE

FETCH_SECONDS = 300.0
QUICK_SECONDS = 30.0
LOOK_SECONDS = 0.2

_QUIET = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false", "-c", "protocol.allow=never", "-c", "credential.interactive=false"),
    *("-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=60"),
)
_WITHOUT_CREDENTIALS = (
    *("-c", "credential.helper=", "-c", "core.askPass=true", "-c", "http.emptyAuth=false"),
    # An allowed host must not send us to another one.
    *("-c", "http.followRedirects=false"),
)
_SSH = "ssh -oBatchMode=yes -oConnectTimeout=60 -oServerAliveInterval=30"
_ANONYMOUS_SSH = (
    f"{_SSH} -F /dev/null -oIdentitiesOnly=yes -oIdentityFile=none -oIdentityAgent=none "
    "-oPubkeyAuthentication=no -oGSSAPIAuthentication=no -oHostbasedAuthentication=no"
)
_KINDS = (
    ("its host is not found", ("could not resolve host", "name or service not known")),
    ("its certificate is not trusted", ("certificate", "ssl_error", "ssl connect")),
    ("access was refused", ("authentication failed", "could not read username", "permission denied")),
    ("access was refused", ("terminal prompts disabled", "host key verification failed", "error: 40")),
    ("its host does not answer", ("connection refused", "failed to connect", "couldn't connect")),
    ("its host does not answer", ("connection timed out", "unreachable", "no route to host")),
    ("there is no such branch, tag or commit", ("remote ref", "not our ref", "unadvertised object")),
    ("there is no such repository", ("not appear to be a git repository", "not found", "does not exist")),
    ("it sends us to another address", ("redirect",)),
    ("it is too large", ("signal 25", "file too large", "no space left")),
)
"""What can be wrong with a fetch, and words by which git tells it; the first that fits."""


@frozen(eq=False)
class Git:
    """The git command on one bare repository; `trusted` with the user's credentials."""

    folder: Path
    protocol: str
    trusted: bool = True
    check: Callable[[], None] = lambda: None

    def fetch(self, *words: str) -> None:
        """Fetch from elsewhere.

        Raises:
            Failure: `io_error`, saying which kind of thing went wrong.
        """
        code, _, errors = self._finished(words, FETCH_SECONDS)
        if code:
            raise failed(f"the repository could not be fetched: {_kind(errors)}{self._hint()}")

    def run(self, *words: str) -> bytes:
        """The output of a command on the local repository.

        Raises:
            Failure: `io_error` when it fails or takes too long.
        """
        code, out, _ = self._finished(words, QUICK_SECONDS)
        if code:
            raise failed("git cannot read what was fetched")
        return out

    def started(self, words: Sequence[str], stdin: int) -> subprocess.Popen[bytes]:
        """Start a command on the local repository."""
        binary = shutil.which("git", path=_absolute(os.environ.get("PATH", os.defpath)))
        if binary is None:
            raise failed("there is no git command; install git")
        allowed = ("-c", f"protocol.{self.protocol}.allow=always")
        quiet = _QUIET if self.trusted else (*_QUIET, *_WITHOUT_CREDENTIALS)
        try:
            return subprocess.Popen(
                [binary, f"--git-dir={self.folder}", *quiet, *allowed, *words],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.folder,  # the working directory is the user's project
                env=environment(os.environ, self.protocol, self.trusted),
                start_new_session=True,
                umask=0o777 - FOLDER_MODE,
            )
        except OSError as error:
            raise failed("git could not be started") from error

    def _finished(self, words: Sequence[str], seconds: float) -> tuple[int, bytes, bytes]:
        """The exit code and both outputs; the process is killed if the call is withdrawn."""
        end = time.monotonic() + seconds
        with self.started(words, subprocess.DEVNULL) as process:
            try:
                while True:
                    try:
                        out, errors = process.communicate(timeout=LOOK_SECONDS)
                        return process.returncode, out, errors
                    except subprocess.TimeoutExpired:
                        self.check()
                        if time.monotonic() > end:
                            raise failed(f"git took longer than {seconds:.0f} s") from None
            finally:
                kill(process)

    def _hint(self) -> str:
        return "" if self.trusted or self.protocol == "file" else "; it was asked without your credentials"


_USERS = ("GIT_SSL", "GIT_HTTP", "GIT_SSH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
_OPEN = re.compile(
    r"(?:https?|all|no)_proxy|lang|lc_.*|tmpdir|ssl_cert_(?:file|dir)|git_ssl_(?:no_verify|ca.*)",
    re.IGNORECASE,
)
"""The variables without secrets that a fetch may need."""


def environment(environ: Mapping[str, str], protocol: str, trusted: bool) -> dict[str, str]:
    """The environment of git: nothing that points it elsewhere or makes it ask; secrets only if trusted."""
    if trusted:
        variables = {
            name: value for name, value in environ.items() if name.startswith(_USERS) or name[:4] != "GIT_"
        }
        variables.setdefault("GIT_SSH_COMMAND", _SSH)
    else:
        nowhere = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
        variables = {name: value for name, value in environ.items() if _OPEN.fullmatch(name)}
        variables |= dict.fromkeys(nowhere, os.devnull)
        variables |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_SSH_COMMAND": _ANONYMOUS_SSH}
    return {
        **variables,
        "PATH": _absolute(environ.get("PATH", os.defpath)),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "SSH_ASKPASS": "true",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_ALLOW_PROTOCOL": protocol,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        # Our own repository is as we make it, whatever the user has new ones made like.
        "GIT_DEFAULT_HASH": "sha1",
        "GIT_DEFAULT_REF_FORMAT": "files",
        "LC_ALL": "C",
    }


def _absolute(path: str) -> str:
    """The search path without relative entries: what lies in the project must not be run by accident."""
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if os.path.isabs(folder))


def kill(process: subprocess.Popen[bytes]) -> None:
    """End git and the helpers it has started, unless they are done."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


def _kind(errors: bytes) -> str:
    """The cause of a failed fetch, in our own words."""
    words = errors.decode("utf-8", "replace").lower()
    return next((kind for kind, signs in _KINDS if any(sign in words for sign in signs)), "git failed")


def failed(reason: str) -> Failure:
    """What is said where git could not do its work."""
    return Failure(Code.IO_ERROR, reason)
