"""A process that works on a pack store, for tests that need several or that kill some.

Run as a script, with the test's own import path: `pack_store_worker.py <action> <root> <argument>…`; prints
one JSON value.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
from sample_packs import full_section, maker

from context_pack.kernel.errors import Code, Failure
from context_pack.packs.model import Pack
from context_pack_adapters.packs.store import FilePackStore
from context_pack_adapters.system import SystemClock

RETRIED = {Code.REVISION_CONFLICT, Code.LOCK_TIMEOUT}


def opened(root: str, timeout: float = 10.0) -> FilePackStore:
    return FilePackStore(Path(root), SystemClock(), os.urandom, timeout)


def revised(expected: int) -> Callable[[Pack], Pack]:
    """A mutation as the tools make it: refused unless the revision is the expected one."""

    def change(pack: Pack) -> Pack:
        pack.check_revision(expected)
        return whole(attrs.evolve(pack, revision=expected + 1, updated_at=SystemClock().now()))

    return change


def whole(pack: Pack) -> Pack:
    """The pack with its revision written at both ends of a long file, so that a torn one would show."""
    text = "\n".join([f"revision {pack.revision}"] * 100)
    section = attrs.evolve(full_section(), description=text)
    return attrs.evolve(pack, title=f"revision {pack.revision}", sections=(section,))


def mutate(root: str, count: str, *ids: str) -> dict[str, int]:
    """Mutate each pack in turn `count` times in all, retrying what may be retried; counts the refusals."""
    store, refusals = opened(root), Counter[str]()
    for turn in range(int(count)):
        pack_id = ids[turn % len(ids)]
        while True:
            try:
                store.update(pack_id, revised(store.get(pack_id).revision))
                break
            except Failure as failure:
                refusals[failure.code] += 1
                if failure.code not in RETRIED:
                    return dict(refusals)
    return dict(refusals)


def killed(root: str, count: str, seed: str, *ids: str) -> int:
    """Start writers and kill each at a random moment; some at a time, `count` in all."""
    chance = random.Random(int(seed))
    waiting = int(count)
    # Done once here, so that no writer spends its short life on importing what a write needs.
    opened(root).update(ids[0], lambda pack: pack)
    while waiting:
        begins, tell = os.pipe()
        wave = [_writer(root, chance.randrange(1 << 30), ids, tell) for _ in range(min(8, waiting))]
        waiting -= len(wave)
        for _ in wave:
            os.read(begins, 1)
        os.close(begins)
        os.close(tell)
        end = time.monotonic()
        for child in wave:
            end += chance.uniform(0, 0.02)
            time.sleep(max(0.0, end - time.monotonic()))
            os.kill(child, signal.SIGKILL)
        for child in wave:
            assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), "a writer ended before it was killed"
    return int(count)


def _writer(root: str, seed: int, ids: tuple[str, ...], tell: int) -> int:
    """A process that says that it begins and writes until it is killed: updates, packs that come and go."""
    child = os.fork()
    if child:
        return child
    chance, store = random.Random(seed), opened(root)
    os.write(tell, b".")
    while True:
        try:
            if chance.random() < 0.7:
                pack_id = chance.choice(ids)
                store.update(pack_id, revised(store.get(pack_id).revision))
            else:
                name = f"guest {chance.randrange(4)}"
                made = store.create(maker(SystemClock().now(), name=name), name)
                store.delete(made.id, lambda _: None)
        except Failure as failure:
            if failure.code not in RETRIED | {Code.NAME_CONFLICT}:
                os.write(2, f"{failure}\n".encode())
                os._exit(1)


def hold(root: str, name: str) -> None:
    """Take a lock, say so, and keep it until killed."""
    from context_pack_adapters.files.locking import PathLock

    PathLock(str(Path(root) / "packs" / name), 5.0).acquire()
    sys.stdout.write("held\n")
    sys.stdout.flush()
    time.sleep(600)


def try_everything(root: str, pack_id: str, name: str) -> dict[str, Any]:
    """What each action but the delete answers: the revision or the number it found, or the failure."""
    store = opened(root, 0.5)
    content = "x" * 19_000
    section = attrs.evolve(full_section(), description=content)
    actions: dict[str, Callable[[], Any]] = {
        "get": lambda: store.get(pack_id).revision,
        "find": lambda: store.find(name).revision,
        "all": lambda: len(store.all()),
        "update": lambda: store.update(pack_id, lambda p: attrs.evolve(p, sections=(section,))).revision,
        "create": lambda: store.create(maker(SystemClock().now(), sections=(section,)), None).revision,
        "create named": lambda: store.create(maker(SystemClock().now(), name="new one"), "new one").revision,
    }
    answers: dict[str, Any] = {}
    for action, act in actions.items():
        try:
            answers[action] = act()
        except Failure as failure:
            told = {"code": failure.code, "message": failure.message, "details": dict(failure.details)}
            answers[action] = told
    return answers


ACTIONS: dict[str, Callable[..., Any]] = {act.__name__: act for act in (mutate, killed, hold, try_everything)}

if __name__ == "__main__":
    answer = ACTIONS[sys.argv[1]](*sys.argv[2:])
    sys.stdout.write(json.dumps(answer))
