"""Subscribers of changed resources in both eras, and the notifications they get.

Legacy clients subscribe to single URIs and hear of a changed list without asking. Modern clients open a
listen stream with a filter: acknowledged first, every message carries the subscription's id, ended by an
empty result or by a cancel, which is not answered. All sending happens under one lock, so that nothing
overtakes an acknowledgement and nothing follows an end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from context_pack_adapters.mcp.eras import SUBSCRIPTION_KEY
from context_pack_adapters.mcp.jsonrpc import INVALID_PARAMS, Id, same_id
from context_pack_adapters.mcp.wire import Refusal, notification

UPDATED = "notifications/resources/updated"
LIST_CHANGED = "notifications/resources/list_changed"
TOOLS_CHANGED = "notifications/tools/list_changed"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
FLAGS = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")


class Listener(NamedTuple):
    """One open listen stream; `honoured` is what was acknowledged, `end` sends its closing result."""

    id: Id
    uris: frozenset[str]
    lists: bool
    honoured: Mapping[str, Any]
    end: Callable[[], None]


class Subscriptions:
    """All subscribers; `on_watch` is called for each new subscription and when the last one ends."""

    def __init__(self, send: Callable[[bytes], None], on_watch: Callable[[bool], None]) -> None:
        self._send = send
        self._on_watch = on_watch
        self._lock = threading.RLock()
        self._legacy: set[str] = set()
        self._listeners: list[Listener] = []
        self._silent: list[Listener] = []
        """Streams that are not acknowledged yet."""
        self._telling = threading.Lock()
        self._announced = False
        self._announced_uris: frozenset[str] = frozenset()
        self.greeted = False
        """Whether a legacy client did the handshake, and so is notified of changed lists."""
        self._listed = False

    @property
    def watched(self) -> frozenset[str]:
        """Every URI that a client subscribed to."""
        with self._lock:
            listeners = (*self._listeners, *self._silent)
            return frozenset(self._legacy).union(*(listener.uris for listener in listeners))

    @property
    def watching(self) -> bool:
        """Whether a client subscribed to a URI, listens for changed lists, or has got a list."""
        with self._lock:
            if self._legacy or self._listed:
                return True
            return any(each.uris or each.lists for each in (*self._listeners, *self._silent))

    def listed(self) -> None:
        """A legacy client has got the list; after a handshake it is notified when the list changes."""
        if self.greeted and not self._listed:
            self._listed = True
            self.tell()

    def subscribe(self, uri: str) -> bool:
        """Subscribe a legacy client to a resource; True if `tell` must run before the reply."""
        with self._lock:
            self._legacy.add(uri)
            return self._is_unannounced()

    def unsubscribe(self, uri: str) -> None:
        """Unsubscribe a legacy client; an unknown URI is fine."""
        with self._lock:
            self._legacy.discard(uri)
        self.tell()

    def listen(self, listener: Listener) -> bool:
        """Open a stream, silent until it is acknowledged; True if that must wait for `tell`."""
        with self._lock:
            self._silent.append(listener)
            return self.watching and self._is_unannounced()

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
        self.tell()

    def finish(self) -> None:
        """End every stream with its result, and forget every subscription."""
        with self._lock:
            for listener in list(self._silent):
                self.acknowledge(listener)
            ended, self._listeners = self._listeners, []
            self._legacy.clear()
            self._listed = False
            for listener in ended:
                listener.end()
        self.tell()

    def changed(self, uris: Collection[str], list_changed: bool) -> None:
        """Notify all subscribers of these resources, and of their list; may be called from any thread."""
        with self._lock:
            for uri in uris:
                if uri in self._legacy:
                    self._send(notification(UPDATED, {"uri": uri}))
            if list_changed and self.greeted:
                self._send(notification(LIST_CHANGED, {}))
            for listener in self._listeners:
                meta = {SUBSCRIPTION_KEY: listener.id}
                for uri in uris:
                    if uri in listener.uris:
                        self._send(notification(UPDATED, {"_meta": meta, "uri": uri}))
                if list_changed and listener.lists:
                    self._send(notification(LIST_CHANGED, {"_meta": meta}))

    def tools_changed(self) -> None:
        """Notify all clients that have a list of tools that it changed."""
        with self._lock:
            if self.greeted:
                self._send(notification(TOOLS_CHANGED, {}))
            for listener in self._listeners:
                if "toolsListChanged" in listener.honoured:
                    self._send(notification(TOOLS_CHANGED, {"_meta": {SUBSCRIPTION_KEY: listener.id}}))

    def tell(self) -> None:
        """Call `on_watch` if the subscriptions grew or the last one ended; it has run when this returns.

        Outside the lock of the table, for a watcher may join; in turn, so that the last word is the true one.
        """
        with self._telling:
            watching, uris = self.watching, self.watched
            if self._is_unannounced():
                self._on_watch(watching)
                self._announced = watching
                self._announced_uris = self._announced_uris | uris if watching else frozenset()

    def _is_unannounced(self) -> bool:
        """Whether `on_watch` has to be called: a new subscription, a new URI, or none left."""
        return self.watching != self._announced or not self.watched <= self._announced_uris


def wanted(params: Mapping[str, Any], changing_tools: bool, tells: Callable[[str], bool]) -> dict[str, Any]:
    """The part of a listen filter that will be delivered: our list of prompts never changes.

    `tells` says which resources are watched; the others are left out, so that nobody waits for them.

    Raises:
        Refusal: the filter is malformed.
    """
    asked = params.get("notifications")
    if not isinstance(asked, dict):
        raise Refusal(INVALID_PARAMS, "notifications is required and must be an object")
    for flag in FLAGS:
        if not isinstance(asked.get(flag, False), bool):
            raise Refusal(INVALID_PARAMS, f"notifications.{flag} must be true or false")
    uris = asked.get("resourceSubscriptions", [])
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        raise Refusal(INVALID_PARAMS, "notifications.resourceSubscriptions must be a list of URIs")
    honoured: dict[str, Any] = {}
    if changing_tools and asked.get("toolsListChanged"):
        honoured["toolsListChanged"] = True
    if asked.get("resourcesListChanged"):
        honoured["resourcesListChanged"] = True
    told = list(dict.fromkeys(filter(tells, uris)))
    if told:
        honoured["resourceSubscriptions"] = told
    return honoured
