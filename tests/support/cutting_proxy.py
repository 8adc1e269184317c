"""A proxy in front of a server that cuts connections, before a message arrives or before its answer does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum


class Fate(Enum):
    """What becomes of what a client sends."""

    PASS = "pass"
    CUT_BEFORE = "cut before it arrives"
    CUT_AFTER = "it arrives, and its answer does not"


@contextmanager
def proxied(target: int, fate: Callable[[bytes], Fate]) -> Iterator[int]:
    """The port of a proxy to a port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve, args=(listener, target, fate), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def _serve(listener: socket.socket, target: int, fate: Callable[[bytes], Fate]) -> None:
    with suppress(OSError):  # the listener is closed
        while True:
            near, _ = listener.accept()
            far = socket.create_connection(("127.0.0.1", target))
            threading.Thread(target=_forward, args=(near, far, fate), daemon=True).start()
            threading.Thread(target=_forward, args=(far, near, lambda _: Fate.PASS), daemon=True).start()


def _forward(source: socket.socket, sink: socket.socket, fate: Callable[[bytes], Fate]) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 20):
            chosen = fate(data)
            if chosen is Fate.CUT_BEFORE:
                break
            if chosen is Fate.CUT_AFTER:
                _close(source)
            sink.sendall(data)
            if chosen is Fate.CUT_AFTER:
                sink.recv(1)  # the server has done it
                break
    _close(source)
    _close(sink)


def _close(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
