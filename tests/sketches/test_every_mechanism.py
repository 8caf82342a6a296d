"""Every mechanism that a release file may name keeps what `check_mechanism` says, in the form of the known releases."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core import load
from core.domain import Categorical, Domain, Numeric, PrivacyUnit
from core.geometry.kernels import Gaussian, Smooth
from core.lab.published.dyadic_trees import CountsAndSums, IntervalTree
from core.lab.published.exponential_sum import ExponentialSum
from core.lab.published.markov_model import MeasuredCliques
from core.lab.published.mst import SpanningTree
from core.privacy.budget import Neighbours
from core.sketches.directions import Directions
from core.sketches.histogram import Histogram
from core.sketches.linear import LinearSketch
from core.sketches.living import Living
from core.sketches.registry import cards
from tests.sketches.checking import check_mechanism

PLACES = Domain.of(x=(0, 10), y=(0, 4))
MIXED = Domain((Numeric("x", 0, 8), Categorical("c", ("u", "v", "w")), Numeric("y", -1, 1)))
KNOWN = {path.stem: path for path in sorted((Path(__file__).parents[1] / "known_releases").glob("*.npz"))}
"""Small ones of all columns, kernels, shapes and privacy units that there are."""
OTHERS: dict[str, Callable[[], LinearSketch]] = {
    "sum": lambda: ExponentialSum(PLACES, Smooth(2.0), 30, seed=1),
    "intervals": lambda: IntervalTree(PLACES, levels=6),
    "counts": lambda: CountsAndSums(PLACES, levels=4),
    "poles": lambda: Directions(PLACES, pole=(1.0, 0.5)),
    "cliques": lambda: MeasuredCliques(MIXED, Gaussian(1.5), (4, 3, 2), ((0,), (1,), (0, 2)), (16, 16, 32), 5),
    "periods": lambda: Living(MIXED, "c", Histogram(MIXED.without("c"), Gaussian(1.5), (4, 3)), band=2, released=3),
    "tree": lambda: SpanningTree(MIXED, Gaussian(1.5), (4, 3, 2), ((0, 2), (1, 2)), seed=5),
}
ELSEWHERE = ("tree", "cliques", "intervals", "parts-3", "periods")
"""Those whose own tests look at answers: two fit a model for seconds, one is rough where all are at corners, and one
has parts that are asked by themselves, and one is asked for runs of periods.
"""


def small(name: str) -> LinearSketch:
    return load(KNOWN[name]).sketch if name in KNOWN else OTHERS[name]()


def test_all_mechanisms_are_here():
    written = {name for name, card in cards().items() if card.sketch is not None}
    assert {small(name).name for name in (*KNOWN, *OTHERS)} == written


@pytest.mark.few(22)
@pytest.mark.parametrize("name", [*KNOWN, *OTHERS])
def test_it_keeps_what_every_mechanism_keeps(name):
    check_mechanism(small(name), answers=name not in ELSEWHERE)


def test_no_number_of_records_is_public_where_some_may_be_left_out():
    """A neighbour that puts a record that is left out in the place of one that counts has another number."""
    keeps = replace(PLACES, outside="clamp", missing="refuse")
    leave_out = [replace(keeps, outside="drop"), replace(keeps, missing="drop"), replace(keeps, unit=PrivacyUnit("id"))]
    for domain in (keeps, *leave_out):
        for make in (lambda domain: Histogram(domain, Gaussian(1.5), (4, 3)), lambda domain: Directions(domain)):
            public = [make(domain).count_is_public(relation) for relation in Neighbours]
            assert public == [relation is Neighbours.REPLACE_ONE and domain is keeps for relation in Neighbours]
