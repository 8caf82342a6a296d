"""Bands beyond the records: Wilson's without noise, the release's without luck, and of people and not of their rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from core import (
    Budget,
    Classes,
    Distance,
    Domain,
    Histogram,
    Part,
    Parts,
    PrivacyUnit,
    Race,
    RequestError,
    Tables,
    release,
)
from core.analysis.beyond_records import for_population
from core.analysis.density import line, marginal_line
from core.geometry import kernels
from core.releases.comparison import Comparison
from core.releases.release import load
from core.sketches.answers import SamplingLuck
from tests.depth import draws

DOMAIN = Domain.of(age=(0, 100), city=["a", "b", "c"])
SHARES = (0.6, 0.3, 0.1)


def people(records: int, random: np.random.Generator) -> pd.DataFrame:
    """A random sample of a population whose shares and mean are known."""
    return pd.DataFrame(
        {"age": random.beta(2, 3, records) * 100, "city": random.choice(["a", "b", "c"], records, p=SHARES)}
    )


@given(st.integers(1, 400), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.99]))
def test_without_noise_the_band_of_a_count_is_wilsons(records, share, level):
    found = round(share * records)
    low, high = SamplingLuck().ends(np.array([float(found)]), np.zeros(1), level, float(records))
    told = binomtest(found, records).proportion_ci(level, "wilson")
    assert np.allclose([low[0], high[0]], [told.low * records, told.high * records], atol=1e-9 * records + 1e-12)


@given(st.floats(-500, 1500), st.floats(0, 300), st.floats(0.1, 5), st.floats(0.01, 1))
def test_a_band_beyond_the_records_holds_that_of_noise_alone_on_the_side_of_the_mean(estimate, reach, design, ratio):
    luck, none = SamplingLuck(design), SamplingLuck(0.0)
    answer, noise = np.array([estimate]), np.array([reach])
    low, high = luck.ends(answer, noise, 0.95, 1_000.0, ratio)
    assert low[0] <= high[0]
    assert np.allclose(none.ends(answer, noise, 0.95, 1_000.0, ratio), [answer - reach, answer + reach], atol=1e-6)
    if 0 < estimate - reach and estimate + reach < 1_000 * ratio:
        assert low[0] <= estimate - reach + 1e-6 and high[0] >= estimate + reach - 1e-6


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.5, 5])
def test_shares_means_and_medians_of_the_population_are_in_their_bands(epsilon):
    """Each of n bands holds the truth with probability .93 or more, so fewer than the 1e-6 point happen so rarely."""
    random, times, records = np.random.default_rng(int(10 * epsilon)), draws(16, 400), 800
    true_mean = 100 * 2 / 5
    held: dict[str, list[bool]] = {"count": [], "share": [], "mean": [], "sum": []}
    sketch = Tables(DOMAIN).sized_for(Budget(epsilon), records)
    for _ in range(times):
        made = for_population(release(sketch, people(records, random), Budget(epsilon)))
        first = made.table("city").iloc[0]
        held["count"].append(first.low <= SHARES[0] * records <= first.high)
        share = made.asked().shares("city").iloc[1]
        held["share"].append(share.low <= SHARES[1] <= share.high)
        held["mean"].append(made.mean("age").low[0] <= true_mean <= made.mean("age").high[0])
        held["sum"].append(made.sum("age").low[0] <= true_mean * records <= made.sum("age").high[0])
    fewest = binom.ppf(1e-7, times, 0.93)
    assert {name: sum(said) for name, said in held.items() if sum(said) < fewest} == {}


@pytest.mark.thorough
def test_bands_of_noise_alone_miss_the_population_where_there_is_little_noise():
    """Of 40 bands of noise alone, whose length is a twentieth, more than 30 hold it in one of 10^20 runs."""
    random, sketch = np.random.default_rng(1), Tables(DOMAIN).sized_for(Budget(50), 2_000)
    told = [release(sketch, people(2_000, random), Budget(50)).table("city").iloc[0] for _ in range(40)]
    assert sum(row.low <= SHARES[0] * 2_000 <= row.high for row in told) <= 30


@pytest.mark.thorough
def test_density_of_the_population_is_in_its_bands():
    """As above: one band a release, each with .93 or more."""
    random, times, records = np.random.default_rng(2), draws(30, 300), 600
    domain, place = Domain.of(age=(0, 100)), {"age": [40.0]}
    kernel = kernels.Euclidean(10.0)
    everyone = np.asfortranarray(np.random.default_rng(3).beta(2, 3, (200_000, 1)) * 100)
    truth = float(kernel.evaluate(np.array([[40.0]]), everyone).mean()) * records
    held = 0
    for seed in range(times):
        sketch = Race(domain, kernel, rows=60, width=60, seed=seed)
        made = for_population(release(sketch, random.beta(2, 3, (records, 1)) * 100, Budget(20)))
        answer = made.answer(place)
        held += bool(answer.low[0] <= truth <= answer.high[0])
    assert held >= binom.ppf(1e-7, times, 0.93)


@pytest.mark.thorough
def test_how_far_closeness_varies_is_found_from_the_release_alone():
    random = np.random.default_rng(4)
    people_there = np.asfortranarray(random.beta(2, 3, (20_000, 1)) * 100)
    kernel = kernels.Gaussian(6.0)
    made = for_population(release(Histogram(Domain.of(age=(0, 100)), kernel), people_there, Budget(5)))
    places = np.array([[20.0], [40.0], [60.0]])
    close = kernel.evaluate(places, people_there)
    exact = (close**2).mean(axis=1) / close.mean(axis=1)
    assert np.allclose(made.population.ratio(made, places), exact, rtol=0.1)


def test_persons_are_drawn_and_not_their_rows():
    domain = replace(DOMAIN, unit=PrivacyUnit("who", 3))
    random = np.random.default_rng(5)
    one = people(700, random)
    rows = pd.concat([one] * 3, ignore_index=True).assign(who=list(range(700)) * 3)
    made = release(Tables(domain).sized_for(Budget(20), 2_100), rows, Budget(20))
    alike, unlike = for_population(made).table("city"), for_population(made, 0.0).table("city")
    errors = [frame.standard_error.to_numpy() for frame in (made.table("city"), unlike, alike)]
    luck = [np.sqrt(error**2 - errors[0] ** 2) for error in errors[1:]]
    assert np.allclose(luck[1] / luck[0], np.sqrt(3.0))
    binomial = np.sqrt(2_100 * np.array(SHARES) * (1 - np.array(SHARES)))
    assert np.allclose(luck[0], binomial, rtol=0.2)


@pytest.fixture(scope="module")
def released():
    random = np.random.default_rng(6)
    there = people(1_500, random)
    parts = Parts.of(
        [
            Part(Tables(DOMAIN).sized_for(Budget(5), 1_500), "tables"),
            Part(Histogram(Domain.of(age=(0, 100)), kernels.Gaussian(8.0), (24,)), "ages"),
        ]
    )
    return release(parts, there, Budget(8), records=1_500)


@pytest.mark.thorough
def test_whatever_is_asked_has_the_longer_bands(released):
    wider = for_population(released)
    for ask in (
        lambda one: one.count(city="a"),
        lambda one: one.count(age=(20, 33.3)),
        lambda one: one.table("age", "city"),
        lambda one: one.mean("age", by="city"),
        lambda one: one.sum("age"),
        lambda one: one.quantile("age"),
        lambda one: one.asked().shares("city", within=["age"]),
        lambda one: one.part("ages").answer({"age": [30.0, 90.0]}),
        lambda one: line(one.part("ages"), "age", points=7),
    ):
        narrow, wide = ask(released), ask(wider)
        assert np.allclose(np.asarray(narrow.estimate, float), np.asarray(wide.estimate, float), equal_nan=True)
        length = [np.nan_to_num(np.asarray(one.high - one.low, dtype=float)) for one in (narrow, wide)]
        assert (length[1] >= length[0] - 1e-9).all() and length[1].sum() > length[0].sum()


def test_what_a_draw_makes_two_columns_share_is_no_connection_of_the_population(released):
    alone, beyond = (one.asked().strengths().iloc[0] for one in (released, for_population(released)))
    assert beyond.estimate < alone.estimate and beyond.low <= 0.05  # they have nothing to do with each other


@pytest.mark.thorough
def test_averages_over_other_columns_vary_less_than_single_places():
    domain = Domain.of(age=(0, 100), pay=(0, 100))
    random = np.random.default_rng(7)
    made = release(Histogram(domain, kernels.Gaussian(10.0)), random.random((3_000, 2)) * 100, Budget(5))
    wider = for_population(made)
    narrow, wide = (marginal_line(one, "age", points=9) for one in (made, wider))
    luck = np.sqrt(wide.standard_error**2 - narrow.standard_error**2)
    values = kernels.Gaussian(10.0).evaluate(
        np.array([[50.0, place] for place in np.linspace(0, 100, 65)]), random.random((4_000, 2)) * 100
    )
    assert luck[4] == pytest.approx(values.mean(axis=0).std() * np.sqrt(3_000), rel=0.25)


def test_differences_of_two_samples_have_the_luck_of_both():
    random = np.random.default_rng(8)
    sketch = Tables(DOMAIN).sized_for(Budget(5), 1_000)
    both = [release(sketch, people(1_000, random), Budget(5)) for _ in range(2)]
    frames = [Comparison(*pair).table("city") for pair in (both, list(map(for_population, both)))]
    assert ((frames[1].high - frames[1].low) > (frames[0].high - frames[0].low)).all()


def test_a_class_is_a_sample_of_its_own():
    domain = Domain.of(age=(0, 100), city=["a", "b"])
    there = pd.DataFrame({"age": np.linspace(0, 100, 2_000), "city": ["a"] * 1_500 + ["b"] * 500})
    made = release(
        Classes.of(domain, "city", Histogram(Domain.of(age=(0, 100)), kernels.Gaussian(10.0), (20,))), there, Budget(5)
    )
    answers = [one.of_class("b").answer({"age": [90.0]}) for one in (made, for_population(made))]
    assert answers[1].high[0] - answers[1].low[0] > answers[0].high[0] - answers[0].low[0]


def test_no_file_and_no_equality_knows_it(released):
    wider = for_population(released)
    assert wider == released and load(wider.to_bytes()) == released and load(wider.to_bytes()).population is None


@pytest.mark.thorough
def test_what_does_not_tell_how_far_records_vary_is_refused():
    made = release(Distance(Domain.of(x=(0, 1))), np.random.default_rng(0).random((50, 1)), Budget(1))
    with pytest.raises(RequestError, match="says nothing of the population"):
        for_population(made)


@pytest.mark.parametrize("alike", [-0.1, 1.1, float("nan"), "much"])
def test_a_correlation_that_is_none_is_refused(released, alike):
    with pytest.raises(RequestError):
        for_population(released, alike)
