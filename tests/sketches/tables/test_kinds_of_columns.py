"""Tables of dates, circles, ordered categories and places: without noise, the counts that a spreadsheet would give."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core import Budget, Domain, release
from core.domain import Categorical, Cyclic, Dates, Ordered
from core.domain.round_columns import position
from core.errors import RequestError
from core.privacy.noise.randomness import SeededSource
from core.sketches.tables.tables import Tables

WINDS, SCHOOLS = ("N", "E", "S", "W"), ("none", "low", "high")
COLUMNS = (
    Dates("day", "2020-01-01", "2020-01-09"),
    Cyclic("wind", WINDS),
    Cyclic("weekday", part="weekday", of="day"),
    Ordered("school", SCHOOLS, (0, 4, 12), missing_category="none"),
    *position("lat", "lon", 45, 46, 4, 6),
    Categorical("member", ("no", "yes")),
)


@pytest.mark.parametrize("scale", ["none", "box"])
def test_each_value_is_a_cell_and_dates_are_cut_as_numbers(scale):
    domain, random, n = Domain(COLUMNS, scale=scale), np.random.default_rng(5), 400
    days = random.integers(0, 9, n)
    values = {
        "day": pa.array(np.datetime64("2020-01-01") + days.astype("m8[D]")),
        "wind": random.choice(WINDS, n),
        "school": pa.array(random.choice([*SCHOOLS, None], n).tolist()),
        "lat": random.uniform(45, 46, n),
        "lon": random.uniform(4, 6, n),
        "member": random.choice(["no", "yes"], n),
    }
    sketch = Tables.of(domain, 4, "pairs", 0).sized_for(Budget(1, "1e-9"), 1.0)
    assert [axis.cells for axis in sketch.axes] == [3, 4, 7, 3, 4, 4, 2]
    table = sketch.zeros()
    sketch.add(table, domain.encode(pa.record_batch(values)))
    read = sketch.zeros()  # as records are read, with one coordinate for each column of categories
    sketch.add(read, sketch.encode(pa.record_batch(values)))
    assert (read == table).all()
    reading = sketch.reading(table, 0.0, None, np.inf)
    codes = (
        days // 3,  # nine days in at most four cells, all of one size
        pd.Categorical(values["wind"], WINDS).codes,
        (days + 2) % 7,  # 2020 began on a Wednesday
        np.maximum(pd.Categorical(values["school"].to_pylist(), SCHOOLS).codes, 0),
        np.minimum((values["lat"] - 45) * 4, 3).astype(int),
        np.minimum((values["lon"] - 4) * 2, 3).astype(int),
        pd.Categorical(values["member"], ("no", "yes")).codes,
    )
    for which in sketch.tables:
        exact = np.zeros([sketch.axes[i].cells for i in which])
        np.add.at(exact, tuple(codes[i] for i in which), 1)
        assert np.allclose(reading.counts(which), exact)


def test_tables_are_asked_about_dates_and_answer_with_dates():
    days = Dates("day", "2020-01-01", "2020-12-31")
    domain, random, n = Domain((days, Categorical("member", ("no", "yes")))), np.random.default_rng(6), 4_000
    spread = random.integers(0, 100, n).astype("m8[D]")
    data = pd.DataFrame({"day": np.datetime64("2020-03-01") + spread, "member": "yes"})
    made = release(Tables.of(domain, 73, "pairs", 0), data, Budget(20, "1e-9"), noise_source=SeededSource(1))
    asked = made.asked()
    (spring,) = asked.count({"day": ("2020-02-01", "2020-07-01")})["estimate"]
    assert spring == pytest.approx(n, rel=0.05)
    (winter,) = asked.count({"day": (pd.Timestamp("2020-09-01"), None)})["estimate"]
    assert abs(winter) < 0.05 * n
    exact = data["day"].quantile(0.5)
    for answer in (asked.quantile("day"), asked.mean("day")):
        assert abs(answer["estimate"][0] - exact) < pd.Timedelta(days=8)
        assert answer["low"][0] <= exact <= answer["high"][0]
    assert asked.table("day")["day"].iloc[0].left == pd.Timestamp("2020-01-01")
    with pytest.raises(RequestError, match="have a mean and no sum"):
        asked.sum("day")
    with pytest.raises(RequestError, match="must be a date such as 2020-01-01"):
        asked.count({"day": ("soon", None)})


@pytest.mark.parametrize("scale", ["none", "box"])
def test_records_are_read_as_their_queries_are_whatever_is_missing_or_unknown(scale):
    town = Categorical("town", ("a", "b", "c"), missing_category="c", missing=("?",))
    domain = Domain((town, Categorical("member", ("no", "yes")), Dates("day", "2020-01-01", "2020-01-09")), scale=scale)
    random, n = np.random.default_rng(8), 300
    batch = pa.record_batch(
        {
            "town": pa.array(random.choice(["a", "b", "?", None, "elsewhere"], n).tolist()),
            "member": pa.array(random.choice(["no", "yes", None], n).tolist()),
            "day": pa.array(np.datetime64("2020-01-01") + random.integers(-2, 12, n).astype("m8[D]")),
        }
    )
    sketch = Tables.of(domain, 9).sized_for(Budget(1, "1e-9"), 1.0)
    one, other = sketch.zeros(), sketch.zeros()
    sketch.add(one, sketch.encode(batch))
    sketch.add(other, domain.encode(batch))
    assert len(sketch.encode(batch)) == len(domain.encode(batch)) and (one == other).all() and one.any()
