"""Public records on which forecasts are tried: taken as private ones are, and tried once."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core.domain import Domain, Numeric
from core.geometry.kernels import Gaussian, Laplacian
from core.privacy.budget import Budget
from core.releases.forecast.forecast import forecast
from core.releases.forecast.public_records import PublicRecords, sampled_trial
from core.sketches.features import Features
from core.sketches.histogram import Histogram

DOMAIN = Domain((Numeric("x", 0, 100), Numeric("y", 0, 1)), scale="box")
FRAME = pd.DataFrame({"y": np.tile([0.2, 0.4], 300), "z": 1.0, "x": np.linspace(20, 60, 600)})


def known(frame=FRAME):
    return PublicRecords("public.csv", pa.Table.from_pandas(frame, preserve_index=False))


def test_they_are_encoded_as_private_records_are_and_those_that_miss_a_value_left_out():
    frame = FRAME.assign(x=FRAME.x.where(FRAME.index > 9)).replace({"x": {60.0: 500.0}})
    points = known(frame).encoded(DOMAIN, "l2")
    assert len(points) == 590 and points.max() == DOMAIN.bounds("l2")[1].max()


def test_their_spread_is_that_of_a_column_in_shares_of_its_bounds():
    each = [FRAME.x.std(ddof=0) / 100, 0.1]
    assert known().spread(DOMAIN) == pytest.approx(np.sqrt(np.mean(np.square(each))))


@pytest.mark.thorough
def test_a_forecast_on_them_is_that_on_their_table_and_tries_a_sketch_once(monkeypatch):
    sketch = Histogram(DOMAIN, Gaussian(0.1)).sized_for(Budget(1), 5_000)
    records, tried = known(), []
    first = forecast(sketch, Budget(1), 5_000, sample=records)
    assert first == forecast(sketch, Budget(1), 5_000, sample=FRAME)
    monkeypatch.setattr("core.releases.forecast.trial.sampled_trial", lambda *given: tried.append(given))
    assert forecast(sketch, Budget(2), 5_000, sample=records).noise_error < first.noise_error and not tried


RECORDS = 8_000


def spikes(random, columns):
    """Two fifths at one value of each column, the others in whole numbers."""
    values = np.where(random.random((RECORDS + 400, columns)) < 0.4, 20.0, np.round(random.gamma(3, 10, (8_400, 1))))
    return values.clip(0, 200) / 200


def bell(random, columns):
    return (random.normal(0.5, 0.08, (RECORDS + 400, columns))).clip(0, 1)


def missed(sketch, queries, records, draws):
    """Root mean square error of an average without noise."""
    exact, errors = sketch.exact(queries, records), []
    for seed in range(draws):
        drawn = sketch.reseeded(100 + seed)
        table = drawn.zeros()
        drawn.add(table, records)
        errors.append(drawn.answer(table, len(records), queries, 0.0, 0.95).estimate - exact)
    return math.sqrt(float(np.mean(np.square(errors)))) / len(records)


@pytest.mark.parametrize(
    ("made", "columns", "sketch", "draws", "off"),
    [
        (bell, 1, lambda domain: Histogram(domain, Laplacian(0.1), (30,)), 1, 2.0),
        (spikes, 1, lambda domain: Histogram(domain, Laplacian(0.1), (30,)), 1, 1.25),
        (bell, 12, lambda domain: Features(domain, Gaussian(0.1), rows=400, seed=0), 6, 1.25),
    ],
    ids=["a grid whose errors average out", "a grid where many share values", "rows that hardly see two records"],
)
def test_three_hundred_records_foretell_the_error_of_thousands(made, columns, sketch, draws, off):
    """All seeds are fixed, so it holds always or never.

    What a grid does to each of 300 smooth records by itself would make 3.7 times what it does to thousands.
    """
    made_up = sketch(Domain.of(**{f"c{place}": (0, 1) for place in range(columns)}))
    points = np.asfortranarray(made(np.random.default_rng(5), columns))
    told = sampled_trial(made_up, points[:300]).of(RECORDS).absolute
    truth = missed(made_up, np.asfortranarray(points[300:400]), np.asfortranarray(points[400:]), draws)
    assert 1.0 / off < told / truth < off, (told, truth)
