"""A proxy in front of a server: it makes the way longer, counts trips, and cuts connections."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from queue import Queue

from attrs import define, field

SYNC = b"S\0\0\0\4"


class Fate(Enum):
    """What becomes of what a client sends."""

    PASS = "pass"
    CUT_BEFORE = "cut before it arrives"
    CUT_AFTER = "it arrives, and its answer does not"


def passes(_: bytes) -> Fate:
    """Nothing is cut."""
    return Fate.PASS


@define
class Proxy:
    """One listening port; `seconds` is the way there and back."""

    target: int
    seconds: float = 0.0
    fate: Callable[[bytes], Fate] = passes
    port: int = 0
    trips: int = 0
    """How often a client asked for an answer to all it had sent: a `Sync` of the protocol of Postgres."""
    _open: list[socket.socket] = field(factory=list)

    def cut(self) -> None:
        """Cut every connection."""
        for one in self._open:
            _close(one)
        self._open.clear()

    def serve(self, listener: socket.socket) -> None:
        """Take connections until the listener is closed."""
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            _close(near)
            return
        far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open += [near, far]
        threading.Thread(target=self._back, args=(far, near), daemon=True).start()
        self._there(near, far)

    def _there(self, near: socket.socket, far: socket.socket) -> None:
        send, last = self._line(far), b""
        with suppress(OSError):
            while data := near.recv(1 << 20):
                self.trips += (last + data).count(SYNC)
                last = (last + data)[1 - len(SYNC) :]
                fate = self.fate(data)
                if fate is Fate.CUT_BEFORE:
                    break
                if fate is Fate.CUT_AFTER:
                    _close(near)
                send(data)
                if fate is Fate.CUT_AFTER:
                    far.recv(1)  # the server has done it
                    break
        _close(near)
        _close(far)

    def _back(self, far: socket.socket, near: socket.socket) -> None:
        send = self._line(near)
        with suppress(OSError):
            while data := far.recv(1 << 20):
                send(data)
        _close(near)
        _close(far)

    def _line(self, to: socket.socket) -> Callable[[bytes], object]:
        """How to send there: at once, or each piece as long after it came as half the way takes."""
        if not self.seconds:
            return to.sendall
        pieces: Queue[tuple[float, bytes]] = Queue()

        def deliver() -> None:
            with suppress(OSError):
                while True:
                    due, data = pieces.get()
                    time.sleep(max(0.0, due - time.monotonic()))
                    to.sendall(data)

        threading.Thread(target=deliver, daemon=True).start()
        return lambda data: pieces.put((time.monotonic() + self.seconds / 2, data))


@contextmanager
def proxied(target: int, seconds: float = 0.0, fate: Callable[[bytes], Fate] = passes) -> Iterator[Proxy]:
    """A proxy to a port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Proxy(target, seconds, fate, listener.getsockname()[1])
        threading.Thread(target=proxy.serve, args=(listener,), daemon=True).start()
        try:
            yield proxy
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            proxy.cut()


def _close(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
