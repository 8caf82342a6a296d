"""A coarse picture comes first, once, and takes a fraction of the work of the fine one that replaces it."""

from streamlit.testing.v1 import AppTest

from core.domain import Domain
from core.figures.figure_axes import View
from core.geometry import kernels
from core.tasks import density
from core.ui.released import public_answers
from tests.releases_for_tests import small_release

WIDE = small_release(domain=Domain.of(a=(0, 1), b=(0, 1), c=(0, 1)), kernel=kernels.Euclidean(0.4))


def test_it_takes_a_fraction_of_the_places(monkeypatch):
    asked = []
    real = density.averaging
    monkeypatch.setattr(density, "averaging", lambda *given: asked.append(given[3]) or real(*given))
    public_answers.coarse_picture(WIDE, View(("a", "b")))
    public_answers.coarse_pictures(WIDE, ("a", "b", "c"))
    coarse, asked[:] = list(asked), []
    density.marginal_grid(WIDE, "a", "b")
    density.pairs(WIDE, ("a", "b", "c"))
    assert len(coarse) == len(asked) == 7
    assert all(some <= every / 19 for some, every in zip(coarse, asked, strict=True))


def test_nothing_is_drawn_twice_where_it_is_quick():
    assert public_answers.coarse_picture(WIDE, View(("a", "b"), (("c", 0.5),))) is None
    assert public_answers.coarse_picture(WIDE, View(("a",))) is None
    assert public_answers.coarse_pictures(WIDE, ("a", "b")) is None


def page():
    import streamlit as st

    from core.ui.explore.coarse import coarse_first

    drawn = st.session_state.setdefault("drawn", [])
    coarse_first("one", lambda: drawn.append(1), lambda first: first)


def test_it_is_drawn_once_a_session():
    app = AppTest.from_function(page).run()
    assert not app.run().exception and app.session_state["drawn"] == [1]
