"""`context.json` on disk, and which places a project may name in it.

The project's file is never reached through a link: whatever the link leads to is not the project's to name.
The user's own may be one, and stays one. A project is not trusted: it names folders below its own root, and
repositories elsewhere that the user has allowed. Git is never pointed at a repository on this disk that a
project names: such a one can hold links, and git quotes what they lead to. The user's own configuration may
name anything.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from context_pack.documents.config import CONFIG_FILE, MAX_BYTES, edited, parse_config
from context_pack.documents.model import Catalogue, Collection
from context_pack.documents.places import SourceAddress, address_of
from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.files.faults import translated
from context_pack_adapters.files.folder import Folder
from context_pack_adapters.files.opening import Place, Refused, way_inside
from context_pack_adapters.files.rooted import landing

EDIT_SECONDS = 10.0
NO_FILE = "it is no regular file (a link, perhaps); put a file in its place"
NOT_UTF8 = "it is not UTF-8; save it as UTF-8, so that nothing in it is lost"
OWN = "add it to your own configuration (context-pack docs add NAME PLACE --user)"
INSTEAD = f"{OWN}, or name its folder in CONTEXT_PACK_ALLOWED_ROOTS"


class ConfigFile:
    """The file at a path, which messages call `shown`; `own` is the user's."""

    def __init__(self, path: Path | str, shown: str = CONFIG_FILE, own: bool = False) -> None:
        self.path = os.path.abspath(path)
        self._shown = shown
        self._own = own

    def read(self, collection_of: Callable[[str, Any], Collection]) -> Catalogue:
        """Parse the file; a missing one is empty."""
        try:
            text, _ = self._text()
        except Refused:
            return Catalogue(problems=(f"{self._shown}: {NO_FILE}",))
        except OSError as error:
            return Catalogue(problems=(f"{self._shown}: it cannot be read ({error.strerror or 'unknown'})",))
        except UnicodeDecodeError:
            return Catalogue(problems=(f"{self._shown}: {NOT_UTF8}",))
        return Catalogue() if text is None else parse_config(text, self._shown, collection_of)

    def edit(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Change what the file holds.

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
                    folder.write(name, edited(text, change).encode("utf-8"), mode)
                except Refused:
                    raise Failure(Code.PERMISSION_DENIED, f"{CONFIG_FILE}: {NO_FILE}") from None
                except UnicodeDecodeError:
                    raise Failure(Code.INVALID_DATA, f"{CONFIG_FILE}: {NOT_UTF8}") from None
                finally:
                    lock.retire()

    def _text(self) -> tuple[str | None, int | None]:
        """The text and the mode of the file, or nothing where it is not there."""
        folder, name = self._place()
        try:
            data, status = folder.read(name, MAX_BYTES)
        except FileNotFoundError:
            return None, None
        return data.decode("utf-8"), status.st_mode

    def _place(self) -> tuple[Folder, str]:
        """The folder of the file, and its name there; the user's own may be a link, and stays one."""
        place, name = Place(os.path.realpath(self.path) if self._own else self.path).split()
        return Folder(place), name


class ProjectPlaces:
    """What the configuration of one project may name; `more` are the folders that the user adds."""

    def __init__(self, source_root: str, more: Sequence[str] = ()) -> None:
        self._root = os.path.abspath(source_root)
        self._more = [os.path.abspath(folder) for folder in more]

    def located(self, place: str) -> Place:
        """Where an absolute place on this disk is, without links on the way, if the project may name it.

        Raises:
            Failure: `permission_denied`, with what to do instead; nothing outside is looked at.
        """
        for root in (self._root, *self._more):
            if (inside := way_inside(root, place)) is not None:
                try:
                    return landing(Place(root), inside)
                except Refused:
                    raise _refused(f"a link leads out of the project; {INSTEAD}") from None
                except OSError:
                    return Place.of(place)
        raise _refused(f"a project may name places inside itself only; {INSTEAD}")

    def permit(self, where: SourceAddress, allowed: Mapping[str, bool]) -> bool:
        """Whether a repository that the project names is fetched with the user's credentials.

        Raises:
            Failure: `permission_denied`, with what to do.
        """
        if where.place.startswith("file:"):
            raise _refused(f"a project may not name a repository on this disk; {OWN}")
        address = address_of(where.place)
        if address not in allowed:
            command = f"context-pack docs allow {shlex.quote(address)}"
            raise _refused(f"its repository is not allowed yet; if you trust it, run: {command}")
        return allowed[address]


def _refused(words: str) -> Failure:
    return Failure(Code.PERMISSION_DENIED, words)
