"""A public sample on the Release page: the forecast is found on it once its owner has said that it is public."""

import numpy as np
import pandas as pd
import pytest

from core.domain import Domain
from core.ui.own_data.picking_records import OWN_FILE

from .visiting import PRESS, ask, visit, with_total, words

DOMAIN = Domain.of(x=(0, 100), y=(0, 5))
NARROW = np.random.default_rng(0).normal(50, 2, (1_000, 2)).clip(0, 100)
PUBLIC = pd.DataFrame({"x": NARROW[:, 0], "y": NARROW[:, 1] / 20})


def dropped(at, frame):
    """The page after a public file was dropped and declared to be public."""
    file = ("last-year.csv", frame.to_csv(index=False).encode(), "text/csv")
    at.file_uploader(key="release-sample-file-1").set_value(file).run()
    return at.checkbox(key="release-sample-declared-1").check().run()


def figure(at):
    return next(one.value for one in at.markdown if "fg-figure" in one.value)


@pytest.mark.deep
def test_the_forecast_is_found_on_a_sample_that_is_declared_public(ledger):
    at = with_total(visit(DOMAIN))
    before = figure(at)
    at = dropped(at, PUBLIC)
    assert not at.exception and not at.error and "Found on your public sample" in words(at) and figure(at) != before
    assert "release-density-1" not in [one.key for one in at.select_slider] and not at.button(key=PRESS).disabled


@pytest.mark.deep
def test_without_the_declaration_the_sample_counts_for_nothing(ledger):
    at = with_total(visit(DOMAIN))
    before = figure(at)
    at = dropped(at, PUBLIC)
    assert figure(at) != before
    at.checkbox(key="release-sample-declared-1").uncheck().run()
    assert figure(at) == before


@pytest.mark.deep
@pytest.mark.parametrize(
    ("frame", "refused"),
    [(PUBLIC[["x"]], "no column 'y'"), (PUBLIC[:50], "at least 200"), (PUBLIC.assign(y="tall"), "y")],
)
def test_a_sample_that_cannot_be_used_is_one_sentence_and_left_out(ledger, frame, refused):
    at = with_total(visit(DOMAIN))
    before = figure(at)
    at = dropped(at, frame)
    (error,) = at.error
    assert refused in error.value and error.value.rstrip(".").count(". ") == 0 and not at.exception
    assert figure(at) == before and not at.button(key=PRESS).disabled


@pytest.mark.deep
def test_it_is_still_there_when_the_owner_comes_back_to_the_page(ledger):
    at = dropped(with_total(visit(DOMAIN)), PUBLIC)
    at.switch_page("pages/ledger.py").run()
    at.switch_page("pages/release.py").run()
    assert "Found on your public sample" in words(at) and not at.exception


@pytest.mark.deep
def test_the_own_file_is_no_public_sample(ledger):
    class Dropped:
        def getvalue(self):
            return PUBLIC.to_csv(index=False).encode()

    at = with_total(visit(DOMAIN))
    at.session_state[OWN_FILE] = Dropped()
    at = dropped(at, PUBLIC)
    assert "your own private file" in at.error[0].value and "Found on your public sample" not in words(at)


@pytest.mark.deep
def test_every_question_of_places_takes_it_and_several_together(ledger):
    at = dropped(with_total(visit(DOMAIN)), PUBLIC)
    at.button(key="release-add").click().run()
    assert "Found on your public sample" in words(at) and not at.exception and not at.error
    at = ask(at, "distance")
    assert "Found on your public sample" in words(at) and not at.exception and not at.error
