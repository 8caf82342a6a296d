"""Shares, means, quantiles and associations of a release of tables, against the exact ones."""

import numpy as np
import pandas as pd
import pytest

from core import Budget, Categorical, Domain, Numeric, release
from core.errors import RequestError
from core.privacy.noise.randomness import SeededSource
from core.sketches.tables.tables import Tables
from tests.depth import draws
from tests.sketches.tables.test_counts import KINDS, people, releases

RUNS = draws(30, 600)


@pytest.fixture(scope="module")
def asked():
    return [made.asked() for made in releases(KINDS["gaussian"], RUNS, halvings=4)]


def covered(frames, exact) -> np.ndarray:
    return np.mean([((frame.low <= exact) & (exact <= frame.high)).to_numpy() for frame in frames], axis=0)


def lower_limit() -> float:
    """Below this share of 95% intervals hold less than once in 1e8 times."""
    return 0.95 - 6 * np.sqrt(0.95 * 0.05 / RUNS)


@pytest.mark.thorough
def test_shares_within_groups_and_of_all(asked):
    data = people()
    exact = pd.crosstab(data.sex, pd.Categorical(data.city, ["Bern", "Basel", "Chur"]), normalize="index").to_numpy()
    frames = [one.shares("city", within=["sex"]) for one in asked]
    assert list(frames[0].columns[:2]) == ["sex", "city"]
    assert covered(frames, exact.reshape(-1)).min() > lower_limit()
    assert np.mean([frame.estimate for frame in frames], axis=0) == pytest.approx(exact.reshape(-1), abs=0.01)
    errors = np.std([frame.estimate for frame in frames], axis=0) / frames[0].standard_error.to_numpy()
    assert errors.max() < 1.5 and errors.min() > 0.65
    assert np.isclose(asked[0].shares("sex").estimate.sum(), 1.0)


@pytest.mark.thorough
def test_shares_of_a_part_are_not_negative_and_add_up_to_1():
    """Where noise decides, too: they are within their intervals, and no further from the exact ones on average."""
    data, off = people(), []
    exact = pd.crosstab(data.sex, pd.Categorical(data.city, ["Bern", "Basel", "Chur"]), normalize="index").to_numpy()
    for one in (made.asked() for made in releases(Budget("0.05", "1e-9"), 20)):
        found = one.shares("city", within=["sex"])
        told = found.estimate.to_numpy().reshape(exact.shape)
        if np.isnan(told).any():
            continue
        assert (told >= 0).all() and np.allclose(told.sum(axis=1), 1.0)
        assert (found.estimate <= found.high + 1e-9).all() and (found.estimate >= found.low - 1e-9).all()
        counted = one.table("sex", "city").estimate.to_numpy().reshape(exact.shape)
        unbiased = counted / counted.sum(axis=1, keepdims=True)
        assert (found.low >= 0).all() and (found.high <= 1).all()
        off.append((np.sum((told - exact) ** 2), np.sum((unbiased - exact) ** 2), unbiased.min()))
    nearer, unbiased, least = np.transpose(off)
    assert least.min() < 0 and nearer.mean() < unbiased.mean() and len(off) > 5


@pytest.mark.thorough
def test_means_and_sums_hold_the_exact_ones(asked):
    data = people()
    overall = [one.mean("age") for one in asked]
    assert covered(overall, data.age.mean()).min() > lower_limit()
    assert abs(np.mean([one.estimate[0] for one in overall]) - data.age.mean()) < 0.5
    assert overall[0].high[0] - overall[0].low[0] < 4.0
    by_sex = [one.mean("age", by=["sex"]) for one in asked]
    exact = data.groupby("sex").age.mean().to_numpy()
    assert covered(by_sex, exact).min() > lower_limit()
    errors = np.std([frame.estimate for frame in by_sex], axis=0) / by_sex[0].standard_error.to_numpy()
    assert errors.max() < 1.5 and errors.min() > 0.65
    sums = [one.sum("age", by=["city"]) for one in asked]
    exact = data.groupby(pd.Categorical(data.city, ["Bern", "Basel", "Chur"]), observed=False).age.sum().to_numpy()
    assert covered(sums, exact).min() > lower_limit()
    some = [one.mean("age", where={"sex": "f"}) for one in asked[:3]]
    assert some[0].estimate[0] == pytest.approx(by_sex[0].estimate[0])


@pytest.mark.few(1)
@pytest.mark.parametrize("share", (0.1, 0.5, 0.9))
def test_quantiles_hold_the_exact_ones(asked, share):
    data = people()
    overall = [one.quantile("age", share) for one in asked]
    assert covered(overall, data.age.quantile(share)).min() > lower_limit()
    assert overall[0].high[0] - overall[0].low[0] < 12
    assert np.mean([one.estimate[0] for one in overall]) == pytest.approx(data.age.quantile(share), abs=1.0)
    by_sex = [one.quantile("age", share, by=["sex"]) for one in asked]
    assert covered(by_sex, data.groupby("sex").age.quantile(share).to_numpy()).min() > lower_limit()
    assert all((frame.low <= frame.estimate).all() and (frame.estimate <= frame.high).all() for frame in by_sex)


@pytest.mark.thorough
def test_columns_that_hang_together_are_told_from_those_that_do_not(asked):
    found = asked[0].associations()
    assert set(map(frozenset, zip(found.column, found.other, strict=True))) == {
        frozenset(("age", "sex")), frozenset(("age", "city")), frozenset(("sex", "city"))
    }  # fmt: skip
    assert (found.column[0], found.other[0]) == ("age", "sex") and found.told[0]
    alone = [one.associations("sex", "city").told[0] for one in asked]
    assert np.mean(alone) < 0.05 + 6 * np.sqrt(0.05 * 0.95 / len(alone))
    strengths = [one.associations("age", "sex").cramers_v[0] for one in asked]
    data = people()
    table = pd.crosstab(pd.cut(data.age, np.arange(0, 90, 10), right=False), data.sex).to_numpy()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    exact = np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum())
    assert np.mean(strengths) == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (lambda one: one.mean("sex"), "have no mean"),
        (lambda one: one.quantile("sex"), "have no quantiles"),
        (lambda one: one.quantile("age", 1.0), "strictly between 0 and 1"),
        (lambda one: one.shares(), "A share needs"),
        (lambda one: one.associations("sex"), "No two of these"),
        (lambda one: one.mean("age", by=["sex", "city"]), "no table of"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, question, sentence):
    with pytest.raises(RequestError, match=sentence):
        question(asked[0])


@pytest.mark.thorough
def test_no_mean_lies_where_no_value_may_be():
    """At a small budget noise would carry means and their intervals beyond the bounds and the range asked for."""
    for made in releases(Budget("0.05"), 20):
        for where in ({}, {"age": (20, 40)}):
            low, high = where.get("age", (0, 80))
            found = made.asked().mean("age", by=["city"], where=where)[["low", "estimate", "high"]].to_numpy()
            found = found[np.isfinite(found).all(axis=1)]
            assert (low <= found).all() and (found <= high).all() and (np.diff(found, axis=1) >= 0).all()


@pytest.mark.thorough
@pytest.mark.parametrize("budget", [Budget("0.5"), Budget("0.5", "1e-6")], ids=["pure", "delta"])
def test_bands_of_means_hold_in_groups_that_noise_hardly_leaves_to_be_seen(budget):
    """Cells hold one value each, so there is no slack; errors to first order are longer, and too long."""
    random, groups = np.random.default_rng(8), 30
    shares = np.arange(1, groups + 1) ** -1.3
    group = random.choice(groups, 4_000, p=shares / shares.sum())
    x = np.clip(np.rint(random.gamma(2.0, 1.5, 4_000) + 0.1 * group), 0, 20)
    names = tuple(f"g{place}" for place in range(groups))
    data = pd.DataFrame({"x": x, "group": [names[place] for place in group]})
    sketch = Tables.of(Domain((Numeric("x", 0, 20, step=1.0), Categorical("group", names))), 21)
    exact = np.bincount(group, x, minlength=groups) / np.bincount(group, minlength=groups)
    held = []
    for seed in range(draws(24, 60)):
        found = release(sketch, data, budget, noise_source=SeededSource(seed)).asked().mean("x", by=["group"])
        told = found.estimate.notna().to_numpy()
        held += ((found.low <= exact) & (exact <= found.high))[told].tolist()
        assert (found.low[told] >= 0.0).all()
        assert (found.high[told] <= 20.0).all()
    assert len(held) > 100
    assert 0.92 <= np.mean(held) <= 0.995


@pytest.mark.thorough
def test_a_small_part_has_no_mean_of_nothing_beside_a_median_of_thousands():
    """Means were made of cells that noise had below zero, quartiles of a rising course: one in ten could not be."""
    random, towns = np.random.default_rng(0), tuple("abcdefghijkl")
    rows = {"pay": random.gamma(4.0, 4_000.0, 4_000).clip(0, 32_000), "town": random.choice(towns, 4_000)}
    sketch = Tables.of(Domain((Numeric("pay", 0, 32_000), Categorical("town", towns))), 32)
    told = 0
    for _ in range(draws(8, 80)):
        answers = release(sketch, pd.DataFrame(rows), Budget("0.1")).asked()
        mean = answers.mean("pay", by=["town"])
        quartiles = sum(answers.quantile("pay", share, by=["town"]).estimate for share in (0.25, 0.5, 0.75))
        seen, cell = mean.estimate.notna(), 1_000.0
        told += seen.sum()
        assert (mean.estimate[seen] >= quartiles[seen] / 4 - cell).all()
        assert (mean.estimate[seen] <= (quartiles[seen] + 32_000) / 4 + cell).all()
        assert mean.estimate[seen].between(mean.low[seen], mean.high[seen]).all()
    assert told > 10
