"""Learn: small experiments that one can touch, each with a link of its own."""

import streamlit as st

from core.ui.course import course
from core.ui.frame.navigation import DATA, LEARN
from core.ui.own_data.picking_records import ORIGIN, SAMPLE
from core.ui.surroundings import frame

with frame(LEARN):
    if course():
        st.session_state[ORIGIN] = SAMPLE
        # Streamlit refuses to clear what fields keep in the address, and replaces it without a word.
        st.switch_page(DATA.path, query_params={})
