"""A release on its way on the page: confirmed or not, stopped, left and found again."""

import numpy as np
import pandas as pd
import pytest

from core.domain import Domain
from core.ui.frame.session import DESK, KEY
from tests.ui.release.visiting import PRESS, being_made, confirmed, paid, press, visit, with_total, words


@pytest.mark.thorough
def test_not_yet_means_not(ledger):
    at = press(with_total(visit()))
    at.button(key="release-no").click().run()
    assert at.session_state[DESK].making is None and ledger.names() == []
    assert not at.button(key=PRESS).disabled


@pytest.mark.thorough
def test_stopping_costs_nothing(ledger, gated):
    at = being_made(gated)
    at.button(key="release-stop").click().run()
    assert "Stopped. Nothing was released and nothing was spent." in words(at)
    assert ledger.names() == [] and not at.button(key=PRESS).disabled


@pytest.mark.deep
def test_while_it_is_made_other_pages_work_and_say_so_and_the_result_is_there_on_return(ledger, gated):
    at = being_made(gated)
    assert "Making the release" in [one.value for one in at.header]
    assert "500 of 1,000 rows read" in "".join(str(one.proto) for one in at.main if hasattr(one, "proto"))
    at.switch_page("pages/explore.py").run()
    assert not at.exception and "A release is being made: 50%" in words(at)
    gated.gate.set()
    assert at.session_state[DESK].making.wait(60)
    at.run()
    assert "Your release is ready" in words(at) and paid(ledger) == (["fitting", "count", "histogram"], 1)
    at.switch_page("pages/release.py").run()
    assert "It is released" in [one.value for one in at.header] and at.session_state[KEY].shown is not None
    at.switch_page("pages/explore.py").run()
    assert "Your release is ready" not in words(at), "it was seen"


@pytest.mark.deep
def test_what_was_stopped_from_elsewhere_is_said_on_every_page_and_once(ledger, gated):
    at = being_made(gated)
    making = at.session_state[DESK].making
    making.left_alone = True
    making.stop()
    at.switch_page("pages/ledger.py").run()
    assert "Your release was not made" in words(at)
    at.switch_page("pages/release.py").run()
    assert "as this browser was away for too long" in words(at) and ledger.names() == []
    assert "as this browser was away for too long" not in words(at.run())


@pytest.mark.thorough
def test_data_that_cannot_be_read_is_one_sentence_and_costs_nothing(ledger):
    gaps = pd.DataFrame({"x": [1.0, np.nan]})
    at = confirmed(with_total(visit(Domain.of(x=(0, 100), missing="refuse"), frame=gaps)))
    assert [error.value for error in at.error] and "nothing was spent" in at.error[0].value
    assert ledger.names() == [] and not at.exception and not at.button(key=PRESS).disabled
