"""What changed since a revision, asked of git without trusting the repository's own configuration.

A repository's configuration can name commands that git runs while it compares (filters, monitors, drivers).
So it is only asked which commit a name means, which files are tracked and where its objects are; the
comparison is made in an empty repository of our own that borrows these objects, with the project as its work
tree.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import frozen

from context_pack.kernel.errors import Code, Failure

SECONDS = 60.0
NO_GIT = "there is no git command; install git, or give the text of the diff"
NO_REPOSITORY = "the project is not in a git repository; give the text of the diff"
NO_REVISION = "git knows no such revision here; name a branch, a tag or a commit"
NOT_COMPARED = "git could not compare the files with that revision"


@frozen
class GitChanges:
    """What differs between a revision and the files as they are, below a folder."""

    root: Path

    def since(self, base: str, /) -> str:
        """The changes of tracked files as a unified diff without context, with paths from the folder on.

        Of a revision that went on by itself (`main`, for a branch), only what was done here since they parted
        is told, as a pull request shows it.

        Raises:
            Failure: `not_found`, there is no repository or no such revision; `io_error`, git failed.
        """
        top = self._ask(NO_REPOSITORY, "rev-parse", "--show-toplevel")
        objects = self._ask(NO_REPOSITORY, "rev-parse", "--git-path", "objects")
        commit = self._ask(
            NO_REVISION, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}"
        )
        with suppress(Failure):  # a shallow clone may not have the common commit
            commit = self._ask(NO_REVISION, "merge-base", commit, "HEAD")
        tracked = self._run(NOT_COMPARED, ["ls-files", "--stage", "-z", "--full-name", ":/"], {})
        with TemporaryDirectory(prefix="context-pack-") as own:
            below = {"GIT_DIR": own, "GIT_WORK_TREE": top, "GIT_INDEX_FILE": os.path.join(own, "index")}
            self._run(NOT_COMPARED, ["init", "-q", "--bare", own], {})
            alternates = Path(own, "objects", "info", "alternates")
            alternates.write_text(f"{Path(self.root, objects).resolve()}\n", encoding="utf-8")
            self._run(NOT_COMPARED, ["update-index", "-z", "--index-info"], below, stdin=tracked)
            diff = self._run(
                NOT_COMPARED,
                [
                    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all"),
                    *("-U0", "-M", "--relative", "--src-prefix=a/", "--dst-prefix=b/", commit, "--", "."),
                ],
                below,
            )
        return diff.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def head(self) -> str:
        """The commit that the project is at.

        Raises:
            Failure: `not_found`, there is no repository or no commit yet.
        """
        return self._ask(NO_REVISION, "rev-parse", "--verify", "--quiet", "HEAD")

    def _ask(self, otherwise: str, *words: str) -> str:
        return self._run(otherwise, words, {}, Code.NOT_FOUND).strip()

    def _run(
        self,
        otherwise: str,
        words: Sequence[str],
        places: Mapping[str, str],
        code: Code = Code.IO_ERROR,
        stdin: str = "",
    ) -> str:
        # Variables of the caller's own git (a hook runs with GIT_DIR set) are not for this one.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        own = {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",  # of a partial clone: what is not there is not fetched
            "GIT_ALLOW_PROTOCOL": "none",
            "LC_ALL": "C",
        }
        try:
            done = subprocess.run(
                ["git", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", *words],
                cwd=self.root,
                env={**inherited, **own, **places},
                input=stdin.encode("utf-8", "surrogateescape"),
                capture_output=True,
                timeout=SECONDS,
            )
        except FileNotFoundError:
            raise Failure(Code.NOT_FOUND, NO_GIT) from None
        except (OSError, subprocess.TimeoutExpired):
            raise Failure(Code.IO_ERROR, NOT_COMPARED) from None
        if done.returncode:
            raise Failure(code, otherwise)
        return done.stdout.decode("utf-8", "surrogateescape")
