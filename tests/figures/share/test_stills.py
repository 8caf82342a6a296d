"""The page of released tables: what its script decodes them from, and that names in it stay text."""

import numpy as np
import pytest

from core import Budget, Categorical, Domain, Numeric
from core.figures.share.shared_pictures import table_facts
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.releases.release import load
from core.sketches.tables.tables import Tables
from tests.figures.explorations import HOSTILE, report_of
from tests.figures.share.test_shared_page import Reader, payload_of
from tests.tables_for_tests import COLUMNS, inhabitants, table_release


@pytest.fixture(scope="module")
def made():
    return release(Tables.of(Domain(COLUMNS)), inhabitants(4_000), Budget(4, "1e-6"), noise_source=SeededSource(1))


@pytest.mark.thorough
def test_a_page_of_tables_says_all_that_its_script_needs_to_decode_them(made):
    written = report_of(made)
    (facts,) = payload_of(written)["subjects"]
    axes = made.sketch.axes
    assert facts["kind"] == "tables" and [one["name"] for one in facts["axes"]] == [axis.name for axis in axes]
    for one, axis in zip(facts["axes"], axes, strict=True):
        assert len(one["words"]) == axis.cells
    assert not payload_of(written)["stills"] and Reader(written).values("id").count("explore") == 1
    assert "hold the exact number in 95 of 100 cases" in Reader(written).text


@pytest.mark.thorough
def test_a_map_has_the_coasts_inside_its_box():
    made = table_release(places=True)
    facts = table_facts(made)
    longitude, latitude = (made.sketch.axes[place] for place in facts["map"]["columns"])
    assert (longitude.name, latitude.name) == ("lon", "lat")
    places = np.vstack(facts["map"]["lines"])
    for place, axis in zip(places.T, (longitude, latitude), strict=True):
        aside = 0.06 * (axis.high - axis.low)
        assert len(place) > 10 and axis.low - aside <= place.min() and place.max() <= axis.high + aside


def test_hostile_names_stay_text_and_nothing_runs():
    domain = Domain((Numeric(HOSTILE, 0, 10), Categorical("c", ("<b>x", "y&", "z"))))
    random = np.random.default_rng(3)
    data = {HOSTILE: random.uniform(0, 10, 500), "c": random.choice(["<b>x", "y&", "z"], 500)}
    made = release(Tables.of(domain, 5), data, Budget(2))
    page = Reader(report_of(load(made.to_bytes())))
    tags = {tag[0] for tag in page.structure if isinstance(tag, tuple)}
    assert not tags & {"b", "img", "iframe"} and "<b>x" in page.text
