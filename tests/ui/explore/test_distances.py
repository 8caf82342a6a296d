"""Released distances on Explore, without a browser."""

import pytest

from core.analysis.centres import nearest_place
from core.ui.released.chosen_view import TWO
from tests.depth import deep
from tests.ui.explore.visiting import (
    AGE,
    CITY,
    FACES,
    PAY,
    choose,
    explore,
    field,
    handed_over,
    hold,
    options,
    released,
    shown,
    view,
)


@pytest.mark.thorough
def test_distances_are_explored_from_the_nearest_place_on():
    made = released((AGE,), "l1")
    app = explore(made.to_bytes())
    assert not app.exception and options(app, "View") == ["Distance", "Centres", "Your points"]
    given = handed_over(app)
    ((place, up, sure),) = given["marks"]
    assert place == pytest.approx(nearest_place(made)["age"]) and up is None and sure
    assert "difference in age" in shown(app) and not app.get("plotly_chart")
    assert "closeness" not in shown(app) and (given["x"], given["y"]) == (0, None)


@pytest.mark.deep
def test_the_centre_is_the_median_and_there_may_be_several_of_one_column():
    made = released((AGE,), "l1")
    app = explore(made.to_bytes())
    view(app, "Centres")
    assert not app.exception and "median" in shown(app) and "From there, everyone is" in shown(app)
    assert list(app.dataframe[0].value.columns) == ["Column", "Centre", "Very likely between"]
    field(app.number_input, "How many centres").set_value(3)
    app.run()
    assert not app.exception and len(app.dataframe[0].value) == 3 and "nearest of 3 places" in shown(app)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("columns", "norm", "views"),
    [
        deep((AGE, PAY), "l2", ["Distance", "Centres", "Your points"]),
        ((AGE, PAY, CITY), "l1", None),
        deep((AGE, PAY), "squared", None),
        deep((AGE, CITY), "squared", None),
        deep((AGE, FACES), "l1", None),
        deep((AGE,), "above", ["Distance", "Your points"]),
        deep((FACES,), "l2", ["Your points", "Centres"]),
    ],
)
def test_distances_of_every_kind_can_be_looked_at_in_every_view(columns, norm, views):
    app = explore(released(columns, norm, scale="box").to_bytes())
    assert not app.exception and not app.error
    assert views is None or options(app, "View") == views
    for name in reversed(options(app, "View")):
        view(app, name)
        assert not app.exception and not app.error, name
    if len(columns) == 3:
        choose(app, "Picture of", TWO)
        assert "Where everyone is nearest: city at Bern" in shown(app) and "counts as 1" in shown(app)
        hold(app, "city")
        field(app.selectbox, "city").set_value("Basel")
        app.run()
        assert not app.exception and "Where everyone is nearest" not in shown(app)


@pytest.mark.thorough
def test_vectors_alone_have_no_picture_and_say_what_can_be_done():
    app = explore(released((FACES,), "l2").to_bytes())
    assert "there is no picture to draw" in app.info[0].value and not app.get("plotly_chart")
