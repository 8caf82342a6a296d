"""Pictures as SVG: well-formed whatever the names, drawn where the numbers say."""

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Budget, Domain
from core.analysis.density import marginal_grid, marginal_line
from core.figures.report import svg
from core.figures.report.svg import picture_svg
from core.geometry import kernels
from tests.figures.report.explorations import HOSTILE, release_of
from tests.releases_for_tests import small_release


@pytest.fixture(scope="module")
def release():
    domain = Domain.of(age=(0, 100), pay=(0, 250_000), city=["Bern", "Basel", "Chur"], scale="box")
    return small_release(Budget(8, "1e-6"), domain=domain, kernel=kernels.Laplacian(0.2), rows=200, records=5_000)


def drawn(release, picture) -> ET.Element:
    return ET.fromstring(picture_svg(release, picture, "one"))


def paths(root: ET.Element, look: str) -> list[str]:
    return [path.get("d") for path in root.iter("path") if look in (path.get("class") or path.get("fill") or "")]


def area(path: str) -> float:
    """Area of a path made of rectangles M x y H x v h H x z."""
    cells = re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)v-([\d.]+)H\1z", path)
    assert cells
    return sum((float(right) - float(left)) * float(height) for left, _, right, height in cells)


def test_a_map_covers_its_box_once(release):
    root = drawn(release, marginal_grid(release, "age", "pay", {"city": "Bern"}, 40))
    cells = [path for index in range(svg.SHADES) for path in paths(root, f"shade-{index}")]
    covered = sum(map(area, [*cells, *paths(root, "hatch")]))
    whole = (svg.RIGHT - svg.LEFT) * (svg.BOTTOM - svg.TOP)
    assert covered == pytest.approx(whole, rel=1e-3)


def test_the_darkest_cell_is_where_most_are(release):
    picture = marginal_grid(release, "age", "pay", {"city": "Bern"}, 40)
    root = drawn(release, picture)
    row, column = np.unravel_index(picture.estimate.argmax(), picture.estimate.shape)
    x = svg.LEFT + (column + 0.5) / 40 * (svg.RIGHT - svg.LEFT)
    y = svg.BOTTOM - (row + 0.5) / 40 * (svg.BOTTOM - svg.TOP)
    (path,) = paths(root, f"shade-{svg.SHADES - 1}")
    cells = re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)v-([\d.]+)", path)
    assert any(
        float(left) <= x <= float(right) and float(bottom) - float(height) <= y <= float(bottom)
        for left, bottom, right, height in cells
    )


def test_what_the_noise_hides_is_hatched_and_not_coloured():
    release = small_release(Budget("0.001"), domain=Domain.of(x=(0, 1), y=(0, 1)), kernel=kernels.Laplacian(0.1))
    picture = marginal_grid(release, "x", "y", {}, 20)
    picture.low[:] = -1.0
    root = drawn(release, picture)
    assert not any(paths(root, f"shade-{index}") for index in range(svg.SHADES))
    assert area(paths(root, "hatch")[0]) == pytest.approx((svg.RIGHT - svg.LEFT) * (svg.BOTTOM - svg.TOP), rel=1e-3)
    assert "The noise hides all of it" in root.find("title").text


def test_a_curve_runs_through_its_estimates(release):
    picture = marginal_line(release, "age", {"city": "Bern", "pay": 60_000.0}, 25)
    root = drawn(release, picture)
    places = [
        tuple(map(float, place)) for path in paths(root, "line") for place in re.findall(r"([\d.]+) ([\d.]+)", path)
    ]
    heights = [height for _, height in sorted(places)]
    seen = picture.estimate[~svg.hidden_by_noise(picture)]
    assert len(heights) == len(seen) > 10
    assert np.corrcoef(heights, seen)[0, 1] == pytest.approx(-1.0, abs=1e-4)


def test_bars_are_as_high_as_their_estimates(release):
    picture = marginal_line(release, "city", {"age": 50.0, "pay": 125_000.0})
    root = drawn(release, picture)
    heights = [float(bar.get("height")) for bar in root.iter("rect") if bar.get("class") == "bar-shape"]
    assert len(heights) == 3 and not picture.drowned.any()
    np.testing.assert_allclose(np.array(heights) / heights[0], picture.estimate / picture.estimate[0], rtol=2e-3)


@pytest.mark.parametrize("columns", [(HOSTILE,), ("city",), (HOSTILE, "city"), ("city", HOSTILE)])
def test_hostile_names_stay_text(columns):
    release = release_of(HOSTILE)
    draw = marginal_line if len(columns) == 1 else marginal_grid
    root = drawn(release, draw(release, *columns))
    assert {node.tag for node in root.iter()} <= {"svg", "title", "defs", "pattern", "line", "path", "rect", "text"}


@pytest.mark.parametrize("bounds", [(0, 1e-12), (-1e100, 1e100), (2020, 2026), (-1, 1), (1e9, 1e9 + 1), (0, 1)])
def test_any_bounds_can_be_drawn(bounds):
    release = small_release(domain=Domain.of(x=bounds, y=(0, 1), scale="box"), kernel=kernels.Laplacian(0.2))
    for picture in (marginal_line(release, "x", {"y": 0.5}, 10), marginal_grid(release, "x", "y", {}, 10)):
        numbers = [float(text) for text in re.findall(r' [xy][12]?="([^"]+)"', picture_svg(release, picture, "one"))]
        assert np.isfinite(numbers).all()


def test_many_categories_are_not_all_named():
    domain = Domain.of(place=[f"a place with a long name, number {i}" for i in range(200)])
    release = small_release(domain=domain)
    texts = [text.text for text in drawn(release, marginal_line(release, "place", {})).iter("text")]
    assert sum("place" in text for text in texts) <= svg.MOST_LABELS + 1


@given(st.floats(-1e12, 1e12), st.floats(1e-9, 1e12))
def test_ticks_are_few_even_and_inside(low, width):
    high = low + width
    if not high - low > 1e-9 * abs(low):
        return
    ticks = svg._ticks(low, high)
    assert 3 <= len(ticks) <= 8
    rounding = 1e-8 * width + 4 * math.ulp(max(abs(low), abs(high)))
    assert low - rounding <= ticks[0] and ticks[-1] <= high + rounding
    assert len(set(svg._numbers(ticks))) == len(ticks) or width < 1e-6 * abs(low)


def test_ticks_of_years_and_of_money():
    assert svg._numbers(svg._ticks(2020, 2026)) == [str(year) for year in range(2020, 2027)]
    assert svg._numbers(svg._ticks(0, 250_000)) == ["0", "50,000", "100,000", "150,000", "200,000", "250,000"]
    assert svg._numbers(svg._ticks(-0.1, 0.1))[0] == "\N{MINUS SIGN}0.10"
