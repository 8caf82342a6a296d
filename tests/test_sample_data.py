"""The bundled samples: complete, public facts that hold, and pictures worth showing."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from core.domain import Domain
from core.errors import RequestError
from core.samples import FOLDER, sample, samples
from core.sources import open_source


def frame(one):
    return pd.read_csv(one.path) if one.path.suffix == ".csv" else pd.read_parquet(one.path)


@pytest.fixture(params=[one.name for one in samples()])
def one(request):
    return sample(request.param)


def test_the_catalogue_and_the_folder_agree():
    named = {one.path.name for one in samples()}
    assert named == {path.name for path in FOLDER.iterdir() if path.suffix in (".csv", ".parquet")}
    assert len(named) == len(samples()) == len({one.name for one in samples()}) == 6
    with pytest.raises(RequestError, match="There is no sample 'none'; there are: salaries, city"):
        sample("none")


def test_small_and_explained(one):
    assert one.path.stat().st_size < 300_000
    assert one.title and one.story.endswith((".", "?"))
    assert one.kernel.metric == "l2"


def test_public_facts_hold_without_being_read_off_the_data(one):
    refuse = Domain(one.domain.columns, outside="drop", missing="refuse", scale=one.domain.scale)
    table = frame(one)
    kept = sum(len(refuse.encode(batch)) for batch in open_source(one.path).batches(refuse))
    assert kept > 0.995 * len(table)  # salaries have a few millionaires; all else lies inside its bounds
    for column in one.domain.columns:
        if column.kind == "numeric" and one.name != "colours":
            assert (column.low, column.high) != (table[column.name].min(), table[column.name].max())
        elif column.kind == "categorical":
            assert set(table[column.name]) == set(column.categories)
    if one.label is not None:
        assert set(table[one.label.name]) == set(one.label.categories)
        assert one.label.name not in one.domain.names


def test_the_kernel_fits_the_domain(one):
    batches = open_source(one.path).batches(one.domain)
    points = np.concatenate([one.domain.encode(batch, one.kernel.metric) for batch in batches])[:400]
    closeness = one.kernel.evaluate(points, points)
    # Neither everybody alike nor everybody alone.
    assert 0.005 < np.median(closeness.mean(axis=1)) < 0.5


def test_a_few_people_have_many_records():
    visits = sample("visits")
    assert (visits.domain.unit.column, visits.domain.unit.records) == ("visitor", 3)
    table = frame(visits)
    owned = table["visitor"].value_counts()
    assert owned.max() > 50 and owned.median() <= 2
    kept = sum(batch.num_rows for batch in open_source(visits.path).batches(visits.domain))
    assert kept == owned.clip(upper=3).sum() < 0.7 * len(table)


def test_salaries_have_peaks_at_round_numbers_and_a_long_tail():
    pay = frame(sample("salaries"))["salary"]
    assert (pay == 3000).sum() > 20 * (pay == 3037).sum()
    assert (pay > 10_000).mean() > 0.01
    assert (pay > 20_000).mean() < 0.005


def test_the_city_has_a_river_with_bridges_and_a_ring_road():
    table = frame(sample("city"))
    # The river passes (7.9, 7.46), and is crossed by a bridge at (8.6, 7.2); each strip is 600 m by 160 m and more.
    beside = table[table["east"].between(7.6, 8.2)]
    bridge = table[table["east"].between(8.5, 8.7)]
    assert beside["north"].between(7.3, 7.6).sum() == 0
    assert bridge["north"].between(7.05, 7.35).sum() > 10
    assert beside["north"].between(8.0, 9.0).sum() > 100
    away = np.hypot((table["east"] - 10) / 1.15, (table["north"] - 9.6) / 0.95)
    rings = np.histogram(away, bins=np.arange(3.4, 5.0, 0.2))[0]
    assert rings.argmax() in (2, 3, 4)  # the ring road lies 4.1 km out, give or take


@pytest.mark.parametrize("name", ["heart", "stars"])
def test_classes_can_be_told_apart(name):
    one = sample(name)
    table, classes = frame(one), one.label.categories
    numeric = [column.name for column in one.domain.columns if column.kind == "numeric"]
    means = table.groupby(one.label.name)[numeric].mean()
    spread = (means.loc[classes[0]] - means.loc[classes[1]]).abs() / table[numeric].std()
    assert spread.max() > 0.5


def test_the_script_makes_the_very_files(tmp_path):
    script = (FOLDER / "make.py").read_text(encoding="utf-8")
    (tmp_path / "make.py").write_text(script, encoding="utf-8")
    subprocess.run([sys.executable, tmp_path / "make.py"], check=True)
    for one in samples():
        made = one.__class__(**(vars(one) | {"path": tmp_path / one.path.name}))
        pd.testing.assert_frame_equal(frame(made), frame(one))
