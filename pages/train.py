"""Train: predict a column of one's own records by a model that is trained once under a promise."""

import streamlit as st

from core.errors import RequestError
from core.formatting.escapes import in_markdown
from core.ui.frame.marks import main_action, note
from core.ui.frame.navigation import DATA, TRAIN
from core.ui.own_data.paying import ledger_for
from core.ui.released.kept_files import MODEL
from core.ui.released.opened_model import model_view, open_model
from core.ui.surroundings import frame
from core.ui.train_page import choose, chosen_view

with frame(TRAIN) as visitor:
    if MODEL in st.session_state:
        model_view(st.session_state[MODEL])
    elif chosen_view(visitor):
        note("Classify asks it about places and people.")
    elif visitor.own is None:
        note("There is nothing to train on yet: say first which data it is, or take a sample. Or open a model:")
        st.page_link(DATA.path, label="Describe your data")
        open_model()
        main_action("Train", ["data to train on"], "train")
    else:
        try:
            choose(visitor, visitor.own, ledger_for(visitor, visitor.own.sample))
        except RequestError as error:
            st.error(in_markdown(error))
        with st.expander("Open a model file"):
            open_model()
