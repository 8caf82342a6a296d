"""The bundled samples: complete, public facts that hold, and pictures worth showing."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from core.domain import Domain, Vector
from core.errors import RequestError
from core.figures.release_pictures import density_picture, groups_picture
from core.geometry.kernels import of_coordinates
from core.releases.release import load
from core.sources import open_source
from core.sources import public_tables as module
from core.sources.public_tables import FOLDER, bundled_distances, bundled_groups, bundled_releases, sample, samples
from tests.depth import sampled


def frame(one):
    return pd.read_csv(one.path) if one.path.suffix == ".csv" else pd.read_parquet(one.path)


def encoded(one):
    batches = open_source(one.path).batches(one.domain)
    return np.concatenate([one.domain.encode(batch, one.kernel.metric) for batch in batches])


def closeness(one, x, y):
    return of_coordinates(one.kernel, tuple(column.width for column in one.domain.columns)).evaluate(x, y)


@pytest.fixture(params=[one.name for one in samples()])
def one(request):
    return sample(request.param)


def test_the_catalogue_and_the_folder_agree():
    named = {one.path.name for one in samples()}
    assert named == {path.name for path in FOLDER.iterdir() if path.suffix in (".csv", ".parquet")}
    assert len(named) == len(samples()) == len({one.name for one in samples()}) == 10
    with pytest.raises(RequestError, match="There is no sample 'none'; there are: flights, towns, health, salaries"):
        sample("none")


def test_small_and_explained(one):
    assert one.path.stat().st_size < (1_000_000 if one.source else 300_000)
    assert one.title and one.story.endswith((".", "?"))
    assert one.told.endswith(f" {one.source or 'Made up'}.")
    assert 1 <= len(one.show) <= 2 and set(one.show) <= set(one.domain.names)


def test_no_text_but_declared_categories_and_made_up_names(one):
    declared = {column.name: set(column.categories) for column in one.domain.columns if column.kind == "categorical"}
    if one.label is not None:
        declared[one.label.name] = set(one.label.categories)
    vectors = [column.name for column in one.domain.columns if column.kind == "vector"]
    for name, values in frame(one).drop(columns=vectors).select_dtypes(exclude="number").items():
        if name == one.domain.unit.column:
            assert values.str.fullmatch(r"v\d{4}").all()
        else:
            assert set(values) <= declared[name]


@pytest.mark.few(5)
def test_public_facts_hold_without_being_read_off_the_data(one):
    refuse = Domain(one.domain.columns, outside="drop", missing="refuse", scale=one.domain.scale)
    table = frame(one)
    kept = sum(len(refuse.encode(batch)) for batch in open_source(one.path).batches(refuse))
    assert kept > (0.98 if one.domain.outside == "drop" else 0.995) * len(table)  # a few are millionaires, or very late
    for column in one.domain.columns:
        if column.kind == "numeric" and one.name != "colours":
            assert (column.low, column.high) != (table[column.name].min(), table[column.name].max())
        elif column.kind == "categorical":
            assert set(table[column.name]) == set(column.categories)
    if one.label is not None:
        assert set(table[one.label.name]) == set(one.label.categories)
        assert one.label.name not in one.domain.names


@pytest.mark.few(4)
def test_guesses_are_round_and_near(one):
    points = encoded(one)
    assert len(f"{one.records_guess:g}".rstrip("0")) == 1 or one.records_guess % 5000 == 0
    assert 0.75 < one.records_guess / len(points) < 1.35
    # The mean over pairs of 1,000 records strays by a few per cent; the guess may be off by two fifths.
    drawn = points[np.random.default_rng(7).choice(len(points), 1_000, replace=False)]
    assert 0.6 < one.density_guess / closeness(one, drawn, drawn).mean() < 1.67


def test_real_records_say_where_they_are_from_and_show_what_everyone_knows():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for one in samples():
        assert bool(one.source) == (f"`{one.path.name}` |" in readme)
    hour, delay = frame(sample("flights"))[["hour", "delay"]].to_numpy().T
    assert delay[(hour > 19) & (hour < 21)].mean() > delay[(hour > 6) & (hour < 8)].mean() + 10
    age, height = frame(sample("health"))[["age", "height"]].to_numpy().T
    assert 100 < np.median(height[age == 4]) < 110 and 160 < np.median(height[age == 40]) < 172
    towns = frame(sample("towns"))
    sea = towns["longitude"].between(-50, -30) & towns["latitude"].between(10, 50)  # azores at most
    assert sea.sum() < 50 < (towns["longitude"].between(0, 20) & towns["latitude"].between(40, 60)).sum()


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
    # The river passes (7.9, 7.46), and is crossed by a bridge at (8.6, 7.2).
    beside = table[table["east"].between(7.6, 8.2)]
    bridge = table[table["east"].between(8.5, 8.7)]
    assert beside["north"].between(7.3, 7.6).sum() == 0
    assert bridge["north"].between(7.05, 7.35).sum() > 10
    assert beside["north"].between(8.0, 9.0).sum() > 100
    away = np.hypot((table["east"] - 10) / 1.15, (table["north"] - 9.6) / 0.95)
    rings = np.histogram(away, bins=np.arange(3.9, 5.5, 0.2))[0]
    assert rings.argmax() in (2, 3, 4)  # the ring road lies 4.7 km out, give or take


def test_embeddings_are_no_longer_than_stated_and_tell_their_kinds_apart():
    one = sample("photographs")
    table = frame(one)
    vectors, kinds = np.stack(table["embedding"]), table["kind"].to_numpy()
    assert one.longest == {"embedding": 1} and vectors.shape == (3_000, 64) and vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    assert 0.95 < lengths.min() and lengths.max() <= 1
    means = np.array([vectors[:2_000][kinds[:2_000] == kind].mean(axis=0) for kind in one.label.categories])
    nearest = np.linalg.norm(vectors[2_000:, None] - means, axis=2).argmin(axis=1)
    assert 0.9 < (np.array(one.label.categories)[nearest] == kinds[2_000:]).mean() < 0.99


@pytest.mark.parametrize("name", ["heart", "stars"])
def test_classes_can_be_told_apart(name):
    one = sample(name)
    table, classes = frame(one), one.label.categories
    numeric = [column.name for column in one.domain.columns if column.kind == "numeric"]
    means = table.groupby(one.label.name)[numeric].mean()
    spread = (means.loc[classes[0]] - means.loc[classes[1]]).abs() / table[numeric].std()
    assert spread.max() > 0.5


@pytest.mark.deep
def test_the_script_makes_the_very_files(tmp_path):
    script = (FOLDER / "make.py").read_text(encoding="utf-8")
    (tmp_path / "make.py").write_text(script, encoding="utf-8")
    subprocess.run([sys.executable, tmp_path / "make.py"], check=True)
    for one in samples():
        if one.source:
            continue
        made = one.__class__(**(vars(one) | {"path": tmp_path / one.path.name}))
        pd.testing.assert_frame_equal(frame(made), frame(one))


@pytest.mark.thorough
@pytest.mark.few(2)
def test_every_sample_that_can_be_drawn_comes_with_a_real_release_that_tells_the_truth(one):
    path = {one.name: path for one, path in bundled_releases()}.get(one.name)
    if path is None:
        assert all(column.kind == "vector" for column in one.domain.columns)
        return
    assert path.stat().st_size < 1_200_000
    release = load(path)
    assert release.private and release.domain == one.domain and release.sketch.kernel == one.kernel
    assert release.privacy.budget.epsilon == 1 and release.privacy.budget.delta <= Decimal("1e-6")
    points = encoded(one)
    queries = points[np.random.default_rng(5).choice(len(points), 200, replace=False)]
    exact = np.concatenate([closeness(one, part, points).sum(axis=1) for part in np.array_split(queries, 20)])
    if one.domain.unit.column is not None:  # another draw of three records of each person is in the release
        exact = exact * release.records / len(points)
    answers = release.answer_points(queries)
    assert np.median(np.abs(answers.estimate - exact) / exact) < 0.15
    assert np.mean((answers.low <= exact) & (exact <= answers.high)) > 0.8


@pytest.mark.thorough
def test_the_release_of_distances_tells_the_truth():
    ((one, path),) = bundled_distances()
    assert one.name == "city" and path.stat().st_size < 100_000
    release = load(path)
    assert release.private and release.domain == one.domain and release.sketch.answers == "distance"
    assert release.privacy.budget.epsilon == 1 and not release.privacy.budget.delta
    points = one.domain.encode_queries(frame(one), release.sketch.metric)
    queries = points[np.random.default_rng(5).choice(len(points), 100, replace=False)]
    exact = np.linalg.norm(queries[:, None] - points, axis=2).mean(axis=1)
    answers = release.answer_points(queries)
    assert np.abs(answers.density / exact - 1).max() < 0.05
    assert ((answers.low / release.records <= exact) & (exact <= answers.high / release.records)).mean() > 0.9


def test_without_sample_data_there_are_no_samples(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    samples.cache_clear()
    try:
        assert samples() == () and bundled_releases() == () and bundled_distances() == ()
        with pytest.raises(RequestError, match="the sample data is not installed"):
            sample("city")
    finally:
        samples.cache_clear()


@pytest.mark.deep
@pytest.mark.parametrize("name", [one.name for one, _ in bundled_groups()])
def test_a_picture_beside_a_bundled_file_with_groups_is_that_of_the_file(name):
    one, path = next((one, path) for one, path in bundled_groups() if one.name == name)
    if isinstance(one.domain.columns[0], Vector):
        assert not path.with_suffix(".png").exists()
        return
    kept = np.asarray(Image.open(path.with_suffix(".png"))).astype(int)
    made = groups_picture(load(path), one.show)
    assert (np.abs(kept - made).max(axis=-1) > 2).mean() < 0.01 and made[..., 3].any()


PICTURES = {path.stem: (one, path) for one, path in (*bundled_releases(), *bundled_distances())}


@pytest.mark.parametrize("name", sampled(PICTURES, "salaries"))
def test_a_picture_beside_a_bundled_file_is_that_of_the_file(name):
    one, path = PICTURES[name]
    kept = np.asarray(Image.open(path.with_suffix(".png"))).astype(int)
    assert np.abs(kept - density_picture(load(path), one.show)).max() <= 2
