"""Records as close together as the kernel suggests, and the choice that they make in a corner of wide bounds."""

import numpy as np
import pytest

from core import Budget, Closeness, Domain, kernels, recommend
from core.domain import Numeric
from core.releases.forecast.trial import FEWER, NONE, SEEN, _close_populations, close_errors
from core.sketches.classes import Classes
from core.sketches.distances.distance import Distance
from core.sketches.grids.histogram import Histogram

CORNER = Domain(tuple(Numeric(f"c{place}", 0, 60) for place in range(5)), scale="box")
PLANE = Domain.of(x=(0, 100), y=(-50, 50))


@pytest.mark.parametrize("kernel", [kernels.Gaussian(0.5), kernels.Laplacian(1.0), kernels.Gaussian(60.0)], ids=str)
def test_records_are_as_close_as_the_kernel_suggests_and_never_wider_spread_than_usual(kernel):
    for points in _close_populations(PLANE, kernel.metric, kernel):
        assert (points >= [0, -50]).all() and (points <= [100, 50]).all()
        values = kernel.evaluate(points[:700], points[700:1400])
        assert values.mean() == pytest.approx(SEEN, rel=0.15) or values.mean() > SEEN
        assert points.std(axis=0).max() < 40
    gathered, _ = _close_populations(PLANE, kernel.metric, kernel)
    share = FEWER if kernel == kernels.Gaussian(60.0) else NONE  # the only one that fits the bounds
    assert np.mean((gathered == [0, -50]).all(axis=1)) == pytest.approx(share, abs=0.05)


def test_they_lie_on_steps():
    steps = Domain((Numeric("visits", 0, 365, step=1.0), Numeric("pay", 0, 1000, step=50.0)))
    for points in _close_populations(steps, "l2", kernels.Gaussian(5.0)):
        assert (points % [1.0, 50.0] == 0).all()


def test_distances_have_none_and_a_class_has_its_share_of_the_records():
    assert close_errors(Distance(PLANE, cells=16), Budget(1), 1000) == ()
    sketch = Histogram(PLANE, kernels.Gaussian(5.0), (20, 20))
    classes = Classes(Domain((*PLANE.columns, *Domain.of(kind=["a", "b"]).columns)), "kind", sketch)
    assert close_errors(classes, Budget(1), 2000) == pytest.approx(close_errors(sketch, Budget(1), 1000))


def test_coarse_cells_cost_more_where_records_gather_than_fine_ones():
    coarse, fine = Histogram(PLANE, kernels.Gaussian(5.0), (6, 6)), Histogram(PLANE, kernels.Gaussian(5.0), (40, 40))
    rough, finer = (close_errors(one, Budget(10), 9000) for one in (coarse, fine))
    assert len(rough) == 2 and all(error > 2 * less for error, less in zip(rough, finer, strict=True))


@pytest.mark.deep
def test_a_grid_that_is_too_coarse_for_a_corner_of_wide_bounds_is_not_chosen():
    """Log-normal columns: a histogram that is good for the whole of the bounds has several times features' error."""
    people = np.exp(np.random.default_rng(5).normal(0, 1, (1100, 5))).clip(0, 60)
    budget, asked = Budget(1), Closeness(kernels.Gaussian(0.044), seed=1)
    found = {one.name: one for one in recommend(CORNER, 4000, budget, asked) if one.sketch is not None}
    assert next(iter(found)) == "features" and "features are safest" in found["features"].reason
    records = CORNER.encode_queries(people, "l2")
    queries, records = records[:100], np.asfortranarray(records[100:])
    missed = {}
    for name, one in found.items():
        table = one.sketch.zeros()
        one.sketch.add(table, records)
        missed[name] = np.mean(
            (one.sketch.estimates([table], 1000, queries, 0.0)[0] - one.sketch.exact(queries, records)) ** 2
        )
    assert missed["histogram"] > missed["features"]
