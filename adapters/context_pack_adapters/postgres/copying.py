"""Copies packs and discoveries from one store to another, under their ids; nothing there is overwritten."""

from __future__ import annotations

from base64 import b32decode
from collections.abc import Callable, Iterator
from typing import NamedTuple

from attrs import define, field

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ports import IdSource
from context_pack.memory.ports import DiscoveryStore
from context_pack.packs.model import Pack
from context_pack.packs.ports import PackStore


@define
class Copied:
    """The outcome of each pack or discovery, by id."""

    copied: list[str] = field(factory=list)
    same: list[str] = field(factory=list)
    conflicts: dict[str, str] = field(factory=dict)


class CopySide(NamedTuple):
    """The stores of one side; `packs_with` opens its packs with ids of another source."""

    packs: PackStore
    packs_with: Callable[[IdSource], PackStore]
    discoveries: DiscoveryStore


class WantedId:
    """An `IdSource` that draws the id that a pack has already."""

    wanted = ""

    def token(self, _: int) -> bytes:
        """The bytes that spell the id."""
        return b32decode(self.wanted.partition("_")[2].upper())


def copy_packs(source: PackStore, target: Callable[[IdSource], PackStore]) -> Copied:
    """Copy the live packs that are not there; one that differs, or whose name is taken, is a conflict."""
    done, ids = Copied(), WantedId()
    store = target(ids)
    there = {pack.id: pack for pack in store.all()}
    for pack in sorted(source.all(), key=lambda one: one.id):
        found = there.get(pack.id)
        if found == pack:
            done.same.append(pack.id)
        elif found is not None:
            done.conflicts[pack.id] = f"revision {pack.revision} differs from revision {found.revision} there"
        else:
            ids.wanted = pack.id
            _copy(pack, store, done)
    return done


def _copy(pack: Pack, target: PackStore, done: Copied) -> None:
    try:
        target.create(lambda _: pack, pack.name)
    except Failure as failure:
        if failure.code is Code.NAME_CONFLICT:
            done.conflicts[pack.id] = f"its name {pack.name!r} is that of {failure.details['id']} there"
        elif failure.code is Code.INTERNAL:  # somebody made it since we looked
            done.conflicts[pack.id] = "it has come to be there meanwhile; try again"
        else:
            raise
    else:
        done.copied.append(pack.id)


def copy_discoveries(source: DiscoveryStore, target: DiscoveryStore) -> Copied:
    """Copy the discoveries that are not there; one that differs is a conflict."""
    done = Copied()
    there = {one.id: one for one in target.all()}
    for one in source.all():
        found = there.get(one.id)
        if found == one:
            done.same.append(one.id)
        elif found is not None:
            done.conflicts[one.id] = "it was recorded on both sides, and differs"
        else:
            target.record(one)
            done.copied.append(one.id)
    return done


def report_lines(done: Copied, kind: str) -> Iterator[str]:
    """The outcome as lines of text."""
    yield f"{kind}: {len(done.copied)} copied, {len(done.same)} the same, {len(done.conflicts)} in conflict"
    for key, words in done.conflicts.items():
        yield f"  {key}: {words}"
