"""A delta never makes a mechanism noisier: of what both kinds of promise allow, the smaller noise is taken."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from core.domain import Domain
from core.domain.columns import Items, Vector
from core.errors import RequestError
from core.geometry.kernels import Gaussian, Jaccard, Laplacian
from core.privacy.budget import Budget, Neighbours
from core.sketches.adaptive import Adaptive
from core.sketches.features import Features
from core.sketches.grouped import GroupedSketch
from core.sketches.mechanism_spec import MechanismSpec, PublicInputs
from core.sketches.plan import plan
from core.sketches.registry import cards
from tests.depth import deep
from tests.sketches.test_every_mechanism import KNOWN, OTHERS, small

PLANE, SETS = Domain.of(x=(0, 10), y=(0, 4)), Domain((Items("basket"),))
ROWS, RECORDS = 200, 20_000
BUDGETS = [deep("0.05", "1e-6"), ("1", "1e-12"), deep("1", "1e-6"), deep("1", "0.009"), deep("30", "1e-9")]
"""A delta that is nearly nothing is where a promise with slack is worst off; a usual one is where it is not."""
MADE = {name: card for name, card in cards().items() if card.make is not None and not card.needs_delta}


def error(sketch, budget: Budget) -> float:
    """Mean variance of an answer's noise over the bounds, each counter's as the plan has it."""
    planned = plan(sketch, budget)
    one, _ = sketch.one_answer
    return float(one.noise_variance(planned.noise.variance))


def facts_of(card: MechanismSpec, budget: Budget) -> PublicInputs | None:
    """A question that the mechanism has a part in."""
    domain = SETS if card.sets else PLANE
    kernels = (Jaccard(),) if card.sets else (Gaussian(2.0), Laplacian(2.0))
    asked = [{"kernel": kernel} for kernel in kernels] + [{"norm": norm} for norm in ("l1", "l2", "squared", "above")]
    for question in asked:
        facts = PublicInputs(domain, budget, **question, seed=1)
        try:
            if card.refusal(facts) is None and card.make(facts) is not None:
                return facts
        except RequestError:
            continue
    return None


@cache
def made(name: str, budget: Budget):
    """The sketch that suits the budget, with a number of rows where the forecast would choose one."""
    card = MADE[name]
    facts = facts_of(card, budget)
    if facts is None:
        return None
    sketch = card.make(facts)
    return (
        card.make(replace(facts, size=ROWS)) if isinstance(sketch, GroupedSketch) else sketch.sized_for(budget, RECORDS)
    )


@pytest.mark.few(15)
@pytest.mark.parametrize("neighbours", [Neighbours.ADD_REMOVE, deep(Neighbours.REPLACE_ONE)])
@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize("name", [*KNOWN, *OTHERS])
def test_the_same_table_is_never_noisier_under_slack(name, epsilon, delta, neighbours):
    sketch = small(name)
    try:
        pure = error(sketch, Budget(epsilon, 0, neighbours))
        slack = error(sketch, Budget(epsilon, delta, neighbours))
    except RequestError:
        return  # only under one kind of promise
    assert slack <= 1.1 * pure or sketch.gaussian_only


@pytest.mark.deep
@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize("name", MADE)
def test_what_is_made_for_slack_is_never_noisier(name, epsilon, delta):
    sketches = [made(name, Budget(epsilon, slack)) for slack in (0, delta)]
    if None in sketches or isinstance(sketches[0], Adaptive):
        pytest.skip("it answers other questions, or chooses before it measures")
    assert not np.isnan([error(sketch, Budget(epsilon, delta)) for sketch in sketches]).any()
    pure, slack = (
        error(sketch, Budget(epsilon, promised)) for sketch, promised in zip(sketches, (0, delta), strict=True)
    )
    assert slack <= 1.1 * pure or sketches[1].gaussian_only


@pytest.mark.parametrize(
    ("epsilon", "delta", "rows", "wave"),
    [("1", "0", 1000, "quadrant"), ("1", "1e-6", 1000, "circle"), ("1", "0.009", 1000, "circle"),
     ("100", "1e-6", 8, "quadrant"), ("100", "1e-6", 1000, "circle"), ("1", "1e-6", None, "circle")],
)  # fmt: skip
def test_the_wave_is_that_of_the_least_noise(epsilon, delta, rows, wave):
    budget = Budget(epsilon, delta)
    chosen = cards()["features"].make(PublicInputs(PLANE, budget, Gaussian(2.0), size=rows, seed=1))
    assert chosen.wave == wave
    sized = chosen if chosen.sized else chosen.with_rows(1000)
    other = replace(sized, wave="circle" if wave == "quadrant" else "quadrant")
    assert error(sized, budget) < error(other, budget)


@pytest.mark.parametrize(
    ("dimensions", "pure", "slack"),
    [(8, "dense", "dense"), (64, "dense", "dense"), (400, "dense", "fast"), (4096, "fast", "fast")],
)
def test_frequencies_are_fast_where_that_buys_more_rows_than_it_costs(dimensions, pure, slack):
    domain = Domain((Vector("v", dimensions, -1.0, 1.0),))
    for delta, transform in (("0", pure), ("1e-6", slack)):
        assert cards()["features"].make(PublicInputs(domain, Budget(1, delta), Gaussian(9.0))).transform == transform
    dense, fast = (Features(domain, Gaussian(9.0), 100, 1, transform=each) for each in ("dense", "fast"))
    assert math.isclose(fast.record_seconds, 100 * fast.row_seconds)
    assert (1.5 * fast.record_seconds < dense.record_seconds) == (slack == "fast")
