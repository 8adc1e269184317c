"""Discoveries in a folder, one Markdown file each: `{root}/memory/discoveries/{id}.md`.

Labels stand in the front matter, the content is the body; unlike a pack's, it counts: people may mend a
discovery's words with an editor, and its id stays.

The rules of the packs' store: a file is replaced in one step, so reads take no lock; a write is one
read-modify-write under one lock; a file that breaks a rule makes everything fail that has to look at all of
them, and nothing else. What was parsed is kept by the file's state, where that can be trusted: every search
looks at all of them, and 300 take 5 ms of processor time instead of 42.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count

from attrs import evolve

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ports import Reason
from context_pack.memory.discovery import (
    Discovery,
    from_record,
    id_of,
    is_id,
    normalised,
    to_record,
)
from context_pack.memory.ports import Recorded
from context_pack_adapters.files import front_matter
from context_pack_adapters.files.events import WRITING, Tell
from context_pack_adapters.files.faults import io_failure, translated
from context_pack_adapters.files.folder import Folder
from context_pack_adapters.files.opening import AnyPlace, Refused
from context_pack_adapters.files.signature import FileCache, signature

SUFFIX, LOCK = ".md", ".lock"
LOCK_SECONDS = 10.0
MAX_FILE_BYTES = 64 * 1024
MOST_FILES_NAMED = 100


class DiscoveryFiles:
    """A `DiscoveryStore` on disk; safe to share between threads and processes."""

    def __init__(
        self, root: AnyPlace, lock_timeout: float = LOCK_SECONDS, tell: Tell = lambda _: None
    ) -> None:
        self._folder = Folder(root).below("memory", "discoveries")
        self._lock_timeout = lock_timeout
        self._tell = tell
        self._cache: FileCache[Discovery] = FileCache()

    def record(self, discovery: Discovery) -> Recorded:
        """Keep a discovery, or record again the one that says the same."""
        self._tell(WRITING)
        with self._locked():
            recorded = merged(discovery, self._load)
            self._write(recorded.discovery)
        return recorded

    def change(self, discovery_id: str, change: Callable[[Discovery], Discovery]) -> Discovery:
        """Replace a discovery by what `change` makes of it, under its id."""
        self._tell(WRITING)
        self._check_there(discovery_id)
        with self._locked():
            known = self._load(discovery_id)
            if known is None:
                raise not_found(discovery_id)
            changed = change(known)
            if changed != known:
                self._write(changed)
            return changed

    def all(self) -> Sequence[Discovery]:
        """Every discovery, the oldest first."""
        found, failure = self.readable()
        if failure is not None:
            raise failure
        return found

    def readable(self) -> tuple[Sequence[Discovery], Failure | None]:
        """Every discovery that can be read, and the failure that names the files that cannot."""
        found: list[Discovery] = []
        broken: dict[str, str] = {}
        for name in self._names():
            try:
                one = self._load(name)
            except Failure as failure:
                if failure.code is not Code.MALFORMED_DISCOVERY:
                    raise
                broken[name] = str(failure.details["reason"])
                continue
            if one is not None:
                found.append(one)
        found.sort(key=lambda one: (one.date, one.id))
        return found, malformed(broken) if broken else None

    def forget(self, discovery_id: str) -> Discovery | None:
        """Remove a discovery and return it, or None when its file held none."""
        self._check_there(discovery_id)
        with self._locked():
            try:
                known = self._load(discovery_id)
                if known is None:
                    raise not_found(discovery_id)
            except Failure as failure:
                # Everything that looks at all of them waits for a malformed one to go.
                if failure.code is not Code.MALFORMED_DISCOVERY:
                    raise
                known = None
            with translated(discovery_id + SUFFIX):
                self._folder.remove(discovery_id + SUFFIX, durably=True)
        return known

    def _check_there(self, discovery_id: str) -> None:
        """Refuse a text that is no discovery id, before any folder is made."""
        with translated("discoveries"):
            if not is_id(discovery_id) or not self._folder.exists():
                raise not_found(discovery_id)

    def _names(self) -> list[str]:
        with translated("discoveries"):
            names = self._folder.names()
        stems = (name[: -len(SUFFIX)] for name in names if name.endswith(SUFFIX))
        ids = sorted(filter(is_id, stems))
        self._cache.keep_only(ids)
        return ids

    def _load(self, discovery_id: str) -> Discovery | None:
        """The discovery in a file, cached while unchanged; None if there is no file."""
        name, before = discovery_id + SUFFIX, time.time_ns()
        try:
            cached = self._cache.get(discovery_id, signature(self._folder.status(name)))
            if cached is not None:
                return cached
            data, status = self._folder.read(name, MAX_FILE_BYTES)
        except FileNotFoundError:
            return None
        except Refused as refused:
            large = refused.reason is Reason.TOO_LARGE
            raise _named(
                discovery_id, "it is larger than any discovery" if large else "it is not a regular file"
            ) from None
        except OSError as error:
            raise io_failure(error, name) from error
        value = decoded(data, discovery_id)
        self._cache.put(discovery_id, status, before, value)
        return value

    def _write(self, discovery: Discovery) -> None:
        with translated(discovery.id + SUFFIX):
            self._folder.write(discovery.id + SUFFIX, encoded(discovery))
        self._folder.sweep()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with translated("discoveries"):
            self._folder.make_shared()
            lock = self._folder.lock(LOCK, self._lock_timeout)
            lock.acquire()
        try:
            yield
        finally:
            with suppress(OSError):
                lock.release()


def encoded(discovery: Discovery) -> bytes:
    """The file of a discovery."""
    return front_matter.render(to_record(discovery), discovery.content + "\n")


def decoded(data: bytes, discovery_id: str) -> Discovery:
    """The discovery in a file named after `discovery_id`.

    Raises:
        Failure: `malformed_discovery`, with the reason in the details.
    """
    try:
        front, body = front_matter.divide(data)
        found = from_record(front_matter.parse(front), body.decode("utf-8"))
    except UnicodeDecodeError:
        raise _named(discovery_id, "it is not UTF-8") from None
    except ValueError as error:
        raise _named(discovery_id, str(error)) from None
    except Failure as failure:
        raise _named(discovery_id, failure.message) from None
    if found.id != discovery_id:
        raise _named(discovery_id, "the id in the file is not the one in its name")
    return found


def merged(discovery: Discovery, load: Callable[[str], Discovery | None]) -> Recorded:
    """The discovery as it is to be kept, where `load` gives what has an id."""
    for attempt in count():
        wanted = evolve(discovery, id=id_of(discovery.content, attempt)) if attempt else discovery
        known = load(wanted.id)
        if known is None:
            return Recorded(wanted, merged=False)
        # A file that was edited by hand may say something else than it is named after.
        if normalised(known.content) == normalised(wanted.content):
            return Recorded(known.again(wanted), merged=True)
    raise AssertionError("there is always a free name")


def _named(discovery_id: str, reason: str) -> Failure:
    return Failure(
        Code.MALFORMED_DISCOVERY,
        f"{discovery_id}{SUFFIX} is malformed: {reason}; mend or remove it",
        {"reason": reason, "files": [{"file": discovery_id + SUFFIX, "reason": reason}]},
    )


def malformed(broken: dict[str, str]) -> Failure:
    """The failure for files that hold no discovery."""
    files = [{"file": name + SUFFIX, "reason": reason} for name, reason in sorted(broken.items())]
    others = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
    message = f"{files[0]['file']} is malformed: {files[0]['reason']}{others}; mend or remove it"
    return Failure(Code.MALFORMED_DISCOVERY, message, {"files": files[:MOST_FILES_NAMED]})


def not_found(discovery_id: str) -> Failure:
    """No discovery has that id."""
    return Failure(Code.NOT_FOUND, "no discovery has that id; list them to see", {"id": discovery_id})
