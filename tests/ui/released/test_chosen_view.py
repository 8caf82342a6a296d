"""Released files with groups on Explore: together, one by one, and as a program asks them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core import Budget, Distance, Domain, release
from core.analysis.beyond_records import for_population
from core.domain import Dates
from core.figures.exploration import Exploration
from core.figures.programs import script_for
from core.geometry import kernels
from core.geometry.kernels import Gaussian
from core.privacy.noise.randomness import SeededSource
from core.releases.release import Release
from core.sketches.histogram import Histogram
from core.sketches.part import Part
from core.sketches.race import Race
from core.sketches.tables.tables import Tables
from core.sources.public_tables import bundled_groups
from core.ui.explore.population_views import ALONE, SHARP, SMOOTH, TOGETHER, kinds_of
from core.ui.frame.session import KEY, Opened
from core.ui.released.chosen_view import ONE, drawable, of_same_population, part_calls, part_of, question_of, whom
from core.ui.released.taking_along import overview
from tests.depth import deep
from tests.figures.explorations import report_of
from tests.tables_for_tests import table_release
from tests.ui.explore.visiting import (
    AGE,
    CITY,
    PAY,
    choose,
    explore,
    facts_of_picture,
    field,
    labels,
    options,
    released,
    shown,
    view,
)


@pytest.mark.deep
@pytest.mark.parametrize("name", ["heart", deep("stars")])
def test_groups_are_explored_together_or_one_by_one(name):
    path = next(path for one, path in bundled_groups() if one.name == name)
    app = explore(path.read_bytes(), path.name)
    choose(app, "Picture of", ONE)
    whole = app.session_state[KEY].shown.release
    who = field(app.selectbox, "Who")
    assert not app.exception and list(who.options) == ["Everyone together", *whole.sketch.categories]
    everyone = facts_of_picture(app)
    who.set_value(whole.sketch.categories[1])
    app.run()
    some = facts_of_picture(app)
    assert not app.exception and (everyone["group"], some["group"]) == ("", whole.sketch.categories[1])
    assert some["records"] < everyone["records"] and some["error"] < everyone["error"]
    for page in ("Your points", "Density"):
        view(app, page)
        assert not app.exception and not app.error, page


@pytest.mark.deep
def test_groups_of_distances_are_explored_as_distances():
    app = explore(released((AGE, PAY), "l1", label=CITY, scale="box").to_bytes())
    assert not app.exception and options(app, "View") == ["Distance", "Centres", "Your points", "Groups"]
    field(app.selectbox, "Who").set_value("Basel")
    app.run()
    view(app, "Centres")
    assert not app.exception and "Everyone is nearest to" in shown(app)
    view(app, "Groups")
    assert not app.exception and "The average distance from all people of each group." in shown(app)


@pytest.mark.deep
def test_a_program_asks_the_part_that_was_explored():
    release = released((AGE, PAY), "l1", label=CITY, scale="box")
    opened = Opened("people.npz", release.to_bytes(), release)
    for part, line in (("Basel", "release = release.of_class(which='Basel')"), ("", "release = release.of_everyone()")):
        asked = part_of(opened, part)
        assert asked.fingerprint == opened.fingerprint and asked.identity != opened.identity
        steps = overview(asked.release)
        assert line in script_for(Exploration("people.npz", opened.fingerprint, steps, part_calls(asked)))
    assert part_calls(opened) == () and whom(opened) == "" and whom(asked) == "everyone together"
    report = report_of(release, overview(asked.release), part=asked.release, whom=whom(asked))
    assert "(everyone together)" in report and "Centres" in report


@pytest.mark.deep
def test_records_are_made_up_from_tables_and_density_together():
    """Of either question all columns can be drawn, with how far they are from both."""
    since = Dates("since", "2020-01-01", "2023-12-31")
    people = pd.DataFrame({"age": [20.5, 60.25] * 200, "since": pd.Timestamp("2021-05-01"), "city": "Bern"})
    parts = [
        Part(Tables.of(Domain((AGE, since, CITY)), 4, "singles"), "counts", noise=1.0),
        Part(Histogram(Domain((AGE,)), Gaussian(9.0)), "places", noise=1.0),
    ]
    app = explore(release(parts, people, Budget(4, "1e-6")).to_bytes())
    view(app, "Sample")
    drawn = field(app.selectbox, "Drawn from")
    assert list(drawn.options) == [TOGETHER, ALONE] and "Their closeness is off by" in shown(app)
    assert list(field(app.selectbox, "Across").options) == ["age", "since", "city"]
    opened = app.session_state[KEY].shown
    assert kinds_of(question_of(opened, "places")) == (SHARP, SMOOTH, TOGETHER)


LINE = Domain.of(x=(0, 100))
SLIDER, DETAIL = "How closely to look", "Detail"


def popovers(app) -> list[str]:
    return [block.proto.popover.label for block in app.get("popover")]


def spikes(finest: float) -> bytes:
    values = np.repeat(np.arange(10.0, 95.0, 10.0), 300)
    sketch = Histogram(LINE, kernels.Gaussian(8.0), finest=finest)
    return release(sketch, {"x": values}, Budget(1), noise_source=SeededSource(1)).to_bytes(teaching=True)


@pytest.mark.thorough
def test_it_starts_at_what_suits_the_counts_and_can_be_moved():
    app = explore(spikes(1 / 16))
    slider = next(one for one in app.select_slider if one.label == SLIDER)
    assert slider.value < 0.2 and DETAIL in popovers(app)
    slider.set_value(1.0).run()
    assert not app.exception


@pytest.mark.thorough
def test_a_file_whose_bandwidth_the_owner_chose_starts_there():
    app = explore(spikes(1.0))
    assert next(one for one in app.select_slider if one.label == SLIDER).value == 1.0


@pytest.mark.thorough
def test_a_file_whose_table_was_filled_for_one_bandwidth_offers_no_choice():
    race = Race(LINE, kernels.Euclidean(5.0), 20, 10)
    app = explore(release(race, {"x": [1.0, 2.0]}, Budget(1)).to_bytes())
    assert SLIDER not in labels(app.select_slider)
    assert DETAIL not in popovers(app)


def test_scripts_read_with_the_same_bandwidth():
    made = release(Histogram(LINE, kernels.Gaussian(8.0), finest=0.25), {"x": [1.0]}, Budget(1))
    opened = Opened("x.npz", b"", made.smoothed(4.0), bandwidth=4.0)
    (call,) = part_calls(opened)
    assert call.function is Release.smoothed
    assert call.of(made) == opened.release
    assert opened.identity != Opened("x.npz", b"", made).identity


@pytest.mark.thorough
def test_a_sample_of_more_has_longer_bands_and_answers_that_are_remembered_apart():
    made = table_release()
    app = view(explore(made.to_bytes(teaching=True)), "Ask")
    alone = app.dataframe[0].value
    app.toggle(key=next(one.key for one in app.toggle if one.key.startswith("explore-population"))).set_value(True)
    app.run()
    assert not app.exception
    beyond = app.dataframe[0].value
    assert (beyond["people"] == alone["people"]).all()
    wider = (beyond["people_high"] - beyond["people_low"]) > (alone["people_high"] - alone["people_low"])
    assert wider.all()
    plain = Opened("a.npz", made.to_bytes(teaching=True), made)
    beside = replace(plain, release=for_population(made))
    assert plain.identity != beside.identity and beside.identity == of_same_population(plain, beside).identity
    (call,) = part_calls(beside)
    assert call.of(made).population is not None
    program = script_for(Exploration("a.npz", beside.fingerprint, (), (call,)))
    assert "from core.analysis.beyond_records import for_population" in program
    assert "release = for_population(release)" in program


def test_distances_offer_no_sample_of_more():
    made = release(Distance(Domain.of(x=(0, 1))), np.random.default_rng(0).random((60, 1)), Budget(5))
    app = explore(made.to_bytes())
    assert not app.exception and not [one for one in app.toggle if "population" in str(one.key)]


def test_an_own_release_of_lat_and_lon_is_drawn_with_longitude_across_and_latitude_up():
    assert drawable(Domain.of(lat=(45, 46), age=(0, 99), lon=(4, 5))) == ("lon", "age", "lat")
    assert drawable(Domain.of(Longitude=(4, 5), Latitude=(45, 46))) == ("Longitude", "Latitude")
    assert drawable(Domain.of(lat=(45, 46), age=(0, 99))) == ("lat", "age")
