"""One `context.json` on disk: read as a configuration, and edited under a lock.

The project's file is never reached through a link: whatever the link leads to is not the project's to name.
The user's own may be one, and stays one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from context_pack.documents.domain import config
from context_pack.documents.domain.config import CONFIG_FILE, Config, parse_config
from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.disk.faults import translated
from context_pack_adapters.disk.folder import Folder
from context_pack_adapters.disk.opening import NotRegular
from context_pack_adapters.disk.signature import Signature, signature

EDIT_SECONDS = 10.0
NO_FILE = "it is no regular file (a link, perhaps); put a file in its place"


class ConfigFile:
    """The file at a path, which messages call `shown`; `own` is the user's."""

    def __init__(self, path: Path | str, shown: str = CONFIG_FILE, own: bool = False) -> None:
        self.path = os.path.abspath(path)
        self._shown = shown
        self._own = own

    def state(self) -> Signature | None:
        """What changes with the file; None where there is none."""
        folder, name = self._place()
        try:
            return signature(folder.status(name))
        except OSError:
            return None

    def read(self) -> Config:
        """What it says; one that is not there says nothing."""
        try:
            text, _ = self._text()
        except NotRegular:
            return Config(problems=(f"{self._shown}: {NO_FILE}",))
        except OSError as error:
            return Config(problems=(f"{self._shown}: it cannot be read ({error.strerror or 'unknown'})",))
        return Config() if text is None else parse_config(text, self._shown)

    def edit(self, change: Callable[[str | None], str]) -> None:
        """Put what `change` makes of the text in its place.

        Raises:
            Failure: `permission_denied` if it is a link, `io_error`, or what `change` raises.
        """
        folder, name = self._place()
        with translated(CONFIG_FILE):
            folder.make()
            with folder.lock(f".{CONFIG_FILE}.lock", EDIT_SECONDS) as lock:
                try:
                    text, mode = self._text()
                    folder.sweep(name)
                    folder.write(name, change(text).encode("utf-8"), mode)
                except NotRegular:
                    raise Failure(Code.PERMISSION_DENIED, f"{CONFIG_FILE}: {NO_FILE}") from None
                finally:
                    lock.retire()

    def _text(self) -> tuple[str | None, int | None]:
        """The text and the mode of the file, or nothing where it is not there."""
        folder, name = self._place()
        try:
            data, status = folder.read(name, config.MAX_BYTES)
        except FileNotFoundError:
            return None, None
        return data.decode("utf-8", "replace"), status.st_mode

    def _place(self) -> tuple[Folder, str]:
        folder, name = os.path.split(os.path.realpath(self.path) if self._own else self.path)
        return Folder(folder), name
