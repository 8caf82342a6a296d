"""Asking for an area: a box is typed or drawn, and what is inside is counted where the file is a grid."""

from __future__ import annotations

from core.analysis.region import Region, count_inside
from core.figures.answer_sentences import inside_sentence
from core.ui.frame.session import KEY
from tests.ui.explore.visiting import choose, explore, field, shown


def test_a_box_is_typed_and_what_is_inside_is_counted():
    app = explore()
    field(app.button, "Growing up and growing old").click().run()
    choose(app, "Ask", "A box")
    field(app.number_input, "age from").set_value(20.0)
    field(app.number_input, "age to").set_value(40.0)
    field(app.number_input, "height from").set_value(150.0)
    field(app.number_input, "height to").set_value(190.0)
    app.run()
    assert not app.exception
    released = app.session_state[KEY].shown.release
    answers = count_inside(released, Region.between(age=(20.0, 40.0), height=(150.0, 190.0)))
    numbers = [float(part[0]) for part in (answers.estimate, answers.low, answers.high, answers.standard_error)]
    words = inside_sentence(*numbers, "people").replace("**", "")
    assert words in shown(app).replace("<strong>", "").replace("</strong>", "")
    assert choose(app, "Ask", "A lasso") and "Without a mouse" in shown(app)
    choose(app, "View", "Live ε")
    assert not app.exception and "public records, shown at every ε" in shown(app)


def test_an_area_that_the_noise_hides_is_said_to_be_so():
    assert "hides" in inside_sentence(3.0, -40.0, 46.0, 22.0, "people")
    assert inside_sentence(1240.0, 1205.0, 1275.0, 17.9, "people").startswith("About **1,240 ± 40** people in here")
