"""The page of released tables: every column drawn with its numbers, and the pairs that go together."""

import base64
from dataclasses import replace

import numpy as np
import pytest

from core import Budget, Categorical, Domain, Numeric
from core.analysis import table_profile
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.releases.release import load
from core.sketches.tables.tables import Tables
from tests.figures.report.explorations import HOSTILE, report_of
from tests.figures.share.test_shared_page import Reader, payload_of
from tests.tables_for_tests import COLUMNS, inhabitants


@pytest.fixture(scope="module")
def made():
    return release(Tables.of(Domain(COLUMNS)), inhabitants(4_000), Budget(4, "1e-6"), noise_source=SeededSource(1))


def test_every_column_has_a_picture_with_a_bar_a_cell_and_its_numbers(made):
    written = report_of(made)
    page, stills = Reader(written), payload_of(written)["stills"]
    asked, axes = made.asked(), made.sketch.axes
    tags = [tag[0] for tag in page.structure if isinstance(tag, tuple)]
    assert len(stills) == tags.count("figcaption") == tags.count("h3") == len(axes)
    for still, axis in zip(stills, axes, strict=True):
        found = np.frombuffer(base64.b64decode(still["pictures"]["0"]["numbers"]), "<f4").reshape(3, -1)
        profile = table_profile.profile(asked, axis.name, {})
        assert still["columns"][0]["name"] == axis.name and found.shape[1] == axis.valued
        np.testing.assert_allclose(found[1], 100 * profile.low, rtol=1e-5, atol=1e-6)
    number = next(axis for axis in axes if not axis.categories and "date" not in axis.column.kind)
    assert "Mean" in page.text and "median" in page.text and number.name in page.text
    strongest = asked.strengths().iloc[0]
    assert "Which columns go together" in page.text and f"{strongest.column} and {strongest.other}" in page.text
    assert "hold the exact number in 95 of 100 cases" in page.text and "close by" not in page.text


def test_hostile_names_stay_text_and_nothing_runs():
    domain = Domain((Numeric(HOSTILE, 0, 10), Categorical("c", ("<b>x", "y&", "z"))))
    random = np.random.default_rng(3)
    data = {HOSTILE: random.uniform(0, 10, 500), "c": random.choice(["<b>x", "y&", "z"], 500)}
    made = release(Tables.of(domain, 5), data, Budget(2))
    page = Reader(report_of(load(made.to_bytes())))
    tags = {tag[0] for tag in page.structure if isinstance(tag, tuple)}
    assert not tags & {"b", "img", "iframe"} and "<b>x" in page.text


def test_of_many_columns_the_first_are_drawn(made):
    domain = Domain(tuple(Categorical(f"c{place}", ("a", "b")) for place in range(33)))
    data = {f"c{place}": ["a", "b"] * 40 for place in range(33)}
    wide = release(Tables.of(domain, tables="singles"), data, Budget(1))
    page = Reader(report_of(replace(wide)))
    assert "The first 30 of 33 columns." in page.text and "Which columns go together" not in page.text
