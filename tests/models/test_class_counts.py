"""The largest class by noisy counts: how far a person moves them, their price, and a file that opens everywhere."""

from fractions import Fraction

import numpy as np
import pytest

from core import Budget, Domain
from core.domain import PrivacyUnit
from core.figures.share.shared_page import share_html
from core.models.class_counts import LargestClass, largest_of
from core.models.linear_models import load_model
from core.privacy.budget import Neighbours
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source

DOMAIN = Domain.of(x=(0, 1), colour=["red", "blue"], kind=["a", "b", "c"])
PLACES = {"x": [0.1, 0.9], "colour": ["red", "blue"]}


def records(counts):
    kinds = np.repeat(list("abc"), counts)
    return {"x": np.linspace(0, 1, len(kinds)), "colour": ["red"] * len(kinds), "kind": kinds}


def tally(method, data):
    _, codes = method.gather(open_source(data), 1)
    return np.bincount(codes, minlength=3)


@pytest.mark.parametrize("owned", [1, 3])
def test_no_neighbour_moves_the_counts_further_than_the_sensitivity_and_one_reaches_it(owned):
    unit = PrivacyUnit("id", owned) if owned > 1 else PrivacyUnit()
    method = LargestClass(Domain(DOMAIN.columns, unit=unit), "kind")
    plain = LargestClass(DOMAIN, "kind")
    before = tally(plain, records((5, 4, 2)))
    moved = {
        Neighbours.ADD_REMOVE: [(5 + owned, 4, 2), (5, 4 + owned - 1, 3)],
        Neighbours.REPLACE_ONE: [(5 - owned, 4 + owned, 2), (5, 4, 2)],
    }
    for neighbours, others in moved.items():
        known = method.sensitivity(neighbours)
        steps = [tally(plain, records(other)) - before for other in others]
        assert max(np.abs(step).sum() for step in steps) == known.l1
        assert max((step**2).sum() for step in steps) <= known.l2_squared


def test_the_price_is_known_before_any_noise_and_follows_from_the_neighbours():
    method, paid = LargestClass(DOMAIN, "kind"), []
    model = method.fit(open_source(records((50, 30, 9))), Budget(1), spend=paid.append)
    assert paid == [method.cost(Budget(1))] and paid[0].pure_epsilon == 1
    assert model.details["parameter"] == "1" and model.private
    replaced = method.fit(open_source(records((50, 30, 9))), Budget(1, 0, "replace_one"))
    assert Fraction(replaced.details["parameter"]) == 2
    with pytest.raises(ZeroDivisionError):
        method.fit(open_source(records((5, 3, 1))), Budget(1), spend=lambda cost: 1 / 0)


def test_it_is_the_largest_class_everywhere_with_shares_as_counted():
    model = LargestClass(DOMAIN, "kind").fit(open_source(records((500, 3000, 1500))), Budget(1))
    opened = load_model(model.to_bytes())
    assert opened.predict(PLACES)["predicted"].tolist() == ["b", "b"] and opened.same_for_all
    assert opened.probabilities(PLACES) == pytest.approx(np.array([[0.1, 0.6, 0.3]] * 2), abs=0.01)
    assert "the same answer, b:" in " ".join(opened.card())
    assert share_html(opened, opened.to_bytes(), "model.json").startswith("<!doctype html>")


def test_counts_below_zero_are_shares_above_zero():
    drawn = [
        LargestClass(DOMAIN, "kind").fit(
            open_source(records((40, 0, 0))), Budget("0.05"), noise_source=SeededSource(seed)
        )
        for seed in range(20)
    ]
    shares = np.array([model.probabilities(PLACES)[0] for model in drawn])
    assert (shares > 0).all() and shares.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("kinds", ["ab", "abc", "abcdefg"])
def test_a_class_of_which_nothing_is_known_but_that_it_is_the_largest_is_said_of_everyone(kinds):
    task = LargestClass(Domain.of(x=(0, 1), kind=list(kinds)), "kind").task
    for code in range(len(kinds)):
        model = largest_of(task, code, Budget(1))
        found = model.probabilities({"x": [0.3]})[0]
        assert found.argmax() == code and found.sum() == pytest.approx(1)
        assert found[code] == pytest.approx(np.mean([1 / k for k in range(1, len(kinds) + 1)]), abs=1e-5)
