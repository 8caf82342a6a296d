"""Columns around a circle: which mechanisms take them, and what those say of them."""

import numpy as np
import pyarrow as pa
import pytest

from core import Distance, Features, Histogram, Moments, Race, kernels
from core.analysis.answerable import Box
from core.analysis.density import line, marginal_line
from core.analysis.modes import find_modes
from core.analysis.sampling import sample
from core.domain import Categorical, Cyclic, Domain, Numeric
from core.errors import RequestError
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.seal import seal
from core.sketches.classes import Classes

HOURS = Domain((Cyclic("hour", part="hour"), Numeric("x", 0, 1)), scale="box")
NIGHT = kernels.Gaussian(0.1)


def at_night(n: int = 4_000) -> pa.RecordBatch:
    """Records around midnight: 22, 23, 0, 1 and 2 o'clock."""
    random = np.random.default_rng(2)
    hours = np.rint(random.normal(24, 1.2, n)).astype(int) % 24
    return pa.record_batch({"hour": hours, "x": random.uniform(0.4, 0.6, n)})


@pytest.fixture(scope="module")
def release():
    sketch = Features(HOURS, NIGHT, rows=2_000, seed=3)
    table, points = sketch.zeros(), HOURS.encode(at_night())
    sketch.add(table, points)
    return seal(sketch, ExactTable(table, sketch.count(points)), Budget(8), noise_source=SeededSource(4))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Distance(HOURS),
        lambda: Moments(HOURS),
        lambda: Histogram(HOURS, kernels.Laplacian(1.0)),
        lambda: Race(HOURS, kernels.Manhattan(1.0)),
        lambda: Race(HOURS, kernels.Angular()),
        lambda: Features(HOURS, kernels.Laplacian(1.0)),
        lambda: Race(HOURS, kernels.Mixture((kernels.Euclidean(1.0), kernels.Manhattan(1.0)), (0.5, 0.5))),
    ],
)
def test_what_cannot_bend_a_column_refuses_it_in_one_sentence(make):
    with pytest.raises(RequestError, match="'hour' is a circle") as refusal:
        make()
    assert str(refusal.value).count(". ") == 0


def test_a_circle_is_no_label_of_classes():
    domain = Domain((Numeric("x", 0, 1), Cyclic("wind", ("N", "E", "S", "W"))))
    with pytest.raises(RequestError, match="column of categories"):
        Classes(domain, "wind", Race(domain.without("wind"), kernels.Euclidean(1.0), rows=4, width=8))


@pytest.mark.parametrize("kernel", [kernels.Euclidean(0.3, 2), kernels.Product((kernels.Euclidean(0.5), NIGHT))])
def test_closeness_depends_on_the_steps_around_the_circle_alone(kernel):
    box = Box(HOURS, "l2")
    places = np.hstack([box.encode("hour", list(range(24))), np.full((24, 1), 0.5)])
    closeness = kernel.evaluate(places, places)
    for turn in range(24):
        assert np.roll(closeness, (turn, turn), (0, 1)) == pytest.approx(closeness)
    assert (np.diff(closeness[0, :13]) < 0).all()


@pytest.mark.thorough
def test_midnight_has_no_edge(release):
    curve = marginal_line(release, "hour")
    exact = NIGHT.evaluate(
        Box(HOURS, "l2").encode("hour", list(curve.values)), Box(HOURS, "l2").encode("hour", list(range(24)))
    )
    assert curve.values[int(curve.estimate.argmax())] in ("23", "0", "1")
    assert curve.estimate[0] == pytest.approx(curve.estimate[-1], rel=0.35)
    assert curve.estimate[12] < 0.05 * curve.estimate.max()
    assert exact[0, 23] == pytest.approx(exact[0, 1])
    held = line(release, "x", {"hour": "0"})
    assert held.estimate.max() > 10 * line(release, "x", {"hour": "12"}).estimate.max()


@pytest.mark.deep
def test_peaks_and_synthetic_records_lie_on_the_circle(release, few_places):
    assert find_modes(release)[0].position["hour"] in ("23", "0", "1")
    drawn = sample(release, 400, 1).points["hour"].astype(str)
    assert set(drawn) <= set(map(str, range(24)))
    assert drawn.isin(["21", "22", "23", "0", "1", "2", "3"]).mean() > 0.9


def test_places_in_a_box_are_on_the_circle():
    domain = Domain((*HOURS.columns, Categorical("c", ("a", "b"))), scale="box")
    box = Box(domain, "l2")
    assert box.choices == (24, 2)
    points = box.uniform(np.random.default_rng(0).random((200, box.uniforms_needed())))
    radius = np.hypot(points[:, 0], points[:, 1])
    assert radius == pytest.approx(np.full(200, 1 / (2 * np.pi)))
    decoded = box.decode(points)
    assert len(set(decoded["hour"])) == 24
    assert domain.encode_queries(decoded) == pytest.approx(points)
