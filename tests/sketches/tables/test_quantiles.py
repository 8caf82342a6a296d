"""Quantiles in cells that many equal values fill, and in cells that only look so."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Budget, Dates, Domain, release
from core.privacy.noise.randomness import SeededSource
from core.sketches.tables.quantiles import heaped, roundest
from core.sketches.tables.tables import Tables
from tests.depth import draws

PURE, LOOSE = Budget(1), Budget(1, "1e-6")


def ranks_off(values: np.ndarray, told: float) -> float:
    """Share of the records between a number and the median."""
    least, most = ((np.sort(values).searchsorted(told, side)) / len(values) for side in ("left", "right"))
    return max(least - 0.5, 0.5 - most, 0.0)


@pytest.mark.few(1)
@pytest.mark.parametrize("heap", [500.0, 0.0, 250.0])
def test_medians_on_a_spike_are_as_near_with_a_delta_as_without(heap):
    """They were read off between the ends of the heap's cell: a quarter of all records off."""
    random = np.random.default_rng(4)
    x = np.where(random.random(8_000) < 0.55, heap, random.lognormal(6.0, 1.0, 8_000).clip(0, 10_000))
    data, domain = pd.DataFrame({"x": x}), Domain.of(x=(0, 10_000))
    for budget, cells in ((PURE, 64), (LOOSE, 48)):
        for seed in range(draws(3, 30)):
            made = release(Tables.of(domain, cells, halvings=4), data, budget, noise_source=SeededSource(seed))
            told = made.asked().quantile("x").iloc[0]
            assert ranks_off(x, told.estimate) == 0.0
            assert told.low <= told.estimate <= told.high


@pytest.mark.parametrize("shape", ["wide bounds", "narrow", "falling", "all in one cell"])
def test_what_is_dense_and_no_heap_is_spread_over_its_cell(shape):
    """Bounds much too wide put a whole body of records into one cell, which no count tells from a heap."""
    random = np.random.default_rng(5)
    x = {
        "wide bounds": random.lognormal(-1.0, 1.0, 200_000) * 2.0,
        "narrow": random.normal(50.5, 0.5, 200_000),
        "falling": random.exponential(0.7, 200_000),
        "all in one cell": random.uniform(20.1, 20.9, 200_000),
    }[shape]
    counts = np.histogram(x, 100, (0, 100))[0].astype(float)
    assert not any(heaped(counts, cell, doubt) for cell in range(100) for doubt in (10.0, 100.0, 2_000.0))


def test_heaps_are_told_from_noise_and_at_both_ends():
    counts = np.full(50, 100.0)
    for cell in (0, 1, 25, 48, 49):
        assert heaped(counts + 2_000.0 * (np.arange(50) == cell), cell, 50.0)
        assert not heaped(counts + 2_000.0 * (np.arange(50) == cell), cell, 1_500.0)
        assert not heaped(counts, cell, 1.0)


def test_dates_heap_at_no_round_numbers():
    days = pd.DataFrame({"day": np.where(np.arange(5_000) % 2, "2001-05-17", "2003-01-01")})
    days.loc[::5, "day"] = pd.date_range("2000-01-01", "2004-12-30", 1_000).strftime("%Y-%m-%d")
    sketch = Tables.of(Domain((Dates("day", "2000-01-01", "2004-12-31"),)), 16, halvings=1)
    told = [release(sketch, days, PURE, noise_source=SeededSource(seed)).asked().quantile("day") for seed in range(3)]
    assert len({one.estimate[0] for one in told}) > 1


@pytest.mark.parametrize(
    ("low", "high", "near", "step", "found"),
    [
        (498.05, 507.81, 502, 0, 500), (-3, 2, 1, 0, 0), (250, 252.6, 250.7, 0, 250), (51, 99, 82, 0, 80),
        (0.12, 0.27, 0.2, 0, 0.2), (491, 501, 495, 1, 500), (18.5, 21.5, 19.6, 1, 19.5), (-260, -240, -245, 0, -250),
        (0, 5, 3, 0, 0), (95, 100, 97, 0, 95), (1e8, 1.6e8, 1.2e8, 0, 1e8),
    ],
)  # fmt: skip
def test_the_roundest_number_of_a_cell(low, high, near, step, found):
    assert roundest(low, high, near, step) == pytest.approx(found)


def test_the_roundest_number_is_the_decimal_that_people_write():
    """69 * 0.01 is above 0.69, so the median of prices was said to lie behind all who paid 0.69."""
    assert roundest(0.688, 0.693, 0.6917) == 0.69 and roundest(0.688, 0.693, 0.6917, apart=0.2) == 0.6917
    assert roundest(7.29, 7.31, 7.301) == 7.3


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e6), st.floats(0, 1))
def test_no_round_number_lies_outside_its_cell(low, width, share):
    high = low + width
    found = roundest(low, high, low + share * width)
    assert low - 1e-6 * max(abs(low), width) <= found <= high
