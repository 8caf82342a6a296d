"""How many rows a sketch gets, and what stops it."""

import math

import numpy as np
import pytest

from core import Budget, Categorical, Domain, Numeric, RequestError
from core.geometry.kernels import Gaussian, Laplacian
from core.releases.forecast.forecast import forecast
from core.releases.forecast.sketch_sizes import (
    MOST_FILE_BYTES,
    MOST_QUERY_SECONDS,
    MOST_SECONDS,
    TRIED,
    WORTHWHILE,
    Trials,
    best_rows,
    between_trials,
    building_seconds,
    sized_rows,
)
from core.sketches.features import Features
from core.sketches.linear import LinearSketch
from core.sketches.mechanism_spec import PublicInputs
from core.sketches.plan import plan
from core.sketches.race import Race
from core.sketches.registry import cards
from tests.depth import crossed, draws

PLANE = Domain.of(x=(0, 1), y=(0, 1))
DOMAIN = Domain.of(**{f"x{i}": (-4, 4) for i in range(5)})
SKETCH = Features(PLANE, Gaussian(0.3), wave="circle")


def trials(noise, file_bytes: float = 8.0, counters: int = 2) -> Trials:
    """A sampling error of 1/sqrt(R), one record, and a given noise by the number of rows."""
    return Trials(lambda rows: 1 / math.sqrt(rows), noise, lambda rows: file_bytes * rows, counters, 1.0)


def test_noise_that_grows_with_the_rows_has_its_optimum():
    chosen = best_rows(SKETCH, 1000, trials(lambda rows: 0.001 * math.sqrt(rows)))
    assert chosen.stopped_by == "noise"
    assert 700 <= chosen.rows <= 1000  # the least of 1/R + R/10^6 is at a thousand, and flat


def test_noise_that_does_not_is_met_by_rows_until_twice_as_many_gain_too_little():
    error = lambda rows: math.hypot(1 / math.sqrt(rows), 0.02)  # noqa: E731
    chosen = best_rows(SKETCH, 1e6, trials(lambda rows: 0.02))
    assert chosen.stopped_by == "gain"
    assert error(chosen.rows) < 1.06 * error(2 * chosen.rows)
    assert error(chosen.rows // 4) > WORTHWHILE**2 * error(chosen.rows)


def test_what_costs_nothing_to_speak_of_is_taken_on_top():
    dear, cheap = (best_rows(SKETCH, records, trials(lambda rows: 0.05)) for records in (1e6, 1000))
    assert cheap.rows > 1.5 * dear.rows
    assert cheap.rows * SKETCH.with_rows(1000).query_seconds / 1000 < MOST_QUERY_SECONDS / 50


@pytest.mark.parametrize(
    ("records", "file_bytes", "cost"), [(1e8, 8.0, "time"), (1000, 8000.0, "file"), (1000, 8.0, "query")]
)
def test_every_cost_stops_rows_and_is_named(records, file_bytes, cost):
    given = trials(lambda rows: 0.0, file_bytes)
    chosen = best_rows(SKETCH, records, given)
    assert chosen.stopped_by == cost

    def shares(rows: int) -> list[float]:
        sized = SKETCH.with_rows(rows)
        return [
            building_seconds(sized, records, 2 * rows) / MOST_SECONDS,
            file_bytes * rows / MOST_FILE_BYTES,
            sized.query_seconds / MOST_QUERY_SECONDS,
        ]

    assert max(shares(chosen.rows)) <= 1 < max(shares(round(1.5 * chosen.rows)))


def test_between_trials_errors_are_powers_and_beyond_them_roots():
    error = lambda rows: rows**-0.75  # noqa: E731
    for rows in (129, 300, 5000, 400_000):
        assert between_trials(error, TRIED, rows) == pytest.approx(error(rows))
    assert between_trials(error, TRIED, 4 * 128 * 4**6) == pytest.approx(error(128 * 4**6) / 2)
    assert between_trials(error, TRIED, 32) == pytest.approx(2 * error(128))


@pytest.mark.deep
def test_slack_takes_features_far_beyond_pure_noise_and_the_query_stops_them():
    """Many records in five columns: noise is nothing beside sampling, so that only cost stops the rows."""
    pure = sized_rows(Features(DOMAIN, Gaussian(2.0)), Budget(1), 60_000, 0.2).rows
    slack = sized_rows(Features(DOMAIN, Gaussian(2.0), wave="circle"), Budget(1, "1e-6"), 60_000, 0.2)
    assert slack.rows >= 128_000 > 10 * pure
    assert slack.stopped_by == "query"


@pytest.mark.deep
def test_wide_tables_are_stopped_by_their_file():
    chosen = sized_rows(Race(DOMAIN, Laplacian(2.0), width=50_000, seed=0), Budget(1, "1e-6"), 1_000_000, 0.2)
    assert chosen.stopped_by == "file" and chosen.rows < 1000


PROJECTED = Domain.of(x=(0, 10), y=(0, 4))
WITH_CATEGORIES = Domain((Numeric("x", 0, 8), Categorical("c", ("u", "v", "w")), Numeric("y", -1, 1)))


def _asked(random: np.random.Generator) -> tuple[Domain, dict[str, object]]:
    """Random public facts: few columns, and a question about them."""
    ranges = {f"x{place}": (0, float(random.integers(1, 30))) for place in range(random.integers(1, 4))}
    domain = (Domain.of(**ranges), PROJECTED, WITH_CATEGORIES)[random.integers(3)]
    norms = ("l1", "l2", "squared", "above", "lp:1.5")
    kernel = (Gaussian, Laplacian)[random.integers(2)](float(random.uniform(0.2, 1.5)) * domain.dimensions**0.5)
    return domain, {"kernel": kernel} if random.random() < 0.3 else {"norm": norms[random.integers(len(norms))]}


@pytest.mark.parametrize("seed", range(draws(2, 60)))
def test_a_delta_never_makes_a_forecast_worse_than_the_pure_promise_does(seed):
    """Straight distances had 1.1 times the error: a size for Gaussian noise was chosen by a rule of thumb."""
    random = np.random.default_rng(seed)
    domain, question = _asked(random)
    records, epsilon = float(random.choice([150, 700, 3000])), str(random.choice(["0.1", "1", "10"]))
    pure, slack = Budget(epsilon), Budget(epsilon, str(random.choice(["1e-9", "1e-6", "0.001"])))
    tried = 0
    for card in (one for one in cards().values() if one.recommended and one.answers in ("closeness", "distance")):
        facts = PublicInputs(domain, pure, seed=3, **question)
        if card.refusal(facts) is not None:
            continue
        try:
            sketch = card.made_from(facts)
            card.check(sketch)
        except RequestError:
            continue
        errors = [forecast(sketch, budget, records).standard_error for budget in (pure, slack)]
        assert errors[1] <= errors[0] * (1 + 1e-9), card.name
        tried += 1
    assert tried


@pytest.mark.few(1)
@pytest.mark.parametrize(("epsilon", "neighbours"), crossed(["1", "0.05", "20"], ["add_remove", "replace_one"]))
def test_a_delta_never_adds_noise_to_a_table_of_any_mechanism(epsilon, neighbours):
    for card in cards().values():
        for sketch in card.warm():
            if not isinstance(sketch, LinearSketch) or not sketch.sized or sketch.parts or sketch.gaussian_only:
                continue
            try:
                pure = plan(sketch, Budget(epsilon, 0, neighbours)).noise
            except RequestError:
                continue
            for delta in ("1e-12", "1e-6", "0.009"):
                assert plan(sketch, Budget(epsilon, delta, neighbours)).noise.variance <= pure.variance, card.name
