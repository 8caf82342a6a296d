"""Released files with groups on Explore: together, one by one, and as a program asks them."""

import pandas as pd
import pytest

from core import Budget, Domain, release
from core.domain import Dates
from core.figures.report.exploration import Exploration
from core.figures.report.programs import script_for
from core.geometry.kernels import Gaussian
from core.sketches.grids.histogram import Histogram
from core.sketches.part import Part
from core.sketches.tables.tables import Tables
from core.sources.samples import bundled_groups
from core.ui.explore.sample_view import ALONE, SHARP, SMOOTH, TOGETHER, kinds_of
from core.ui.frame.session import KEY, Opened
from core.ui.released.chosen_view import ONE, part_calls, part_of, question_of, whom
from core.ui.released.taking_along import overview
from tests.depth import deep
from tests.figures.report.explorations import report_of
from tests.ui.explore.visiting import AGE, CITY, PAY, choose, explore, field, options, released, shown, view


@pytest.mark.deep
@pytest.mark.parametrize("name", ["heart", deep("stars")])
def test_groups_are_explored_together_or_one_by_one(name):
    path = next(path for one, path in bundled_groups() if one.name == name)
    app = explore(path.read_bytes(), path.name)
    choose(app, "Picture of", ONE)
    whole = app.session_state[KEY].shown.release
    who = field(app.selectbox, "Who")
    assert not app.exception and list(who.options) == ["Everyone together", *whole.sketch.categories]
    everyone = shown(app)
    who.set_value(whole.sketch.categories[1])
    app.run()
    assert not app.exception and shown(app) != everyone
    for page in ("Your points", "Density"):
        view(app, page)
        assert not app.exception and not app.error, page


@pytest.mark.deep
def test_groups_of_distances_are_explored_as_distances():
    app = explore(released((AGE, PAY), "l1", label=CITY, scale="box").to_bytes())
    assert not app.exception and options(app, "View") == ["Distance", "Centres", "Your points"]
    field(app.selectbox, "Who").set_value("Basel")
    app.run()
    view(app, "Centres")
    assert not app.exception and "Everyone is nearest to" in shown(app)


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
