"""What a release is to answer, as the page asks it: density, distances, groups."""

import numpy as np
import pytest

from core.domain import Domain, Numeric
from core.sketches.classes import Classes
from core.sources.public_tables import sample
from core.ui.frame.session import DESK
from tests.depth import deep
from tests.ui.release.visiting import LABELLED, PRESS, ask, confirmed, of_sample, paid, press, visit, with_total, words


@pytest.mark.deep
def test_the_question_survives_a_page_change(ledger):
    at = ask(visit(), "distance")
    at.switch_page("pages/ledger.py").run()
    at.switch_page("pages/release.py").run()
    assert at.radio(key="release-question").value == "distance" and not at.exception


@pytest.mark.deep
def test_groups_need_a_column_of_categories_and_another_to_compare_by(ledger):
    at = ask(with_total(visit()), "group")
    assert at.button(key=PRESS).disabled and "a column of categories that says the group" in words(at)
    assert ledger.names() == [] and not at.exception


@pytest.mark.deep
@pytest.mark.parametrize(("norm", "mechanism"), [("l1", "distance"), deep("squared", "moments")])
def test_how_far_everyone_is_can_be_asked_and_released(ledger, norm, mechanism):
    at = ask(with_total(visit(Domain((Numeric("x", 0, 100, "km"),)))), "distance")
    at.segmented_control(key="release-norm").set_value(norm).run()
    assert not at.exception and not at.error
    assert "The average distance from a typical place will be" in words(at) and ("km²" in words(at)) == (norm != "l1")
    confirmed(at)
    release = at.session_state[DESK].making.release
    assert not at.exception and release.sketch.name == mechanism
    far, near = release.density([[100.0], [50.0]])
    assert far > near > 0 and paid(ledger) == (["fitting", "count", mechanism], 1) and release.privacy.epsilon == 1


@pytest.mark.deep
def test_distances_start_without_categories(ledger):
    at = ask(with_total(visit(Domain.of(x=(0, 100), kind=["new", "old"]), frame=LABELLED)), "distance")
    assert at.multiselect(key="release-columns-distance-1-None").value == ["x"] and not at.exception


@pytest.mark.deep
def test_a_table_a_group_is_released_under_one_promise(ledger):
    domain = Domain.of(x=(0, 100), kind=["new", "old"])
    at = ask(with_total(visit(domain, frame=LABELLED)), "group")
    assert not at.exception and not at.error and at.selectbox(key="release-label-1").value == "kind"
    confirmed(at)
    release = at.session_state[DESK].making.release
    assert isinstance(release.sketch, Classes) and release.sketch.label == "kind"
    assert release.sketch.inner.domain.names == ("x",) and release.counters.shape[0] == 2
    assert paid(ledger) == (["fitting", "count", "classes"], 1) and release.privacy.epsilon == 1


@pytest.mark.deep
def test_how_near_counts_as_close_between_groups_is_chosen_for_the_owner(ledger):
    at = ask(with_total(visit(Domain.of(x=(0, 100), kind=["new", "old"]), frame=LABELLED)), "group")
    assert "follows from the noise" in words(at) and "release-share-1" not in [one.key for one in at.select_slider]
    sketch = press(at).session_state[DESK].asked.sketch
    assert sketch.open_bandwidth and sketch.inner.kernel.bandwidth < 50


@pytest.mark.deep
def test_which_of_several_columns_says_the_group_is_for_the_owner_to_say(ledger):
    frame = LABELLED.assign(town=np.tile(["Bern", "Chur"], 300))
    at = ask(with_total(visit(Domain.of(x=(0, 100), kind=["new", "old"], town=["Bern", "Chur"]), frame=frame)), "group")
    assert at.button(key=PRESS).disabled and "the column that says the group" in words(at)
    at.selectbox(key="release-label-1").set_value("town").run()
    assert not at.button(key=PRESS).disabled
    at.multiselect(key="release-columns-group-1-town").set_value(["x"]).run()
    confirmed(at)
    assert at.session_state[DESK].making.release.domain.names == ("x", "town")


@pytest.mark.deep
def test_a_sample_knows_the_column_of_its_groups(ledger):
    at = ask(of_sample(sample("heart")), "group")
    assert not at.exception and at.selectbox(key="release-label-1").value == "state"
    press(at)
    sketch = at.session_state[DESK].asked.sketch
    assert sketch.categories == ("healthy", "ill") and sketch.inner.kernel == sample("heart").kernel
