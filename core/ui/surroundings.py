"""What surrounds every page: its settings, its heading and the line at its foot, and what is got ready meanwhile.

Home begins here too, drawn before anything that takes a while to load: its first words and picture, and the tour.
"""

import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from threading import Thread

import streamlit as st

from ..figures import drawings
from ..formatting.escapes import in_html
from ..runtime.faults import keep_values_out_of_logs
from ..runtime.transient import sweep
from .frame import style_and_scripts
from .frame.marks import draw, mark
from .frame.navigation import EXPLORE, HOME, RELEASE, TOUR, Page, draw_navigation
from .frame.session import DESK, Parting, Session, forget, session
from .frame.style_and_scripts import load_in_browser, mend_roles, presentation
from .frame.visiting import admit, visitor_now

# A pane of frosted glass: points on one side, their shape on the other.
LOGO = Path(__file__).with_name("frame") / "logo.svg"
WORDMARK = Path(__file__).with_name("frame") / "wordmark.svg"
SIDEBAR_WIDTH = 232
FOOTER = "Frostglass. No account, no tracking, no outside server: the data stays on the computer that runs the app."
SERVED_FOOTER = "Frostglass. No tracking, no outside server: the data stays on the computer that runs the app."
ALONE = ".serving"  # How the program that serves others begins: no page needs it.


def _heading(page: Page) -> None:
    if not page.heading:
        return
    st.title(page.heading, anchor=False)
    draw(f'<p class="fg-lead">{in_html(page.lead)}</p>')
    with st.container(key="fg-promise"):
        if page.visibility is not None:
            mark(page.visibility, page.promise)
        st.space("small")


def hero() -> None:
    """The first words and picture, and the button that begins the tour."""
    with st.container(key="fg-hero"):
        st.title("See the shape, not the people.", anchor=False)
        draw(
            '<p class="fg-lead">Frostglass turns private records into one small file that shows where people are many '
            "and where they are few. Anyone may ask it anything, for ever, and learn almost nothing about any one "
            "person.</p>"
        )
        draw(drawings.hero())
    if st.button("Watch the tour: 90 seconds", key="tour-begin", icon=":material/play_circle:", type="tertiary"):
        st.session_state[TOUR] = True
        st.query_params[TOUR] = "true"
        st.rerun()


def touring() -> bool:
    """Whether the tour is what Home shows: it was begun here, or the address begins it."""
    if st.query_params.get(TOUR) == "true":
        st.session_state[TOUR] = True
    return bool(st.session_state.get(TOUR))


@contextmanager
def frame(page: Page) -> Iterator[Session]:
    """Everything around a page; the page draws itself inside and gets the visitor's session.

    It is the first thing a page does, because ``st.set_page_config`` has to come before anything is drawn.
    """
    keep_values_out_of_logs()
    name = "Frostglass" if page is HOME else f"{page.title} · Frostglass"
    # The menu is shown only when it holds something; it also holds the choice between light and dark.
    about = {"About": "See the shape, not the people."}
    st.set_page_config(name, str(LOGO), layout="wide", initial_sidebar_state=SIDEBAR_WIDTH, menu_items=about)
    # Beside the wordmark a phone's header has no room for the menu.
    st.logo(str(WORDMARK), size="large", icon_image=str(LOGO))
    style_and_scripts.apply()
    admit(page.path)
    draw_navigation()
    mend_roles()
    presentation()
    if page is not RELEASE and DESK in st.session_state:
        from .release.progress import release_news  # which loads all that makes releases

        release_news(RELEASE.path)
    _heading(page)
    with _once().drawing():
        yield session()
        draw(f'<p class="fg-footer">{in_html(FOOTER if visitor_now() is None else SERVED_FOOTER)}</p>')
        load_in_browser(drawing=page is EXPLORE)
    _warm_once()  # once the first page stands: until then it needs all there is of the processor


@st.cache_resource(show_spinner=False)
def _once() -> Parting:
    """At the first visit, and never again: remove what a server that was killed has left."""
    sweep()
    parting = Parting(forget)
    parting.start()
    return parting


@st.cache_resource(show_spinner=False)
def _warm_once() -> None:
    """Load all pages, and compile the hot loops, or load them; after the first page, and never again."""
    Thread(target=_warm, args=(_once().give_way,), name="warm compiled loops", daemon=True).start()


def _warm(give_way: Callable[[], None]) -> None:
    give_way()
    from .serving.warming import warm_beside  # which loads every mechanism

    warm_beside(load_pages, forecast_ahead, give_way)


def load_pages() -> Iterator[None]:
    """Import what all pages are made of, a step each."""
    from .. import ui

    for module in pkgutil.walk_packages(ui.__path__, f"{ui.__name__}."):
        if ALONE not in module.name:
            import_module(module.name)
            yield


def forecast_ahead() -> Iterator[None]:
    """Work out what a first forecast waits for, of the sample that Home offers, and what bundled releases open with."""
    from ..privacy.budget import Budget
    from ..privacy.composition import PureParts, epsilon_spent
    from ..releases.forecast.forecast import error_curve
    from ..releases.forecast.recommendation import Closeness, recommend
    from ..sources.public_tables import sample
    from .home_page import TRIED
    from .own_data.paying import SLACK
    from .release.release_forecast import CURVE
    from .released.live_samples import live_figure
    from .released.opening_files import openings_ahead

    one, budget = sample(TRIED), Budget(1)
    ways = recommend(one.domain, one.records_guess, budget, Closeness(one.kernel), density=one.density_guess)
    yield
    for delta in (float(SLACK), 0.0):
        error_curve(ways[0].answering, one.records_guess, [*map(float, CURVE)], delta, density=one.density_guess)
        yield
    live_figure(TRIED)
    yield from openings_ahead()
    epsilon_spent([PureParts(Fraction(budget.epsilon), 2)], float(SLACK))  # which loads what composes several promises
