"""Release: choose what may be asked and how much privacy is kept, see what that gives, and release it once."""

import streamlit as st

from core.errors import RequestError
from core.formatting.escapes import in_markdown
from core.privacy.ledger.ledger import Ledger
from core.privacy.ledger.log import Did
from core.releases.forecast.expected_answers import summary
from core.ui.frame.marks import main_action, note
from core.ui.frame.navigation import DATA, RELEASE
from core.ui.frame.session import Session
from core.ui.frame.visiting import write_down
from core.ui.own_data.paying import ledger_for
from core.ui.release.progress import asks_first, confirm, release_desk, show_progress
from core.ui.release.release_result import show_result
from core.ui.release.release_steps import order_of, release_steps
from core.ui.release.release_task import ReleaseSession, Stage
from core.ui.released.kept_files import kept_releases
from core.ui.surroundings import frame


def nothing_yet(visitor: Session) -> None:
    note("There is nothing to release yet: say first which data it is, or take a sample.")
    st.page_link(DATA.path, label="Describe your data")
    kept_releases(visitor, "release", "What you released is still here, kept beside your ledger")
    main_action("Release", ["data to release"], "release")


@st.fragment
def choose(visitor: Session, desk: ReleaseSession, ledger: Ledger) -> None:
    """The steps and the button with the price on it; a click runs only this part of the page again."""
    draft = release_steps(visitor, ledger)
    said = "" if draft.way is None else summary(draft, draft.forecast)
    if not draft.missing and asks_first(order_of(draft, visitor.own, ledger, desk.looked), draft.account, said):
        return
    if main_action(draft.action, draft.missing, "release", said):
        order = order_of(draft, visitor.own, ledger, desk.looked)
        price = {"epsilon": str(order.budget.epsilon), "delta": str(order.budget.delta)}
        write_down(Did.FORECAST, {"dataset": order.dataset, "mechanism": order.sketch.name} | price)
        confirm(desk, desk.ask(order), draft)


def what_happened(desk: ReleaseSession) -> None:
    """Why there is no release after all, once."""
    if desk.making.stage is Stage.FAILED:
        st.error(in_markdown(desk.making.problem))
    elif desk.making.left_alone:
        note("Stopped, as this browser was away for too long. Nothing was released and nothing was spent.")
    else:
        note("Stopped. Nothing was released and nothing was spent.")
    desk.clear()


with frame(RELEASE) as visitor:
    desk = release_desk()
    if desk.making is not None and desk.making.stage in (Stage.FAILED, Stage.STOPPED):
        what_happened(desk)
    if desk.making is not None and desk.making.stage is Stage.MADE:
        desk.seen = True
        show_result(visitor, desk)
    elif desk.making is not None:
        show_progress(desk.making)
    elif visitor.own is None:
        nothing_yet(visitor)
    else:
        try:
            ledger = ledger_for(visitor, visitor.own.sample)
            choose(visitor, desk, ledger)
        except RequestError as error:
            st.error(in_markdown(error))
