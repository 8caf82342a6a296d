"""Which mechanism is recommended, and why: ranked by the forecasts that the library itself gives."""

import numpy as np
import pytest

from core import Budget, Closeness, Distances, Domain, Recommendation, recommend
from core.errors import RequestError
from core.geometry import kernels
from core.releases.forecast.forecast import forecast
from core.sketches.classes import Classes
from tests.depth import deep

LINE = Domain.of(x=(0, 100))
PLANE = Domain.of(x=(0, 100), y=(0, 100))
WIDE = Domain.of(**{f"c{i:02d}": (0, 1) for i in range(20)})


def errors(found: list[Recommendation]) -> list[float]:
    return [one.forecast.relative_error for one in found if one.forecast]


@pytest.mark.thorough
def test_the_best_comes_first_and_the_forecasts_are_the_librarys():
    found = recommend(PLANE, 5000, Budget(1), Closeness(kernels.Laplacian(5), seed=1), density=0.05)
    assert {one.name for one in found} == {"histogram", "race", "features"}
    assert errors(found)[0] <= 1.03 * min(errors(found)) and errors(found)[1:] == sorted(errors(found)[1:])
    for one in found:
        assert one.sketch.sized
        assert one.forecast == forecast(one.sketch, Budget(1), 5000, 0.05)


@pytest.mark.deep
def test_a_histogram_is_best_in_one_column_and_never_in_twenty():
    (best, *_) = recommend(LINE, 5000, Budget(1), Closeness(kernels.Gaussian(5)))
    assert best.name == "histogram" and best.reason.startswith("A histogram is best here")
    found = recommend(WIDE, 5000, Budget(1), Closeness(kernels.Gaussian(1)))
    assert found[0].name == "features" and found[0].reason.startswith("Random features")
    assert {one.name for one in found if one.sketch is None} == {"histogram", "race"}


@pytest.mark.deep
def test_a_histogram_is_not_recommended_where_answers_take_long():
    found = recommend(PLANE, 5000, Budget(1), Closeness(kernels.Euclidean(20), rows=50))
    (histogram,) = (one for one in found if one.name == "histogram")
    assert histogram.sketch is None and "no product of its columns" in histogram.reason
    assert recommend(LINE, 5000, Budget(1), Closeness(kernels.Euclidean(20), rows=50))[0].name == "histogram"
    assert recommend(PLANE, 5000, Budget(1), Closeness(kernels.Gaussian(20), rows=50))[0].name == "histogram"


@pytest.mark.thorough
def test_what_cannot_answer_comes_last_with_the_reason():
    *_, last = recommend(LINE, 5000, Budget(1), Closeness(kernels.Gaussian(5)))
    assert last.name == "race" and last.sketch is None and last.forecast is None
    assert "gaussian kernel is not the collision probability" in last.reason


@pytest.mark.parametrize(
    ("norm", "name"),
    [
        ("l1", "distance"),
        ("l2", "projected-distance"),
        ("squared", "moments"),
        deep("lp:1.5", "distance"),
        deep("capped:10", "distance"),
        deep("above", "distance"),
    ],
)
def test_every_norm_has_a_mechanism(norm, name):
    (best, *_) = recommend(PLANE, 5000, Budget(1), Distances(norm))
    assert best.name == name == best.sketch.name and best.forecast.answers == "distance"
    assert "in the distance" in best.reason and best.reason.endswith(".")


def test_straight_lines_along_one_column_are_differences():
    assert recommend(LINE, 5000, Budget(1), Distances("l2"))[0].name == "distance"


@pytest.mark.thorough
def test_each_class_has_a_table_and_fewer_records():
    domain = Domain.of(x=(0, 100), kind=["a", "b"])
    found = recommend(domain, 5000, Budget(1), Closeness(kernels.Gaussian(5)), label="kind")
    assert isinstance(found[0].sketch, Classes) and found[0].forecast.records == 2500
    alone = recommend(LINE, 2500, Budget(1), Closeness(kernels.Gaussian(5)))
    assert found[0].forecast.relative_error == pytest.approx(alone[0].forecast.relative_error, rel=0.1)


@pytest.mark.deep
def test_rows_that_were_typed_are_kept():
    found = recommend(PLANE, 5000, Budget(1), Closeness(kernels.Laplacian(5), rows=120, width=50))
    race = next(one for one in found if one.name == "race")
    assert race.sketch.rows == 120 and race.sketch.width == 50


@pytest.mark.thorough
def test_a_public_sample_takes_the_place_of_the_reference_population():
    sample = np.asfortranarray(50 + 3 * np.random.default_rng(1).standard_normal((500, 2)))
    close = recommend(PLANE, 5000, Budget(1), Closeness(kernels.Gaussian(5)), sample=sample)
    assert close[0].forecast.density > 0.5


@pytest.mark.thorough
def test_many_dimensions_are_projected_as_well():
    domain = Domain.of(**{f"c{i}": (-1, 1) for i in range(100)})
    found = recommend(domain, 500, Budget(1), Closeness(kernels.Gaussian(4.0), rows=64))
    names = {one.name: one for one in found}
    assert set(names) == {"features", "projected features", "race", "projected race", "histogram"}
    assert names["histogram"].sketch is None and names["features"].sketch.rows == 64


@pytest.mark.parametrize(
    ("question", "guesses", "sentence"),
    [
        (Closeness(kernels.Gaussian(5)), {"records": 0}, "number of records"),
        (Closeness(kernels.Gaussian(5)), {"density": 1.5}, "density level"),
        (Distances("l3"), {}, "norm 'l3'"),
        (Distances("lp:x"), {}, "norm"),
        (Distances("l1", radius=1.0), {}, "radius"),
        (Distances("squared", radius=-1.0), {}, "radius"),
        (Closeness(kernels.Gaussian(5)), {"label": "nobody"}, "no column 'nobody'"),
    ],
)
def test_bad_requests(question, guesses, sentence):
    facts = {"records": 5000} | guesses
    with pytest.raises(RequestError, match=sentence):
        recommend(PLANE, facts.pop("records"), Budget(1), question, **facts)
