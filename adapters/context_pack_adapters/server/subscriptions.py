"""Subscribers of changed resources, of handshake and stateless clients, and the notifications they get.

A client of the handshake subscribes to single URIs and hears of a changed list without asking. A stateless
one opens a listen stream with a filter: acknowledged first, every message with the subscription's id, ended
by an empty result or by a cancel, which is not answered. All sending happens under one lock, so that nothing
overtakes an acknowledgement and nothing follows an end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from context_pack_adapters.server.jsonrpc import INVALID_PARAMS, Id, ProtocolError, notification, same_id
from context_pack_adapters.server.protocol_versions import SUBSCRIPTION_KEY

UPDATED = "notifications/resources/updated"
LIST_CHANGED = "notifications/resources/list_changed"
TOOLS_CHANGED = "notifications/tools/list_changed"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
FLAGS = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")


class Listener(NamedTuple):
    """One listen stream; `honoured` is what was acknowledged, `end` sends its closing result."""

    id: Id
    honoured: Mapping[str, Any]
    end: Callable[[], None]

    @property
    def uris(self) -> Collection[str]:
        """The resources it hears of."""
        uris: list[str] = self.honoured.get("resourceSubscriptions", [])
        return uris


class Subscriptions:
    """All subscribers.

    `on_watch` is called with True when there may be more to watch: it has looked when it returns, so that
    whoever is answered after it misses nothing. With False there is less, and it must not wait for anything.
    """

    def __init__(self, send: Callable[[bytes], None], on_watch: Callable[[bool], None]) -> None:
        self._send, self._on_watch = send, on_watch
        self._lock = threading.RLock()
        self._uris: set[str] = set()
        """What clients of the handshake subscribed to."""
        self._listeners: list[Listener] = []
        self._silent: list[Listener] = []
        """Streams that are not acknowledged yet."""
        self.greeted = False
        """Whether a client did the handshake, and so is notified of changed lists."""
        self._listed = False

    @property
    def watched(self) -> frozenset[str]:
        """Every URI that a client subscribed to."""
        with self._lock:
            listeners = (*self._listeners, *self._silent)
            return frozenset(self._uris).union(*(listener.uris for listener in listeners))

    @property
    def watching(self) -> bool:
        """Whether a client subscribed to a URI, listens for changed lists, or has got a list."""
        with self._lock:
            listeners = (*self._listeners, *self._silent)
            lists = any("resourcesListChanged" in each.honoured for each in listeners)
            return bool(self._listed or lists or self.watched)

    def listed(self) -> None:
        """A client has got the list; after a handshake it is notified when the list changes."""
        if self.greeted and not self._listed:
            self._listed = True
            self._on_watch(True)

    def subscribe(self, uri: str) -> None:
        """Subscribe a client of the handshake to a resource; it misses nothing after `watch`."""
        with self._lock:
            self._uris.add(uri)

    def watch(self) -> None:
        """Have the new subscriptions watched; may take as long as a look takes."""
        if self.watching:
            self._on_watch(True)

    def unsubscribe(self, uri: str) -> None:
        """Unsubscribe a client of the handshake; an unknown URI is fine."""
        with self._lock:
            self._uris.discard(uri)
        self._on_watch(False)

    def add(self, listener: Listener) -> None:
        """Add a stream, silent until it is acknowledged."""
        with self._lock:
            self._silent.append(listener)

    def acknowledge(self, listener: Listener) -> None:
        """Say what will be delivered, then deliver; a stream that was cancelled meanwhile stays silent."""
        params = {"_meta": {SUBSCRIPTION_KEY: listener.id}, "notifications": listener.honoured}
        with self._lock:
            if listener in self._silent:
                self._silent.remove(listener)
                self._send(notification(ACKNOWLEDGED, params))
                self._listeners.append(listener)

    def cancel(self, request_id: Id) -> None:
        """End the streams with this id without a result."""
        with self._lock:
            self._listeners = [each for each in self._listeners if not same_id(each.id, request_id)]
            self._silent = [each for each in self._silent if not same_id(each.id, request_id)]
        self._on_watch(False)

    def finish(self) -> None:
        """End every stream with its result, and forget every subscription."""
        with self._lock:
            for listener in list(self._silent):
                self.acknowledge(listener)
            ended, self._listeners = self._listeners, []
            self._uris.clear()
            self._listed = False
            for listener in ended:
                listener.end()
        self._on_watch(False)

    def changed(self, uris: Collection[str], list_changed: bool) -> None:
        """Notify all subscribers of these resources, and of their list; may be called from any thread."""
        with self._lock:
            for uri in uris:
                self._notify(UPDATED, uri in self._uris, lambda each, uri=uri: uri in each.uris, uri=uri)  # type: ignore[misc]
            if list_changed:
                self._notify(LIST_CHANGED, self.greeted, lambda each: "resourcesListChanged" in each.honoured)

    def tools_changed(self) -> None:
        """Notify all clients that have a list of tools that it changed."""
        with self._lock:
            self._notify(TOOLS_CHANGED, self.greeted, lambda each: "toolsListChanged" in each.honoured)

    def _notify(self, method: str, handshake: bool, hears: Callable[[Listener], bool], **params: str) -> None:
        """Send one message to the client of the handshake, if it wants it, and to each stream that does."""
        if handshake:
            self._send(notification(method, params))
        for listener in filter(hears, self._listeners):
            self._send(notification(method, {"_meta": {SUBSCRIPTION_KEY: listener.id}, **params}))


def honoured_filter(
    params: Mapping[str, Any], changing_tools: bool, is_watchable: Callable[[str], bool]
) -> dict[str, Any]:
    """The part of a listen filter that will be delivered: our list of prompts never changes.

    Resources that are not watched are left out, so that nobody waits for them.

    Raises:
        ProtocolError: the filter is malformed.
    """
    asked = params.get("notifications")
    if not isinstance(asked, dict):
        raise ProtocolError(INVALID_PARAMS, "notifications is required and must be an object")
    for flag in FLAGS:
        if not isinstance(asked.get(flag, False), bool):
            raise ProtocolError(INVALID_PARAMS, f"notifications.{flag} must be true or false")
    uris = asked.get("resourceSubscriptions", [])
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        raise ProtocolError(INVALID_PARAMS, "notifications.resourceSubscriptions must be a list of URIs")
    honoured: dict[str, Any] = {}
    if changing_tools and asked.get("toolsListChanged"):
        honoured["toolsListChanged"] = True
    if asked.get("resourcesListChanged"):
        honoured["resourcesListChanged"] = True
    watchable = list(dict.fromkeys(filter(is_watchable, uris)))
    if watchable:
        honoured["resourceSubscriptions"] = watchable
    return honoured
