"""The Regression view without a browser: columns are chosen after the release."""

import numpy as np
import pandas as pd
import pytest

from core import Budget, release
from core.analysis.product_sums import components, correlations
from core.analysis.regression import regression
from core.cli.predictions import of_ridge
from core.figures.label import privacy_label
from core.figures.model_figures import coefficient_figure, component_figure, correlation_figure, strongest
from core.figures.share.page_sections import label_html
from core.privacy.noise.randomness import SeededSource
from tests.analysis.test_regression import PEOPLE, SKETCH
from tests.ui.explore.visiting import explore, field, shown

RELEASED = release(SKETCH, PEOPLE, Budget(10))


@pytest.mark.thorough
def test_a_column_is_predicted_and_asked_for_one_record():
    app = explore(RELEASED.to_bytes())
    assert not app.exception and "It explains about" in shown(app) and "how pay differs" in shown(app)
    before = shown(app)
    field(app.slider, "age").set_value(59.0)
    app.run()
    assert "Predicted" in shown(app) and shown(app) != before
    field(app.selectbox, "Predict").set_value("city")
    app.run()
    assert not app.exception and field(app.selectbox, "How likely is").value == "Genf"
    field(app.multiselect, "From").set_value([])
    app.run()
    assert not app.exception and "at least one other column" in shown(app)


@pytest.mark.thorough
def test_coefficients_and_predictions_are_of_the_population_where_records_are_a_sample_of_more():
    app = explore(RELEASED.to_bytes())
    before = shown(app)
    assert "how people vary by chance is not in them" in before and "without noise very likely" in before
    field(app.toggle, "A sample of more").set_value(True)
    app.run()
    assert not app.exception and app.query_params["population"] in ("yes", ["yes"])
    assert "from whom the records were drawn" in shown(app) and "of all people very likely" in shown(app)
    assert "is not in them" not in shown(app)


def test_where_noise_hides_everything_it_says_that_the_mean_is_predicted():
    made = release(SKETCH, PEOPLE[:40], Budget("0.05"), noise_source=SeededSource(3))
    app = explore(made.to_bytes(teaching=True))
    assert not app.exception and "its mean is predicted" in shown(app).replace("<strong>", "")
    assert "The mean is predicted" in of_ridge(float("inf")) and "30 records" in of_ridge(30.0)


@pytest.mark.thorough
def test_correlations_and_axes_are_shown():
    app = explore(RELEASED.to_bytes())
    for question, words in (("What goes together", "rise together"), ("Main axes", "stand out from the noise")):
        field(app.segmented_control, "View").set_value(question)
        app.run()
        assert not app.exception and words in shown(app)


def test_pictures_show_what_noise_hides():
    found = regression(RELEASED, "pay")
    assert strongest(found.coefficients(), 2).column.tolist() == ["age", "city"]
    dots = coefficient_figure(found.coefficients(), "pay").data[0]
    assert len(dots.x) == 4 and (dots.error_x.array >= 0.0).all()
    assert correlation_figure(correlations(RELEASED)).data[0].z.shape == (5, 5)
    assert len(component_figure(components(RELEASED), 0).data[0].x) == 5


def test_a_report_says_what_it_is_and_has_no_picture():
    assert "sums of products" in "".join(label_html(privacy_label(RELEASED)))


def test_each_dot_of_a_coefficient_stands_in_the_middle_of_its_own_interval():
    """The strongest came first and intervals stayed where they were: each dot had the interval of another row."""
    estimate, reach = np.array([0.1, -3.0, 2.0, -0.5]), np.array([0.3, 0.5, 1.0, 0.2])
    table = pd.DataFrame({"column": list("abcd"), "category": "", "estimate": estimate, "carries": 2 * estimate})
    dots = coefficient_figure(table.assign(low=estimate - reach, high=estimate + reach), "y").data[0]
    order = ["abcd".index(name) for name in dots.y]
    assert order == [0, 3, 2, 1] and list(dots.x) == list(2 * estimate[order])
    for ends in (dots.error_x.array, dots.error_x.arrayminus):
        np.testing.assert_allclose(ends, 2 * reach[order])
