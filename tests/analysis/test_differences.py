"""What two released tables differ by, beside the exact difference of the records."""

import numpy as np
import pandas as pd
import pytest

from core import Budget, Domain, release
from core.analysis.differences import (
    MEAN,
    cell_differences,
    groups_of,
    means_of_groups,
    pairs_of,
    rows_of_differences,
    strength_differences,
)
from core.domain import Categorical, Dates, Numeric
from core.figures.share.page_sections import differences_html
from core.privacy.noise.randomness import SeededSource
from core.releases.comparison import Comparison
from core.sketches.tables.tables import Tables

PEOPLE = Domain(
    (
        Numeric("age", 0, 99, step=1),
        Dates("since", "2024-01-01", "2024-01-08"),
        Categorical("city", ("Bern", "Chur", "missing"), missing_category="missing"),
    )
)


def people(ages: tuple[int, ...], days: tuple[int, ...], cities: tuple[str, ...]) -> pd.DataFrame:
    """1,200 people, the values in turn."""
    turn = np.arange(1200)
    since = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.take(days, turn, mode="wrap"), unit="D")
    return pd.DataFrame(
        {"age": np.take(ages, turn, mode="wrap"), "since": since, "city": np.take(cities, turn, mode="wrap")}
    )


@pytest.fixture(scope="module")
def compared() -> Comparison:
    """Two branches: the second is older, joined two days earlier, and has more people of Chur."""
    sketch = Tables.of(PEOPLE, bins=10)
    one = people((20, 30), (5, 5), ("Bern", "Chur", ""))
    other = people((40, 50), (3, 3), ("Chur", "Chur", ""))
    return Comparison(
        *(release(sketch, rows, Budget(100), noise_source=SeededSource(seed)) for seed, rows in enumerate((one, other)))
    )


def test_every_column_is_a_row_of_means_or_shares(compared):
    found = {(row.column, row.what): row for row in rows_of_differences(compared)}
    exact = {("age", MEAN): -20.0, ("since", MEAN): 2.0, ("city", "Bern"): 1 / 3, ("city", "Chur"): -1 / 3}
    for name, difference in exact.items():
        assert found[name].low <= difference <= found[name].high, name
    assert found["since", MEAN].unit == "days" and found["since", MEAN].mean
    assert found["city", "Bern"].told and not found["city", "Bern"].mean
    assert found["city", "missing"].estimate == pytest.approx(0.0, abs=0.01)


def test_two_columns_are_compared_cell_by_cell(compared):
    assert set(pairs_of(compared)) == {("age", "since"), ("age", "city"), ("since", "city")}
    cells = cell_differences(compared, "age", "city")
    assert cells.estimate.shape == (3, 10)
    # Every second person is 20 and every third of Bern, so every sixth is both; nobody there is in the second.
    assert cells.estimate[0, 2] == pytest.approx(1 / 6, abs=0.01)
    assert cells.low[0, 2] > 0.0
    assert cells.estimate[0, 7] == pytest.approx(0.0, abs=0.01)


def test_means_are_compared_group_by_group(compared):
    assert groups_of(compared) == [("age", "city"), ("since", "city")]
    groups = {row.what: row for row in means_of_groups(compared, "age", "city")}
    assert groups["Chur"].estimate == pytest.approx(-20.0, abs=1.0) and groups["Chur"].high < 0.0
    days = {row.what: row for row in means_of_groups(compared, "since", "city")}
    assert days["Chur"].estimate == pytest.approx(2.0, abs=0.2) and days["Chur"].unit == "days"


def test_pairs_that_go_together_otherwise_are_told_and_noise_alone_is_not():
    """Cramér's V of age and city is 0 in one and 1 in the other; of the same people, other noise is no difference."""
    sketch = Tables.of(PEOPLE, bins=2)
    apart, tied = people((20, 80), (3, 3), ("Bern", "Bern", "Chur", "Chur")), people((20, 80), (3, 3), ("Bern", "Chur"))
    clear, tied_up, noisy = (
        release(sketch, rows, Budget(epsilon), noise_source=SeededSource(seed))
        for seed, (rows, epsilon) in enumerate(((apart, 100), (tied, 100), (apart, 4)))
    )
    found = {(row.column, row.other): row for row in strength_differences(Comparison(tied_up, clear))}
    assert found["age", "city"].told and found["age", "city"].second < 0.1 < 0.6 < found["age", "city"].first
    level = 1 - 1e-8
    assert not any(row.told for row in strength_differences(Comparison(clear, noisy), level))


def test_a_report_holds_what_is_compared(compared):
    page = "".join(differences_html(compared, "<last year>"))
    assert "Difference to &lt;last year&gt;" in page and "age: mean" in page
    assert "Means of groups" in page and "age: city Chur" in page and "What goes together" in page
    assert "noise alone" in page
