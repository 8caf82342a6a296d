"""The page of a release as it is printed: nothing foreign gets in as markup, and it says what was released."""

from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from core import Budget, Domain, RequestError
from core.domain import Vector
from core.figures.exploration import Density, Modes, Points
from core.geometry import kernels
from core.privacy.noise.randomness import SeededSource
from tests.figures.explorations import CATEGORIES, HARMLESS, HOSTILE, exploration_of, report_of
from tests.figures.share.test_shared_page import Reader
from tests.releases_for_tests import counted_release, small_release


def page_of(name: str, categories) -> Reader:
    """The report of the same table under other names."""
    domain = Domain.of(**{name: (0, 100)}, city=list(categories))
    made = small_release(domain=domain, kernel=kernels.Laplacian(8.0), noise_source=SeededSource(1), records=2_000)
    release = replace(made, private=True)
    return Reader(report_of(release, exploration_of(b"", name, categories).steps))


@pytest.mark.deep
def test_hostile_names_leave_the_structure_as_it_is():
    hostile, harmless = page_of(HOSTILE, CATEGORIES), page_of(HARMLESS, ("a", "b"))
    assert hostile.structure == harmless.structure
    assert "<img src=x onerror=" in hostile.text


@pytest.fixture(scope="module")
def page() -> Reader:
    return page_of(HOSTILE, CATEGORIES)


@pytest.mark.thorough
def test_a_page_of_answers_names_no_other_host_and_loads_nothing(page):
    tags = {tag[0] for tag in page.structure if isinstance(tag, tuple)}
    assert not tags & {"iframe", "object", "embed", "link", "img", "image", "use", "base", "form", "audio"}
    names = {name for name, _ in page.attributes}
    assert not names & {"href", "src", "srcset", "xlink:href", "action", "background", "data", "style"}
    assert not any(name.startswith("on") for name in names)
    assert "default-src 'none'" in " ".join(page.values("content"))


@pytest.mark.thorough
def test_anyone_can_find_their_way(page):
    assert page.values("lang") == ["en"]
    headings = [tag[0] for tag in page.structure if isinstance(tag, tuple) and tag[0] in ("h1", "h2", "h3")]
    assert headings[0] == "h1" and headings.count("h1") == 1 and set(headings) == {"h1", "h2"}
    assert page.values("class").count("still") == 4
    identities = page.values("id")
    assert len(set(identities)) == len(identities)
    assert set(page.values("aria-labelledby")) <= set(identities)
    assert all("scope" in tag[1] for tag in page.structure if tag[0] == "th")


def test_it_says_what_was_released():
    release = counted_release(Budget(1, "1e-6"))
    data = release.to_bytes()
    text = Reader(report_of(release)).text
    for words in (
        "ε = 1, δ = 0.000001",
        "73.1%",
        "one in 1,000,000",
        "age 0 to 100",
        "Bern and Basel",
        release.software,
    ):
        assert words in text
    assert sha256(data).hexdigest() in text


def test_a_lesson_warns_and_promises_nothing():
    text = Reader(report_of(small_release(noise_source=SeededSource(1)))).text
    assert "protects nobody" in text and "What is promised" not in text and "coin-flip" not in text


def test_answers_are_rounded_to_what_their_error_supports():
    release = small_release(Budget(8, "1e-6"), records=30_000)
    places = {"age": [50.0], "city": ["Bern"]}
    answer = release.answer(places)
    error = float(answer.standard_error[0])
    text = Reader(report_of(release, [Points(places)])).text
    assert f"{float(answer.estimate[0]):,.4f}" not in text
    unit = 10.0 ** np.floor(np.log10(error))
    assert f"{round(float(answer.estimate[0]) / unit) * unit:,.0f}" in text


def test_more_than_a_page_of_rows_is_cut_and_says_so():
    places = {"age": list(np.linspace(0, 100, 50)), "city": ["Bern"] * 50}
    assert "The first 20 of 50 rows." in Reader(report_of(small_release(), [Points(places)])).text


def test_a_column_that_is_called_like_an_answer_stays_a_column():
    domain = Domain.of(standard_error=(0, 1), low=(0, 1))
    release = small_release(domain=domain, kernel=kernels.Laplacian(0.1))
    steps = [Points({"standard_error": [0.25], "low": [0.75]}), Modes(), Density(("low",), {"standard_error": 0.5})]
    text = Reader(report_of(release, steps)).text
    assert "standard_error low estimate answer_low high" in text and "0.25 0.75" in text


def test_a_release_of_vectors_alone_has_a_report_without_pictures():
    release = small_release(domain=Domain((Vector("v", 5, 0.0, 1.0),)), kernel=kernels.Angular(3))
    page = Reader(report_of(release))
    assert "5 numbers, each 0 to 1" in page.text and "still" not in page.values("class")


def test_thousands_of_columns_do_not_make_a_book():
    domain = Domain.of(**{f"c{i}": (0, 1) for i in range(300)})
    release = small_release(domain=domain, records=20)
    assert "and 200 further columns" in Reader(report_of(release, [])).text


def test_a_step_that_the_release_cannot_answer_is_refused():
    with pytest.raises(RequestError, match="no column"):
        report_of(small_release(), [Density(("height",), {})])
