"""The graph against its definition: shortest distances, mutual reach, and dependencies first."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.graph import Graph

Edges = dict[int, list[int]]
EDGES = st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=4), max_size=10)
STARTS = st.lists(st.integers(0, 9), max_size=3)


def nodes_of(edges: Edges) -> set[int]:
    return {*edges, *(target for targets in edges.values() for target in targets)}


def closure(edges: Edges, starts: Iterable[int], steps: int) -> set[int]:
    """Everything within `steps` edges, straight from the definition."""
    seen = set(starts)
    for _ in range(steps):
        seen |= {target for node in seen for target in edges.get(node, [])}
    return seen


@pytest.mark.clause("KN-21")
@given(EDGES, STARTS, st.integers(0, 5))
def test_reach_gives_exact_distances(edges: Edges, starts: list[int], depth: int) -> None:
    found = Graph(edges).reach(starts, depth)
    assert set(found) == closure(edges, starts, depth)
    for node, distance in found.items():
        assert node in closure(edges, starts, distance)
        assert distance == 0 or node not in closure(edges, starts, distance - 1)


@pytest.mark.clause("KN-21")
@given(EDGES, STARTS, st.integers(0, 5))
def test_reach_goes_by_distance_then_edge_order(edges: Edges, starts: list[int], depth: int) -> None:
    found = Graph(edges).reach(starts, depth)
    assert list(found.values()) == sorted(found.values())
    for distance in range(1, depth + 1):
        before = [node for node, steps in found.items() if steps == distance - 1]
        met = dict.fromkeys(target for node in before for target in edges.get(node, []))
        layer = [node for node, steps in found.items() if steps == distance]
        assert layer == [node for node in met if found[node] == distance]


@pytest.mark.clause("KN-21")
def test_starts_come_first_as_asked_and_only_once() -> None:
    graph = Graph({"a": ["b", "c"], "b": ["d"], "c": ["a"], "d": ["a"]})
    assert list(graph.reach(["c", "a", "c"], 2).items()) == [("c", 0), ("a", 0), ("b", 1), ("d", 2)]
    assert graph.reach(["zz"], 3) == {"zz": 0}
    assert graph.reach(["a"], 0) == {"a": 0}
    assert graph.reach([], 3) == {}


@pytest.mark.clause("KN-22")
@given(EDGES)
def test_order_groups_cycles_and_puts_dependencies_first(edges: Edges) -> None:
    groups = Graph(edges).order()
    place = {node: index for index, group in enumerate(groups) for node in group}
    assert sorted(node for group in groups for node in group) == sorted(nodes_of(edges))
    reach = {node: closure(edges, [node], 10) for node in place}
    for node in place:
        for target in edges.get(node, []):
            assert place[target] <= place[node]
        for other in place:
            assert (place[node] == place[other]) == (other in reach[node] and node in reach[other])


@pytest.mark.clause("KN-22")
@given(EDGES)
def test_cycles_are_the_nodes_that_can_come_back_to_themselves(edges: Edges) -> None:
    cyclic = {node for group in Graph(edges).cycles() for node in group}
    expected = {node for node in edges if node in closure(edges, edges[node], 10)}
    assert cyclic == expected


@pytest.mark.clause("KN-22")
def test_order_is_stable() -> None:
    graph = Graph({"app": ["db", "web"], "web": ["log", "app"], "db": ["log"], "solo": []})
    assert graph.order() == [("log",), ("db",), ("app", "web"), ("solo",)]
    assert graph.cycles() == [("app", "web")]
    assert Graph({None: [1], 1: [None], 2: [2]}).cycles() == [(None, 1), (2,)]


@pytest.mark.clause("KN-22")
def test_a_long_chain_needs_no_deep_stack() -> None:
    size = 20_000
    chain = {node: [node + 1] for node in range(size)}
    assert Graph(chain).order()[0] == (size,)
    ring = {**chain, size: [0]}
    assert [len(group) for group in Graph(ring).cycles()] == [size + 1]
    assert Graph(ring).reach([0], size)[size] == size
