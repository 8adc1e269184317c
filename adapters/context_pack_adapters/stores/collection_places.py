"""Which places a project may name for its collections, and which only its user may.

A project is not trusted: it names folders and packages below its own root, and repositories elsewhere that
the user has allowed. Git is never pointed at a repository on this disk that a project names: such a one can
hold links, and git quotes what they lead to. The user's own configuration may name anything.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from context_pack.documents.domain.permits import address_of
from context_pack.documents.domain.source_address import SourceAddress
from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.disk.opening import Place, way_from
from context_pack_adapters.disk.rooted import Refused, landing

INSTEAD = (
    "add it to your own configuration (context-pack docs add NAME PLACE --user), "
    "or name its folder in CONTEXT_PACK_ALLOWED_ROOTS"
)


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
            for spelled in (root, os.path.realpath(root)):
                if (inside := way_from(spelled, place)) is not None:
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
        protocol, _, rest = where.place.partition("://")
        if protocol == "file":
            real = os.path.realpath(unquote(rest))
            if _is_below(real, [self._root]) or not _is_below(real, self._more):
                raise _refused(f"a project may not name a repository on this disk; {INSTEAD}")
            return False
        address = address_of(where.place)
        if address not in allowed:
            command = f"context-pack docs allow {shlex.quote(address)}"
            raise _refused(f"its repository is not allowed yet; if you trust it, run: {command}")
        return allowed[address]


def _is_below(place: str, roots: Sequence[str]) -> bool:
    return any(way_from(os.path.realpath(root), place) is not None for root in roots)


def _refused(words: str) -> Failure:
    return Failure(Code.PERMISSION_DENIED, words)
