"""What the pack use cases ask of the world, and what they are told by whoever runs them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Protocol

from attrs import field, frozen

from context_pack.kernel.errors import Code, Failure
from context_pack.packs.model import Pack
from context_pack.toolkit.call import Check, never_cancelled

EXCERPT_BYTES = 2 * 1024 * 1024
"""No text is kept that is larger than a source file may be by default."""
IDLE_SECONDS = 3600.0
"""Age after which an unnamed excerpt may be removed: writers store its pack sooner."""


class PackStore(Protocol):
    """Where packs live. Every method but the last three sees only live packs: an expired one is not there.

    Reads wait for no lock; those that come across an expired pack put it away, for `restore` to bring back.
    Raises `Failure` only: `not_found`, `name_conflict`, `lock_timeout`, `io_error`,
    `malformed_pack`, `migration_required`; what `change` raises passes through and leaves the pack as it was.
    """

    def create(self, make: Callable[[str], Pack], name: str | None, waiting: Check = never_cancelled) -> Pack:
        """Store the pack that `make` builds, for a fresh id or under one that it has, if `name` is free."""

    def get(self, pack_id: str) -> Pack:
        """The pack with that id."""

    def find(self, name: str) -> Pack:
        """The live pack with exactly that name."""

    def all(self) -> Sequence[Pack]:
        """Every live pack, in no particular order; fails closed when one file is malformed."""

    def readable(self) -> tuple[Sequence[Pack], Failure | None]:
        """Every live pack that can be read, and what `all` raises for those that cannot."""

    def update(self, pack_id: str, change: Callable[[Pack], Pack], waiting: Check = never_cancelled) -> Pack:
        """One read-modify-write under the pack's lock; returns what is now stored.

        A `change` that returns an equal pack writes nothing.
        """

    def delete(self, pack_id: str, check: Callable[[Pack], None], waiting: Check = never_cancelled) -> None:
        """Remove the pack under its lock, after `check` has accepted it."""

    def expired(self) -> Sequence[Pack]:
        """Every expired pack that can be restored, in no particular order."""

    def discard(self, handle: str, waiting: Check = never_cancelled) -> Pack:
        """Remove one of those for good, by id or name; `not_found` where there is none."""

    def restore(self, handle: str, change: Callable[[Pack], Pack], waiting: Check = never_cancelled) -> Pack:
        """Bring one of those back, by id or name, as `change` makes it, if its name is free among live packs.

        Of several of one name it is the one that expired last. Raises `not_found` or `name_conflict`.
        """


def not_found(field: str, value: str) -> Failure:
    """No live pack has that id or name."""
    message = f"no live pack has that {field}; list the packs to see them"
    return Failure(Code.NOT_FOUND, message, {field: value})


def not_expired(handle: str) -> Failure:
    """No expired pack has that id or name."""
    return Failure(
        Code.NOT_FOUND,
        "no expired pack has that id or name; 'context-pack packs list --expired' shows them",
        {"pack": handle},
    )


def name_taken(name: str, pack_id: str) -> Failure:
    """The live pack with that id has the name already."""
    message = "a live pack already has that name; choose another or use that pack"
    return Failure(Code.NAME_CONFLICT, message, {"name": name, "id": pack_id})


def no_free_id() -> Failure:
    """Every id that was drawn is taken."""
    return Failure(Code.INTERNAL, "no free pack id was drawn; check the source of random numbers")


TRASH_KEEPS = timedelta(days=30)
"""How long at least a pack can be restored after its end."""


def is_deleted(pack: Pack) -> bool:
    """Whether a pack that can be restored was deleted; the time of another one was over."""
    return pack.expires_at <= pack.updated_at


def last_expired(packs: Iterable[Pack], handle: str) -> Pack | None:
    """Of the expired packs with that id or name, the one that expired last."""
    known = (pack for pack in packs if handle in (pack.id, pack.name))
    return max(known, key=lambda pack: pack.expires_at, default=None)


KEPT_REVISIONS = 20


class PackHistory(Protocol):
    """The last `KEPT_REVISIONS` of packs, as their store keeps them with each change; nothing here fails."""

    def get(self, pack_id: str, revision: int) -> Pack | None:
        """A kept revision."""

    def revisions(self, pack_id: str) -> Sequence[int]:
        """The kept revisions of a pack, the oldest first."""


class ExcerptStore(Protocol):
    """The anchored texts of refs, by digest. Losing one only loses the diff.

    A text is kept before the pack that names it is written, and removed when no pack names it any more.
    """

    def texts(self, digests: Collection[str]) -> Mapping[str, str]:
        """The texts with these digests, as far as they are kept."""

    def put(self, texts: Mapping[str, str]) -> None:
        """Keep texts by their digests; one of more than `EXCERPT_BYTES` is not kept."""

    def remove(self, digests: Iterable[str]) -> None:
        """Remove texts; what is not there is no error."""

    def idle(self) -> Collection[str]:
        """The digests of texts that were written more than `IDLE_SECONDS` ago."""


class NoExcerptStore:
    """An excerpt store that keeps no texts."""

    def texts(self, _: Collection[str]) -> Mapping[str, str]:
        """None."""
        return {}

    def put(self, _: Mapping[str, str]) -> None:
        """Nothing is kept."""

    def remove(self, _: Iterable[str]) -> None:
        """Nothing is kept, so nothing is removed."""

    def idle(self) -> Collection[str]:
        """None."""
        return ()


@frozen
class Excerpt:
    """A passage that answers a question: lines of a source file, or a text of its own when it has no path.

    `kind` is the section it belongs to: `code`, `documents` or `memory`; `score` is from 0 to 1; `what` says
    in a few words what it does for the question; `partial` is the part of a definition, which comes after
    whole ones. `rank` is the turn in which it gets room: 0 before 1.
    """

    kind: str
    title: str
    score: float
    text: str = ""
    path: str | None = None
    start: int = 1
    end: int = 1
    what: str = ""
    partial: bool = False
    group: str | None = None
    """What it is for the question; passages are chosen best first, and shown group by group."""
    rank: int = 0


@frozen
class Excerpted:
    """Passages, the best first, and warnings beside them (an index that is not ready, …)."""

    items: Sequence[Excerpt]
    notes: Mapping[str, object] = field(factory=dict)
    texts: Mapping[str, str] = field(factory=dict)
    """What stands at the top of sections, by their kinds."""


class Excerpts(Protocol):
    """Finds passages for a question in whatever the project has: code, documents, memory."""

    def best(self, query: str, limit: int, check: Check = never_cancelled, /) -> Excerpted:
        """At most `limit` passages; what `check` raises ends the search."""

    def changed(self, diff: str, check: Check = never_cancelled, /) -> Excerpted:
        """What a diff, or what changed since a revision, touches: definitions, callers, tests, knowledge."""

    def traced(self, trace: str, check: Check = never_cancelled, /) -> Excerpted:
        """The functions that the frames of a stack trace are in, and what is known of them."""


class DiagramCheck(Protocol):
    """Reads Mermaid texts as whoever draws them."""

    def faults(self, sources: Sequence[str], /) -> Sequence[str | None]:
        """Why each cannot be drawn; None for one that can, and where that is not known."""
