"""A directed graph of anything hashable: exact reach, cycles, and an order with dependencies first.

Everything is deterministic: nodes count in the order of the mapping, neighbours in the order of their edges.
Nodes that only appear as targets have no edges of their own. Nothing recurses, so that a long chain is as
safe as a short one. Strong components are found with Tarjan's algorithm, on an explicit stack.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from attrs import define, field, frozen

N = TypeVar("N", bound=Hashable)


@frozen
class Graph(Generic[N]):
    """Edges from each node to the nodes it refers to."""

    edges: Mapping[N, Sequence[N]]

    def reach(self, starts: Iterable[N], depth: int) -> dict[N, int]:
        """Every node within `depth` steps of a start and its exact distance: by distance, then edge order."""
        distances: dict[N, int] = dict.fromkeys(starts, 0)
        frontier = list(distances)
        for distance in range(1, depth + 1):
            frontier = self._fresh(frontier, distances, distance)
            if not frontier:
                break
        return distances

    def _fresh(self, frontier: Sequence[N], distances: dict[N, int], distance: int) -> list[N]:
        """Mark and return the unseen neighbours of the frontier."""
        fresh: list[N] = []
        for node in frontier:
            for target in self.edges.get(node, ()):
                if target not in distances:
                    distances[target] = distance
                    fresh.append(target)
        return fresh

    def order(self) -> list[tuple[N, ...]]:
        """All nodes in groups, each after the groups it refers to; nodes of one cycle share a group."""
        search = _Components(self.edges)
        for node in self.edges:
            search.visit(node)
        return search.groups

    def cycles(self) -> list[tuple[N, ...]]:
        """The groups whose nodes can reach themselves; a node with an edge to itself is a cycle of one."""
        return [group for group in self.order() if len(group) > 1 or group[0] in self.edges.get(group[0], ())]


@define
class _Components(Generic[N]):
    """Tarjan's search: `low` is the earliest node on the stack that a node can reach."""

    edges: Mapping[N, Sequence[N]]
    groups: list[tuple[N, ...]] = field(factory=list)
    _number: dict[N, int] = field(factory=dict)
    _low: dict[N, int] = field(factory=dict)
    _stack: list[N] = field(factory=list)
    _waiting: set[N] = field(factory=set)

    def visit(self, root: N) -> None:
        """Group every node that can be reached from `root` and is not grouped yet."""
        if root in self._number:
            return
        path: list[tuple[N, Iterator[N]]] = [self._enter(root)]
        while path:
            node, targets = path[-1]
            for target in targets:
                if self._leads_on(node, target):
                    path.append(self._enter(target))
                    break
            else:
                path.pop()
                self._leave(node, path[-1][0] if path else node)

    def _enter(self, node: N) -> tuple[N, Iterator[N]]:
        self._number[node] = self._low[node] = len(self._number)
        self._stack.append(node)
        self._waiting.add(node)
        return node, iter(self.edges.get(node, ()))

    def _leads_on(self, node: N, target: N) -> bool:
        """Whether the target is new; an old one that still waits closes a cycle."""
        if target not in self._number:
            return True
        if target in self._waiting:
            self._low[node] = min(self._low[node], self._number[target])
        return False

    def _leave(self, node: N, parent: N) -> None:
        """Tell the parent how far back the node reaches; if only to itself, its component is complete."""
        self._low[parent] = min(self._low[parent], self._low[node])
        if self._low[node] == self._number[node]:
            self._close(node)

    def _close(self, root: N) -> None:
        """Take the finished component off the stack, in the order its nodes were met."""
        start = len(self._stack) - 1
        while self._stack[start] != root:
            start -= 1
        group = tuple(self._stack[start:])
        del self._stack[start:]
        self._waiting.difference_update(group)
        self.groups.append(group)
