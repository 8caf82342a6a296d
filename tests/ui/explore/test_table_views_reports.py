"""Explore with a file of counted local reports."""

import numpy as np
import pytest

from core.figures.local_figures import local_bars, local_in_words
from core.local.heavy_hitters import Alphabet
from core.local.local_answers import FoundRelease, SketchRelease
from core.local.local_release import LocalRelease
from core.local.survey import FINDERS, OpenSurvey, Survey, TextSurvey, sketch
from core.privacy.noise.randomness import SeededSource
from tests.releases_for_tests import small_release
from tests.ui.explore.visiting import explore, field, labels, shown

ANSWERS = ("Yes", "No", "I <b>would</b> rather not say", "Other")


def counted(answers=ANSWERS, people: int = 4_000, epsilon: object = 2) -> LocalRelease:
    survey = Survey.of("Have you *ever* … ?", answers, "ss", epsilon)
    values = np.minimum(np.random.default_rng(1).geometric(0.5, people) - 1, len(answers) - 1)
    reports = survey.oracle.privatise(values, SeededSource(1))
    return LocalRelease.of(survey, survey.oracle.aggregate(reports), 2)


@pytest.mark.thorough
def test_a_file_of_reports_opens_as_bars_and_closes_again():
    app = explore(counted().to_bytes(), "poll.npz")
    assert not app.exception
    said = shown(app)
    assert "4,000 local reports" in said and "Nobody was trusted" in said and "2 further reports" in said
    assert "Report" not in labels(app.button)
    for way in field(app.selectbox, "Estimates").options:
        field(app.selectbox, "Estimates").set_value(way).run()
        assert not app.exception
    field(app.button, "Close this file").click().run()
    assert not app.exception and app.file_uploader
    app.file_uploader[0].set_value(("people.npz", small_release().to_bytes(), "application/octet-stream"))
    app.run()
    assert not app.exception and "poll.npz" not in shown(app)


@pytest.mark.thorough
def test_a_damaged_file_is_refused_in_one_sentence():
    data = counted().to_bytes()
    app = explore(data[: len(data) // 2], "poll.npz")
    assert not app.exception and len(app.error) == 1 and app.error[0].value.endswith(".")


def test_the_picture_says_what_it_shows():
    release = counted()
    table = release.table()
    assert "Yes" in local_in_words(table, 4_000) and "<b>" not in str(local_bars(table, 4_000).layout.yaxis.ticktext)
    many = counted(tuple(f"answer {place}" for place in range(60)), 100, "0.1")
    assert "noise hides" in local_in_words(many.table(), 100)
    assert len(local_bars(many.table(), 100).layout.yaxis.ticktext) == 40


@pytest.mark.thorough
def test_a_sketch_is_asked_about_any_answer():
    survey = OpenSurvey("Which town?", sketch("count-min", 3, rows=4, width=64, seed=1))
    reports = survey.oracle.privatise(survey.keys(["Ulm", "Köln"] * 500), SeededSource(1))
    made = SketchRelease.of(survey, survey.oracle.aggregate(reports), 0, ["Ulm", "Köln"])
    app = explore(made.to_bytes(), "towns.npz")
    assert not app.exception and "1,000 local reports" in shown(app)
    assert "Adding up to all reports" not in field(app.selectbox, "Estimates").options
    field(app.text_area, "Answers, one a line").set_value("Rome\n\n Ulm").run()
    assert not app.exception and not app.error


@pytest.mark.thorough
def test_found_texts_open_as_bars():
    survey = TextSurvey("Which word?", FINDERS["pem"](Alphabet("abc", 3, seed=1), 4, 1))
    reports = survey.oracle.privatise(["abc"] * 900 + ["cab"] * 600, SeededSource(1))
    app = explore(FoundRelease.of(survey, reports, 0).to_bytes(), "words.npz")
    assert not app.exception and "letter by letter" in shown(app) and "1,500 local reports" in shown(app)
