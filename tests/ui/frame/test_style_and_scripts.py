"""Presenting: by its address or its switch, on every page, and it ends.

What is got ready is there to be got: files of the Streamlit that is installed.
"""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.ui.frame.navigation import HOME, LEARN
from core.ui.frame.style_and_scripts import LATER, PARTS, PRESENT, parts

APP = str(Path(__file__).parents[3] / "app.py")
MARK = "fg-presenting"


def page(path, **address):
    app = AppTest.from_file(APP, default_timeout=60).switch_page(path)
    for name, value in address.items():
        app.query_params[name] = value
    return app.run()


def presents(app):
    return any(MARK in block.value for block in app.markdown)


@pytest.mark.parametrize("path", [LEARN.path, HOME.path])
def test_an_address_begins_it_and_a_button_ends_it(path):
    app = page(path, present="true")
    assert not app.exception and presents(app)
    app.button(key="present-end").click().run()
    assert not app.exception and not presents(app) and not app.toggle(key=PRESENT).value


@pytest.mark.thorough
def test_the_switch_begins_it_and_it_lasts_from_lesson_to_lesson():
    app = page(LEARN.path)
    assert not presents(app)
    app.toggle(key=PRESENT).set_value(True).run()
    assert presents(app)
    app.segmented_control(key="lesson").set_value("delta").run()
    assert presents(app) and not app.exception


def test_every_part_is_one_file_of_streamlit():
    asked = (*PARTS, *LATER)
    assert [path.name.partition(".")[0] for path in parts(asked)] == list(asked)
