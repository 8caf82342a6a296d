"""Shares of a budget by forecast: noise blurs every part alike, as the owner weighs them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from core import Budget, Categorical, Classes, Distance, Domain, Histogram, Numeric, Race, RequestError, kernels
from core.privacy.calibration import largest_rho
from core.releases.forecast.forecast import forecast
from core.releases.forecast.forecast_shares import budget_of_share, forecast_parts, settle
from core.sketches.part import Part
from core.sketches.parts import Parts
from core.sketches.plan import plan_parts
from tests.depth import deep, draws

AGE, PAY, SEX = Numeric("age", 0, 100), Numeric("pay", 0, 9000), Categorical("sex", ("f", "m"))
BOTH = Domain((AGE, PAY), scale="box")
TOLD = Domain((AGE, PAY, SEX), scale="box")
PROMISES = [Budget(1), Budget(1, "1e-6"), Budget(1, "1e-6", "replace_one")]
RECORDS = 50_000


def questions(weight=1.0) -> Parts:
    return Parts.of(
        [
            Part(Histogram(BOTH, kernels.Gaussian(0.2)), "dense"),
            Part(Distance(Domain((PAY,))), "far", weight),
            Part(Classes(TOLD, "sex", Histogram(BOTH, kernels.Gaussian(0.3))), "like"),
        ]
    )


@pytest.mark.deep
@pytest.mark.parametrize(
    ("budget", "weight"), [(PROMISES[0], 3.0), deep(PROMISES[1], 1.0), deep(PROMISES[2], 3.0)], ids=str
)
def test_noise_blurs_all_parts_alike_as_they_are_weighed(budget, weight):
    seen = forecast_parts(questions(weight), budget, RECORDS)
    blurred = {name: one.promised_noise for name, one in seen.items()}
    assert blurred["dense"] == pytest.approx(blurred["like"], rel=0.02)
    assert blurred["far"] * weight == pytest.approx(blurred["dense"], rel=0.02)
    settled = settle(questions(weight), budget, RECORDS)
    planned = plan_parts(settled, budget)
    # A fiftieth, of ρ alone where some noise is pure, is that of numbers of records.
    assert 0.98 <= float(sum(planned.shares)) + 1e-9 < 1 and min(planned.shares) > 0


@pytest.mark.deep
@pytest.mark.parametrize("budget", PROMISES[1:2], ids=str)
def test_no_other_shares_have_a_smaller_worst_error(budget):
    """Of all shares on a grid, the settled ones have the least worst error by noise."""
    settled = settle(questions(), budget, RECORDS)
    base = [part.settled_noise for part in settled.parts]

    def worst(factors):
        tried = settled.with_noise([ratio * factor for ratio, factor in zip(base, factors, strict=True)])
        noises = plan_parts(tried, budget).noises
        return max(noise.variance**0.5 / ratio for noise, ratio in zip(noises, base, strict=True))

    best = worst((1.0, 1.0, 1.0))
    steps = np.geomspace(1 / 8, 8, 7)
    assert all(best <= 1.001 * worst((1.0, one, other)) for one in steps for other in steps)


@pytest.mark.deep
def test_what_noise_does_not_blur_takes_no_share():
    """A part whose random rows are far too few does not take the budget of the others."""
    few = Part(Race(BOTH, kernels.Laplacian(0.2), rows=8, groups=2, seed=1), "few")
    fine = Part(Histogram(BOTH, kernels.Laplacian(0.2)), "fine")
    for budget in PROMISES[1 : draws(2, 3)]:
        seen = forecast_parts(Parts.of([few, fine]), budget, RECORDS)
        assert seen["few"].promised_noise == pytest.approx(seen["fine"].promised_noise, rel=0.05)
        assert seen["few"].promised_error > seen["fine"].promised_error


@pytest.mark.deep
def test_sizes_follow_from_shares_and_shares_do_not_from_numbers_of_records():
    parts = Parts.of([Part(Race(BOTH, kernels.Laplacian(0.2), seed=1), "hashed"), *questions().parts])
    with pytest.raises(RequestError, match="records"):
        settle(parts, Budget(1))
    settled = settle(parts, Budget(1), RECORDS)
    assert settled.settled and settle(settled, Budget(3), 7) is settled
    alone = forecast(parts.parts[0].sketch, Budget(1), RECORDS)
    assert settled.parts[0].sketch.rows <= alone.rows  # with less of the budget fewer rows pay
    fixed = Parts.of([part.sketch for part in settled.parts])
    ratios = [[part.noise for part in settle(fixed, Budget(1), records).parts] for records in (None, 1e3, 1e7)]
    np.testing.assert_allclose(ratios[1], ratios[2], rtol=0.1)
    np.testing.assert_allclose(ratios[0], ratios[2], rtol=0.1)


def test_a_share_alone_is_about_as_good():
    shared = budget_of_share(Budget(1), Fraction(1, 3))
    assert float(shared.epsilon) == pytest.approx(1 / 3)
    slack = budget_of_share(Budget(1, "1e-6"), Fraction(1, 4))
    assert largest_rho(float(slack.epsilon), 1e-6) == pytest.approx(largest_rho(1, 1e-6) / 4, rel=1e-3)


@pytest.mark.deep
def test_the_same_facts_give_the_same_shares():
    budget = PROMISES[1]
    assert settle(questions(), budget, RECORDS) == settle(questions(), budget, RECORDS)


@pytest.mark.thorough
@pytest.mark.parametrize("budget", PROMISES[:2], ids=str)
def test_a_share_that_is_fixed_is_kept_and_the_others_share_the_rest_alike(budget):
    dense, far = Histogram(BOTH, kernels.Gaussian(0.2), (4, 4)), Distance(Domain((PAY,)))
    like = Histogram(BOTH, kernels.Gaussian(0.3), (4, 4))
    parts = Parts.of([Part(dense, "dense", share=0.2), Part(far, "far"), Part(like, "like", 2.0)])
    free = Parts.of([replace(part, share=None) for part in parts.members])
    shares, before = (plan_parts(settle(one, budget, RECORDS), budget).shares for one in (parts, free))
    assert float(shares[0]) == pytest.approx(0.2, rel=0.01) and sum(shares) == sum(before)
    assert shares[1] / shares[2] == pytest.approx(before[1] / before[2], rel=0.02)


def test_fixed_shares_that_leave_nothing_are_refused():
    for shares in ((0.5, 0.5), (0.95, None)):
        parts = [
            Part(Distance(Domain((column,))), name, share=share)
            for column, name, share in zip((AGE, PAY), "ab", shares, strict=True)
        ]
        with pytest.raises(RequestError, match="takes what they leave"):
            settle(Parts.of(parts), Budget(1), RECORDS)
    with pytest.raises(RequestError, match="between 0 and 1"):
        Part(Distance(Domain((AGE,))), "a", share=1.0)
