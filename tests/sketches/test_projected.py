"""Sketches of projected points: they are their inner sketches, group by group, and tell the truth about the points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import Domain, PrivacyUnit, Vector
from core.errors import RequestError
from core.geometry.kernels import Angular, Euclidean, Gaussian, Laplacian, Mixture, Product
from core.privacy.budget import Budget, Neighbours
from core.privacy.calibration import calibrate
from core.releases.forecast.forecast import forecast
from core.releases.job import release
from core.releases.release import load
from core.sketches import linear
from core.sketches.features import Features
from core.sketches.mechanism_audit import audit_sketch, worst_neighbours
from core.sketches.projected import Projected
from core.sketches.race import Race
from core.sketches.registry import sketch_from_parameters
from tests.depth import draws
from tests.sketches.checking import poured

D = 24
DOMAIN = Domain((Vector("embedding", D, -1.0, 1.0),))
KERNEL = Euclidean(1.0)


def sketch(kind="fast", mechanism=Race, kernel=KERNEL, domain=DOMAIN, rows=40, groups=4, seed=1, dimensions=8, **facts):
    facts = {"radius": 1.0} | facts
    return Projected.of(domain, kernel, mechanism, dimensions, kind=kind, rows=rows, groups=groups, seed=seed, **facts)


def points(n: int, seed: int = 0, length: float = 1.0) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=(n, D)) + 0.8 * np.eye(D)[0]
    return np.asfortranarray(length * x / np.linalg.norm(x, axis=1, keepdims=True))


@pytest.mark.parametrize("mechanism", [Race, Features])
@pytest.mark.parametrize("kind", ["fast", "gaussian", "orthogonal"])
def test_every_group_is_the_inner_sketch_of_its_own_projection(kind, mechanism):
    projected = sketch(kind, mechanism, Euclidean(1.0) if mechanism is Race else Gaussian(0.7))
    records, queries = points(300, length=3.0), points(20, seed=1)
    table = poured(projected, records)
    estimates, weights = projected.group_estimates(table, 300, queries)
    lengths = np.linalg.norm(records, axis=1, keepdims=True)
    clipped = records / np.maximum(lengths, 1.0)
    start = 0
    for group, part in enumerate(projected._parts):
        projection = projected.projection.of_stream(group)
        expected = part.zeros()
        part.add(expected, np.asfortranarray(projection.project(np.asfortranarray(clipped))))
        block = table[start : start + part.shape[0]]
        # The ball is left by rounding here and there: one record in a cell beside the expected one is no difference.
        assert np.abs(block[:, : expected.shape[1]] - expected).sum() <= 1e-4 * np.abs(expected).sum()
        inside, shares = part.group_estimates(expected, 300, projection.project(queries))
        assert estimates[group] == pytest.approx(shares @ inside, abs=1.0, rel=1e-3)
        start += part.shape[0]
    assert start == len(table) and weights.sum() == pytest.approx(1.0)


def test_groups_have_projections_and_hashes_of_their_own():
    projected = sketch()
    images = [projection.project(points(3)) for projection in projected._projections]
    assert all((images[0] != image).any() for image in images[1:])
    assert len({part.seed for part in projected._parts}) == projected.groups


@pytest.mark.parametrize("mechanism, kernel", [(Race, KERNEL), (Race, Angular(power=2)), (Features, Gaussian(0.7))])
@given(st.integers(0, 2**32), st.integers(0, 2**64))
@settings(max_examples=draws(6, 15))
def test_neighbours_stay_within_the_declared_sensitivity(mechanism, kernel, data_seed, seed):
    projected = sketch(mechanism=mechanism, kernel=kernel, seed=seed)
    one, other = np.random.default_rng(data_seed).uniform(-1, 1, (2, D))
    first, second = poured(projected, one[None]), poured(projected, other[None])
    added, replaced = (projected.sensitivity(relation) for relation in Neighbours)
    assert np.abs(first).sum() <= added.l1 and (first**2).sum() <= added.l2_squared
    assert np.abs(first - second).sum() <= replaced.l1 and ((first - second) ** 2).sum() <= replaced.l2_squared
    if mechanism is Race:
        assert np.abs(first).sum() == added.l1 == projected.rows


def test_some_pair_reaches_the_bound_and_people_multiply_it():
    narrow = sketch(kernel=Euclidean(0.01, power=4), width=1 << 16)
    moved = poured(narrow, points(1)) - poured(narrow, points(1, seed=5))
    declared = narrow.sensitivity(Neighbours.REPLACE_ONE)
    assert np.abs(moved).sum() == declared.l1 == 80 and (moved**2).sum() == declared.l2_squared
    domain = Domain(DOMAIN.columns, unit=PrivacyUnit("who", 3))
    people = sketch(domain=domain)
    assert np.abs(poured(people, np.repeat(points(1), 3, axis=0))).sum() == people.sensitivity(Neighbours.ADD_REMOVE).l1


@given(st.lists(st.integers(0, 500), max_size=5), st.integers(0, 2**32))
@settings(max_examples=draws(6, 15))
def test_any_split_and_any_order_give_the_same_table(cuts, seed):
    projected = sketch(seed=seed)
    records = points(500, seed, length=2.0)
    parts = projected.zeros()
    for part in np.split(np.random.default_rng(seed).permutation(records), sorted(cuts)):
        projected.add(parts, np.asfortranarray(part))
    assert (parts == poured(projected, records)).all()


def test_records_outside_the_ball_are_moved_to_it_and_the_box_is_the_default():
    projected = sketch()
    far, near = points(50, length=5.0), points(50, length=1.0)
    assert np.abs(poured(projected, far) - poured(projected, near)).sum() <= 2  # but for rounding at a cell's edge
    whole = Projected.of(DOMAIN, KERNEL, Race, 8, rows=40)
    assert whole.radius == pytest.approx(np.sqrt(D))
    assert sketch(radius=100.0).radius == whole.radius
    shifted = Domain((Vector("embedding", D, 9.0, 11.0),))
    assert (poured(sketch(domain=shifted), near + 10.0) == poured(projected, near + 10.0 - 10.0)).mean() > 0.999


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["fast", "gaussian", "orthogonal"])
def test_answers_are_near_the_kernel_of_the_points_themselves(kind):
    """Mean over 20 seeds within 8 standard errors and the known bias, about u^2 / k for exp(-u), of the truth."""
    records, queries = points(draws(500, 2000)), points(10, seed=1)
    projected = sketch(kind, Features, Gaussian(1.0), rows=80, dimensions=16)
    exact = projected.exact(queries, records)
    answers = []
    for seed in range(20):
        again = projected.with_rows(80, 4, seed)
        estimates, weights = again.group_estimates(poured(again, records) / 1.0, len(records), queries)
        answers.append(weights @ estimates)
    error = np.std(answers, axis=0, ddof=1) / np.sqrt(20)
    assert (np.abs(np.mean(answers, axis=0) - exact) < 8.0 * error + exact / 16).all()


@pytest.mark.deep
def test_intervals_cover_the_truth_as_often_as_they_say():
    """Coverage of nominal 95% intervals over 60 sketches, or 24: a mean over 40 queries each, deviation below 0.15."""
    records, queries = points(draws(300, 1000)), points(40, seed=1)
    projected = sketch(dimensions=16, rows=200, groups=8)
    exact = projected.exact(queries, records)
    covered = []
    for seed in range(draws(24, 60)):
        again = projected.with_rows(200, 8, seed)
        answers = again.answer(poured(again, records), len(records), queries, 0.0, 0.95)
        covered.append(np.mean((answers.low <= exact) & (exact <= answers.high)))
    assert draws(84, 88) / 100 < np.mean(covered) < draws(998, 990) / 1000


@pytest.mark.thorough
def test_total_and_noise_are_those_of_the_rows_together():
    projected = sketch()
    table = poured(projected, points(500))
    assert projected.total(table) == pytest.approx(500)
    rng = np.random.default_rng(2)
    noisy = [table + rng.integers(-10, 11, table.shape) for _ in range(1500)]
    variance = (21**2 - 1) / 12
    assert np.var([projected.total(t) for t in noisy]) == pytest.approx(projected.total_variance(variance), rel=0.25)
    queries = points(3, seed=1)
    answers = np.array([projected.answer(t, 500, queries, variance, 0.9).estimate for t in noisy[:800]])
    assert answers.var(axis=0) == pytest.approx(projected.noise_variance(variance, queries), rel=0.35)
    assert projected.noise_variance(variance) == pytest.approx(
        projected.noise_variance(variance, queries).mean(), rel=0.1
    )


@pytest.mark.thorough
@pytest.mark.parametrize("neighbours", Neighbours)
def test_it_keeps_its_promise_and_half_the_noise_is_caught(neighbours, monkeypatch):
    few = sketch(rows=4, groups=2, width=8)
    first, second = worst_neighbours(few, neighbours)
    assert np.abs(first - second).sum() == few.sensitivity(neighbours).l1
    assert audit_sketch(few, Budget(1, 0, neighbours), level=1 - 1e-8).passed

    def half(sensitivity, epsilon, delta):
        return calibrate(sensitivity, 3 * epsilon, delta)

    monkeypatch.setattr(linear, "calibrate", half)
    assert not audit_sketch(few, Budget(1, 0, neighbours), level=1 - 1e-8).passed


@pytest.mark.thorough
def test_releases_of_embeddings_survive_their_file():
    import pandas as pd

    frame = pd.DataFrame({"embedding": list(points(400))})
    made = release(sketch(rows=None, groups=None), frame, Budget(1), records=400)
    assert made.sketch.sized and isinstance(made.sketch, Projected)
    again = load(made.to_bytes())
    assert again.sketch == made.sketch
    queries = points(5, seed=3)
    assert (again.estimate(queries) == made.estimate(queries)).all()


@pytest.mark.deep
def test_forecasts_work_without_any_data():
    told = forecast(sketch(rows=100), Budget(1), records=5000)
    assert told.rows == 100 and told.noise_error > 0 and told.sampling_error > 0


@pytest.mark.parametrize("mechanism", [Race, Features])
def test_parameters_rebuild_the_sketch(mechanism):
    projected = sketch(mechanism=mechanism, kernel=KERNEL if mechanism is Race else Gaussian(1.0))
    assert sketch_from_parameters("projected", DOMAIN, projected.parameters()) == projected


@pytest.mark.parametrize(
    "change",
    [
        {"radius": 0.0},
        {"radius": float("nan")},
        {"radius": "1"},
        {"radius": 0.5},
        {"radius": None},
        {"projection": {"name": "fast"}},
        {"projection": None},
        {"inner": None},
        {"inner": {"mechanism": "race", "parameters": {}}},
        {"inner": {"mechanism": "moments", "parameters": {}}},
        {"inner": {"mechanism": "projected", "parameters": {}}},
        {"more": 1},
    ],
)
def test_hostile_parameters_are_refused(change):
    facts = sketch().parameters()
    if change == {"radius": 0.5}:  # a smaller ball is another inner domain, rebuilt with the ball: no contradiction
        assert sketch_from_parameters("projected", DOMAIN, facts | change).radius == 0.5
        return
    with pytest.raises(RequestError):
        sketch_from_parameters("projected", DOMAIN, facts | change)


@pytest.mark.parametrize(
    "kernel",
    [Laplacian(1.0), Euclidean((1.0, 2.0)), Product((Euclidean(1.0), Laplacian(1.0))), Mixture((KERNEL,), (1.0,))],
    ids=str,
)
def test_only_kernels_of_euclidean_distances_and_angles_are_projected(kernel):
    if isinstance(kernel, Mixture):
        assert sketch(kernel=kernel).kernel == kernel
        return
    with pytest.raises(RequestError, match="Euclidean"):
        sketch(kernel=kernel)


def test_sketches_inside_must_fit():
    projected = sketch()
    with pytest.raises(RequestError, match="domain"):
        Projected(DOMAIN, Race(DOMAIN, KERNEL, rows=40), projected.projection, 1.0)
    with pytest.raises(RequestError):
        Projected(DOMAIN, projected, projected.projection, 1.0)
    with pytest.raises(RequestError, match="rows a group"):
        sketch(rows=7, groups=4)
    with pytest.raises(RequestError, match="rows"):
        _ = sketch(rows=None, groups=None).shape


def test_images_beyond_the_inner_bounds_are_moved_to_them(monkeypatch):
    """Only rounding takes an image there; what is certain for points inside the bounds is certain then for all."""
    projected = sketch(seed=1)
    kind, seen = type(projected.projection), []
    project = kind.project
    monkeypatch.setattr(kind, "project", lambda self, records: 100.0 * project(self, records))
    monkeypatch.setattr(Race, "add", lambda self, table, images: seen.append(np.abs(images).max()))
    poured(projected, points(50, 3, length=2.0))
    assert seen and set(seen) == {projected.inner.domain.columns[0].high}
