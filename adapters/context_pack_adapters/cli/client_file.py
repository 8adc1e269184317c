"""A configuration file that we add a part to, and give back as it was."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from context_pack_adapters.cli.config_text import UnreadableConfig, same_config
from context_pack_adapters.files.folder import Folder

BACKUP = ".before-context-pack"
TRIES = 5
"""How often a file is read anew because its client wrote it meanwhile."""
MOST_BYTES = 16 * 1024 * 1024


class Edit(NamedTuple):
    """How our part is put into the text of a file, and taken out again."""

    put: Callable[[str], str]
    drop: Callable[[str], str]

    def then(self, other: Edit) -> Edit:
        """Both, one after the other."""
        return Edit(lambda text: other.put(self.put(text)), lambda text: other.drop(self.drop(text)))


class ClientFile(NamedTuple):
    """A file of a client or of the project that we add a part to."""

    folder: Folder
    name: str
    edit: Edit

    def change(self, *, remove: bool) -> bool:
        """Put our part in, or take it out; says whether anything changed.

        A client may write its file at any moment: what was read is compared once more before it is replaced.
        """
        for _ in range(TRIES):
            before = self.read()
            after = self.after(remove=remove)
            if after == before or not (remove or self.is_behind()):
                if remove:
                    self._forget_copy()
                return False
            if self.read() == before:
                self._write(before, after)
                if remove:
                    self._forget_copy()
                return True
        raise UnreadableConfig("its client keeps writing it; close the client and try again")

    def is_behind(self) -> bool:
        """Whether the file says something else than it would with our part."""
        before, after = self.read(), self.after(remove=False)
        return before is None or not same_config(self.name, before, after or "")

    def after(self, *, remove: bool) -> str | None:
        """The text of the file with our part, or without; None for a file that had nothing else.

        With our part gone, a file that says what it said before us is what it was to the byte.
        """
        before, copy = self.read(), self.read(BACKUP)
        if copy is not None and self.changed(copy, remove=True) != copy:
            copy = None  # it has a part of ours, so it is not what was there before us
        after = self.changed(before or "", remove=remove)
        if remove and copy is not None and same_config(self.name, after, copy):
            return copy
        if remove and after != before and after.strip() in ("", "{}") and copy is None:
            return None
        return before if remove and after == (before or "") else after

    def read(self, ending: str = "") -> str | None:
        """The text of the file, exactly; None if there is none."""
        try:
            return self.folder.read(self.name + ending, MOST_BYTES)[0].decode("utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise UnreadableConfig("it is not UTF-8") from None

    def changed(self, text: str, *, remove: bool) -> str:
        """The text of a configuration with our entry, or without it; its line ends and its mark stay."""
        mark = text[: text.startswith("\ufeff")]
        plain = text.removeprefix(mark).replace("\r\n", "\n")
        after = (self.edit.drop if remove else self.edit.put)(plain)
        ends = "\r\n" if "\r\n" in text else "\n"
        return text if after == plain else mark + after.replace("\n", ends)

    def _write(self, before: str | None, after: str | None) -> None:
        """Replace the file."""
        self.folder.make()
        if after is None:
            self.folder.remove(self.name)
            self.folder.remove_if_empty()
            return
        mode = None if before is None else self.folder.status(self.name).st_mode & 0o777
        self.keep_copy()
        self.folder.write(self.name, after.encode(), mode)

    def keep_copy(self) -> None:
        """Keep what the file held before us beside it, for the same eyes only."""
        before = self.read()
        if before is not None and self.changed(before, remove=True) == before:
            mode = self.folder.status(self.name).st_mode & 0o777
            self.folder.write(self.name + BACKUP, before.encode(), mode)

    def _forget_copy(self) -> None:
        with suppress(FileNotFoundError):
            self.folder.remove(self.name + BACKUP)
