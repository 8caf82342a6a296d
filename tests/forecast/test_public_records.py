"""Public records on which forecasts are tried: taken as private ones are, and tried once."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core.domain import Domain, Numeric
from core.forecast.forecast import forecast
from core.forecast.public_records import PublicRecords
from core.geometry.kernels import Gaussian
from core.privacy.budget import Budget
from core.sketches.grids.histogram import Histogram

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


def test_a_forecast_on_them_is_that_on_their_table_and_tries_a_sketch_once(monkeypatch):
    sketch = Histogram(DOMAIN, Gaussian(0.1)).sized_for(Budget(1), 5_000)
    records, tried = known(), []
    first = forecast(sketch, Budget(1), 5_000, sample=records)
    assert first == forecast(sketch, Budget(1), 5_000, sample=FRAME)
    monkeypatch.setattr("core.forecast.trial.sampled_trial", lambda *given: tried.append(given))
    assert forecast(sketch, Budget(2), 5_000, sample=records).noise_error < first.noise_error and not tried
