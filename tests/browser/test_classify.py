"""The journey of someone who wants to know which group something is like: a place, a table, and how right it is."""

import pandas as pd
import pytest

from core.sources.public_tables import sample


@pytest.fixture
def heart(visitor):
    """Opens the bundled file on heart check-ups from the page that offers it."""

    def open_it(width="desktop", theme="light"):
        visit = visitor(width, theme)
        visit.go("/classify")
        visit.click("button", "Heart check-ups")
        visit.page.wait_for_selector(".st-key-classify-map .main-svg")
        visit.settle()
        return visit

    return open_it


def bring(visit, table: pd.DataFrame):
    visit.choose("Your points")
    visit.drop("points.csv", table.to_csv(index=False).encode())


def sentence(visit):
    return visit.page.locator("[role=status]", has_text="without").first.inner_text()


@pytest.mark.deep
def test_a_place_is_said_to_be_like_a_group_and_clicking_asks_another(heart):
    visit = heart()
    before = sentence(visit)
    assert "sure that the file would say the same without" in before
    area = visit.page.locator(".st-key-classify-map .nsewdrag").first
    box = area.bounding_box()
    where = {"x": 0.3 * box["width"], "y": 0.3 * box["height"]}
    area.hover(position=where)
    visit.page.wait_for_timeout(150)
    area.click(position=where)
    visit.settle()
    after = sentence(visit)
    assert after != before and "healthy" in after and visit.errors == []


@pytest.mark.deep
def test_the_buttons_of_the_map_cover_nothing_that_is_written(heart):
    visit = heart()
    visit.page.locator(".st-key-classify-map").first.hover()
    bar = visit.page.locator(".st-key-classify-map .modebar").first.bounding_box()
    legend = visit.page.locator(".st-key-classify-map .legend").first.bounding_box()
    assert legend["y"] > bar["y"] + bar["height"]


@pytest.mark.deep
def test_points_with_their_true_groups_show_how_often_it_is_right(heart):
    visit = heart()
    one = sample("heart")
    table = pd.read_parquet(one.path).head(200)
    bring(visit, table)
    visit.page.wait_for_selector(".st-key-classify-confusion .main-svg")
    assert "of 200 points" in visit.text and "Right in " in visit.text
    words = visit.page.locator(".st-key-classify-confusion .stPlotlyChart").first.get_attribute("aria-label")
    assert words.startswith("Table of confusions")
    with visit.page.expect_download() as started:
        visit.click("button", "Save the groups of your points")
    saved = pd.read_csv(started.value.path())
    assert len(saved) == 200 and (saved["group"] == table[one.label.name].to_numpy()).mean() > 0.9


@pytest.mark.deep
def test_points_without_true_groups_are_answered_too(heart):
    visit = heart()
    one = sample("heart")
    bring(visit, pd.read_parquet(one.path).head(20).drop(columns=one.label.name))
    assert "of 20 points" in visit.text and "Which column tells" not in visit.text


@pytest.mark.deep
def test_points_that_cannot_be_read_get_one_sentence(heart):
    visit = heart()
    bring(visit, pd.DataFrame({"age": [50]}))
    alerts = visit.page.get_by_role("alert")
    assert alerts.count() == 1 and "no column" in alerts.first.inner_text()
    assert "Still missing: a table of your points." in visit.text


@pytest.mark.deep
@pytest.mark.parametrize(
    ("width", "theme"), [("desktop", "light"), ("desktop", "dark"), ("phone", "light"), ("phone", "dark")]
)
def test_it_fits_and_is_legible(heart, width, theme):
    visit = heart(width, theme)
    assert visit.overflow() <= 0 and visit.illegible() == []
    bring(visit, pd.read_parquet(sample("heart").path).head(100))
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.errors == []
