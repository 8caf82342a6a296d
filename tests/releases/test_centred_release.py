"""Bought centres: one promise, one entry in the ledger, two readings, and a table that is the better for it."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from core.analysis.class_scores import direction_scores, mean_scores
from core.domain import Categorical, Domain, PrivacyUnit, Vector
from core.errors import RequestError
from core.geometry.kernels import Euclidean
from core.geometry.projection import OrthogonalProjection
from core.privacy.budget import Budget, Neighbours
from core.privacy.calibration import largest_rho
from core.privacy.composition import keeps_promise, total_rho
from core.privacy.ledger.ledger import Ledger
from core.privacy.noise.randomness import SeededSource
from core.releases.bounds_and_centre import CentrePurchase, CentreStage
from core.releases.job import Job
from core.releases.job import release as plain_release
from core.releases.kind import TablePlan
from core.releases.release import load
from core.sketches.classes import Classes
from core.sketches.directions import Directions
from core.sketches.moments import Moments
from core.sketches.race import Race
from core.sources import open_source
from tests.releases.paying import Paying

D = 12
CLASSES = ("a", "b", "c")
DOMAIN = Domain((Vector("e", D, -1, 1), Categorical("which", CLASSES)))
INNER = DOMAIN.without("which")
BUDGETS = [
    Budget(1),
    Budget(1, "1e-6"),
    Budget(1, 0, Neighbours.REPLACE_ONE),
    Budget(1, "1e-6", Neighbours.REPLACE_ONE),
    Budget(1, "0.001"),
]
SKETCHES = [
    Directions(INNER),
    Directions(INNER, projection=OrthogonalProjection(D, 5, seed=3)),
    Moments(INNER, 0.3).for_mean(),
    Classes(DOMAIN, "which", Directions(INNER)),
    Classes(DOMAIN, "which", Moments(INNER, 0.3).for_mean()),
]


def named(sketch):
    return f"{sketch.name}-{getattr(sketch, 'inner', sketch).name}"


def embeddings(records=900, seed=1) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors that all point much the same way, of three classes a little apart."""
    random = np.random.default_rng(seed)
    which = random.integers(0, 3, records)
    middles = np.full(D, 0.8) + 0.25 * np.eye(D)[[1, 4, 7]]
    rows = middles[which] + random.normal(0, 0.1, (records, D))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), which


def source(rows, which):
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), D)
    return open_source(pa.table({"e": vectors, "which": [CLASSES[code] for code in which]}))


def made(sketch, budget, seed=5, records=900):
    kind = CentreStage(sketch, CentrePurchase("0.2"), budget)
    return Job(TablePlan(kind, kind.budget), source(*embeddings(records)), noise_source=SeededSource(seed)).run()


@pytest.mark.few(8)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("sketch", SKETCHES, ids=named)
def test_both_readings_together_keep_the_promise_and_use_all_of_it(sketch, budget):
    kind = CentreStage(sketch, CentrePurchase("0.2"), budget)
    cost = kind.planned.cost
    assert (cost.epsilon, cost.delta) == (budget.epsilon, budget.delta)
    first, second = kind.everyone.sensitivity(budget.neighbours), sketch.sensitivity(budget.neighbours)
    if kind.planned.noise.distribution != "discrete_gaussian":
        assert cost.pure_epsilon == 1
        moved = first.blocks_l2 if kind.centre_noise.block else first.l1
        assert moved / kind.centre_noise.parameter == Fraction(1, 5)
    else:
        rho = first.l2_squared / (2 * kind.centre_noise.parameter)
        assert float(rho / cost.rho) == pytest.approx(0.2, abs=1e-4)
        assert cost.rho == total_rho(cost.events) > largest_rho(1.0, float(budget.delta))
        assert keeps_promise(cost.events, cost.epsilon, cost.delta)
        assert not keeps_promise(cost.events, cost.epsilon * Decimal("0.995"), cost.delta)
        left = 1 if kind.planned.count_noise is None else 1 - float(sketch.count_share)
        own = second.l2_squared / (2 * kind.planned.noise.parameter)
        assert float(own / cost.rho) == pytest.approx(0.8 * left, abs=1e-4)


@pytest.mark.parametrize("sketch", SKETCHES, ids=named)
def test_the_file_shows_the_centre_and_promises_its_price(sketch):
    release = made(sketch, Budget(1, "1e-6"))
    inner = getattr(release.sketch, "inner", release.sketch)
    assert (inner.pole if isinstance(inner, Directions) else inner.centre) is not None
    read = load(release.to_bytes(teaching=True))
    assert read.sketch == release.sketch
    assert (read.counters == release.counters).all()
    kind = CentreStage(sketch, CentrePurchase("0.2"), Budget(1, "1e-6"))
    assert read.privacy.rho == kind.planned.cost.rho
    assert read.privacy.epsilon == 1


def test_without_noise_to_speak_of_the_centre_is_that_of_everyone():
    rows, which = embeddings()
    budget = Budget(100, "1e-3")
    kind = CentreStage(SKETCHES[3], CentrePurchase(), budget)
    release = Job(TablePlan(kind, kind.budget), source(rows, which), noise_source=SeededSource(1)).run()
    mean = rows.mean(axis=0)
    assert release.sketch.inner.pole == pytest.approx(mean / np.linalg.norm(mean), abs=0.01)
    kind = CentreStage(SKETCHES[4], CentrePurchase(), budget)
    release = Job(TablePlan(kind, kind.budget), source(rows, which), noise_source=SeededSource(1)).run()
    assert release.sketch.inner.centre == pytest.approx(mean, abs=0.01)


def test_the_table_is_that_of_the_records_around_the_bought_centre():
    """With the noise taken off again, by the same seed, every counter is exact."""
    rows, _ = embeddings()
    one, other = made(SKETCHES[0], Budget(1)), made(SKETCHES[0], Budget(1))
    assert (one.counters == other.counters).all()
    exact = one.sketch.zeros()
    one.sketch.add(exact, np.asfortranarray(rows))
    noise = (one.counters - exact) / np.sqrt(one.privacy.counter_variance)
    assert np.abs(noise).max() < 12


def test_the_ledger_gets_one_entry_before_any_noise(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.register("people", 1)
    kind = CentreStage(SKETCHES[3], CentrePurchase(), Budget(1))
    seen = []

    def spend(cost):
        seen.append(cost)
        ledger.spend("people", cost, {}, neighbours=Neighbours.ADD_REMOVE, unit="record")

    Job(TablePlan(kind, kind.budget), source(*embeddings()), Paying(spend, tmp_path)).run()
    assert seen == [kind.planned.cost]
    assert ledger.status("people").left == 0


def test_nothing_is_released_when_the_ledger_refuses():
    class Drawn(SeededSource):
        def stream(self):
            raise AssertionError("noise was drawn")

    def refuse(cost):
        raise RequestError("no")

    kind = CentreStage(SKETCHES[3], CentrePurchase(), Budget(1))
    with pytest.raises(RequestError, match="no"):
        Job(TablePlan(kind, kind.budget), source(*embeddings()), Paying(refuse), noise_source=Drawn(1)).run()


def test_nothing_is_spent_on_noise_that_fits_no_counter():
    budget, spent = Budget("1e-6"), []
    crowded = Domain(INNER.columns, unit=PrivacyUnit("id", 100_000))
    kind = CentreStage(Moments(crowded, 0.3).for_mean(), CentrePurchase(), budget)
    rows, _ = embeddings(50)
    people = pa.table({"e": pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), D), "id": np.arange(50)})
    with pytest.raises(RequestError, match="a larger epsilon"):
        Job(TablePlan(kind, kind.budget), open_source(people), Paying(spent.append)).run()
    assert not spent


def test_progress_counts_both_readings():
    seen = []
    kind = CentreStage(SKETCHES[0], CentrePurchase(), Budget(1))
    Job(TablePlan(kind, kind.budget), source(*embeddings(100)), noise_source=SeededSource(1)).run(seen.append)
    assert seen == [100, 200]


@pytest.mark.thorough
def test_classes_are_told_apart_better_around_a_centre():
    """Mean accuracy over 20 draws of noise, at a budget where it matters."""
    rows, which = embeddings()
    queries, truth = embeddings(300, seed=2)
    plain, centred = [], []
    for seed in range(20):
        release = made(SKETCHES[3], Budget("0.25"), seed)
        values, _ = direction_scores(release.sketch.inner, release.counters, release.privacy.counter_variance, queries)
        centred.append(np.mean(values.argmax(axis=1) == truth))
        release = plain_release(SKETCHES[3], source(rows, which), Budget("0.25"), noise_source=SeededSource(seed))
        values, _ = direction_scores(release.sketch.inner, release.counters, release.privacy.counter_variance, queries)
        plain.append(np.mean(values.argmax(axis=1) == truth))
    assert np.mean(centred) > np.mean(plain) + 0.03


@pytest.mark.thorough
@pytest.mark.parametrize("rule", ["direction", "mean"])
def test_class_scores_have_the_stated_noise(rule):
    """2,000 noisy tables of one exact one: means within 6 standard errors, variances within a fifth."""
    rows, which = embeddings()
    sketch = SKETCHES[3] if rule == "direction" else SKETCHES[4]
    exact = sketch.zeros()
    coordinates = np.zeros((len(rows), D + 3))
    coordinates[:, :D] = rows
    coordinates[np.arange(len(rows)), D + which] = DOMAIN.amplitude("l2")
    sketch.add(exact, np.asfortranarray(coordinates))
    numbers = np.bincount(which).astype(float)
    queries = embeddings(4, seed=9)[0]
    deviation = 3.0 * 2**30

    def scores(table, variance):
        if rule == "direction":
            return direction_scores(sketch.inner, table, variance, queries)
        return mean_scores(sketch.inner, table, numbers, variance, queries)

    truth, _ = scores(exact, 0.0)
    random = np.random.default_rng(3)
    noisy = exact + np.rint(random.normal(0, deviation, (2000, *exact.shape))).astype(np.int64)
    drawn = [scores(table, deviation**2) for table in noisy]
    values = np.array([value for value, _ in drawn])
    stated = np.mean([variance for _, variance in drawn], axis=0)
    assert values.var(axis=0) == pytest.approx(stated, rel=0.2)
    bias = np.abs(values.mean(axis=0) - truth) / np.sqrt(stated / 2000)
    assert bias.max() < (6 if rule == "mean" else 9)  # a quotient is unbiased to first order only
    if rule == "mean":
        means = np.array([rows[which == code].mean(axis=0) for code in range(3)])
        clipped = -((queries[:, None, :] - means) ** 2).sum(axis=2)
        assert truth.argmax(axis=1).tolist() == clipped.argmax(axis=1).tolist()


@pytest.mark.parametrize("share", [0, 1, "1.5", "-0.1", "x"])
def test_shares_that_leave_nothing_are_refused(share):
    with pytest.raises(RequestError):
        CentrePurchase(share)


def test_only_what_has_a_centre_can_buy_one():
    with pytest.raises(RequestError, match="race"):
        _ = TablePlan(CentreStage(Race(INNER, Euclidean(1.0), rows=8), CentrePurchase(), Budget(1)), Budget(1)).cost
