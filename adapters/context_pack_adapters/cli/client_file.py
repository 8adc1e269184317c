"""A configuration file that we add a part to, and give back as it was."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import NamedTuple

from context_pack_adapters.cli.config_text import Edit, UnreadableConfig
from context_pack_adapters.files.folder import Folder

BACKUP = ".before-context-pack"
TRIES = 5
"""How often a file is read anew because its client wrote it meanwhile."""
MOST_BYTES = 16 * 1024 * 1024
LINK = "it is a link; only one in your own configuration that leads to a file in your home folder is followed"


class ClientFile(NamedTuple):
    """A file of a client or of the project that we add a part to; what it held before is kept beside it."""

    folder: Folder
    name: str
    edit: Edit
    copy_folder: Folder
    copy_name: str

    @classmethod
    def in_folder(cls, folder: Folder, name: str, edit: Edit) -> ClientFile:
        """A file in a folder; a link is refused, because a project may be a stranger's."""
        return cls(folder, name, edit, folder, name + BACKUP)

    @classmethod
    def of_user(cls, path: str, edit: Edit) -> ClientFile:
        """A file of the user, who may keep it elsewhere in the home folder and link to it: the link stays."""
        folder, name = os.path.split(path)
        beside, target = Folder(folder), os.path.realpath(path)
        home = os.path.join(os.path.realpath(os.path.expanduser("~")), "")
        if os.path.islink(path) and target.startswith(home) and os.path.isfile(target):
            folder, name = os.path.split(target)
        return cls(Folder(folder), name, edit, beside, os.path.basename(path) + BACKUP)

    def change(self, *, remove: bool) -> bool:
        """Put our part in, or take it out; says whether anything changed.

        A client may write its file at any moment: what was read is compared once more before it is replaced.
        """
        for _ in range(TRIES):
            before = self.read()
            after = self._without(before) if remove else self.edit.put(before or "")
            if self.read() != before:
                continue
            if after != before:
                self._write(before, after)
            if remove:
                with suppress(FileNotFoundError):
                    self.copy_folder.remove(self.copy_name)
            return after != before
        raise UnreadableConfig("its client keeps writing it; close the client and try again")

    def is_complete(self) -> bool:
        """Whether the file has our part, as it should be."""
        text = self.read()
        return text is not None and self.edit.put(text) == text

    def has_part(self) -> bool:
        """Whether the file has a part of ours, be it an older one."""
        text = self.read()
        return text is not None and self.edit.drop(text) != text

    def read(self) -> str | None:
        """The text of the file, exactly; None if there is none."""
        return _text(self.folder, self.name)

    def keep_copy(self) -> None:
        """Keep what the file held before us, for the same eyes only."""
        text = self.read()
        if text is not None and not self.has_part():
            self.copy_folder.write(self.copy_name, text.encode(), self._mode())

    def _without(self, before: str | None) -> str | None:
        """The text without our part; None for a file that had nothing else.

        With our part gone, a file that says what it said before us is what it was to the byte.
        """
        if before is None:
            return None
        after, copy = self.edit.drop(before), _text(self.copy_folder, self.copy_name)
        if copy is not None and self.edit.drop(self.edit.put(copy)) == after:
            return copy
        made_by_us = copy is None and after != before and after.strip() in ("", "{}")
        return None if made_by_us else after

    def _write(self, before: str | None, after: str | None) -> None:
        """Replace the file, or remove it."""
        if after is None:
            self.folder.remove(self.name)
            self.folder.remove_if_empty()
            return
        self.folder.make()
        self.keep_copy()
        self.folder.write(self.name, after.encode(), None if before is None else self._mode())

    def _mode(self) -> int:
        return self.folder.status(self.name).st_mode & 0o777


def _text(folder: Folder, name: str) -> str | None:
    try:
        return folder.read(name, MOST_BYTES)[0].decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise UnreadableConfig("it is not UTF-8") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnreadableConfig(LINK) from None
        raise
