"""Which files were read, how often and when: one JSON file in the user's state, written behind the reads.

A read only adds to a table in memory. A few seconds after the first, one thread adds what has gathered to the
file, under a lock, so that several servers count together; at the end of a connection or a process the rest
follows. Nothing here ever fails a read: what cannot be written stays in memory and is tried again. Items are
never dropped: those below the budget's line are archived.
"""

from __future__ import annotations

import atexit
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from threading import Lock, Timer
from typing import Any

from context_pack.code.access import ContextItem, ranked
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Clock
from context_pack.kernel.times import format_instant, parse_instant
from context_pack_adapters.files.events import Event, EventKind, Tell
from context_pack_adapters.files.folder import PrivateFolder

FORMAT = 1
FILE, BROKEN, LOCK = "items.json", "items.broken.json", ".lock"
WRITE_SECONDS = 5.0
LOCK_SECONDS = 0.5
MOST_GATHERED = 10_000
LARGEST_FILE = 64 * 1024 * 1024


class AccessFiles:
    """An `AccessLog` in `{state}/access/`; safe to share between threads and processes."""

    def __init__(
        self, state: PrivateFolder, clock: Clock, seconds: float = WRITE_SECONDS, tell: Tell = lambda _: None
    ) -> None:
        self._folder = state.below("access")
        self._clock = clock
        self._seconds = seconds
        self._tell = tell
        self._lock = Lock()
        self._gathered: dict[RelativePath, ContextItem] = {}
        self._timer: Timer | None = None

    def record(self, path: RelativePath, at: datetime) -> None:
        """Count one more read of the file; it is written later."""
        self._tell(Event(EventKind.READ, path=path))
        with self._lock:
            known = self._gathered.get(path)
            if known is None and len(self._gathered) >= MOST_GATHERED:
                return
            self._gathered[path] = ContextItem(path, 1, at) if known is None else known.seen(1, at)
            if self._timer is not None:
                return
            self._timer = Timer(self._seconds, self.flush)
            self._timer.daemon = True
            self._timer.start()
            atexit.register(self.flush)

    def items(self) -> Sequence[ContextItem]:
        """Every file that was ever read, the best score first."""
        with self._lock:
            gathered = list(self._gathered.values())
        return ranked(_merged(self._load(), gathered).values(), self._clock.now())

    def flush(self) -> None:
        """Write what has gathered; what cannot be written stays, and the next read tries again."""
        with self._lock:
            gathered, self._gathered = self._gathered, {}
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            atexit.unregister(self.flush)
        if not gathered:
            return
        try:
            self._write(gathered.values())
        except (OSError, Failure):
            with self._lock:
                self._gathered = dict(_merged(gathered, self._gathered.values()))

    def _write(self, gathered: Iterable[ContextItem]) -> None:
        self._folder.make()
        with self._folder.lock(LOCK, LOCK_SECONDS):
            items = ranked(_merged(self._load(keep_broken=True), gathered).values(), self._clock.now())
            record = {"format": FORMAT, "items": [_to_record(item) for item in items]}
            body = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
            self._folder.write(FILE, body.encode("utf-8", "surrogatepass"))

    def _load(self, keep_broken: bool = False) -> dict[RelativePath, ContextItem]:
        """Read the file; a malformed one counts as empty, and is kept aside by the next write."""
        try:
            data, _ = self._folder.read(FILE, LARGEST_FILE)
        except FileNotFoundError:
            return {}
        except OSError:
            if keep_broken:
                raise
            return {}
        try:
            return _from_record(json.loads(data))
        except (ValueError, KeyError, TypeError, RecursionError, Failure):
            if keep_broken:
                with suppress(OSError):
                    self._folder.move(FILE, BROKEN)
            return {}


def _merged(
    known: Mapping[RelativePath, ContextItem], more: Iterable[ContextItem]
) -> dict[RelativePath, ContextItem]:
    """The items with the reads of `more` added."""
    merged = dict(known)
    for item in more:
        before = merged.get(item.path)
        merged[item.path] = item if before is None else before.seen(item.count, item.last_access)
    return merged


def _to_record(item: ContextItem) -> dict[str, Any]:
    return {
        "path": item.path.value,
        "count": item.count,
        "last": format_instant(item.last_access),
        "score": round(item.score, 6),
        "archived": item.archived,
    }


def _from_record(record: Any) -> dict[RelativePath, ContextItem]:
    """The items of a file.

    Raises:
        ValueError, KeyError, TypeError, Failure: it is not one of ours.
    """
    if record["format"] != FORMAT:
        raise ValueError("another format")
    items: dict[RelativePath, ContextItem] = {}
    for each in record["items"]:
        count = each["count"]
        if type(count) is not int or count < 1:
            raise ValueError("not a count")
        path = RelativePath(each["path"])
        items[path] = ContextItem(path, count, parse_instant(each["last"]))
    return items
