"""Regressions of released sums of products: least squares without noise, and intervals that hold under noise."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.datasets import load_diabetes

from core import Budget, Domain, PrivacyUnit, release
from core.analysis.product_sums import Sums, components, correlations
from core.analysis.regression import LONGER, choose_ridge, regression
from core.domain import Categorical, Numeric
from core.errors import RequestError
from core.figures.model_figures import coefficient_figure
from core.geometry.kernels import Euclidean
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.release import load
from core.releases.seal import seal
from core.sketches.race import Race
from core.sketches.sums_of_products import Products
from tests.depth import draws

DOMAIN = Domain((Numeric("age", 20, 60), Categorical("city", ("Bern", "Basel", "Genf")), Numeric("pay", 0, 100)))


def people(size: int = 4_000, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    age, city = random.uniform(20, 60, size), random.choice(["Bern", "Basel", "Genf"], size)
    pay = 10 + age + 20 * (city == "Genf") + random.normal(0, 5, size)
    return pd.DataFrame({"age": age, "city": city, "pay": np.clip(pay, 0, 100)})


PEOPLE = people()
SKETCH = Products(DOMAIN)
DIABETES = {
    "age": (18, 100),
    "sex": (1, 2),
    "bmi": (15, 50),
    "bp": (50, 150),
    "s1": (80, 350),
    "s2": (30, 300),
    "s3": (10, 120),
    "s4": (1, 12),
    "s5": (2, 8),
    "s6": (40, 150),
    "progress": (0, 400),
}
"""Public bounds of the columns of scikit-learn's set, by what such measurements can be."""


def exact_sums(variance: float = 0.0, noise: np.ndarray | None = None, frame: pd.DataFrame = PEOPLE) -> Sums:
    """What is released, with given noise in the entries."""
    vectors = SKETCH.vectors(DOMAIN.encode_queries(frame))
    matrix = vectors.T @ vectors + (0.0 if noise is None else SKETCH.layout.matrix(noise))
    return Sums(SKETCH, matrix, variance, variance)


def test_without_noise_it_is_ridge_regression():
    """The same normal equations by way of least squares on rows that are added for the ridge."""
    found = regression(exact_sums(), "pay", ridge=30.0)
    vectors = SKETCH.vectors(DOMAIN.encode_queries(PEOPLE))
    rows = np.vstack((vectors[:, :5], np.sqrt(30.0) * np.eye(5)[1:]))
    expected = np.linalg.lstsq(rows, np.append(vectors[:, 5], np.zeros(4)), rcond=None)[0]
    assert found.weights == pytest.approx(expected, abs=1e-9)
    asked = PEOPLE[:50]
    assert found.predict(asked).estimate.to_numpy() == pytest.approx(50 + 50 * vectors[:50, :5] @ expected)
    ends = found.coefficients()
    assert (ends.low == ends.estimate).all() and (ends.high == ends.estimate).all()


def test_coefficients_are_in_the_columns_own_units():
    found = regression(exact_sums(), "pay", ridge=0.0)
    table = found.coefficients().set_index(["column", "category"]).estimate
    assert table["age", ""] == pytest.approx(1.0, abs=0.05)
    assert table["city", "Genf"] - table["city", "Bern"] == pytest.approx(20.0, abs=0.7)
    one = found.predict({"age": [30.0], "city": ["Genf"]}).estimate[0]
    assert one == pytest.approx(found.intercept + 30 * table["age", ""] + table["city", "Genf"])
    assert found.residual_deviation == pytest.approx(5.0, abs=0.3) and found.explained > 0.8
    assert found.columns == ("age", "city") and found.name == "pay"


def test_a_category_is_predicted_by_its_share():
    found = regression(exact_sums(), "city", ["pay"], category="Genf", ridge=0.0)
    low, high = found.predict({"pay": [40.0, 75.0]}).estimate
    assert 0.0 <= low < 1 / 3 < high <= 1.0
    with pytest.raises(RequestError, match="Say which category of 'city'"):
        regression(exact_sums(), "city", ["pay"])


def test_covariances_are_those_of_the_noise_in_the_normal_equations():
    """Each noisy number moved by itself: what it does to M w, in squares and products, summed."""
    sums = exact_sums(2.0)
    sums = Sums(SKETCH, sums.matrix, 2.0, 2.0)
    weights = np.array([0.3, -1.0, 0.5, 0.7, -0.2, 1.0])
    places = [0, 1, 2, 3, 4]
    moves = np.array([(SKETCH.layout.matrix(one) @ weights)[places] for one in np.eye(SKETCH.layout.size)])
    assert sums.error_covariance(places, weights) == pytest.approx(2.0 * moves.T @ moves)


@pytest.mark.thorough
@pytest.mark.parametrize("deviation", (1.0, 60.0))
def test_intervals_hold_what_the_records_give(deviation):
    """Coefficients and predictions, over draws of noise; at most one false alarm in a million by the binomial."""
    random, runs, held = np.random.default_rng(5), draws(40, 2_000), np.zeros(2)
    asked = {"age": [25.0, 55.0], "city": ["Basel", "Genf"]}
    for _ in range(runs):
        noise = random.normal(0.0, deviation, SKETCH.layout.size)
        found = regression(exact_sums(deviation**2, noise), "pay")
        truth = regression(exact_sums(), "pay", ridge=found.ridge)
        for place, (mine, theirs) in enumerate(
            ((found.coefficients(), truth.coefficients()), (found.predict(asked), truth.predict(asked)))
        ):
            held[place] += (mine.low[0] <= theirs.estimate[0]) and (theirs.estimate[0] <= mine.high[0])
    assert (held >= binom.ppf(5e-7, runs, 0.93)).all()


def test_intervals_about_people_like_them_are_longer():
    found = regression(exact_sums(), "pay", ridge=0.0)
    alone, others = found.coefficients(), found.coefficients(about="population")
    assert ((others.high - others.low) > (alone.high - alone.low)).all()
    least = 5 / np.sqrt(len(PEOPLE)) / PEOPLE.age.std()
    assert (others.high - others.low)[0] == pytest.approx(2 * 1.96 * least, rel=0.1)


def drawn(kind: str, random: np.random.Generator, size: int) -> pd.DataFrame:
    """Records of ten populations: columns that hang together, narrow ones, bends, uneven and skewed rests, groups."""
    x = random.normal(0, 0.3, (size, 3))
    rest, slopes = random.normal(0, 0.3, size), np.array([0.5, -0.3, 0.0])
    if kind == "tied":
        x = x[:, :1] + x
    elif kind == "narrow":
        x, rest, slopes = 0.6 * x, 0.5 * rest, 2 * slopes
    elif kind == "even":
        x = random.uniform(-1, 1, (size, 3))
    elif kind == "bent":
        rest = np.abs(x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * rest
    elif kind == "skewed":
        x = np.exp(random.normal(-1.2, 0.8, (size, 3))).clip(0, 2) - 1
    elif kind == "one-sided":
        rest = random.exponential(0.2, size) - 0.2
    elif kind == "few values":
        x = random.choice([-0.5, 0.0, 0.5], (size, 3))
    elif kind == "steep":
        rest, slopes = 0.2 * rest, np.array([0.7, 0.4, -0.6])
    elif kind == "classes":
        rest = np.where(random.random(size) < 1 / (1 + np.exp(-3 * x[:, 0])), 0.9, -0.9) - x @ slopes
    group = random.choice(["a", "b", "c"], size, p=(0.6, 0.3, 0.1))
    y = x @ slopes + rest + (0.3 * (group == "c") if kind == "groups" else 0.0)
    columns = {f"x{place}": values for place, values in enumerate(x.T)} | {"y": y}
    return pd.DataFrame({name: values.clip(-1, 1) for name, values in columns.items()} | {"group": group})


POPULATIONS = (
    "plain",
    "tied",
    "narrow",
    "even",
    "bent",
    "skewed",
    "one-sided",
    "few values",
    "steep",
    "groups",
    "classes",
)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kind", [kind if kind == "groups" else pytest.param(kind, marks=pytest.mark.deep) for kind in POPULATIONS]
)
def test_conclusions_beyond_the_data_hold_for_simulated_populations(kind):
    """Bands of the usual ridge held 19 to 78% of true slopes, and those without one 99 to 100%, longer than need be."""
    domain = Domain(
        (*(Numeric(name, -1, 1) for name in ("x0", "x1", "x2", "y")), Categorical("group", ("a", "b", "c")))
    )
    sketch, random, runs = Products(domain), np.random.default_rng(5), draws(60, 400)

    def sums(frame: pd.DataFrame, deviation: float) -> Sums:
        vectors = sketch.vectors(domain.encode_queries(frame))
        noise = random.normal(0, deviation, sketch.shape[0])
        return Sums(sketch, vectors.T @ vectors + sketch.layout.matrix(noise), deviation**2, deviation**2)

    true = regression(sums(drawn(kind, random, draws(200_000, 2_000_000)), 0.0), "y", ridge=0.0).coefficients().estimate
    held = np.zeros(len(true))
    for _ in range(runs):
        found = regression(sums(drawn(kind, random, 5_000), 15.0), "y").coefficients(about="population")
        assert np.isfinite(found.high).all()
        held += (found.low <= true) & (true <= found.high)
    print(kind, (held / runs).round(3).tolist())
    assert (held >= binom.ppf(5e-8, runs, 0.93)).all() and held.mean() <= binom.isf(1e-7, runs, 0.97)


def test_where_noise_hides_how_columns_differ_a_slope_of_all_people_has_no_interval():
    """Two columns that are nearly one: neither slope is told, and that of the third still is."""
    domain = Domain(tuple(Numeric(name, -1, 1) for name in ("x", "twin", "other", "y")))
    sketch, random = Products(domain), np.random.default_rng(2)
    x, other, own = random.normal(0, 0.3, (3, 5_000))
    frame = pd.DataFrame({"x": x, "twin": x + 0.02 * own, "other": other, "y": x + other}).clip(-1, 1)
    vectors = sketch.vectors(domain.encode_queries(frame))
    noise = random.normal(0, 15.0, sketch.shape[0])
    found = regression(Sums(sketch, vectors.T @ vectors + sketch.layout.matrix(noise), 225.0, 225.0), "y")
    table = found.coefficients(about="population").set_index("column")
    assert np.isinf(table.high[["x", "twin"]]).all() and 0.6 < table.low["other"] < 1 < table.high["other"] < 1.4
    assert np.isfinite(found.coefficients().high).all()
    alike, apart = ({"x": [0.3], "twin": [twin], "other": [0.0]} for twin in (0.3, -0.3))
    (told,), (hidden,) = (found.predict(asked, about="population").to_numpy() for asked in (alike, apart))
    assert told[2] - told[1] < 0.3 and hidden[1] == -1 and hidden[2] == 1
    bars = coefficient_figure(found.coefficients(about="population"), "y").data[0]
    assert np.isfinite(bars.error_x.array).all() and np.isfinite(bars.error_x.arrayminus).all()


def test_intervals_about_the_population_draw_persons_with_all_their_rows():
    """Four copies of each record said four times as much as they know."""
    domain = replace(DOMAIN, unit=PrivacyUnit("who", 4))
    once, often = exact_sums(), exact_sums(frame=pd.concat([PEOPLE] * 4))
    often = replace(often, sketch=Products(domain))
    one, other = (
        regression(sums, "pay", ridge=0.0).coefficients(about="population")[["low", "high"]].diff(axis=1).high
        for sums in (once, often)
    )
    assert np.allclose(one, other, rtol=1e-6)


def test_a_release_is_asked_about_every_column():
    made = release(SKETCH, PEOPLE, Budget(20), noise_source=SeededSource(1))
    assert regression(made, "pay").explained > 0.6
    assert regression(made, "age", ["pay"]).coefficients().estimate[0] > 0.3
    with pytest.raises(RequestError, match="not from itself"):
        regression(made, "pay", ["pay"])
    with pytest.raises(RequestError, match="no column 'size'"):
        regression(made, "size")
    other = release(Race(DOMAIN, Euclidean(5.0), 4, 8), PEOPLE, Budget(1))
    with pytest.raises(RequestError, match="mechanism 'products'"):
        regression(other, "pay")


def test_two_releases_merged_answer_for_all_records():
    half = len(PEOPLE) // 2
    tables = []
    for part in (PEOPLE[:half], PEOPLE[half:]):
        table = SKETCH.zeros()
        SKETCH.add(table, DOMAIN.encode_queries(part))
        tables.append(
            seal(SKETCH, ExactTable(table, np.array(len(part))), Budget(50), noise_source=SeededSource(len(tables)))
        )
    merged = tables[0].merged(tables[1])
    assert merged.records == pytest.approx(len(PEOPLE), rel=0.05)
    assert Sums.of(merged).variance == pytest.approx(2 * Sums.of(tables[0]).variance)


@pytest.mark.parametrize("rule", ("least-error", "adassp"))
def test_ridges_grow_with_the_noise_and_keep_all_eigenvalues_above_zero(rule):
    random = np.random.default_rng(3)
    last = 0.0
    for deviation in (0.1, 10.0, 1000.0):
        noise = random.normal(0.0, deviation, (6, 6))
        sums = np.diag([1e4, 1e3, 100.0, 10.0, 1.0, 0.1]) + (noise + noise.T) / np.sqrt(2)
        ridge = choose_ridge(rule, sums, np.full(6, 1e4), deviation).size
        assert last < ridge < np.inf and np.linalg.eigvalsh(sums + ridge * np.eye(6))[0] > 0.0
        last = ridge


def test_slopes_that_noise_makes_are_not_used():
    """Of sums of nothing but noise the mean is predicted, with its own interval, and inside the bounds."""
    random = np.random.default_rng(7)
    for _ in range(20):
        noise = random.normal(0.0, 3_000.0, (6, 6))
        assert choose_ridge("least-error", (noise + noise.T) / np.sqrt(2), noise[0], 3_000.0).size == np.inf
    made = release(SKETCH, PEOPLE[:40], Budget("0.05"), noise_source=SeededSource(3))
    found, sums = regression(made, "pay"), Sums.of(made)
    assert found.ridge == np.inf and (found.weights[1:] == 0.0).all() and found.explained == 0.0
    assert found.residual_deviation <= 100.0
    assert found.weights[0] == pytest.approx(sums.matrix[0, found.target] / sums.records)
    told = found.predict(PEOPLE[:5])
    assert (told.low >= 0.0).all() and (told.high <= 100.0).all() and (told.low < told.high).all()


@pytest.mark.thorough
def test_the_mean_alone_of_a_hundred_records_is_held_as_often_as_said():
    """Under a pure promise its noise has Laplace's tails, and 93 in 100 intervals of 95% held it."""
    few, held = people(100, 4), []
    exact = few["pay"].mean()
    for seed in range(draws(120, 600)):
        found = regression(release(SKETCH, few, Budget(1), noise_source=SeededSource(seed)), "pay")
        told = found.predict(few[:1])
        held += [told.low[0] <= exact <= told.high[0]] if found.ridge == np.inf else []
        assert found._reach(0.95) == pytest.approx(2.118 if found.ridge == np.inf else 1.960, abs=1e-3)
    assert len(held) > 50 and binom.cdf(sum(held), len(held), 0.95) > 1e-6


@pytest.mark.thorough
def test_a_small_set_is_predicted_no_worse_than_by_its_released_mean():
    """442 patients and eleven numbers: at ε = 0.1 slopes were noise, and at 1 they nearly are. Draws are repeatable."""
    patients, progress = load_diabetes(return_X_y=True, scaled=False)
    values = dict(zip((*DIABETES,), (*patients.T, progress), strict=True))
    sketch, truth = Products(Domain.of(**DIABETES)), progress / 200.0 - 1.0
    for epsilon in ("0.1", "1"):
        errors = []
        for seed in range(draws(20, 100)):
            made = release(sketch, values, Budget(epsilon, "1e-6"), noise_source=SeededSource(seed))
            found, sums = regression(made, "progress"), Sums.of(made)
            said = found.predict(values).estimate.to_numpy() / 200.0 - 1.0
            mean = np.clip(sums.matrix[0, found.target] / sums.records, -1.0, 1.0)
            errors.append((np.mean((said - truth) ** 2), np.mean((mean - truth) ** 2)))
        mine, means = np.array(errors).T
        assert mine.mean() < 1.05 * means.mean() and (mine < 1.5 * means).all()


def test_what_is_chosen_follows_from_the_released_file_alone():
    """Whoever has the file chooses the same ridge, without the records: it is post-processing."""
    made = release(SKETCH, PEOPLE, Budget(1, "1e-6"))
    mine, theirs = regression(made, "pay"), regression(load(made.to_bytes()), "pay")
    assert mine.ridge == theirs.ridge and (mine.weights == theirs.weights).all()


def test_adassp_needs_no_ridge_where_the_least_eigenvalue_is_surely_large():
    assert choose_ridge("adassp", 1e6 * np.eye(4), np.ones(4), 1.0).size == 0.0


def test_slopes_that_are_barely_taken_get_longer_intervals():
    """The stronger a slope, the surer: first none is taken, then barely, and then for certain."""
    found = [
        choose_ridge("least-error", 1e4 * np.eye(4), np.array([size, 0, 0, 0]), 50.0) for size in range(0, 4000, 5)
    ]
    assert found[0].size == np.inf
    steps = [one.longer if np.isfinite(one.size) else 0.0 for one in found]
    assert [step for place, step in enumerate(steps) if place == 0 or step != steps[place - 1]] == [0.0, LONGER, 1.0]


def test_correlations_and_components_are_those_of_the_records():
    sums = exact_sums()
    found, encoded = correlations(sums), SKETCH.vectors(DOMAIN.encode_queries(PEOPLE))[:, 1:]
    assert found.values == pytest.approx(np.corrcoef(encoded.T), abs=1e-9) and not found.errors.any()
    axes = components(sums, number=2)
    values, vectors = np.linalg.eigh(np.cov(encoded.T, bias=True))
    assert axes.variances == pytest.approx(values[::-1][:2]) and axes.told == 2
    assert np.abs((axes.axes * vectors[:, ::-1][:, :2].T).sum(axis=1)) == pytest.approx([1.0, 1.0])
    names = ["age", "city = Bern", "city = Basel", "city = Genf", "pay"]
    assert axes.frame().share.sum() < 1.0 and list(found.frame()) == names


def test_what_noise_hides_is_said_to_be_hidden():
    noise = np.random.default_rng(0).normal(0.0, 1e5, SKETCH.layout.size)
    sums = exact_sums(1e10, noise)
    assert np.isnan(correlations(sums).values).any() and components(sums).told < 5
