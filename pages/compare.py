"""Compare: every method that can answer a question, side by side in error, time and size."""

import streamlit as st

from core.errors import RequestError
from core.formatting.escapes import in_markdown
from core.ui.compare_page import compare, nothing_yet
from core.ui.frame.navigation import COMPARE
from core.ui.surroundings import frame

with frame(COMPARE) as visitor:
    try:
        compare(visitor)
    except RequestError as error:
        st.error(in_markdown(error))
        nothing_yet()
