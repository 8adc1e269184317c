"""What a hostile hand can put at a path of a project: links, pipes, devices, and files of the wrong kind.

Every link leads to the decoy of its world and every device is one of our own making in the project: nothing
here touches a file of the system.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from hostile_world import OURS, World

HUGE = 1 << 33
MOST_BYTES = 1 << 20
Planter = Callable[[World, str, Path], None]

VANISHER = """
import os, sys, time
places = sys.argv[1:]
print("ready", flush=True)
os.set_blocking(0, False)
while sys.stdin.buffer.raw.read(1) is None:
    for place in places:
        for old, new in ((place, place + ".away"), (place + ".away", place)):
            try:
                os.rename(old, new)
            except OSError:
                pass  # the product has put something else there
    time.sleep(0.0005)  # as long as a round takes: the product needs the processor too
"""


def _linked(world: World, path: str, place: Path) -> None:
    """A link to what has this path in the decoy, or to what has at least this name there."""
    target = world.decoy / path
    if not target.exists():
        target = next((one for one in world.decoy.rglob(target.name)), world.decoy / "docs/page.md")
    place.symlink_to(target)


def _linked_to_other_kind(world: World, path: str, place: Path) -> None:
    """A link to a folder for a file, and to a file for a folder."""
    place.symlink_to(world.decoy / ("docs/page.md" if (world.template / path).is_dir() else "docs"))


def _linked_to_nothing(world: World, path: str, place: Path) -> None:
    """A link to a name outside that is free: whoever writes through it makes a file there."""
    place.symlink_to(world.decoy / "not-there-yet")


def _pipe(world: World, path: str, place: Path) -> None:
    os.mkfifo(place)


def _device(world: World, path: str, place: Path) -> None:
    """Endless zeroes, as a device of our own in the project."""
    os.mknod(place, 0o666 | stat.S_IFCHR, os.makedev(1, 5))


def _huge(world: World, path: str, place: Path) -> None:
    with open(place, "wb") as file:
        file.truncate(HUGE)


def _noise(world: World, path: str, place: Path) -> None:
    """Bytes that are neither text nor any format."""
    place.write_bytes(bytes(range(256)) * 4)


def _closed(world: World, path: str, place: Path) -> None:
    """What was there, or a file, which nobody may read."""
    if (world.template / path).is_dir():
        shutil.copytree(world.template / path, place)
    elif (world.template / path).exists():
        shutil.copyfile(world.template / path, place)
    else:
        place.write_text(OURS)
    place.chmod(0)


def _other_kind(world: World, path: str, place: Path) -> None:
    """A folder in the place of a file, and a file in the place of a folder."""
    if (world.template / path).is_dir():
        place.write_text(f"{OURS}\n")
    else:
        place.mkdir()
        (place / "file.txt").write_text(f"{OURS}\n")


def _gone(world: World, path: str, place: Path) -> None:
    """Nothing at all."""


def _as_it_was(world: World, path: str, place: Path) -> None:
    """What was there, for those who make it vanish later."""
    if (world.template / path).is_dir():
        shutil.copytree(world.template / path, place)
    elif (world.template / path).exists():
        shutil.copyfile(world.template / path, place)
    else:
        place.write_text(f"{OURS}\n")


KINDS: Mapping[str, Planter] = {
    "a link to the decoy": _linked,
    "a link to the other kind": _linked_to_other_kind,
    "a link to nothing": _linked_to_nothing,
    "a pipe": _pipe,
    "a device": _device,
    "a huge file": _huge,
    "noise": _noise,
    "an unreadable one": _closed,
    "the other kind": _other_kind,
    "nothing": _gone,
    "a vanishing one": _as_it_was,
}


def plantable() -> Sequence[str]:
    """The kinds that this system lets us plant."""
    return [kind for kind in KINDS if kind != "a device" or _may_make_devices()]


def _may_make_devices() -> bool:
    return os.geteuid() == 0 and sys.platform == "linux"


@contextmanager
def planted(world: World, kind: str, paths: Sequence[str]) -> Iterator[None]:
    """The project as it was made, but with this at those paths, while the block runs."""
    world.restore()
    for path in paths:
        place = world.project / path
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        KINDS[kind](world, path, place)
    with ExitStack() as stack:
        if kind == "an unreadable one":
            stack.enter_context(ordinary_user())
        if kind == "a vanishing one":
            stack.enter_context(_vanishing([str(world.project / path) for path in paths]))
        yield


@contextmanager
def _vanishing(places: Sequence[str]) -> Iterator[None]:
    """The places are there and not there, by turns, until the block ends."""
    command = [sys.executable, "-c", VANISHER, *places]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            process.communicate()


class _Head(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inherited", ctypes.c_uint32),
    )


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Without root's power to read what is closed, for this thread while the block runs."""
    if os.geteuid() != 0 or sys.platform != "linux":
        yield
        return
    library = ctypes.CDLL(None, use_errno=True)
    head, sets = _Head(0x20080522, 0), (_Sets * 2)()
    _ask(library.capget(ctypes.byref(head), sets))
    before = sets[0].effective
    sets[0].effective = before & ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    _ask(library.capset(ctypes.byref(head), sets))
    try:
        yield
    finally:
        sets[0].effective = before
        _ask(library.capset(ctypes.byref(head), sets))


def _ask(answer: int) -> None:
    if answer:
        number = ctypes.get_errno() or errno.EPERM
        raise OSError(number, os.strerror(number))


def rounds(paths: Sequence[str], at_once: int) -> list[list[str]]:
    """The paths in groups of so many at most, none of them inside another of its group."""
    groups: list[list[str]] = []
    for path in paths:
        for group in groups:
            if len(group) < at_once and not any(_nested(path, other) for other in group):
                group.append(path)
                break
        else:
            groups.append([path])
    return groups


def _nested(one: str, other: str) -> bool:
    return one.startswith(f"{other}/") or other.startswith(f"{one}/")
