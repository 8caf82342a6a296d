"""The made-up graph keeps to the law that its docstring states, and is the same for ever."""

from itertools import pairwise

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks.power_law_graph import FRIENDSTER, MOST_EDGES, NEAREST, PIECE, PowerLawGraph

GRAPH = PowerLawGraph(2 * PIECE, 12.0, seed=5)


@pytest.fixture(scope="module")
def edges():
    return tuple(np.concatenate(side) for side in zip(*GRAPH.stream(), strict=True))


def test_degrees_follow_the_law(edges):
    degrees = np.bincount(edges[0], minlength=GRAPH.nodes)
    assert degrees.min() >= 1 and degrees.max() <= MOST_EDGES
    for degree in (2, 3, 10, 40, 200, 1000):
        chance = float(GRAPH.at_least(np.array(degree)))
        # Six standard deviations of a count: false alarm below 1e-8 a degree.
        assert abs(np.mean(degrees >= degree) - chance) < 6 * (chance / GRAPH.nodes) ** 0.5


@pytest.mark.parametrize("mean", [2.0, 11.54, 27.6, 121.0])
def test_the_law_has_the_mean_that_is_asked_for(mean):
    graph = PowerLawGraph(1000, mean)
    assert graph.at_least(np.arange(1, MOST_EDGES + 1)).sum() == pytest.approx(mean, rel=1e-9)
    assert graph.at_least(np.array([1, MOST_EDGES + 1])).tolist() == [1.0, 0.0]


def test_nodes_come_in_order_and_targets_exist(edges):
    source, target = edges
    assert (np.diff(source) >= 0).all() and source[0] == 0 and source[-1] == GRAPH.nodes - 1
    assert target.min() >= 0 and target.max() < GRAPH.nodes


def test_every_second_edge_stays_close_by(edges):
    source, target = GRAPH.piece(0)
    small = np.bincount(source)[source] <= 16
    near = np.flatnonzero(small)[np.flatnonzero(small) % 2 == 0]
    assert (target[near] // NEAREST == source[near] // NEAREST).all()


def test_other_edges_follow_the_law_of_zipf(edges):
    first, _ = GRAPH.piece(0)
    anywhere = GRAPH.piece(0)[1][1::2]
    ranks = np.log(anywhere + 1.0) / np.log(GRAPH.nodes)  # uniform but for whole numbers
    for below in (0.5, 0.7, 0.9):
        assert abs(np.mean(ranks < below) - below) < 0.03
    assert len(first) > 1e6


def test_lists_close_by_overlap():
    first, target = PowerLawGraph(4096, 30.0).lists()
    lists = [set(target[a:b].tolist()) for a, b in pairwise(first[:301])]
    close = [len(a & b) / len(a | b) for a, b in pairwise(lists)]
    far = [len(a & b) / len(a | b) for a, b in zip(lists, lists[150:], strict=False)]
    assert np.mean(close) > 1.15 * np.mean(far) > 0.0


def test_a_graph_is_a_function_of_its_parameters(tmp_path):
    graph = PowerLawGraph(PIECE + 1000, 3.0, seed=9)
    edges = graph.write(tmp_path / "graph")
    files = pq.read_table(tmp_path / "graph")
    again = [np.concatenate(side) for side in zip(*PowerLawGraph(PIECE + 1000, 3.0, seed=9).stream(), strict=True)]
    assert edges == len(files) == len(again[0])
    for name, column in zip(("source", "target"), again, strict=True):
        assert files[name].type == "int32"
        np.testing.assert_array_equal(files[name].to_numpy(), column)
    assert not np.array_equal(PowerLawGraph(PIECE + 1000, 3.0, seed=8).piece(0)[1][:100], again[1][:100])


def test_known_edges_stay_what_they_are():
    """The same graph in a year, or figures of different days are not of the same work."""
    source, target = PowerLawGraph(100, 4.0, seed=1).piece(0)
    assert len(source) == 336
    assert source[-6:].tolist() == [96, 96, 97, 97, 98, 99] and target[-6:].tolist() == [73, 4, 99, 0, 64, 1]


@pytest.mark.parametrize(("nodes", "mean"), [(1, 5.0), (10**9, 5.0), (100, 1.0), (100, 501.0)])
def test_graphs_outside_the_limits_are_refused(nodes, mean):
    with pytest.raises(ValueError, match="nodes"):
        PowerLawGraph(nodes, mean)


def test_places_inside_a_step_fit_into_32_bits():
    """The last node of a graph as large as Friendster is drawn where all random bits are ones, and none beyond it."""
    most = FRIENDSTER._anywhere(np.array([0, 0xFFFFFFFF], dtype=np.uint32))
    assert most[0] == 0 and FRIENDSTER.nodes - 1000 < most[1] < FRIENDSTER.nodes
